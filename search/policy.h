/* Private to search/: the tree as the policies see it, and the one question that a policy answers.
 * The tree (search.c) owns all state; a policy only reads it, and names a node and one of its
 * untried moves. No code here may depend on addresses, on clocks, or on the machine's libm beyond
 * sqrt, which IEEE 754 rounds correctly everywhere. */
#ifndef KEET_SEARCH_POLICY_H
#define KEET_SEARCH_POLICY_H

#include "search/search.h"

#include <stddef.h>

enum node_state { NODE_PENDING, NODE_OK, NODE_FAILED };

struct search_node {
    int64_t parent; /* -1 for the root */
    unsigned depth; /* moves from the root */
    enum node_state state;
    double reward;       /* own, clipped; meaningful when NODE_OK */
    float prior;         /* of the move that led here */
    uint8_t arm;         /* of that move */
    bool has_arms;       /* a move with an arm was given out */
    uint8_t closed_arms; /* bits: an outcome said that no other move of the arm is worth trying */

    /* The moves that the node offers, most promising first, equal priors in a seeded order.
     * moves[0..nr_tried) were given out: when a policy skips ahead, the tree moves its choice
     * there. */
    struct search_move *moves;
    unsigned nr_moves, nr_tried;

    int64_t first_child, next_sibling;     /* -1: none. Newest first. */
    unsigned nr_ok, nr_failed, nr_pending; /* children, by state */

    /* Figures of the whole subtree, this node included. */
    unsigned visits;  /* outcomes told, failures included */
    unsigned pending; /* picks given out and not told yet */
    unsigned nr_values;
    double sum, best;

    bool open; /* a move in the subtree may be tried; refreshed before each choice */
};

struct search {
    struct search_options options; /* defaults filled in */
    const struct policy *policy;
    struct search_node *nodes;
    size_t nr_nodes, cap_nodes;
    uint64_t nr_asked; /* the random numbers of an ask follow from this and the seed */
    uint64_t rng;
    int64_t best;
    double *best_after; /* the best reward after each success, for search_converged */
    size_t nr_best_after, cap_best_after;

    struct {
        unsigned nr_asked, nr_told;
        double gain; /* sum, over the best node before */
    } arms[SEARCH_ARMS];
    unsigned nr_fresh;        /* SEARCH_FRESH moves given out */
    unsigned nr_gainless;     /* outcomes of arms since the last gain, or the last fresh move */
    bool relaxed;             /* dominated nodes may be extended by arms, too */
    enum search_moves wanted; /* by the ask in hand */
    unsigned nr_without_arm;  /* asks for SEARCH_WITHOUT_ARM so far */
};

struct policy {
    const char *name;
    /* Chooses an untried move (index into moves, >= nr_tried) that may be tried, of a live node.
     * Only called when there is one. */
    void (*choose)(struct search *search, int64_t *node, unsigned *move);
};

extern const struct policy policy_mcts, policy_random, policy_greedy, policy_beam, policy_evolution,
    policy_best_of_n;

/* Helpers for policies. */
uint64_t search_random(struct search *search, uint64_t bound); /* 0..bound-1, bound > 0 */
bool search_node_dead(const struct search *search, const struct search_node *node);
/* True: the node is alive and offers an untried move that may be tried now. */
bool search_node_can_grow(const struct search *search, const struct search_node *node);
/* May the untried move be tried now? */
bool search_may_try(const struct search *search, const struct search_node *node, unsigned move);
/* The move's prior, scaled by what its arm brought. */
double search_prior(const struct search *search, const struct search_move *move);
/* The most promising of the untried moves that may be tried. Only when search_node_can_grow. */
unsigned search_next(const struct search *search, const struct search_node *node);

/* ---- arms (arms.c) ---- */

/* A move was given out. */
void search_arms_asked(
    struct search *search, struct search_node *node, const struct search_move *move);
/* A node was told; to be called before the node can become the best. */
void search_arms_told(struct search *search, const struct search_node *node, bool ok);
/* Choose a SEARCH_SOON move, where the ask is for one. False: a policy chooses. */
bool search_soon_choose(const struct search *search, int64_t *node, unsigned *move);
/* Choose a fresh move, where the run begins or has come to a plateau. False: a policy chooses. */
bool search_arms_choose(const struct search *search, int64_t *node, unsigned *move);

#endif
