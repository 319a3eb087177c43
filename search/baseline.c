/* Owns the policies that the tree search must beat at equal budget: random, greedy, and the best of
 * n tries that know nothing of each other. */
#include "search/policy.h"

/* Moves that may be tried now. */
static unsigned nr_open_moves(const struct search *search, const struct search_node *node)
{
    unsigned nr = 0;

    for (unsigned m = node->nr_tried; search_node_can_grow(search, node) && m < node->nr_moves;
         m++) {
        nr += search_may_try(search, node, m);
    }
    return nr;
}

/* Uniform over all pairs of a live node and a move that it has not tried. */
static void choose_random(struct search *search, int64_t *number, unsigned *move)
{
    uint64_t nr_pairs = 0;

    for (size_t i = 0; i < search->nr_nodes; i++) {
        nr_pairs += nr_open_moves(search, &search->nodes[i]);
    }
    uint64_t pair = search_random(search, nr_pairs);

    for (size_t i = 0; i < search->nr_nodes; i++) {
        const struct search_node *node = &search->nodes[i];
        unsigned nr = nr_open_moves(search, node);

        if (pair >= nr) {
            pair -= nr;
            continue;
        }
        *number = (int64_t)i;
        for (*move = node->nr_tried;; ++*move) {
            if (search_may_try(search, node, *move) && pair-- == 0) {
                return;
            }
        }
    }
}

/* The best node's most promising move; the next best node once that one has nothing left. */
static void choose_greedy(struct search *search, int64_t *number, unsigned *move)
{
    const struct search_node *best = NULL;
    unsigned nr_ties = 0;

    for (size_t i = 0; i < search->nr_nodes; i++) {
        const struct search_node *node = &search->nodes[i];

        if (!search_node_can_grow(search, node) || (best && node->reward < best->reward)) {
            continue;
        }
        if (!best || node->reward > best->reward) {
            nr_ties = 0;
        }
        if (search_random(search, ++nr_ties) == 0) {
            best = node;
            *number = (int64_t)i;
            *move = search_next(search, node);
        }
    }
}

/* The original's most promising move: every variant is a child of the root. Nodes below the root
 * are not extended; once the root has nothing left, the oldest node that has comes next. */
static void choose_best_of_n(struct search *search, int64_t *number, unsigned *move)
{
    int64_t n = 0;

    while (!search_node_can_grow(search, &search->nodes[n])) {
        n++;
    }
    *number = n;
    *move = search_next(search, &search->nodes[n]);
}

const struct policy policy_best_of_n = {"best_of_n", choose_best_of_n};
const struct policy policy_random = {"random", choose_random};
const struct policy policy_greedy = {"greedy", choose_greedy};
