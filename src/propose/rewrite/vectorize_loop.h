/* Wide loads in a loop with the stride of the grid: a round takes neighbouring elements, which come
 * by one load, and what does not fill a load is done one by one behind. */
#ifndef KEET_PROPOSE_REWRITE_VECTORIZE_LOOP_H
#define KEET_PROPOSE_REWRITE_VECTORIZE_LOOP_H

#include "propose/rewrite/rewrite.h"

/* Rewrite the first such loop of the function to loads of `bytes` (8 or 16). False, with out->why,
 * when it has none. */
bool vectorize_loop(const struct rewrite_in *in, const struct node *function, unsigned bytes,
    struct rewrite_out *out);

#endif
