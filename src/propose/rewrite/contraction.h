/* Contractions: kernels in which a thread makes one element (row, col) of the output in a loop over
 * k whose loads depend on (row, k) or on (col, k), like a matrix product. Recognised here, and made
 * anew with tiles of the operands in shared memory and a patch of outputs in each thread's
 * registers. The order of operations on each output stays as it was. */
#ifndef KEET_PROPOSE_REWRITE_CONTRACTION_H
#define KEET_PROPOSE_REWRITE_CONTRACTION_H

#include "cuda/deps.h"
#include "propose/rewrite/extent.h"
#include "propose/rewrite/rewrite.h"

enum { CONTRACTION_MAX_TILES = 6, CONTRACTION_MAX_ACCS = 6 };

enum { ALONG_X = 1, ALONG_Y = 2, ALONG_K = 4 };

/* One operand: an expression in the loop that loads, and depends on k and one axis. */
struct contraction_operand {
    struct node *node;           /* the load with the conversions around it */
    const char *text;            /* as written; equal texts share a tile */
    unsigned axis;               /* ALONG_X or ALONG_Y */
    bool k_runs;                 /* memory runs along k: neighbours in k are neighbours in memory */
    const char *type;            /* "float" */
    const char *tile, *fragment; /* names */
};

struct contraction {
    const struct rewrite_in *in;
    struct kernel_form form;
    struct deps deps;
    const struct form_axis *x, *y;
    struct for_loop loop;
    unsigned loop_at; /* its place in form.work */
    struct contraction_operand operands[CONTRACTION_MAX_TILES];
    unsigned nr_operands;
    struct node *accs[CONTRACTION_MAX_ACCS];
    unsigned nr_accs;
    bool neutral; /* zeros beyond the last k add nothing */
};

bool contraction_read(
    struct contraction *c, const struct rewrite_in *in, struct node *function, const char **why);

/* Starting values of the tuning parameters. */
struct tiling {
    int block_m, block_n, block_k, thread_m, thread_n;
};

/* Put the tiled kernel and its launches in the place of the old ones. */
bool contraction_tile(
    const struct contraction *c, const struct tiling *tiling, struct rewrite_out *out);

#endif
