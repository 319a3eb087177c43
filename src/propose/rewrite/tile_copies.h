/* Tiles of a product's operands in shared memory: asynchronous copies of 16 bytes where elements
 * follow each other and are inside the matrix, elements one by one, with zeros beyond, elsewhere;
 * and the loop in which they run some tiles ahead of the computation. For kernels that tensor cores
 * compute. */
#ifndef KEET_PROPOSE_REWRITE_TILE_COPIES_H
#define KEET_PROPOSE_REWRITE_TILE_COPIES_H

#include "base/str.h"
#include "propose/rewrite/product.h"

struct tile_copies {
    const struct contraction *c;
    struct arena *arena;
    struct str *out;
    const struct contraction_operand *a, *b; /* along y, along x */
    const char *type;                        /* of an element: "half", "__nv_fp8_e4m3" */
    unsigned bytes;                          /* of an element */
    unsigned run;                            /* elements of 16 bytes */
    const char *bm, *bn, *bk, *stages; /* rows and columns of a block, k of a tile: constants */
    const char *threads;               /* that copy: a constant */
    const char *barrier;               /* the statement in which these wait for each other */
    bool swizzled;   /* tiles lie as wgmma reads them: tile_swizzled_place; else rows, padded */
    bool whole_rows; /* the threads' pieces of 16 bytes make whole rows of any tile, of swizzled
                        ones eight or a multiple: a thread has one place in all of its rows */
    unsigned lag;    /* so many rounds after its use, a tile is written anew */
    const char *row0, *col0, *first, *ahead, *into, *from, *kk, *at, *e, *i, *u, *value, *to,
        *whole, *last, *thread, *tile, *nr_tiles;
};

/* Take the operands, and choose the names that stand in `row0` to `nr_tiles`. */
void tile_copies_begin(
    struct tile_copies *t, const struct contraction *c, const struct product *p, struct str *out);

/* A tile's rows run along k, and not along the operand's axis. */
bool tile_by_k(const struct contraction_operand *o);
/* A tile's rows, the elements of a row, a row with its padding, and the bytes of all stages. */
const char *tile_rows(const struct tile_copies *t, const struct contraction_operand *o);
const char *tile_run(const struct tile_copies *t, const struct contraction_operand *o);
const char *tile_pitch(const struct tile_copies *t, const struct contraction_operand *o);
const char *tile_bytes(const struct tile_copies *t, const struct contraction_operand *o);

/* Where element `fast` of row `slow` is in a tile that wgmma reads, in elements of 16 bits: 64
 * elements of a row lie in 128 bytes, whose pieces of 16 bytes are swapped by the row's number (PTX
 * ISA 9.0, 9.7.15.5.1.2); rows follow each other, and the next 64 elements of all rows behind. */
const char *tile_swizzled_place(
    struct arena *arena, const char *rows, const char *fast, const char *slow);

/* Write what a thread knows of all tiles: its number, the first k, and whether wide copies do. */
void tile_copies_prepare(const struct tile_copies *t);
/* Write the loop over tiles up to where a round computes with its own, stage `from`, and behind it.
 * A round copies the tile that is STAGES - lag ahead; the first rounds only copy. `arrived`:
 * statements between the arrival of a thread's own copies and the barrier. */
void tile_copies_loop(const struct tile_copies *t, const char *arrived);
void tile_copies_loop_end(const struct tile_copies *t);

#endif
