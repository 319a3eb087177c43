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
    /* of moves with an arm */
    unsigned nr_fresh_first; /* so many SEARCH_FRESH moves are tried before anything else */
    unsigned plateau; /* outcomes of arms without a gain, after which a SEARCH_FRESH move is tried;
                         0: the default */
    bool arms_converge; /* successes of moves with an arm alone count for search_converged */
};

/* A kind of move whose worth is learned over the whole tree: its prior is scaled by the gains over
 * the best node that this arm brought, relative to those that all arms brought. Arms are meant for
 * moves that cost more than an evaluation. */
enum { SEARCH_ARMS = 8 };

enum {
    /* Not for a node that is dominated: one that is over 5% slower than the best. Exceptions: a
     * node within half of the best's speed whose arms were never tried, and all nodes once nothing
     * else is left. */
    SEARCH_FROM_BEST = 1,
    SEARCH_FRESH = 2, /* a new start, for a run's beginning and for a plateau */
    SEARCH_PAIR = 4,  /* needs a second node: search_partner */
    /* Of moves without an arm: every second ask for such moves tries one of these first, of the
     * best node that has one and at least half of the best's speed. */
    SEARCH_SOON = 8
};

/* Which moves an ask is for. */
enum search_moves { SEARCH_ALL, SEARCH_WITH_ARM, SEARCH_WITHOUT_ARM };

/* A move that a node offers. id is the caller's (unique within the node). */
struct search_move {
    uint32_t id;
    /* What the move does, wherever in the tree it is offered; the caller's; 0: not said. Priors of
     * a kind fall in the whole tree with each move of it that failed or gained nothing over its
     * parent, and rise with each that gained. */
    uint32_t kind;
    float prior;
    uint8_t arm;   /* 1 to SEARCH_ARMS - 1; 0: none */
    uint8_t flags; /* SEARCH_FROM_BEST, ... */
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
    bool closes; /* the parent's other moves of the same arm are not worth trying either */
};

/* Policies' names, NULL-terminated, for --help and errors. */
extern const char *const search_policies[];

struct search *search_create(const struct search_options *options); /* NULL: unknown policy */
void search_destroy(struct search *search);
void search_add_root(struct search *search, const struct search_outcome *outcome);

/* False: nothing is left to try now, since every node is dead or exhausted. While picks are
 * pending, tell their outcomes and ask again: they may open new nodes. */
bool search_ask(struct search *search, struct search_pick *pick); /* for SEARCH_ALL */
bool search_ask_for(struct search *search, enum search_moves moves, struct search_pick *pick);
/* Extend a node by a move that the caller names, and that no list of moves needs to have: a step
 * that follows from the step before. False: there is no such node, or it failed. */
bool search_follow(struct search *search, int64_t parent, const struct search_move *move,
    struct search_pick *pick);
void search_tell(
    struct search *search, const struct search_pick *pick, const struct search_outcome *outcome);

/* The outcome of a node that was told as a success turns out to be another: a failure, or another
 * reward. The moves that the node offers stay; of a failed one they are not tried any more. What
 * was learned from the old outcome of kinds of moves and arms stays as well, and the new one is
 * learned besides. search_converged begins anew. */
void search_revise(struct search *search, int64_t node, bool ok, double reward);

/* The best node that came another way: neither above nor below `node`, better than the original,
 * and no slower than a quarter of the node's speed. One from another child of the root is
 * preferred. -1: there is none. */
int64_t search_partner(const struct search *search, int64_t node);

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
