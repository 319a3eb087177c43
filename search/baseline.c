/* Owns the policies that the tree search must beat at equal budget: random, greedy, and the best of
 * n tries that know nothing of each other. */
#include "search/policy.h"

/* Uniform over all pairs of a node that grows and a move that it may try: draw a node and a place
 * among as many as the longest list has, until a move stands there. */
static void choose_random(struct search *search, int64_t *number, unsigned *move)
{
    const struct node_list *growing = &search->heaps[search->wanted];
    const struct search_node *node;

    do {
        *number = growing->at[search_random(search, growing->nr)];
        *move = (unsigned)search_random(search, search->most_moves);
        node = &search->nodes[*number];
    } while (*move >= node->nr_untried || !search_may_try(search, node, *move));
}

/* The best node's most promising move; the next best node once that one has nothing left. */
static void choose_greedy(struct search *search, int64_t *number, unsigned *move)
{
    *number = search_best_growing(search);
    *move = search_next(search, &search->nodes[*number]);
}

/* The original's most promising move: every variant is a child of the root. Nodes below the root
 * are not extended; once the root has nothing left, the best node that has comes next. */
static void choose_best_of_n(struct search *search, int64_t *number, unsigned *move)
{
    *number = search_grows(search, &search->nodes[0]) ? 0 : search_best_growing(search);
    *move = search_next(search, &search->nodes[*number]);
}

const struct policy policy_best_of_n = {"best_of_n", choose_best_of_n, NULL};
const struct policy policy_random = {"random", choose_random, NULL};
const struct policy policy_greedy = {"greedy", choose_greedy, NULL};
