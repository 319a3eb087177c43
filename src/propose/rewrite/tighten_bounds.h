/* Tighter loop bounds: conditions on a loop's counter move from inside the loop into its start and
 * bound. A variant of the move hoist. */
#ifndef KEET_PROPOSE_REWRITE_TIGHTEN_BOUNDS_H
#define KEET_PROPOSE_REWRITE_TIGHTEN_BOUNDS_H

#include "propose/rewrite/rewrite.h"

/*     for (d = -r; d <= r; d++) if (x + d >= 0 && x + d < w) work
 * becomes
 *     for (d = max(-r, -x); d <= min(r, w - x - 1); d++) work
 * for the nth nest of loops in the plan's kernels that has such conditions. False, with out->why,
 * past the last. */
bool tighten_bounds(const struct rewrite_in *in, unsigned nth, struct rewrite_out *out);

#endif
