/* Owns the policies that keep a population of variants: beam search and evolution. Published
 * systems use one or the other; the tree search must beat both at equal budget. Neither keeps state
 * of its own: layer and population follow from the tree, so that a resumed run goes on as it would
 * have. */
#include "search/policy.h"

#include <math.h>

/* Beam: at each depth only the best BEAM_WIDTH variants are extended, each by its BEAM_BRANCH most
 * promising moves, before the next depth is looked at (Lowerre, "The Harpy speech recognition
 * system", 1976). At 3 and 3, a budget of 30 reaches depth 4. When no layer has room left, the same
 * beam is walked again with twice the branches. */
enum { BEAM_WIDTH = 3, BEAM_BRANCH = 3 };

/* The best nodes of one depth, at most BEAM_WIDTH, best first, the older first among equals. */
static unsigned beam_at(const struct search *search, unsigned depth, int64_t *beam)
{
    unsigned nr = 0;

    for (size_t i = 0; i < search->nr_nodes; i++) {
        const struct search_node *node = &search->nodes[i];
        unsigned place = nr;

        if (node->depth != depth || node->state != NODE_OK) {
            continue;
        }
        while (place > 0 && search->nodes[beam[place - 1]].reward < node->reward) {
            place--;
        }
        if (place == BEAM_WIDTH) {
            continue;
        }
        nr += nr < BEAM_WIDTH;
        for (unsigned k = nr - 1; k > place; k--) {
            beam[k] = beam[k - 1];
        }
        beam[place] = (int64_t)i;
    }
    return nr;
}

/* The node of a layer with the fewest tries that may have another try; -1: the layer is full. */
static int64_t beam_next(const struct search *search, unsigned depth, unsigned branch)
{
    int64_t beam[BEAM_WIDTH], chosen = -1;
    unsigned nr = beam_at(search, depth, beam), fewest = branch;

    for (unsigned i = 0; i < nr; i++) {
        const struct search_node *node = &search->nodes[beam[i]];

        if (search_node_can_grow(search, node) && node->nr_tried < fewest) {
            chosen = beam[i];
            fewest = node->nr_tried;
        }
    }
    return chosen;
}

static void choose_best_open(const struct search *search, int64_t *number)
{
    const struct search_node *best = NULL;

    for (size_t i = 0; i < search->nr_nodes; i++) {
        const struct search_node *node = &search->nodes[i];

        if (search_node_can_grow(search, node) && (!best || node->reward > best->reward)) {
            best = node;
            *number = (int64_t)i;
        }
    }
}

static void choose_beam(struct search *search, int64_t *number, unsigned *move)
{
    unsigned deepest = 0, most_moves = 0;

    for (size_t i = 0; i < search->nr_nodes; i++) {
        const struct search_node *node = &search->nodes[i];

        deepest = node->depth > deepest ? node->depth : deepest;
        most_moves = node->nr_moves > most_moves ? node->nr_moves : most_moves;
    }
    *number = -1;
    for (unsigned branch = BEAM_BRANCH; *number < 0; branch *= 2) {
        for (unsigned depth = 0; depth <= deepest && *number < 0; depth++) {
            *number = beam_next(search, depth, branch);
        }
        if (*number < 0 && branch >= most_moves) { /* the open nodes lie beside the beam */
            choose_best_open(search, number);
        }
    }
    *move = search_next(search, &search->nodes[*number]);
}

/* Evolution, (mu + lambda) in steady state: the population is the best POPULATION variants so far;
 * the parent is the winner of a tournament among TOURNAMENT of them, drawn with replacement; the
 * mutation is a move drawn by its prior (Baeck, Fogel and Michalewicz, "Evolutionary Computation
 * 1", 2000, chapters 9 and 24). */
enum { POPULATION = 8, TOURNAMENT = 3 };

/* The best nodes that may still have a child; at most POPULATION, best first. */
static unsigned population(const struct search *search, int64_t *members)
{
    unsigned nr = 0;

    for (size_t i = 0; i < search->nr_nodes; i++) {
        const struct search_node *node = &search->nodes[i];
        unsigned place = nr;

        if (!search_node_can_grow(search, node)) {
            continue;
        }
        while (place > 0 && search->nodes[members[place - 1]].reward < node->reward) {
            place--;
        }
        if (place == POPULATION) {
            continue;
        }
        nr += nr < POPULATION;
        for (unsigned k = nr - 1; k > place; k--) {
            members[k] = members[k - 1];
        }
        members[place] = (int64_t)i;
    }
    return nr;
}

static double odds(const struct search *search, const struct search_node *node, unsigned move)
{
    return search_may_try(search, node, move) ? fmax(search_prior(search, &node->moves[move]), 0)
                                              : 0;
}

/* An untried move, by the odds that the priors give; all alike when no prior is above zero. */
static unsigned draw_move(struct search *search, const struct search_node *node)
{
    double sum = 0, at;

    for (unsigned m = node->nr_tried; m < node->nr_moves; m++) {
        sum += odds(search, node, m);
    }
    if (sum <= 0) {
        unsigned m =
            node->nr_tried + (unsigned)search_random(search, node->nr_moves - node->nr_tried);

        return search_may_try(search, node, m) ? m : search_next(search, node);
    }
    at = sum * ((double)search_random(search, UINT64_C(1) << 53) * 0x1p-53);
    for (unsigned m = node->nr_tried; m < node->nr_moves; m++) {
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

const struct policy policy_beam = {"beam", choose_beam};
const struct policy policy_evolution = {"evolution", choose_evolution};
