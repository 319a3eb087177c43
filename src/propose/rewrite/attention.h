/* Attention: a product whose rows go through softmax and into a second product, in three launches.
 *
 *     P[row][key] = f(sum over k of q(row, k) * k(key, k));     with f without other sums
 *     each row of P: exp(P - its largest) / their sum
 *     O[row][col] = g(sum over key of P[row][key] * v(key, col))
 *
 * rewrite_attention makes one launch of them, in which P is never stored: a block has some rows and
 * goes over all keys once, with the largest score so far, and what was added up before is scaled
 * when a larger one comes (the online softmax: Milakov and Gimelshein, 2018; in attention: Dao et
 * al., "FlashAttention", 2022). */
#ifndef KEET_PROPOSE_REWRITE_ATTENTION_H
#define KEET_PROPOSE_REWRITE_ATTENTION_H

#include "propose/rewrite/product.h"

struct attention {
    const struct rewrite_in *in;
    struct rewrite_out *out;
    unsigned launch;                               /* the first of the three */
    struct contraction scores, weigh;              /* of the first and of the third launch */
    struct kernel_form softmax;                    /* of the second */
    struct product first, second;                  /* of scores, of weigh */
    struct launch_line lines[3];                   /* of the launches */
    struct node *stored;                           /* the parameter for P of the first launch, */
    struct node *read;                             /* and of the third */
    struct node *store;                            /* P[...] = ... of the first */
    const struct task_array *between, *normalised; /* before and after softmax; may be the same */
    struct node *rows_read, *rows_written;         /* parameters of the second launch */
};

/* False, with out->why, when the launches from `launch` on are not of this kind. */
bool attention_read(struct attention *a);

/* Put one kernel and one launch in the place of the three.
 * False, with out->why, when that cannot be. */
bool attention_write(struct attention *a);

#endif
