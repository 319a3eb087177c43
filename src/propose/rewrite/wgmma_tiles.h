/* The move wgmma where tensor copies cannot bring the operands: threads do. */
#ifndef KEET_PROPOSE_REWRITE_WGMMA_TILES_H
#define KEET_PROPOSE_REWRITE_WGMMA_TILES_H

#include "propose/rewrite/wgmma_code.h"

/* Write the kernel and its launches. variant: 0 to 2, another number of columns. `why`: what keeps
 * tensor copies from it. False, with out->why, where it cannot be. */
bool wgmma_tiles(const struct contraction *c, const struct product *p, unsigned variant,
    const char *why, struct rewrite_out *out);

#endif
