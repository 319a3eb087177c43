/* Private to intake/: functions that a macro makes at file scope, `BINDING(f32, float, 4)`, written
 * out in place, so that their launches and kernels are read as those of others. */
#ifndef KEET_INTAKE_EVAL_EXPAND_H
#define KEET_INTAKE_EVAL_EXPAND_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct expanded {
    const char *text; /* the same lines; NULL: nothing was written out */
    size_t bytes;
    bool *line; /* from 0: this one was changed */
};

/* The text of nr_lines lines with the macros written out that make device code at file scope or
 * launch a kernel: at file scope, or
 * anywhere, for a file whose main does not lead to them: those are found by their text. */
struct expanded expand_macros(
    struct arena *arena, const char *text, size_t bytes, unsigned nr_lines, bool anywhere);

#endif
