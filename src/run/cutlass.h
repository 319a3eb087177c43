/* CUTLASS, where there is one: finds its folder, and lets models look things up in the folder. */
#ifndef KEET_RUN_CUTLASS_H
#define KEET_RUN_CUTLASS_H

#include "base/err.h"

#include <stdbool.h>

struct cutlass;
struct str;

/* The folder that holds include/cute/tensor.hpp, as heap memory: below `given` (--cutlass) when
 * that is not NULL, else below $KEET_CUTLASS, else .deps/cutlass beside the program (setup.sh
 * --cutlass). NVIDIA's unpacked wheel `nvidia-cutlass` counts, too. "none" means no CUTLASS. *root
 * is NULL when there is no CUTLASS. Only a folder that was named and holds no CUTLASS is an
 * error. */
bool cutlass_find(const char *given, char **root, struct err *err);

/* The library over a folder that cutlass_find gave. The library is opened, and indexed if need be,
 * at the first question. Both strings are copied; `cache` is as in library_open. */
struct cutlass *cutlass_create(const char *root, const char *cache);
void cutlass_destroy(struct cutlass *cutlass);
/* For struct propose_library. A failure becomes part of the answer. */
void cutlass_search(struct cutlass *cutlass, const char *query, struct str *out);
void cutlass_read(struct cutlass *cutlass, const char *path, unsigned first_line, unsigned nr_lines,
    struct str *out);

#endif
