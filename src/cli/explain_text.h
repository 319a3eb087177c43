/* What explain says of one kernel, wherever its profile comes from. */
#ifndef KEET_CLI_EXPLAIN_TEXT_H
#define KEET_CLI_EXPLAIN_TEXT_H

#include "base/str.h"
#include "core/candidate.h"
#include "core/chip.h"

#include <stdbool.h>

/* One explanation, as text for a terminal or as Markdown. */
void explain_print(struct str *out, const char *name, const struct chip *chip,
    const struct candidate *c, bool markdown);

/* Speed of light and Little's law; the caller's. */
struct json_t *explain_limits_json(const struct chip *chip, const struct candidate *c);

#endif
