/* Owns the runs of a kernel with other code, sizes, other parameters and other contents. */
#include "cli/what_if.h"

#include "base/mem.h"
#include "base/str.h"
#include "cli/load_task.h"
#include "cli/run_moves.h"
#include "explain/launch_groups.h"
#include "explain/limits.h"
#include "explain/views/views.h"
#include "report/report.h"

#include <jansson.h>
#include <string.h>

enum {
    LEAST_VALUE = 32,
    MOST_VALUE = 1 << 25,
    MOST_SIZES = 4,
    MOST_TUNES = 4,
    MOST_ARRAYS = 3,
    MOST_GROUPS = 8,
    UNITS_SHOWN = 4
};

struct other_runs {
    struct workbench *bench;
    const struct candidate *c;
    uint64_t seed;
    struct what_if *out;
    struct arena *arena;
};

static bool run_candidate(struct other_runs *a, const struct task *task, struct candidate *c,
    const char *change, const char *source, struct err *err)
{
    if (a->out->nr == WHAT_IF_RUNS)
        return true;
    if (!workbench_time(a->bench, task, c, err))
        return false;
    if (c->verdict == VERDICT_OK && c->profile.time_ns > 0)
        a->out->runs[a->out->nr++] = (struct what_if_run){change, &c->profile, source};
    return true;
}

static bool run_once(
    struct other_runs *a, const struct task *task, const char *change, struct err *err)
{
    struct candidate *c = arena_alloc(a->arena, sizeof(*c));

    candidate_begin(c, a->arena, task, a->seed);
    return run_candidate(a, task, c, change, NULL, err);
}

/* ---- sizes and parameters ---- */

static const char *with_number(const struct other_runs *a, const char *name, int64_t value)
{
    return task_with_value(
        a->arena, a->c->task->source, name, arena_printf(a->arena, "%lld", (long long)value));
}

/* The task with a plain number of its size or tune lines, `now`, at another value: one that follows
 * from others stays tied to them. */
static bool number_at(
    const struct other_runs *a, const char *name, int64_t now, int64_t value, struct task *changed)
{
    const struct task *task = a->c->task;
    const char *same = with_number(a, name, now), *source = with_number(a, name, value);
    struct err ignored;

    return same && strcmp(same, task->source) == 0 &&
           task_parse(changed, a->arena, task->path, source, strlen(source), &ignored);
}

static bool try_sizes(struct other_runs *a, struct err *err)
{
    static const struct {
        int64_t times, over, most; /* of the size as it is */
        const char *name;
    } factors[] = {{3, 32, MOST_VALUE, "3/32"}, {3, 8, MOST_VALUE, "3/8"}, {3, 1, MOST_VALUE, "3"},
        {12, 1, 2048, "12"}};
    const struct task *task = a->c->task;
    bool ok = true;

    for (size_t i = 0; i < task->timed.sizes.nr && i < MOST_SIZES; i++) {
        const struct binding *size = &task->timed.sizes.bindings[i];

        for (size_t k = 0; ok && k < ARRAY_SIZE(factors); k++) {
            const int64_t value = size->value * factors[k].times / factors[k].over;
            struct task *changed = arena_alloc(a->arena, sizeof(*changed));

            if (size->value <= factors[k].most && value >= LEAST_VALUE && value <= MOST_VALUE &&
                number_at(a, size->name, size->value, value, changed))
                ok = run_once(a, changed,
                    arena_printf(a->arena, "%s = %lld (%s times)", size->name, (long long)value,
                        factors[k].name),
                    err);
        }
    }
    return ok;
}

/* The next of a parameter's values above (or below) the chosen one; the chosen one: there is none.
 */
static int64_t neighbour(const struct tune *tune, bool above)
{
    int64_t next = tune->value;

    for (unsigned i = 0; i < tune->nr_choices; i++) {
        const int64_t value = tune->choices[i];

        if (above ? value > tune->value : value < tune->value)
            if (next == tune->value || (above ? value < next : value > next))
                next = value;
    }
    return next;
}

static bool try_tunes(struct other_runs *a, struct err *err)
{
    const struct plan *plan = &a->c->task->plan;
    bool ok = true;

    for (unsigned i = 0; i < plan->nr_tunes && i < MOST_TUNES; i++) {
        const struct tune *tune = &plan->tunes[i];

        for (int above = 0; ok && above < 2; above++) {
            const int64_t value = neighbour(tune, above);
            struct task *changed = arena_alloc(a->arena, sizeof(*changed));

            if (value != tune->value && number_at(a, tune->name, tune->value, value, changed))
                ok = run_once(a, changed,
                    arena_printf(a->arena, "%s = %lld, not %lld", tune->name, (long long)value,
                        (long long)tune->value),
                    err);
        }
    }
    return ok;
}

/* ---- contents ---- */

static int64_t bound(const struct expr *expr, double value, const struct env *env)
{
    struct err ignored;
    int64_t out = (int64_t)value;

    return expr && !expr_eval(expr, env, &out, &ignored) ? 0 : out;
}

static bool is_integer(enum elem elem)
{
    return elem == ELEM_I32 || elem == ELEM_U32 || elem == ELEM_I64 || elem == ELEM_U64 ||
           elem == ELEM_I8 || elem == ELEM_U8;
}

static bool with_contents(
    struct other_runs *a, unsigned array, struct gen gen, const char *words, struct err *err)
{
    struct task *task = arena_alloc(a->arena, sizeof(*task));
    struct task_array *arrays;

    *task = *a->c->task;
    arrays = arena_array(a->arena, task->nr_arrays, sizeof(*arrays));
    memcpy(arrays, a->c->task->arrays, task->nr_arrays * sizeof(*arrays));
    arrays[array].gen = gen;
    task->arrays = arrays;
    return run_once(a, task, arena_printf(a->arena, "%s = %s", arrays[array].name, words), err);
}

/* Of several numbers, and not so wide that their number is beyond an int64_t. */
static bool is_range(int64_t low, int64_t high)
{
    return low < high && (low >= 0 ? high < INT64_MAX : high < INT64_MAX + low);
}

/* Contents of a name and two whole arguments. */
static bool with_range(struct other_runs *a, unsigned array, enum gen_kind kind, const char *name,
    int64_t low, int64_t high, const char *words, struct err *err)
{
    return with_contents(a, array, (struct gen){.kind = kind, .a = (double)low, .b = (double)high},
        arena_printf(a->arena, "%s(%lld, %lld), %s", name, (long long)low, (long long)high, words),
        err);
}

/* Of the lowest part of the range alone. */
static bool try_parts(struct other_runs *a, unsigned i, int64_t low, int64_t high, struct err *err)
{
    static const struct {
        int64_t nr;
        const char *words;
    } parts[] = {{4, "a quarter of the range"}, {64, "a 64th of the range"},
        {1024, "a 1024th of the range"}};
    bool ok = true;

    for (size_t k = 0; ok && k < ARRAY_SIZE(parts); k++) {
        const int64_t top = low + (high - low + 1) / parts[k].nr - 1;

        ok = top <= low + 1 ||
             with_range(a, i, GEN_INTEGERS, "integers", low, top, parts[k].words, err);
    }
    return ok;
}

static bool try_integers(
    struct other_runs *a, unsigned i, int64_t low, int64_t high, struct err *err)
{
    const int64_t middle = low + (high - low) / 2;

    return with_range(a, i, GEN_SORTED, "sorted", low, high, "in rising order", err) &&
           with_range(a, i, GEN_NEARLY_SORTED, "nearly_sorted", low, high,
               "each up to a 64th of the range off", err) &&
           with_contents(a, i, (struct gen){.kind = GEN_CONSTANT, .a = (double)middle},
               arena_printf(a->arena, "constant(%lld), all the same", (long long)middle), err) &&
           try_parts(a, i, low, high, err) &&
           with_range(a, i, GEN_SKEWED, "skewed", low, high,
               "80% in the lowest fifth, 80% of these in its lowest fifth, and so on", err);
}

static bool try_array(struct other_runs *a, unsigned i, const struct env *env, struct err *err)
{
    const struct task_array *array = &a->c->task->arrays[i];
    const struct gen *gen = &array->gen;
    const int64_t low = bound(gen->a_int, gen->a, env), high = bound(gen->b_int, gen->b, env);
    const struct gen runs = {.kind = GEN_RUNS, .a = 8};
    const char *in_runs = "runs(8), successive numbers in eights, the eights in an order by lot";
    struct err ignored;
    uint64_t nr = 0;

    switch (gen->kind) {
    case GEN_INTEGERS:
        return !is_range(low, high) || try_integers(a, i, low, high, err);
    case GEN_SORTED:
        if (!array_elems(array, env, &nr, &ignored) || nr < 2 || !is_range(low, high))
            return true;
        return with_range(a, i, GEN_IOTA, "iota", low, (high - low) / (int64_t)(nr - 1),
                   "evenly spaced", err) &&
               with_range(a, i, GEN_SORTED_SKEWED, "sorted_skewed", low, high,
                   "80% of the rise in the last fifth, and so on", err);
    case GEN_PERMUTATION:
        return with_contents(a, i, (struct gen){.kind = GEN_IOTA, .b = 1},
                   "iota(), which is 0, 1, 2, ...", err) &&
               with_contents(a, i, runs, in_runs, err);
    case GEN_IOTA:
        return low != 0 || high != 1 ||
               (with_contents(a, i, (struct gen){.kind = GEN_PERMUTATION},
                    "permutation(), an order by lot", err) &&
                   with_contents(a, i, runs, in_runs, err));
    default:
        return true;
    }
}

static bool try_contents(struct other_runs *a, struct err *err)
{
    const struct task *task = a->c->task;
    const struct env env = plan_env(a->arena, &task->plan, &task->timed);
    unsigned nr = 0;
    bool ok = true;

    for (unsigned i = 0; ok && i < task->nr_arrays && nr < MOST_ARRAYS; i++) {
        const struct task_array *array = &task->arrays[i];

        if (array->role == ROLE_IN && !array->record && is_integer(array->elem)) {
            ok = try_array(a, i, &env, err);
            nr++;
        }
    }
    return ok;
}

/* ---- moves ---- */

static bool try_moves(struct other_runs *a, struct err *err)
{
    struct moves_asked *moves = arena_alloc(a->arena, sizeof(*moves));
    bool ok;

    moves->nr = 0;
    ok = a->c->explanation.nr_findings == 0 ||
         moves_asked(a->c, workbench_chip(a->bench), a->seed, moves, err);
    for (unsigned i = 0; ok && i < moves->nr; i++) {
        struct candidate *made = &moves->items[i].made;

        ok = run_candidate(a, a->c->task, made,
            arena_printf(a->arena, "the move %s for %s (%s)", action_name(made->option.action),
                moves->items[i].tool, made->option.what),
            made->source, err);
    }
    return ok;
}

bool what_if_run(struct workbench *bench, const struct candidate *c, uint64_t seed,
    struct what_if *out, struct err *err)
{
    struct other_runs a = {.bench = bench, .c = c, .seed = seed, .out = out, .arena = c->arena};

    return try_moves(&a, err) && try_sizes(&a, err) && try_tunes(&a, err) && try_contents(&a, err);
}

/* ---- what they show ---- */

static double get(const struct profile *profile, enum metric metric)
{
    return counters_get(&profile->total, metric);
}

/* The busiest units, at most so many, the busiest first. */
static void add_units(struct str *out, const struct counters *n, unsigned nr)
{
    static const enum metric units[] = {METRIC_DRAM_PCT, METRIC_L2_PCT, METRIC_LSU_PCT,
        METRIC_ISSUE_PCT, METRIC_FMA_PCT, METRIC_ALU_PCT, METRIC_FP64_PCT, METRIC_XU_PCT,
        METRIC_TENSOR_PCT};
    bool done[ARRAY_SIZE(units)] = {false};

    for (unsigned k = 0; k < nr; k++) {
        size_t most = ARRAY_SIZE(units);

        for (size_t i = 0; i < ARRAY_SIZE(units); i++)
            if (!done[i] && (most == ARRAY_SIZE(units) ||
                                counters_get(n, units[i]) > counters_get(n, units[most])))
                most = i;
        done[most] = true;
        str_addf(out, "%s%s %.3g%%", k ? ", " : "", limits_unit_name(units[most]),
            counters_get(n, units[most]));
    }
}

/* Of each kernel its share, its time, and its busiest unit. */
static void add_launches(struct str *out, const struct profile *profile, struct arena *arena)
{
    struct launch_group groups[MOST_GROUPS];
    const unsigned nr =
        profile->nr_launches > 1 ? launch_groups(profile, arena, groups, MOST_GROUPS, 0) : 0;

    for (unsigned i = 0; i < nr; i++) {
        const struct counters *longest = &profile->launches[groups[i].longest];

        str_addf(
            out, "%s%s %.1f%% (", i ? ", " : "; launches: ", groups[i].name, 100 * groups[i].share);
        report_time(out, counters_get(longest, METRIC_TIME_NS));
        str_add(out, ", ");
        add_units(out, longest, 1);
        str_add_char(out, ')');
    }
}

static void add_run(struct str *out, const struct profile *profile, const struct candidate *c)
{
    const double loads = get(profile, METRIC_GLOBAL_LD_REQUESTS);
    const double inst = get(&c->profile, METRIC_WARP_INST);

    report_time(out, profile->time_ns);
    str_addf(out, ", %.3g of the time now; ", profile->time_ns / c->profile.time_ns);
    add_units(out, &profile->total, UNITS_SHOWN);
    if (inst > 0)
        str_addf(out, "; instructions %.3g", get(profile, METRIC_WARP_INST) / inst);
    if (get(profile, METRIC_WARP_INST) > 0)
        str_addf(out, ", of %.3g lanes",
            get(profile, METRIC_THREAD_INST) / get(profile, METRIC_WARP_INST));
    if (loads > 0)
        str_addf(out, "; a load %.3g sectors", get(profile, METRIC_GLOBAL_LD_SECTORS) / loads);
    str_addf(out, "; L1 hits %.0f%%, L2 hits %.0f%%, DRAM %.3g MB", get(profile, METRIC_L1_HIT_PCT),
        get(profile, METRIC_L2_HIT_PCT), get(profile, METRIC_DRAM_BYTES) / 1e6);
    add_launches(out, profile, c->arena);
}

void what_if_print(
    const struct what_if *what, const struct candidate *c, struct str *out, bool markdown)
{
    if (what->nr == 0)
        return;
    str_add(out, markdown ? "\n### With other code, sizes, parameters and contents\n\n"
                          : "\nWith other code, sizes, parameters and contents\n");
    for (unsigned i = 0; i < what->nr; i++) {
        str_addf(out, markdown ? "- `%s`: " : "  %s: ", what->runs[i].change);
        add_run(out, what->runs[i].profile, c);
        str_add_char(out, '\n');
    }
}

json_t *what_if_json(const struct what_if *what)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < what->nr; i++) {
        const struct profile *profile = what->runs[i].profile;
        json_t *metrics = json_object();

        for (int m = 0; m < NR_METRICS; m++)
            if (counters_has(&profile->total, (enum metric)m) && !metric_is_cure((enum metric)m))
                json_object_set_new(
                    metrics, metric_name((enum metric)m), json_real(get(profile, (enum metric)m)));
        json_array_append_new(
            all, json_pack("{s:s, s:f, s:o, s:s*}", "change", what->runs[i].change, "time_ns",
                     profile->time_ns, "metrics", metrics, "source", what->runs[i].source));
    }
    return all;
}
