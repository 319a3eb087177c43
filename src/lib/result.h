/* Private to lib/: making a result. */
#ifndef KEET_LIB_RESULT_H
#define KEET_LIB_RESULT_H

#include "lib/keet.h"

#include <jansson.h>

/* Takes over both, also where memory is short, which gives NULL. source NULL: none. */
struct keet_result *result_create(json_t *root, char *source, size_t source_bytes);

#endif
