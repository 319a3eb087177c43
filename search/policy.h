/* Private to search/: the tree as the policies see it, and the one question that a policy answers.
 * The tree (search.c) owns all state; a policy names a node and one of its untried moves. Nothing
 * here may take longer in a larger tree, but for what one node or one path makes longer. No code
 * here may depend on addresses, on clocks, or on the machine's libm beyond sqrt, which IEEE 754
 * rounds correctly everywhere. */
#ifndef KEET_SEARCH_POLICY_H
#define KEET_SEARCH_POLICY_H

#include "search/search.h"

#include <stddef.h>

enum node_state { NODE_PENDING, NODE_OK, NODE_FAILED };

/* What an ask may be for is kept apart: the nodes that grow, and those that lead to one, differ. */
enum { NR_VIEWS = SEARCH_WITHOUT_ARM + 1 };

/* The heaps of nodes, best first: for each view those that grow, which are alive and offer a move
 * that may be tried now; and those that may try a move of a special kind. */
enum {
    HEAP_SOON = NR_VIEWS,
    HEAP_FRESH = HEAP_SOON, /* + arm, which is at least 1 */
    NR_HEAPS = HEAP_FRESH + SEARCH_ARMS
};

struct search_node {
    /* What a walk over siblings reads comes first. */
    struct {
        int64_t next, prev; /* the siblings that are open, too; -1: none */
    } open_siblings[NR_VIEWS];
    double sum, best; /* of the whole subtree, this node included, as far as told */
    unsigned nr_values;
    unsigned visits;  /* of the subtree: outcomes told, failures included */
    unsigned pending; /* of the subtree: picks given out and not told yet */
    float prior;      /* of the move that led here */

    int64_t parent;                        /* -1 for the root */
    int64_t first_open[NR_VIEWS];          /* open children, the newest to open first; -1: none */
    double reward;                         /* own, clipped; meaningful when NODE_OK */
    unsigned depth;                        /* moves from the root */
    unsigned kind;                         /* of the move that led here: index into kinds.all */
    unsigned nr_ok, nr_failed, nr_pending; /* children, by state */

    /* The moves that the node still offers, most promising first, equal priors in a seeded order.
     * In the tree a move's kind is an index into kinds.all. */
    unsigned nr_untried, nr_tried;
    struct search_move *untried;

    int64_t
        partner; /* one that it may be combined with, for nodes that offer a pair; 0: none yet */
    uint32_t place[NR_HEAPS];
    enum node_state state;
    uint16_t heaps;      /* bits: in which heaps the node is */
    uint8_t strictly;    /* bits: in which views it would grow, even were the search not relaxed */
    uint8_t open;        /* bits: in which views the node or a node below grows */
    uint8_t arm;         /* of the move that led here */
    uint8_t closed_arms; /* bits: an outcome said that no other move of the arm is worth trying */
    bool has_arms;       /* a move with an arm was given out */
};

struct node_list {
    int64_t *at;
    size_t nr, cap;
};

/* Rewards are told apart by so many bins over the range that they are clipped to: a bin is 0.17% of
 * speed. */
enum { RANK_BINS = 4096 };

enum { BEAM_WIDTH = 3 };
struct layer {
    int64_t best[BEAM_WIDTH]; /* best first, the older first among equals */
    unsigned nr;
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

    /* Kept as the tree changes, so that no question takes longer in a larger tree (open.c). */
    struct node_list heaps[NR_HEAPS]; /* by search_is_better */
    size_t nr_strictly[NR_VIEWS];     /* nodes that grow strictly */
    struct node_list
        armed; /* nodes that may offer moves with flags, of which the rest decides, too */
    struct node_list lonely;  /* nodes that offer a pair and have no partner yet */
    bool relaxed;             /* dominated nodes may be extended by arms, too */
    enum search_moves wanted; /* by the ask in hand: the view of the tree that counts */
    uint64_t nr_looks;        /* how often a node was looked at so far: what tests count */

    struct {
        double lowest, highest;        /* rewards */
        unsigned below[RANK_BINS + 1]; /* nodes in the bins before this one; the last: all */
    } ranks;                           /* mcts.c */
    struct layer *layers;              /* by depth; population.c */
    size_t nr_layers, cap_layers;
    unsigned most_moves; /* that a node offered */

    struct {
        struct kind *all; /* all[0]: the moves without a kind */
        uint32_t *slots;  /* a hash table of indices into all; 0: free */
        size_t nr, cap, nr_slots;
    } kinds; /* kinds.c */
    struct {
        unsigned nr_asked, nr_told;
        double gain; /* sum, over the best node before */
    } arms[SEARCH_ARMS];
    unsigned nr_fresh;       /* SEARCH_FRESH moves given out */
    unsigned nr_gainless;    /* outcomes of arms since the last gain, or the last fresh move */
    unsigned nr_without_arm; /* asks for SEARCH_WITHOUT_ARM so far */
};

struct policy {
    const char *name;
    /* Chooses an untried move (index into untried) that may be tried, of a node that grows. Only
     * called when there is one. */
    void (*choose)(struct search *search, int64_t *node, unsigned *move);
    /* The node was told, and came out right. NULL: the policy needs not know. After a revision it
     * is told all nodes anew. */
    void (*told)(struct search *search, int64_t node);
};

extern const struct policy policy_mcts, policy_random, policy_greedy, policy_beam, policy_evolution,
    policy_best_of_n;

/* Rewards are clipped: a kernel 256 times faster than the original teaches nothing more than one
 * 128 times faster, and a very slow kernel is no better a guide than a slow one. */
#define REWARD_MIN (-3.0)
#define REWARD_MAX 7.0

/* Helpers for policies. */
uint64_t search_random(struct search *search, uint64_t bound); /* 0..bound-1, bound > 0 */
void *search_grow(void *array, size_t *cap, size_t need, size_t bytes_each);
/* The number of a stream that follows from the seed. */
uint64_t search_seeded(uint64_t seed, uint64_t stream);
/* The higher reward; among equals, what the seed says. */
bool search_is_better(const struct search *search, int64_t a, int64_t b);
/* The node grows in the view that counts. */
bool search_grows(const struct search *search, const struct search_node *node);
/* The best of the nodes that grow. Only when there is one. */
int64_t search_best_growing(const struct search *search);
bool search_node_dead(const struct search *search, const struct search_node *node);
/* May the untried move be tried now? */
bool search_may_try(const struct search *search, const struct search_node *node, unsigned move);
/* The move's prior, scaled by what its arm and its kind brought. */
double search_prior(const struct search *search, const struct search_move *move);
/* The most promising of the untried moves that may be tried. Only of a node that grows. */
unsigned search_next(const struct search *search, const struct search_node *node);

/* ---- what is open (open.c) ---- */

/* Moves of the node came, went, or became forbidden; or its children failed. */
void search_judge(struct search *search, int64_t node);
/* The node has just come out right, and search->best is up to date. */
void search_opened(struct search *search, int64_t node);
/* The node's state or reward is about to be another: it leaves all heaps. */
void search_shut(struct search *search, int64_t node);
/* ... and is another now; search->best is up to date. */
void search_reopened(struct search *search, int64_t node);
/* Before a choice, in the view that counts: dominated nodes take part only when nothing else is
 * left. False: nothing is. */
bool search_anything_open(struct search *search);

/* ---- arms (arms.c) ---- */

/* The untried move asks for what the rest of the tree may refuse it. relaxed: as if dominated nodes
 * took part. */
bool search_allows(
    const struct search *search, const struct search_node *node, unsigned move, bool relaxed);
/* May `partner` be combined with `node`? */
bool search_may_pair(const struct search *search, int64_t partner, int64_t node);
/* A move was given out. */
void search_arms_asked(
    struct search *search, struct search_node *node, const struct search_move *move);
/* A node was told; to be called before the node can become the best. */
void search_arms_told(struct search *search, const struct search_node *node, bool ok);
/* Choose a SEARCH_SOON move, where the ask is for one. False: a policy chooses. */
bool search_soon_choose(const struct search *search, int64_t *node, unsigned *move);
/* Choose a fresh move, where the run begins or has come to a plateau. False: a policy chooses. */
bool search_arms_choose(const struct search *search, int64_t *node, unsigned *move);

/* ---- kinds (kinds.c) ---- */

/* The index of a kind by the caller's id; a new one gets the next. */
unsigned search_kind(struct search *search, uint32_t id);
/* A node was told; gain: over its parent. */
void search_kind_told(struct search *search, unsigned kind, bool ok, double gain);
double search_kind_weight(const struct search *search, unsigned kind);

#endif
