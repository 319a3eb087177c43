/* Owns the policies that the tree search must beat at equal budget: random and greedy. */
#include "search/policy.h"

/* Uniform over all pairs of a node that grows and a move that it may try: draw a node and a place
 * among as many as the longest list has, until a move stands there. */
static void choose_random(struct search *search, int64_t *number, unsigned *move)
{
    const struct search_node *node;

    do {
        *number = search->growing[0].at[search_random(search, search->growing[0].nr)];
        *move = (unsigned)search_random(search, search->most_moves);
        node = &search->nodes[*number];
    } while (*move >= node->nr_untried || !search_may_try(search, node, *move));
}

/* The best node's most promising move; the next best node once that one has nothing left. */
static void choose_greedy(struct search *search, int64_t *number, unsigned *move)
{
    *number = search->growing[0].at[0];
    *move = search_next(search, &search->nodes[*number]);
}

const struct policy policy_random = {"random", choose_random, NULL};
const struct policy policy_greedy = {"greedy", choose_greedy, NULL};
