/* Owns the other kinds of feedback, which take an explanation's place in experiments on its worth.
 */
#include "explain/tool.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

enum { MAX_MOVES = 5 };

/* The moves that a metric's name suggests. The first row whose word is in the name counts; a metric
 * that no row fits suggests nothing. */
static const struct {
    const char *word;
    enum action moves[MAX_MOVES];
    unsigned nr;
} families[] = {
    {"tensor", {ACTION_TENSOR_CORES}, 1},
    {"atom", {ACTION_PRIVATIZE, ACTION_SHUFFLE_REDUCE}, 2},
    {"shuffle", {ACTION_SHUFFLE_REDUCE}, 1},
    {"barrier", {ACTION_SHUFFLE_REDUCE, ACTION_BLOCK_SHAPE}, 2},
    {"bank_conflicts", {ACTION_PAD_SHARED}, 1},
    {"shared", {ACTION_SHARED_TILE, ACTION_PAD_SHARED}, 2},
    {"local", {ACTION_LAUNCH_BOUNDS}, 1},
    {"spill", {ACTION_LAUNCH_BOUNDS}, 1},
    {"registers", {ACTION_LAUNCH_BOUNDS, ACTION_REGISTER_TILE}, 2},
    {"long_scoreboard", {ACTION_SHARED_TILE, ACTION_ASYNC_COPY, ACTION_COARSEN}, 3},
    {"global", {ACTION_VECTORIZE, ACTION_SWAP_XY, ACTION_READ_ONLY, ACTION_SHARED_TILE}, 4},
    {"l1tex", {ACTION_SHARED_TILE, ACTION_READ_ONLY, ACTION_BLOCK_SHAPE}, 3},
    {"lts", {ACTION_SHARED_TILE, ACTION_BLOCK_SHAPE}, 2},
    {"dram", {ACTION_VECTORIZE, ACTION_FUSE, ACTION_SHARED_TILE}, 3},
    {"grid_size", {ACTION_GRID_STRIDE, ACTION_SPLIT_WORK, ACTION_PARALLEL_REDUCE}, 3},
    {"warps_launched", {ACTION_GRID_STRIDE, ACTION_SPLIT_WORK, ACTION_PARALLEL_REDUCE}, 3},
    {"waves", {ACTION_GRID_STRIDE, ACTION_SPLIT_WORK, ACTION_PARALLEL_REDUCE}, 3},
    {"occupancy", {ACTION_BLOCK_SHAPE, ACTION_LAUNCH_BOUNDS, ACTION_TUNE}, 3},
    {"block_size", {ACTION_BLOCK_SHAPE, ACTION_TUNE}, 2},
    {"warps", {ACTION_BLOCK_SHAPE, ACTION_LAUNCH_BOUNDS}, 2},
    {"branch", {ACTION_UNROLL, ACTION_HOIST}, 2},
    {"control", {ACTION_UNROLL, ACTION_HOIST}, 2},
    {"integer", {ACTION_HOIST, ACTION_UNROLL, ACTION_COARSEN}, 3},
    {"alu", {ACTION_HOIST, ACTION_UNROLL}, 2},
    {"fp16", {ACTION_TENSOR_CORES, ACTION_VECTORIZE}, 2},
    {"fp32", {ACTION_REGISTER_TILE, ACTION_FAST_MATH}, 2},
    {"fp64", {ACTION_FAST_MATH}, 1},
    {"fma", {ACTION_REGISTER_TILE, ACTION_FAST_MATH}, 2},
    {"flops", {ACTION_REGISTER_TILE, ACTION_FAST_MATH}, 2},
    {"special", {ACTION_FAST_MATH}, 1},
    {"xu", {ACTION_FAST_MATH}, 1},
    {"conversion", {ACTION_FAST_MATH}, 1},
    {"memory", {ACTION_VECTORIZE, ACTION_COARSEN}, 2},
    {"short_scoreboard", {ACTION_SHUFFLE_REDUCE, ACTION_FAST_MATH}, 2},
    {"mio", {ACTION_SHUFFLE_REDUCE, ACTION_REGISTER_TILE}, 2},
    {"stalled", {ACTION_UNROLL, ACTION_COARSEN}, 2},
    {"inst", {ACTION_UNROLL, ACTION_COARSEN, ACTION_HOIST}, 3},
    {"issue", {ACTION_UNROLL, ACTION_COARSEN}, 2},
};

bool feedback_parse(const char *name, enum feedback *feedback)
{
    static const char *const names[] = {"findings", "none", "counters", "generic"};

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            *feedback = (enum feedback)i;
            return true;
        }
    }
    return false;
}

static struct advice advice_of_counters(const struct candidate *c)
{
    const struct counters *n = &c->profile.total;
    struct advice advice = {.times = true};

    for (int m = 0; m < NR_METRICS; m++) {
        const char *name = metric_name((enum metric)m);
        double says = log2(1 + fmax(counters_get(n, (enum metric)m), 0));
        unsigned f = 0;

        while (f < ARRAY_SIZE(families) && !strstr(name, families[f].word)) {
            f++;
        }
        if (f == ARRAY_SIZE(families) || !counters_has(n, (enum metric)m) ||
            metric_is_cure((enum metric)m)) {
            continue;
        }
        for (unsigned i = 0; i < families[f].nr; i++) {
            advice.asked[families[f].moves[i]] += says / families[f].nr;
        }
    }
    return advice;
}

static const char *list_counters(const struct candidate *c)
{
    struct str out = {0};
    const char *text;

    str_add(&out, "Counters of the profile:");
    for (int m = 0; m < NR_METRICS; m++) {
        const struct counter *counter = &c->profile.total.metric[m];

        if (counter->from != PROV_ABSENT && !metric_is_cure((enum metric)m)) {
            str_addf(&out, "\n%s = %.6g %s (%s)", metric_name((enum metric)m), counter->value,
                metric_unit((enum metric)m), provenance_name(counter->from));
        }
    }
    text = arena_strdup(c->arena, str_text(&out));
    str_finish(&out);
    return text;
}

static const char generic_text[] =
    "Advice for any kernel: let neighbouring threads touch neighbouring addresses; read each value "
    "from memory once and reuse it from shared memory or registers; give every multiprocessor "
    "enough blocks and warps to hide latency; let threads of a warp take the same branch; use wide "
    "loads and stores; avoid bank conflicts, atomics on one address, and needless barriers; use "
    "tensor cores for matrix products and intrinsics where accuracy allows.";

/* A finding holds its text and points to the static name of its tool, so the donor may go away. */
static void copy_findings(struct candidate *c, const struct explanation *other)
{
    struct explanation *e = &c->explanation;

    e->bound = other->bound;
    e->confidence = other->confidence;
    e->summary = arena_strdup(c->arena, other->summary ? other->summary : "");
    e->nr_findings = other->nr_findings;
    e->findings = arena_array(c->arena, other->nr_findings + 1u, sizeof(*e->findings));
    for (unsigned i = 0; i < other->nr_findings; i++) {
        e->findings[i] = other->findings[i];
        e->findings[i].tool = arena_strdup(c->arena, other->findings[i].tool);
    }
}

void explain_instead(enum feedback feedback, const struct candidate *other, struct candidate *c)
{
    struct advice advice = {.lines = false};

    if (feedback == FEEDBACK_FINDINGS || c->verdict != VERDICT_OK) {
        return;
    }
    c->explanation = (struct explanation){
        .roofline_ns = c->explanation.roofline_ns, .summary = "", .unexamined = ""};
    switch (feedback) {
    case FEEDBACK_COUNTERS:
        advice = advice_of_counters(c);
        c->explanation.summary = list_counters(c);
        break;
    case FEEDBACK_GENERIC:
        c->explanation.summary = generic_text;
        break;
    case FEEDBACK_OTHER:
        copy_findings(c, &other->explanation);
        advice = advice_of_findings(other);
        advice.times = false;
        break;
    default:
        priors_uniform(c);
        return;
    }
    priors_fill(c, &advice);
}
