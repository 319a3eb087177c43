/* Settings by the kind of request: "0.8", "design=1,improve=0.3", "high,repair=low". Private to
 * propose/. A value without a kind is that of all kinds which have none of their own. */
#ifndef KEET_PROPOSE_MODEL_BY_KIND_H
#define KEET_PROPOSE_MODEL_BY_KIND_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>

/* The value for a kind, in the arena; NULL: none is given, or list is NULL. */
const char *by_kind(struct arena *arena, const char *list, const char *kind);

/* Temperatures are numbers from 0 to 2; other lists have words. The error names the part that is
 * wrong, after `option`. */
bool by_kind_check(const char *list, const char *option, bool is_number, struct err *err);

#endif
