/* Owns the Monte-Carlo tree search: walk down from the root by PUCT, and at each node let the next
 * untried move compete with the children as long as the node may still widen. */
#include "search/policy.h"

#include <math.h>

/* Progressive widening: at most ceil(k * N^a) children after N visits (Coulom 2007). a is 1/2 so
 * that a correctly rounded sqrt decides and every machine agrees. A node that improved on its
 * parent may have more: gains compose, so its surroundings deserve a wider look. */
static const double WIDTH = 1.5;
static const double WIDTH_IMPROVED = 2.5;
static const double IMPROVED = 0.014; /* log2 of 1% */

/* A reward becomes a value in 0..1 in two ways, and their mean counts: by its place between the
 * worst and the best seen, and by the share of nodes that it beats. The first alone would lose
 * sight of everything after one large jump: 24x against 39x is little on a scale that begins at 1x.
 * A spread under LEAST_SPREAD (log2) is noise and must not be blown up to the whole scale. */
static const double LEAST_SPREAD = 0.5;
static const double RANK_SHARE = 0.5;

static unsigned bin_of(double reward)
{
    const double bin = (reward - REWARD_MIN) / (REWARD_MAX - REWARD_MIN) * RANK_BINS;

    return bin < RANK_BINS ? (unsigned)bin : RANK_BINS - 1;
}

static void told(struct search *search, int64_t number)
{
    const double reward = search->nodes[number].reward;
    unsigned *below = search->ranks.below;
    const bool first = below[RANK_BINS] == 0;

    search->ranks.lowest = first ? reward : fmin(search->ranks.lowest, reward);
    search->ranks.highest = first ? reward : fmax(search->ranks.highest, reward);
    for (unsigned bin = bin_of(reward); bin < RANK_BINS; bin++) {
        below[bin + 1]++;
    }
}

static double scaled(const struct search *search, double reward)
{
    const unsigned *below = search->ranks.below, bin = bin_of(reward);
    const double spread = fmax(search->ranks.highest - search->ranks.lowest, LEAST_SPREAD);
    /* A beaten node counts whole, one that is equal half. */
    const double rank = 0.5 * (below[bin] + below[bin + 1]) / below[RANK_BINS];

    return (1 - RANK_SHARE) * (reward - search->ranks.lowest) / spread + RANK_SHARE * rank;
}

/* Mean and best of the subtree, blended; picks under way count as if they came out worst, so that
 * several pending picks spread (virtual loss). */
static double value_of(const struct search *search, const struct search_node *node)
{
    double share = search->options.best_share;

    if (node->nr_values == 0) {
        return 0;
    }
    double mean = scaled(search, node->sum / node->nr_values);
    double best = scaled(search, node->best);
    double value = (1 - share) * mean + share * best;

    return value * node->nr_values / (node->nr_values + node->pending);
}

static bool may_widen(const struct search *search, const struct search_node *node)
{
    double k = WIDTH;

    if (node->parent >= 0 && node->reward > search->nodes[node->parent].reward + IMPROVED) {
        k = WIDTH_IMPROVED;
    }
    /* Failed children hold no place: there is nothing to descend into. */
    return node->nr_ok + node->nr_pending < ceil(k * sqrt(node->visits + node->pending));
}

/* The best open child, -1 when there is none; ties are broken at random. */
static int64_t best_child(struct search *search, const struct search_node *node, double *score_out)
{
    double root_n = sqrt(node->visits + node->pending), best = -INFINITY;
    const enum search_moves view = search->wanted;
    int64_t chosen = -1;
    unsigned nr_ties = 0;

    for (int64_t c = node->first_open[view]; c >= 0;
         c = search->nodes[c].open_siblings[view].next) {
        const struct search_node *child = &search->nodes[c];

        search->nr_looks++;
        double explore = search->options.c_puct * (double)child->prior * root_n /
                         (1 + child->visits + child->pending);
        double score = value_of(search, child) + explore;

        if (score > best) {
            best = score;
            nr_ties = 0;
        }
        if (score >= best && search_random(search, ++nr_ties) == 0) {
            chosen = c;
        }
    }
    *score_out = best;
    return chosen;
}

/* The promise of an untried move: the node's own value, as if the move changed nothing, and the
 * exploration that its prior earns. Siblings under way make the move less urgent. */
static double untried_score(const struct search *search, const struct search_node *node)
{
    double prior = search_prior(search, &node->untried[search_next(search, node)]);
    double root_n = sqrt(node->visits + node->pending);
    double own = scaled(search, node->reward);

    return own / (1 + node->nr_pending) + search->options.c_puct * prior * root_n;
}

static void choose(struct search *search, int64_t *number, unsigned *move)
{
    int64_t at = 0;

    for (;;) {
        struct search_node *node = &search->nodes[at];
        double child_score;
        int64_t child = best_child(search, node, &child_score);

        if (search_grows(search, node) &&
            (child < 0 ||
                (may_widen(search, node) && untried_score(search, node) >= child_score))) {
            *number = at;
            *move = search_next(search, node);
            return;
        }
        at = child; /* never -1: an open node grows or has an open child */
    }
}

const struct policy policy_mcts = {"mcts", choose, told};
