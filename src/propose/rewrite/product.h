/* Products of matrices among the contractions: `sum += a * b`, which tensor cores can make. */
#ifndef KEET_PROPOSE_REWRITE_PRODUCT_H
#define KEET_PROPOSE_REWRITE_PRODUCT_H

#include "propose/rewrite/contraction.h"

struct product {
    const struct contraction_operand *a, *b; /* along y, along x */
    enum scalar scalar;                      /* of the elements of both: F16, BF16 or F32 */
    const char *type;                        /* "half" */
};

/* False, with the reason in *why, when the loop does anything else, or sums in another type than
 * f32. */
bool product_read(struct product *p, const struct contraction *c, const char **why);
/* The load inside conversions to f32, which change no value; NULL: there is something else. */
struct node *product_load(struct node *n);
/* Whether the sum's initialiser says zero. */
bool product_is_zero(const struct contraction *c, const struct node *init);

#endif
