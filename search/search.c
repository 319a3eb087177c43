/* Owns the tree: nodes, the moves they offer, outcomes and their back-up, death, the table of
 * policies. */
#include "search/policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double DEFAULT_C_PUCT = 1.7;
static const double DEFAULT_BEST_SHARE = 0.6;
enum { DEFAULT_FAILURES_TO_DIE = 5, DEFAULT_PLATEAU = 3 };

static const struct policy *const policies[] = {&policy_mcts, &policy_random, &policy_greedy,
    &policy_beam, &policy_evolution, &policy_best_of_n};
const char *const search_policies[] = {
    "mcts", "random", "greedy", "beam", "evolution", "best_of_n", NULL};

void *search_grow(void *array, size_t *cap, size_t need, size_t bytes_each)
{
    if (need <= *cap) {
        return array;
    }
    size_t cap_new = *cap ? *cap * 2 : 16;

    if (cap_new < need) {
        cap_new = need;
    }
    array = realloc(array, cap_new * bytes_each);
    if (!array) {
        fputs("keet-opt: out of memory in the search\n", stderr);
        _Exit(1); /* as mem_die: the database is whole at any point */
    }
    *cap = cap_new;
    return array;
}

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), kept here since search/ includes nothing of
 * ours. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t search_seeded(uint64_t seed, uint64_t stream)
{
    uint64_t state = seed ^ (stream * 0xd1342543de82ef95u + 1);

    return next_random(&state);
}

static uint64_t below(uint64_t *state, uint64_t bound)
{
    uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
    uint64_t value = next_random(state);

    while (value >= limit) {
        value = next_random(state);
    }
    return value % bound;
}

uint64_t search_random(struct search *search, uint64_t bound)
{
    return below(&search->rng, bound);
}

bool search_node_dead(const struct search *search, const struct search_node *node)
{
    return node->state == NODE_FAILED || (node->parent >= 0 && node->nr_ok == 0 &&
                                             node->nr_failed >= search->options.failures_to_die);
}

struct search *search_create(const struct search_options *options)
{
    const char *name = options->policy ? options->policy : policies[0]->name;
    const struct policy *policy = NULL;

    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        if (strcmp(policies[i]->name, name) == 0) {
            policy = policies[i];
        }
    }
    if (!policy) {
        return NULL;
    }
    size_t cap = 0;
    struct search *search = search_grow(NULL, &cap, 1, sizeof(*search));

    *search = (struct search){.options = *options, .policy = policy, .best = -1};
    search->options.policy = policy->name;
    if (search->options.c_puct <= 0) {
        search->options.c_puct = DEFAULT_C_PUCT;
    }
    if (search->options.best_share <= 0 || search->options.best_share > 1) {
        search->options.best_share = DEFAULT_BEST_SHARE;
    }
    if (search->options.failures_to_die == 0) {
        search->options.failures_to_die = DEFAULT_FAILURES_TO_DIE;
    }
    if (search->options.plateau == 0) {
        search->options.plateau = DEFAULT_PLATEAU;
    }
    return search;
}

void search_destroy(struct search *search)
{
    if (!search) {
        return;
    }
    for (size_t i = 0; i < search->nr_nodes; i++) {
        free(search->nodes[i].untried);
    }
    free(search->nodes);
    free(search->best_after);
    for (unsigned heap = 0; heap < NR_HEAPS; heap++) {
        free(search->heaps[heap].at);
    }
    free(search->armed.at);
    free(search->lonely.at);
    free(search->layers);
    free(search->kinds.all);
    free(search->kinds.slots);
    free(search);
}

static int64_t add_node(struct search *search, int64_t parent, const struct search_move *move)
{
    int64_t number = (int64_t)search->nr_nodes;

    search->nodes = search_grow(
        search->nodes, &search->cap_nodes, search->nr_nodes + 1, sizeof(*search->nodes));
    search->nr_nodes++;
    search->nodes[number] = (struct search_node){.parent = parent,
        .depth = parent >= 0 ? search->nodes[parent].depth + 1 : 0,
        .state = NODE_PENDING,
        .prior = move->prior,
        .arm = move->arm,
        .kind = move->kind};
    for (unsigned view = 0; view < NR_VIEWS; view++) {
        search->nodes[number].first_open[view] = -1;
        search->nodes[number].open_siblings[view].next = -1;
        search->nodes[number].open_siblings[view].prev = -1;
    }
    if (parent >= 0) {
        search->nodes[parent].nr_pending++;
    }
    for (int64_t n = number; n >= 0; n = search->nodes[n].parent) {
        search->nodes[n].pending++;
    }
    return number;
}

/* A seed changes each prior by up to this share of it. Priors are estimates: what they hardly tell
 * apart, the seed decides, so that runs of different seeds are different runs. The noise at the
 * root of Silver et al. has the same purpose. */
static const double PRIOR_NOISE = 0.25;

/* 1 - PRIOR_NOISE .. 1 + PRIOR_NOISE */
static double noise(uint64_t *state)
{
    const double unit = (double)(next_random(state) >> 11) / (double)(UINT64_C(1) << 53);

    return 1 + PRIOR_NOISE * (2 * unit - 1);
}

/* Shuffle, then order by prior with a stable sort, so that equal priors come in the shuffled order:
 * the order in which a rewriter lists its moves must not decide. */
static void take_moves(struct search *search, int64_t number, const struct search_outcome *outcome)
{
    struct search_node *node = &search->nodes[number];
    uint64_t state = search_seeded(search->options.seed, 2 * (uint64_t)number + 1);
    size_t cap = 0;

    if (outcome->nr_moves == 0) {
        return;
    }
    node->untried = search_grow(NULL, &cap, outcome->nr_moves, sizeof(*node->untried));
    node->nr_untried = outcome->nr_moves;
    search->most_moves =
        outcome->nr_moves > search->most_moves ? outcome->nr_moves : search->most_moves;
    memcpy(node->untried, outcome->moves, outcome->nr_moves * sizeof(*node->untried));
    for (unsigned i = node->nr_untried - 1; i > 0; i--) {
        unsigned j = (unsigned)below(&state, i + 1);
        struct search_move swap = node->untried[i];

        node->untried[i] = node->untried[j];
        node->untried[j] = swap;
    }
    for (unsigned i = 0; i < node->nr_untried; i++) {
        node->untried[i].kind = search_kind(search, node->untried[i].kind);
        node->untried[i].prior = (float)((double)node->untried[i].prior * noise(&state));
    }
    for (unsigned i = 1; i < node->nr_untried;
         i++) { /* insertion sort: stable, and lists are short */
        struct search_move move = node->untried[i];
        unsigned j = i;

        for (; j > 0 && node->untried[j - 1].prior < move.prior; j--) {
            node->untried[j] = node->untried[j - 1];
        }
        node->untried[j] = move;
    }
}

static void record_best(struct search *search, int64_t number)
{
    const struct search_node *nodes = search->nodes;

    if (search->best < 0 || nodes[number].reward > nodes[search->best].reward) {
        search->best = number;
    }
    if (search->options.arms_converge && nodes[number].arm == 0) {
        return;
    }
    search->best_after = search_grow(search->best_after, &search->cap_best_after,
        search->nr_best_after + 1, sizeof(*search->best_after));
    search->best_after[search->nr_best_after++] = nodes[search->best].reward;
}

static void add_value(struct search_node *node, double reward)
{
    node->best = node->nr_values == 0 || reward > node->best ? reward : node->best;
    node->sum += reward;
    node->nr_values++;
}

/* The outcome of a node goes up to the root. A failure counts as a visit and has no value. */
static void back_up(struct search *search, int64_t number, bool ok, double reward)
{
    for (int64_t n = number; n >= 0; n = search->nodes[n].parent) {
        struct search_node *node = &search->nodes[n];

        search->nr_looks++;
        node->pending--;
        node->visits++;
        if (ok) {
            add_value(node, reward);
        }
    }
}

static double clipped(double reward)
{
    return fmin(fmax(reward, REWARD_MIN), REWARD_MAX);
}

static void settle(struct search *search, int64_t number, const struct search_outcome *outcome)
{
    struct search_node *node = &search->nodes[number];
    struct search_node *parent = node->parent >= 0 ? &search->nodes[node->parent] : NULL;
    bool ok = outcome->ok && !isnan(outcome->reward);

    if (ok) {
        node->state = NODE_OK;
        node->reward = clipped(outcome->reward);
        take_moves(search, number, outcome);
    } else {
        node->state = NODE_FAILED;
    }
    if (parent) {
        parent->nr_pending--;
        parent->nr_ok += ok;
        parent->nr_failed += !ok;
        if (outcome->closes && node->arm > 0) {
            parent->closed_arms |= (uint8_t)(1u << node->arm);
        }
        search_kind_told(search, node->kind, ok, ok ? node->reward - parent->reward : 0);
    }
    back_up(search, number, ok, node->reward);
    search_arms_told(search, node, ok);
    if (ok) {
        record_best(search, number);
        search_opened(search, number);
    }
    if (ok && search->policy->told) {
        search->policy->told(search, number);
    }
    if (parent) {
        search_judge(search, node->parent);
    }
}

void search_add_root(struct search *search, const struct search_outcome *outcome)
{
    if (search->nr_nodes == 0) {
        settle(search, add_node(search, -1, &(struct search_move){.prior = 1}), outcome);
    }
}

/* Of all subtrees, and what the policy knows. */
static void count_anew(struct search *search)
{
    search->best = -1;
    search->nr_best_after = 0;
    search->nr_layers = 0;
    memset(&search->ranks, 0, sizeof(search->ranks));
    for (size_t i = 0; i < search->nr_nodes; i++) {
        search->nodes[i].sum = 0;
        search->nodes[i].best = 0;
        search->nodes[i].nr_values = 0;
    }
    for (size_t i = 0; i < search->nr_nodes; i++) {
        const struct search_node *told = &search->nodes[i];

        if (told->state != NODE_OK) {
            continue;
        }
        for (int64_t n = (int64_t)i; n >= 0; n = search->nodes[n].parent) {
            add_value(&search->nodes[n], told->reward);
        }
        if (search->best < 0 || told->reward > search->nodes[search->best].reward) {
            search->best = (int64_t)i;
        }
        if (search->policy->told) {
            search->policy->told(search, (int64_t)i);
        }
    }
}

void search_revise(struct search *search, int64_t number, bool ok, double reward)
{
    if (number <= 0 || (size_t)number >= search->nr_nodes ||
        search->nodes[number].state != NODE_OK) {
        return;
    }
    struct search_node *node = &search->nodes[number], *parent = &search->nodes[node->parent];

    search_shut(search, number);
    if (ok) {
        node->state = NODE_OK;
        node->reward = clipped(reward);
    } else {
        parent->nr_ok--;
        parent->nr_failed++;
    }
    search_kind_told(search, node->kind, ok, ok ? node->reward - parent->reward : 0);
    count_anew(search);
    search_reopened(search, number);
    search_judge(search, node->parent);
}

/* Takes the move out of those that the node offers; the others keep their order. */
static struct search_move give_out(struct search_node *node, unsigned chosen)
{
    struct search_move move = node->untried[chosen];

    node->nr_tried++;
    node->nr_untried--;
    memmove(&node->untried[chosen], &node->untried[chosen + 1],
        (node->nr_untried - chosen) * sizeof(*node->untried));
    if (node->nr_untried == 0) {
        free(node->untried);
        node->untried = NULL;
    }
    return move;
}

bool search_ask(struct search *search, struct search_pick *pick)
{
    return search_ask_for(search, SEARCH_ALL, pick);
}

bool search_ask_for(struct search *search, enum search_moves moves, struct search_pick *pick)
{
    int64_t parent = 0;
    unsigned chosen = 0;

    search->wanted = moves;
    if (!search_anything_open(search)) {
        return false;
    }
    search->rng = search_seeded(search->options.seed, 2 * search->nr_asked++);
    if (!search_soon_choose(search, &parent, &chosen) &&
        !search_arms_choose(search, &parent, &chosen)) {
        search->policy->choose(search, &parent, &chosen);
    }
    search->nr_without_arm += moves == SEARCH_WITHOUT_ARM;
    struct search_move move = give_out(&search->nodes[parent], chosen);

    search_arms_asked(search, &search->nodes[parent], &move);
    search_judge(search, parent);
    *pick = (struct search_pick){.parent = parent, .move = move.id};
    pick->node = add_node(search, parent, &move);
    return true;
}

bool search_follow(
    struct search *search, int64_t parent, const struct search_move *move, struct search_pick *pick)
{
    if (parent < 0 || (size_t)parent >= search->nr_nodes ||
        search->nodes[parent].state != NODE_OK) {
        return false;
    }
    struct search_move follows = *move;

    follows.kind = search_kind(search, move->kind);
    search_arms_asked(search, &search->nodes[parent], move);
    search_judge(search, parent);
    *pick = (struct search_pick){.parent = parent, .move = move->id};
    pick->node = add_node(search, parent, &follows);
    return true;
}

void search_tell(
    struct search *search, const struct search_pick *pick, const struct search_outcome *outcome)
{
    if (pick->node <= 0 || (size_t)pick->node >= search->nr_nodes ||
        search->nodes[pick->node].state != NODE_PENDING) {
        return; /* told twice, or never asked: the first outcome stands */
    }
    settle(search, pick->node, outcome);
}

int64_t search_best(const struct search *search, double *reward)
{
    int64_t best = search->best < 0 ? 0 : search->best;

    if (reward) {
        *reward = search->best < 0 ? 0 : search->nodes[best].reward;
    }
    return best;
}

bool search_converged(const struct search *search, unsigned window, double min_gain)
{
    size_t nr = search->nr_best_after;

    if (window == 0 || nr < (size_t)window + 1) {
        return false;
    }
    return search->best_after[nr - 1] - search->best_after[nr - 1 - window] < min_gain;
}

struct search_node_info search_node(const struct search *search, int64_t number)
{
    if (number < 0 || (size_t)number >= search->nr_nodes) {
        return (struct search_node_info){.parent = -1};
    }
    const struct search_node *node = &search->nodes[number];
    struct search_node_info info = {.parent = node->parent,
        .visits = node->visits,
        .children = node->nr_ok + node->nr_failed + node->nr_pending,
        .dead = search_node_dead(search, node)};

    if (node->nr_values > 0) {
        double share = search->options.best_share;

        info.value = (1 - share) * node->sum / node->nr_values + share * node->best;
    }
    return info;
}
