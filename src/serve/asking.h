/* Private to serve/: a search over the variants of one original, asked and told from outside. The
 * rewriter and the tuner make the variants; whoever asks evaluates them, or lets them be evaluated
 * here.
 *
 *     struct asking *a = asking_create(bench, &wanted, policy, err);
 *     asking_next(a, &node, err)             // node 0: nothing is left to ask, until more is told
 *     asking_tell(a, node, &told, err)       // its speed, or that it failed, or neither: see here
 *     asking_destroy(a);
 */
#ifndef KEET_SERVE_ASKING_H
#define KEET_SERVE_ASKING_H

#include "serve/prepared.h"

struct asking;

/* NULL: err. policy: of search.h. */
struct asking *asking_create(struct workbench *bench, const struct original_text *wanted,
    const char *policy, bool forbid_fast_math, struct err *err);
void asking_destroy(struct asking *a); /* NULL is fine */

/* The next variant. It compiles, and computes by other code than all variants before it. */
bool asking_next(struct asking *a, int64_t *node, struct err *err);

/* A variant from outside, below a node that was told and is right. */
bool asking_add(struct asking *a, int64_t parent, const char *text, size_t bytes, int64_t *node,
    struct err *err);

/* What became of a variant. evaluate: check and time it here, whatever else stands in the record;
 * else speedup over the original, 0: it failed. */
struct asking_told {
    bool evaluate;
    double speedup;
};
/* False as well: the node was never asked, or was told already. */
bool asking_tell(struct asking *a, int64_t node, const struct asking_told *told, struct err *err);

const struct prepared *asking_original(const struct asking *a);
/* NULL: there is no such node. 0 is the original. It may change until the node is told. */
struct candidate *asking_candidate(const struct asking *a, int64_t node);
int64_t asking_best(const struct asking *a, double *speedup); /* node; 0: the original */
bool asking_converged(const struct asking *a, unsigned window);

#endif
