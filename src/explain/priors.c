/* Owns the way from findings to the priors of the moves that can be tried next. */
#include "explain/tool.h"

#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The share of the findings in the weight of a move; the rest is its general usefulness. */
static const double FINDINGS_SHARE = 0.75;
/* The factor for a variant at the line that a finding names, against other variants of the move. */
static const double AT_THE_LINE = 2.5;
/* Later variants are less likely to be the best: rewriters list the usual choice first, and each
 * variant of the tuner is one more point that it chooses when its turn comes. */
static const double VARIANT_DECAY = 0.25;
/* Against these, a variant of the tuner that names its value, in an order that says nothing: what
 * the findings say of its direction must speak for it. */
static const double NAMED_VALUE = 0.25;
/* The factor for the move that was just made, where it rarely helps a second time. */
static const double AGAIN = 0.3;
/* The factor for tuning after a move that brought new parameters. */
static const double NEW_PARAMETERS = 2.5;

/* General usefulness of a move where it applies at all. From the published shares of rounds that
 * gained over 1.5x (spills 18%, occupancy 13%, tiling 9%, coalescing 6%, vectorisation 4% of
 * rounds, KernelPro) and from what the moves can reach: tiling and parallel reduction change the
 * order of the work, hints to the compiler do not. */
static const double usefulness[NR_ACTIONS] = {
    [ACTION_TUNE] = 1.5,
    [ACTION_BLOCK_SHAPE] = 1.5,
    [ACTION_SWAP_XY] = 0.7,
    [ACTION_READ_ONLY] = 1.2, /* lets the compiler move loads over stores */
    [ACTION_VECTORIZE] = 2,
    [ACTION_UNROLL] = 0.8,
    [ACTION_COARSEN] = 2.5,
    [ACTION_SHARED_TILE] = 3,
    [ACTION_REGISTER_TILE] = 3.5,
    [ACTION_PAD_SHARED] = 0.7,
    [ACTION_SHUFFLE_REDUCE] = 2,
    [ACTION_LAUNCH_BOUNDS] = 0.4,
    [ACTION_GRID_STRIDE] = 0.7,
    [ACTION_HOIST] = 0.8,
    [ACTION_FAST_MATH] = 1,
    [ACTION_PARALLEL_REDUCE] = 4,
    [ACTION_PRIVATIZE] = 3,
    [ACTION_FUSE] = 2,
    [ACTION_ASYNC_COPY] = 1,
    [ACTION_TENSOR_CORES] = 10, /* over ten times the rate; it stages the tiles too */
    [ACTION_SPLIT_WORK] = 1.5,
    [ACTION_WGMMA] = 30,        /* the chip's full rate */
    [ACTION_TENSOR_COPY] = 1.5, /* by a model only, as the three below */
    [ACTION_WARP_SPECIALIZE] = 1.5,
    [ACTION_CLUSTER] = 1,
    [ACTION_PERSISTENT] = 1.5,
    [ACTION_ATTENTION] = 30, /* three launches, and their scores stay on the chip */
};

static bool repeats_badly(enum action action)
{
    switch (action) {
    case ACTION_BLOCK_SHAPE:
    case ACTION_SWAP_XY:
    case ACTION_READ_ONLY:
    case ACTION_LAUNCH_BOUNDS:
    case ACTION_GRID_STRIDE:
    case ACTION_FAST_MATH:
    case ACTION_UNROLL:
        return true;
    default:
        return false;
    }
}

/* The line that an option's description names ("unroll the loop at line 12 by 4"); 0 when none. */
static unsigned option_line(const struct option *option)
{
    const char *at = option->what ? strstr(option->what, "line ") : NULL;

    return at ? (unsigned)strtoul(at + strlen("line "), NULL, 10) : 0;
}

/* A finding names a line in the body of a loop, an option names the head of the loop. The finding
 * means the option with the last head at or before its line. */
static bool is_meant(const struct candidate *c, const struct option *option, unsigned line)
{
    unsigned own = option_line(option);

    if (own == 0 || own > line) {
        return false;
    }
    for (unsigned i = 0; i < c->nr_options; i++) {
        unsigned other = option_line(&c->options[i]);

        if (c->options[i].action == option->action && other > own && other <= line) {
            return false;
        }
    }
    return true;
}

/* Does the description name this kernel, as a whole word? Template arguments are not written. */
static bool names_kernel(const struct option *option, const char *kernel)
{
    const char *what = option->what ? option->what : "";

    return str_find_word(what, what + strlen(what), kernel, strcspn(kernel, "<")) != NULL;
}

/* The share of the time of those kernels that the option changes; 1 when it names none. */
static double time_at_stake(
    const struct candidate *c, const struct option *option, const struct advice *advice)
{
    const struct profile *profile = &c->profile;
    double named = 0, all = 0;
    bool any = false;

    if (!advice->times || !c->profiled || profile->nr_launches < 2) {
        return 1;
    }
    for (unsigned i = 0; i < profile->nr_launches; i++) {
        double time = counters_get(&profile->launches[i], METRIC_TIME_NS);

        all += time;
        if (profile->configs[i].kernel && names_kernel(option, profile->configs[i].kernel)) {
            any = true;
            named += time;
        }
    }
    return any && all > 0 ? named / all : 1;
}

/* The largest share of the time that a variant of a move could change; negative: the move is not
 * offered. */
static double best_stake(const struct candidate *c, enum action action, const struct advice *advice)
{
    double best = -1;

    for (unsigned i = 0; i < c->nr_options; i++) {
        if (c->options[i].action == action) {
            best = fmax(best, time_at_stake(c, &c->options[i], advice));
        }
    }
    return best;
}

/* A move that has just brought new parameters calls for their tuning. */
static bool brings_parameters(enum action action)
{
    return action == ACTION_SHARED_TILE || action == ACTION_REGISTER_TILE ||
           action == ACTION_PARALLEL_REDUCE || action == ACTION_COARSEN ||
           action == ACTION_PRIVATIZE || action == ACTION_TENSOR_CORES || action == ACTION_WGMMA ||
           action == ACTION_ATTENTION;
}

/* A move that makes another on its way. Where the whole is offered, advice for the part is advice
 * for the whole: a product whose operands are read too often is staged by tensor_cores, too, and
 * the parts would have to be undone before it. `kept` of the advice stays with the part. */
static const struct {
    enum action whole, part;
    double kept;
} includes[] = {
    {ACTION_REGISTER_TILE, ACTION_SHARED_TILE, 0.25},
    {ACTION_TENSOR_CORES, ACTION_SHARED_TILE, 0.5},
    {ACTION_TENSOR_CORES, ACTION_REGISTER_TILE, 0.5},
    {ACTION_TENSOR_CORES, ACTION_ASYNC_COPY, 0.5},
    {ACTION_WGMMA, ACTION_TENSOR_CORES, 0.25},
    {ACTION_ATTENTION, ACTION_TENSOR_CORES, 0.25},
    {ACTION_ATTENTION, ACTION_PARALLEL_REDUCE, 0.25},
};

static void give_to_whole(const struct candidate *c, const struct advice *advice, double *asked)
{
    for (size_t i = 0; i < sizeof includes / sizeof includes[0]; i++) {
        const double part = asked[includes[i].part];

        if (best_stake(c, includes[i].whole, advice) >= 0) {
            asked[includes[i].part] = includes[i].kept * part;
            asked[includes[i].whole] += (1 - includes[i].kept) * part;
        }
    }
}

/* Weights per move, summing to 1 over the offered moves: the advice of the findings, blended with
 * general usefulness. When the move with the most advice is not on offer, the advice counts less.
 */
static void weigh_moves(
    const struct candidate *c, const struct advice *advice, double weights[NR_ACTIONS])
{
    double asked[NR_ACTIONS], sum_asked = 0, sum_offered = 0, sum_useful = 0;

    memcpy(asked, advice->asked, sizeof(asked));
    give_to_whole(c, advice, asked);
    for (int a = 0; a < NR_ACTIONS; a++) {
        double stake = best_stake(c, (enum action)a, advice), fit = 1;

        if (c->option.action == (enum action)a && repeats_badly((enum action)a)) {
            fit = AGAIN;
        } else if (a == ACTION_TUNE && brings_parameters(c->option.action)) {
            fit = NEW_PARAMETERS;
        }
        /* A tenth of the weight stays even where next to no time is at stake. */
        fit *= stake < 0 ? 0 : 0.1 + 0.9 * stake;
        fit *= 1 - advice->doubt[a];
        sum_asked += asked[a];
        asked[a] *= fit;
        weights[a] = usefulness[a] * fit;
        sum_offered += asked[a];
        sum_useful += weights[a];
    }
    double share = 0;

    if (sum_offered > 0) {
        share = FINDINGS_SHARE * fmin(2 * sum_offered / sum_asked, 1);
    }
    for (int a = 0; a < NR_ACTIONS; a++) {
        weights[a] = (1 - share) * weights[a] / sum_useful;
        weights[a] += share > 0 ? share * asked[a] / sum_offered : 0;
    }
}

/* A move's weight is split over its variants. */
static double variant_weight(const struct candidate *c, unsigned index, const struct advice *advice)
{
    const struct option *option = &c->options[index];
    unsigned earlier = 0;
    double weight;

    const bool named = option->action == ACTION_TUNE && option->variant >= TUNE_FIRST_NAMED;

    for (unsigned i = 0; i < index && !named; i++) {
        earlier += c->options[i].action == option->action;
    }
    weight = (0.1 + 0.9 * time_at_stake(c, option, advice)) / (1 + VARIANT_DECAY * earlier);
    weight *= named ? NAMED_VALUE : 1;
    weight *= advice_direction(c, option, advice);
    for (unsigned i = 0; advice->lines && i < c->explanation.nr_findings; i++) {
        const struct finding *finding = &c->explanation.findings[i];

        for (unsigned k = 0; k < finding->nr_weights; k++) {
            if (finding->weights[k].action == option->action &&
                is_meant(c, option, finding->line)) {
                return weight * AT_THE_LINE;
            }
        }
    }
    return weight;
}

void priors_uniform(struct candidate *c)
{
    for (unsigned i = 0; i < c->nr_options; i++) {
        c->options[i].prior = 1.0f / (float)c->nr_options;
    }
}

void priors_fill(struct candidate *c, const struct advice *advice)
{
    double weights[NR_ACTIONS], variants[NR_ACTIONS] = {0}, sum = 0;

    if (c->nr_options == 0) {
        return;
    }
    weigh_moves(c, advice, weights);
    for (unsigned i = 0; i < c->nr_options; i++) {
        double weight = variant_weight(c, i, advice);

        variants[c->options[i].action] += weight;
        c->options[i].prior = (float)weight;
    }
    for (unsigned i = 0; i < c->nr_options; i++) {
        enum action action = c->options[i].action;

        c->options[i].prior *= (float)(weights[action] / variants[action]);
        c->options[i].prior = fmaxf(c->options[i].prior, 1e-4f); /* never out of reach */
        sum += (double)c->options[i].prior;
    }
    for (unsigned i = 0; i < c->nr_options; i++) {
        c->options[i].prior = (float)((double)c->options[i].prior / sum);
    }
}
