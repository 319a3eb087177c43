/* Owns the arms: kinds of moves that cost more than an evaluation. Which nodes they may extend,
 * what they brought, and when a fresh start is due. */
#include "search/policy.h"

#include <math.h>

/* All in log2. */
static const double LEAST_GAIN = 0.0143553; /* 1% */
static const double NEAR = 0.0703893;       /* 5% */
static const double IN_REACH = 1;           /* twice as slow */
static const double PAIR_REACH = 2;         /* four times as slow */

/* An arm starts with one outcome of this gain, so that a single outcome does not decide. */
static const double GAIN_BEFORE = 0.3;
static const double LEAST_WEIGHT = 0.25, MOST_WEIGHT = 4;

static double mean_gain(double gain, unsigned nr)
{
    return (gain + GAIN_BEFORE) / (nr + 1);
}

static double arm_weight(const struct search *search, unsigned arm)
{
    double gain = 0;
    unsigned nr = 0;

    for (unsigned i = 1; i < SEARCH_ARMS; i++) {
        gain += search->arms[i].gain;
        nr += search->arms[i].nr_told;
    }
    double weight =
        mean_gain(search->arms[arm].gain, search->arms[arm].nr_told) / mean_gain(gain, nr);

    return fmin(fmax(weight, LEAST_WEIGHT), MOST_WEIGHT);
}

double search_prior(const struct search *search, const struct search_move *move)
{
    const double prior = (double)move->prior * search_kind_weight(search, move->kind);

    return move->arm == 0 ? prior : prior * arm_weight(search, move->arm);
}

/* ---- which nodes ---- */

static bool is_dominated(const struct search *search, const struct search_node *node)
{
    double behind = search->best < 0 ? 0 : search->nodes[search->best].reward - node->reward;

    return behind > NEAR && (behind > IN_REACH || node->has_arms);
}

static bool is_above(const struct search *search, int64_t above, int64_t node)
{
    while (node > above) { /* parents have lower numbers */
        node = search->nodes[node].parent;
    }
    return node == above;
}

/* The child of the root that the node descends from, or is. */
static int64_t lineage(const struct search *search, int64_t node)
{
    while (node > 0 && search->nodes[node].parent > 0) {
        node = search->nodes[node].parent;
    }
    return node;
}

bool search_may_pair(const struct search *search, int64_t number, int64_t with)
{
    const struct search_node *node = &search->nodes[number];

    return node->state == NODE_OK && node->reward >= LEAST_GAIN &&
           node->reward >= search->nodes[with].reward - PAIR_REACH &&
           !is_above(search, number, with) && !is_above(search, with, number);
}

int64_t search_partner(const struct search *search, int64_t number)
{
    int64_t best = -1;
    bool best_foreign = false;

    if (number < 0 || (size_t)number >= search->nr_nodes) {
        return -1;
    }
    for (int64_t i = 1; i < (int64_t)search->nr_nodes; i++) {
        if (!search_may_pair(search, i, number)) {
            continue;
        }
        bool foreign = lineage(search, i) != lineage(search, number);

        if (best < 0 || foreign > best_foreign ||
            (foreign == best_foreign && search->nodes[i].reward > search->nodes[best].reward)) {
            best = i;
            best_foreign = foreign;
        }
    }
    return best;
}

bool search_allows(
    const struct search *search, const struct search_node *node, unsigned move, bool relaxed)
{
    unsigned flags = node->untried[move].flags;

    return !(node->closed_arms >> node->untried[move].arm & 1) &&
           !((flags & SEARCH_FROM_BEST) && !relaxed && is_dominated(search, node)) &&
           !((flags & SEARCH_PAIR) && node->partner == 0);
}

bool search_may_try(const struct search *search, const struct search_node *node, unsigned move)
{
    const unsigned arm = node->untried[move].arm;

    return !(search->wanted == SEARCH_WITH_ARM && arm == 0) &&
           !(search->wanted == SEARCH_WITHOUT_ARM && arm != 0) &&
           search_allows(search, node, move, search->relaxed);
}

unsigned search_next(const struct search *search, const struct search_node *node)
{
    unsigned best = node->nr_untried;
    double most = -INFINITY;

    for (unsigned m = 0; m < node->nr_untried; m++) {
        double prior = search_prior(search, &node->untried[m]);

        if (prior > most && search_may_try(search, node, m)) {
            best = m;
            most = prior;
        }
    }
    return best;
}

/* The first move with the flag, and of the arm, that may be tried. Only when there is one. */
static unsigned first_of(
    const struct search *search, const struct search_node *node, unsigned arm, unsigned flag)
{
    unsigned m = 0;

    while (node->untried[m].arm != arm || !(node->untried[m].flags & flag) ||
           !search_may_try(search, node, m)) {
        m++;
    }
    return m;
}

/* ---- moves that come soon ---- */

bool search_soon_choose(const struct search *search, int64_t *number, unsigned *move)
{
    const struct node_list *soon = &search->heaps[HEAP_SOON];

    if (search->wanted != SEARCH_WITHOUT_ARM || search->nr_without_arm % 2 != 0 || soon->nr == 0 ||
        search->nodes[soon->at[0]].reward < search->nodes[search->best].reward - IN_REACH) {
        return false;
    }
    *number = soon->at[0];
    *move = first_of(search, &search->nodes[*number], 0, SEARCH_SOON);
    return true;
}

/* ---- fresh starts ---- */

/* Arms of fresh moves take turns, those that brought more more often. */
static double fresh_score(const struct search *search, unsigned arm)
{
    return arm_weight(search, arm) / (1 + search->arms[arm].nr_asked);
}

bool search_arms_choose(const struct search *search, int64_t *number, unsigned *move)
{
    unsigned chosen = 0;
    double most = -INFINITY;

    if (search->wanted == SEARCH_WITHOUT_ARM) {
        return false;
    }
    if (search->nr_fresh >= search->options.nr_fresh_first &&
        search->nr_gainless < search->options.plateau) {
        return false;
    }
    for (unsigned arm = 1; arm < SEARCH_ARMS; arm++) {
        if (search->heaps[HEAP_FRESH + arm].nr > 0 && fresh_score(search, arm) > most) {
            most = fresh_score(search, arm);
            chosen = arm;
        }
    }
    if (chosen == 0) {
        return false;
    }
    *number = search->heaps[HEAP_FRESH + chosen].at[0];
    *move = first_of(search, &search->nodes[*number], chosen, SEARCH_FRESH);
    return true;
}

void search_arms_asked(
    struct search *search, struct search_node *node, const struct search_move *move)
{
    if (move->arm == 0) {
        return;
    }
    node->has_arms = true;
    search->arms[move->arm].nr_asked++;
    if (move->flags & SEARCH_FRESH) {
        search->nr_fresh++;
        search->nr_gainless = 0;
    }
}

void search_arms_told(struct search *search, const struct search_node *node, bool ok)
{
    double gain = 0;

    if (node->arm == 0) {
        return;
    }
    if (ok && search->best >= 0) {
        gain = fmax(node->reward - search->nodes[search->best].reward, 0);
    }
    search->arms[node->arm].nr_told++;
    search->arms[node->arm].gain += gain;
    search->nr_gainless = gain >= LEAST_GAIN ? 0 : search->nr_gainless + 1;
}
