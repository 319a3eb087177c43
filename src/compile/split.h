/* Private to compile/: a source of several kernels as one source for each, so that a variant which
 * changes one kernel compiles that kernel alone: the others are in the cache. */
#ifndef KEET_COMPILE_SPLIT_H
#define KEET_COMPILE_SPLIT_H

#include "base/arena.h"

#include <stdbool.h>

struct split_part {
    const char *source; /* all but the other kernels, without blank lines */
    unsigned *lines;    /* of the whole source, for each line of the part */
    unsigned nr_lines;
};

/* Makes a part for each kernel, in arena memory. False: the kernels must be compiled together,
 * since the text does not show plainly where each begins and ends, or they may share a variable.
 * A part that does not compile proves nothing about the whole. */
bool split_kernels(const char *source, const char *const *kernels, unsigned nr_kernels,
    struct arena *arena, struct split_part *parts);

/* The line of the whole source; 0 where the part has no such line. */
unsigned split_line(const struct split_part *part, unsigned line);

#endif
