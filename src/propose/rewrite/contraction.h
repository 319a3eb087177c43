/* Contractions: kernels in which a thread makes one element (row, col) of the output in a loop over
 * k, whose loads depend on (row, k) or on (col, k). A matrix product is one. So is a convolution:
 * its rows are output channels, its columns pixels of an image's row, its k input channels, and the
 * loops over the window are outer loops, of which a tile of the operands has one round (the filter
 * taps outermost: Chetlur et al., "cuDNN", 2014, do the same with one flattened k).
 *
 * contraction_read recognises them. contraction_tile writes them anew, with tiles of the operands
 * in shared memory and a patch of outputs in each thread's registers. The order of operations on
 * each output stays as it was where there is one loop. */
#ifndef KEET_PROPOSE_REWRITE_CONTRACTION_H
#define KEET_PROPOSE_REWRITE_CONTRACTION_H

#include "cuda/deps.h"
#include "propose/rewrite/extent.h"
#include "propose/rewrite/rewrite.h"

enum { CONTRACTION_MAX_TILES = 6, CONTRACTION_MAX_ACCS = 6, CONTRACTION_MAX_OUTER = 3 };

/* What a value depends on: the column, the row, k, the counters of outer loops. */
enum { ALONG_X = 1, ALONG_Y = 2, ALONG_K = 4, ALONG_OUTER = 8 };

/* An expression in the loop that loads, and depends on k and on one axis. */
struct contraction_operand {
    struct node *node;           /* the load, and the conversions around it */
    const char *text;            /* as written; operands of equal text share a tile */
    unsigned axis;               /* ALONG_X or ALONG_Y */
    bool k_runs;                 /* neighbours in k are neighbours in memory */
    bool axis_runs;              /* neighbours along the axis are */
    const char *type;            /* of its value: "float" */
    const char *tile, *fragment; /* names of its tile, and of a thread's part of it */
};

struct contraction {
    const struct rewrite_in *in;
    struct kernel_form form;
    struct deps deps;
    const struct form_axis *x,
        *y;               /* of the columns and of the rows; all others: one value a block */
    const char *rows;     /* a new parameter for the number of rows; NULL: the guard limits them */
    struct for_loop loop; /* over k */
    struct for_loop outer[CONTRACTION_MAX_OUTER]; /* the other loops of the nest, outermost first */
    unsigned nr_outer;
    unsigned loop_at;   /* form.work[loop_at] is the nest */
    struct node *nest;  /* its outermost loop */
    struct node *body;  /* of its innermost loop, or of the `if` in which the sum stands there, */
    struct node *cond;  /* whose condition this is; NULL: none */
    unsigned cond_axis; /* ALONG_X or ALONG_Y: operands of this axis are zero where it fails */
    struct contraction_operand operands[CONTRACTION_MAX_TILES];
    unsigned nr_operands;
    struct node *accs[CONTRACTION_MAX_ACCS]; /* locals from before the loop that it changes */
    unsigned nr_accs;
    /* The loop only adds products: zeros beyond the last k change nothing. So it is with a nest. */
    bool neutral;
};

/* False, with the reason in *why, when the function is no contraction. */
bool contraction_read(
    struct contraction *c, const struct rewrite_in *in, struct node *function, const char **why);

/* Values that the tuning parameters start with: tiles of block_m * block_k and block_k * block_n, a
 * patch of thread_m * thread_n outputs for each thread. */
struct tiling {
    int block_m, block_n, block_k, thread_m, thread_n;
};

/* Put the tiled kernel and its launches in the place of the old ones. False, with out->why, when a
 * launch cannot be read. */
bool contraction_tile(
    const struct contraction *c, const struct tiling *tiling, struct rewrite_out *out);

#endif
