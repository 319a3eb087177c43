/* Private to intake/: macros that make functions at file scope, such as `BINDING(f32, float, 4)`.
 * They are written out in place, so that their launches and kernels are read as those of any
 * function. */
#ifndef KEET_INTAKE_EVAL_EXPAND_H
#define KEET_INTAKE_EVAL_EXPAND_H

#include "base/str.h"
#include "intake/eval/resolver.h"

struct expanded {
    const char *text; /* has the same number of lines; NULL: nothing was written out */
    size_t bytes;
    bool *line; /* by line, from 0: the line was changed */
};

/* Adds the body of a macro on one line, with the arguments in place of the parameters, and with
 * what # and ## make. Comments and ends of lines become blanks. */
void expand_body(struct str *out, const struct macro *m, const struct tok_range *args, unsigned nr);

/* The text with those macros written out that are called at file scope and make device code or a
 * function that launches a kernel. */
struct expanded expand_macros(
    struct arena *arena, const char *text, size_t bytes, unsigned nr_lines);

#endif
