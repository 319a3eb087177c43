/* Attention in one kernel, a query a thread, with the running maximum of the online softmax:
 *
 *     for k in keys:   score = sum over d of q[d] * K(k, d);   m' = max(m, score)
 *                      l = l * exp(m - m') + exp(score - m')
 *                      o[d] = o[d] * exp(m - m') + exp(score - m') * V(k, d);   m = m'
 *     O(q, d) = f(o[d], l)
 *
 * rewrite_flash makes both products on tensor cores: a warp has 16 or 32 queries, tiles of keys and
 * values come to shared memory while the tile before is used, and scores become the left operand of
 * the second product where they are, in registers (Dao, "FlashAttention-2", 2023). */
#ifndef KEET_PROPOSE_REWRITE_FLASH_H
#define KEET_PROPOSE_REWRITE_FLASH_H

#include "cuda/deps.h"
#include "cuda/kernel_form.h"
#include "propose/rewrite/launch_line.h"

enum { FLASH_MAX_DECLS = 24 };

struct flash_load {
    const struct node *load;   /* an element of an array of 16-bit floats in memory */
    const struct node *column; /* the counter over d around it */
};

struct flash {
    const struct rewrite_in *in;
    struct kernel_form form;
    struct launch_line line;
    struct deps deps;
    const struct form_axis *query; /* of the queries */
    const struct node *decls[FLASH_MAX_DECLS], *last_decls[FLASH_MAX_DECLS];
    unsigned nr_decls, nr_last; /* locals before the loops; after the loop over keys */
    const struct node *queries; /* the local array q; NULL: q is loaded in the loop over keys */
    const struct node *sums, *largest, *total;
    int64_t columns; /* how many d */
    struct flash_load q, k, v;
    const struct node *scale; /* what a score is multiplied by; NULL: nothing */
    struct for_loop keys;
    struct node *store;             /* O(q, d) = ... */
    const struct node *last_column; /* the counter over d around it */
    enum scalar scalar;             /* of q, k and v */
};

/* False, with the reason in *why, when the function is no such kernel. */
bool flash_read(
    struct flash *f, const struct rewrite_in *in, struct node *function, const char **why);
/* Whether the value of an expression depends on the query. */
bool flash_by_query(const struct flash *f, const struct node *n);
/* Put the new body and launch in the place of the old ones. */
bool flash_write(const struct flash *f, struct rewrite_out *out);

/* The nth kernel of the plan. */
bool rewrite_flash(const struct rewrite_in *in, unsigned nth, struct rewrite_out *out);

#endif
