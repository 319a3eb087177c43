/* Owns the policies that keep a population of variants: beam search and evolution. Published
 * systems use one or the other; the tree search must beat both at equal budget. What they keep
 * follows from what the search was told, so that a resumed run goes on as it would have. */
#include "search/policy.h"

#include <math.h>

/* Beam: at each depth only the best BEAM_WIDTH variants are extended, each by its BEAM_BRANCH most
 * promising moves, before the next depth is looked at (Lowerre, "The Harpy speech recognition
 * system", 1976). At 3 and 3, a budget of 30 reaches depth 4. When no layer has room left, the same
 * beam is walked again with twice the branches. */
enum { BEAM_BRANCH = 3 };

static void take_into_layer(struct search *search, int64_t number)
{
    const struct search_node *node = &search->nodes[number];

    while (search->nr_layers <= node->depth) {
        search->layers = search_grow(
            search->layers, &search->cap_layers, search->nr_layers + 1, sizeof(*search->layers));
        search->layers[search->nr_layers++] = (struct layer){.nr = 0};
    }
    struct layer *layer = &search->layers[node->depth];
    unsigned place = layer->nr;

    while (place > 0 && search->nodes[layer->best[place - 1]].reward < node->reward) {
        place--;
    }
    if (place == BEAM_WIDTH) {
        return;
    }
    layer->nr += layer->nr < BEAM_WIDTH;
    for (unsigned k = layer->nr - 1; k > place; k--) {
        layer->best[k] = layer->best[k - 1];
    }
    layer->best[place] = number;
}

/* The node of a layer with the fewest tries that may have another try; -1: the layer is full. */
static int64_t beam_next(struct search *search, const struct layer *layer, unsigned branch)
{
    int64_t chosen = -1;
    unsigned fewest = branch;

    for (unsigned i = 0; i < layer->nr; i++) {
        const struct search_node *node = &search->nodes[layer->best[i]];

        search->nr_looks++;
        if (search_grows(search, node) && node->nr_tried < fewest) {
            chosen = layer->best[i];
            fewest = node->nr_tried;
        }
    }
    return chosen;
}

static void choose_beam(struct search *search, int64_t *number, unsigned *move)
{
    *number = -1;
    for (unsigned branch = BEAM_BRANCH; *number < 0; branch *= 2) {
        for (size_t depth = 0; depth < search->nr_layers && *number < 0; depth++) {
            *number = beam_next(search, &search->layers[depth], branch);
        }
        if (*number < 0 && branch >= search->most_moves) { /* what grows lies beside the beam */
            *number = search_best_growing(search);
        }
    }
    *move = search_next(search, &search->nodes[*number]);
}

/* Evolution, (mu + lambda) in steady state: the population is the best POPULATION variants so far;
 * the parent is the winner of a tournament among TOURNAMENT of them, drawn with replacement; the
 * mutation is a move drawn by its prior (Baeck, Fogel and Michalewicz, "Evolutionary Computation
 * 1", 2000, chapters 9 and 24). */
enum { POPULATION = 8, TOURNAMENT = 3 };

/* The best nodes that grow; at most POPULATION, best first. In a heap the next best is the top, or
 * below one of those before it. */
static unsigned population(const struct search *search, int64_t *members)
{
    const struct node_list *heap = &search->heaps[search->wanted];
    size_t border[POPULATION + 1] = {0}; /* places in the heap */
    unsigned nr = 0, nr_border = 1;

    for (; nr < POPULATION && nr_border > 0; nr++) {
        unsigned best = 0;

        for (unsigned i = 1; i < nr_border; i++) {
            best = search_is_better(search, heap->at[border[i]], heap->at[border[best]]) ? i : best;
        }
        const size_t below = 2 * border[best] + 1;

        members[nr] = heap->at[border[best]];
        border[best] = border[--nr_border];
        for (size_t place = below; place < below + 2 && place < heap->nr; place++) {
            border[nr_border++] = place;
        }
    }
    return nr;
}

static double odds(const struct search *search, const struct search_node *node, unsigned move)
{
    return search_may_try(search, node, move) ? fmax(search_prior(search, &node->untried[move]), 0)
                                              : 0;
}

/* An untried move, by the odds that the priors give; all alike when no prior is above zero. */
static unsigned draw_move(struct search *search, const struct search_node *node)
{
    double sum = 0, at;

    for (unsigned m = 0; m < node->nr_untried; m++) {
        sum += odds(search, node, m);
    }
    if (sum <= 0) {
        unsigned m = (unsigned)search_random(search, node->nr_untried);

        return search_may_try(search, node, m) ? m : search_next(search, node);
    }
    at = sum * ((double)search_random(search, UINT64_C(1) << 53) * 0x1p-53);
    for (unsigned m = 0; m < node->nr_untried; m++) {
        at -= odds(search, node, m);
        if (at < 0) {
            return m;
        }
    }
    return search_next(search, node);
}

static void choose_evolution(struct search *search, int64_t *number, unsigned *move)
{
    int64_t members[POPULATION];
    unsigned nr = population(search, members), winner = nr;

    for (unsigned i = 0; i < TOURNAMENT; i++) {
        unsigned drawn = (unsigned)search_random(search, nr);

        winner = drawn < winner ? drawn : winner; /* members come best first */
    }
    *number = members[winner];
    *move = draw_move(search, &search->nodes[*number]);
}

const struct policy policy_beam = {"beam", choose_beam, take_into_layer};
const struct policy policy_evolution = {"evolution", choose_evolution, NULL};
