/* Pieces of kernels that multiply by wgmma: products, and the way of their sums to shared memory.
 */
#ifndef KEET_PROPOSE_REWRITE_WGMMA_CODE_H
#define KEET_PROPOSE_REWRITE_WGMMA_CODE_H

#include "base/str.h"
#include "propose/rewrite/product.h"

enum {
    WGMMA_TILE_K = 64, /* values of 16 bits in a row of a tile */
    WGMMA_ROW_BYTES = 2 * WGMMA_TILE_K,
    WGMMA_GROUP_ROWS = 64, /* outputs of a warpgroup along y */
};

struct wgmma_code {
    struct arena *arena;
    struct str *out;
    const char *type;    /* "f16", "bf16", "tf32", "e4m3", "e5m2" */
    unsigned columns;    /* outputs along x */
    const char *sums;    /* an array of columns / 2 floats */
    bool a_by_k, b_by_k; /* rows of the tiles run along k */
};

/* The descriptor of a tile at a 32-bit address of shared memory, under the 128-byte swizzle (PTX
 * ISA 9.0, 9.7.15.5.1.2.2): groups of eight rows every 1024 bytes; where rows run across k, the
 * next 64 of them lie behind all 64 of k. Tiles: tile_swizzled_place. */
const char *wgmma_descriptor(struct arena *arena, const char *at, bool by_k);
/* What the next 16 of k, of tf32 the next 8, add to a descriptor. */
enum { WGMMA_STEP_BY_K = 32 / 16, WGMMA_STEP_ACROSS = 16 * WGMMA_ROW_BYTES / 16 };

/* Write one wgmma over 32 bytes of k: 16 values, of tf32 8, of 8-bit floats 32. `left` and `right`:
 * descriptors. `keep`: the sums go on; else they begin anew. NULL: they go on. */
void wgmma_product(const struct wgmma_code *w, const char *left, const char *right,
    const char *keep, const char *indent);

/* Write: no product is under way but the last `more`. 0: the sums pass through statements behind
 * the wait, so that the compiler uses none of them before. `i` is a free variable. */
void wgmma_wait(const struct wgmma_code *w, unsigned more, const char *i, const char *indent);

/* Write: a thread's sums to `patch`, rows of `pitch` floats, where the thread's warp has 16 rows
 * (the layout: PTX ISA 9.0, 9.7.15.5.1). The names are free variables. */
struct wgmma_patch {
    const char *patch, *lane, *to, *i;
    unsigned pitch;
};
void wgmma_put_sums(const struct wgmma_code *w, const struct wgmma_patch *p);

#endif
