/* Search: decides what to try next. A pure library of numbers, which is asked and told, and calls
 * no one.
 *
 *     struct search *s = search_create(&options);
 *     search_add_root(s, reward, moves, nr_moves);
 *     while (search_ask(s, &pick)) {          // which node to extend, by which of its moves
 *         ... evaluate ...
 *         search_tell(s, &pick, &outcome);    // several picks may be pending
 *     }
 *
 * Rewards are log2 of the speedup over the original. A failed evaluation has no reward: it is not a
 * zero. The same options, seed and outcomes give the same picks on every machine. Sources: PUCT as
 * in Silver et al., Nature 550 (2017); progressive widening as in Coulom, "Computing Elo ratings of
 * move patterns" (2007); virtual loss as in Chaslot et al. (2008). */
#ifndef KEET_SEARCH_SEARCH_H
#define KEET_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

struct search;

struct search_options {
    const char *policy; /* one of search_policies */
    uint64_t seed;
    double c_puct;     /* 0: the default */
    double best_share; /* of the best descendant in the value backed up; 0 or less: the default */
    unsigned failures_to_die; /* children without success after which a node is dead; 0: default */
};

/* A move that a node offers. id is the caller's (unique within the node). */
struct search_move {
    uint32_t id;
    float prior;
};

struct search_pick {
    int64_t parent; /* node number */
    uint32_t move;  /* the chosen move's id */
    int64_t node;   /* the number that the new node will have: 1, 2, ... in order of asking */
};

struct search_outcome {
    bool ok;       /* false: failed, no reward */
    double reward; /* log2(speedup) */
    /* The moves that the new node offers; copied. None for a node that equals an earlier one: the
     * moves are tried there. */
    const struct search_move *moves;
    unsigned nr_moves;
};

/* Policies' names, NULL-terminated, for --help and errors. */
extern const char *const search_policies[];

struct search *search_create(const struct search_options *options); /* NULL: unknown policy */
void search_destroy(struct search *search);
void search_add_root(struct search *search, const struct search_outcome *outcome);

/* False: nothing is left to try now, since every node is dead or exhausted. While picks are
 * pending, tell their outcomes and ask again: they may open new nodes. */
bool search_ask(struct search *search, struct search_pick *pick);
void search_tell(
    struct search *search, const struct search_pick *pick, const struct search_outcome *outcome);

int64_t search_best(const struct search *search, double *reward); /* node number; 0 is the root */
/* True when the last `window` successes brought less than min_gain (log2) over the best before.
 * Failures do not count: failure alone never ends a run. */
bool search_converged(const struct search *search, unsigned window, double min_gain);

struct search_node_info {
    int64_t parent;
    unsigned visits, children;
    double value; /* as backed up */
    bool dead;
};
struct search_node_info search_node(const struct search *search, int64_t node);

#endif
