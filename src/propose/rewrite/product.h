/* Products of matrices among the contractions: `sum += a * b`, which tensor cores can make. */
#ifndef KEET_PROPOSE_REWRITE_PRODUCT_H
#define KEET_PROPOSE_REWRITE_PRODUCT_H

#include "base/str.h"
#include "cuda/subst.h"
#include "propose/rewrite/contraction.h"

struct product {
    const struct contraction_operand *a, *b; /* along y, along x */
    enum scalar scalar;                      /* of the elements of both: F16, BF16 or F32 */
    const char *type;                        /* "half"; of 8-bit floats "__nv_fp8_e4m3" */
    const char *eight; /* of 8-bit floats "e4m3" or "e5m2", and scalar is OTHER; else NULL */
};

/* False, with the reason in *why, when the loop does anything else, or sums in another type than
 * f32. */
bool product_read(struct product *p, const struct contraction *c, const char **why);
/* The load inside conversions to f32, which change no value; NULL: there is something else. */
struct node *product_load(struct node *n);
/* Write what follows the loop for one output: the sum, which is `value` and what the kernel began
 * it with, and the statements after the loop, in which the substitutions are made. */
void product_rest(const struct contraction *c, struct str *out, const struct substs *s,
    const char *value, const char *indent);

#endif
