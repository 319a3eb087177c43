/* Owns tuning results: the variants that differ from the best in values of tuning parameters only,
 * as T4 and as a cache file of Kernel Tuner. */
#include "base/mem.h"
#include "export/export_input.h"
#include "report/json_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct tuned_variant {
    int64_t node;
    enum verdict verdict;
    const char *why;
    double time_ns, compile_ms; /* time 0: not profiled */
    const int64_t *values;      /* of the best variant's parameters, in the order of its plan */
};

struct variants {
    struct tuned_variant *of;
    size_t nr, cap;
};

static bool same_launches(const struct plan *a, const struct plan *b)
{
    if (a->nr_launches != b->nr_launches)
        return false;
    for (unsigned i = 0; i < a->nr_launches; i++) {
        if (strcmp(a->launches[i].text, b->launches[i].text) != 0)
            return false;
    }
    return true;
}

/* The plan's values for the best variant's parameters; NULL: the plan has other parameters. */
static const int64_t *values_of(const struct export_input *in, const struct plan *plan)
{
    int64_t *values = arena_array(in->arena, in->plan.nr_tunes + 1, sizeof(*values));

    if (plan->nr_tunes != in->plan.nr_tunes || !same_launches(plan, &in->plan))
        return NULL;
    for (unsigned i = 0; i < plan->nr_tunes; i++) {
        if (strcmp(plan->tunes[i].name, in->plan.tunes[i].name) != 0)
            return NULL;
        values[i] = plan->tunes[i].value;
    }
    return values;
}

static bool is_known(const struct variants *all, const int64_t *values, unsigned nr)
{
    for (size_t i = 0; i < all->nr; i++) {
        if (memcmp(all->of[i].values, values, nr * sizeof(*values)) == 0)
            return true;
    }
    return false;
}

static void add_variant(struct export_input *in, struct variants *all, const struct candidate *c)
{
    char *code = task_code(c->source, c->source_bytes);
    char *best = task_code(in->best->source, in->best->source_bytes);
    enum verdict verdict;
    struct plan plan;
    struct err why;
    const int64_t *values = NULL;

    /* Lines may move with the pragmas; blank lines mean nothing. */
    if (strcmp(code + strspn(code, " \n"), best + strspn(best, " \n")) == 0 &&
        plan_parse(&plan, &in->task, c->arena, c->source, c->source_bytes, &verdict, &why))
        values = values_of(in, &plan);
    if (values && !is_known(all, values, plan.nr_tunes)) {
        all->of = grow(all->of, &all->cap, all->nr + 1, sizeof(*all->of));
        all->of[all->nr++] = (struct tuned_variant){
            .node = c->node,
            .verdict = c->verdict,
            .why = c->verdict_text ? arena_strdup(in->arena, c->verdict_text) : "",
            .time_ns = c->verdict == VERDICT_OK && c->profiled ? c->profile.time_ns : 0,
            .compile_ms = c->compilation.compile_ms,
            .values = values,
        };
    }
    free(code);
    free(best);
}

static bool collect(struct export_input *in, struct variants *all, struct err *err)
{
    struct arena *scratch = arena_create();
    bool ok = true, found;

    *all = (struct variants){0};
    if (in->plan.nr_tunes == 0)
        ok = err_set(err,
            "%s: node %" PRId64 ", the best, has no tuning parameters, so there are no tuning "
            "results",
            in->page->db_path, in->best->node);
    for (size_t i = 0; ok && i < in->page->nr_nodes; i++) {
        struct candidate c = {.arena = scratch};

        ok = store_load_node(in->page->store, in->page->nodes[i].number, &c, &found, err);
        if (ok && found && c.source)
            add_variant(in, all, &c);
        arena_reset(scratch);
    }
    arena_destroy(scratch);
    return ok;
}

static bool is_modelled(const struct export_input *in)
{
    return in->best->profile.time_from != PROV_MEASURED;
}

static const char *device_name(const struct export_input *in)
{
    return is_modelled(in) ? arena_printf(in->arena, "%s, times modelled", in->page->device_name)
                           : in->page->device_name;
}

static json_t *params_of(const struct export_input *in, const struct tuned_variant *v)
{
    json_t *params = json_object();

    for (unsigned i = 0; i < in->plan.nr_tunes; i++)
        json_object_set_new(params, in->plan.tunes[i].name, json_integer(v->values[i]));
    return params;
}

/* ---- T4 ---- */

static const char *invalidity(enum verdict verdict)
{
    switch (verdict) {
    case VERDICT_OK:
        return "correct";
    case VERDICT_NO_COMPILE:
        return "compile";
    case VERDICT_TIMEOUT:
        return "timeout";
    case VERDICT_WRONG:
    case VERDICT_NONDETERMINISTIC:
    case VERDICT_SUSPICIOUS:
        return "correctness";
    case VERDICT_NO_KERNEL:
    case VERDICT_CONTRACT:
        return "constraints";
    default:
        return "runtime";
    }
}

static json_t *t4_result(const struct export_input *in, const struct tuned_variant *v)
{
    json_t *runtimes = json_array(), *measurements = json_array();
    const char *name = is_modelled(in) ? "modelled_time" : "time";

    if (v->time_ns > 0) {
        json_array_append_new(runtimes, json_real(v->time_ns * 1e-6));
        json_array_append_new(measurements,
            json_pack("{s:s, s:f, s:s}", "name", name, "value", v->time_ns * 1e-6, "unit", "ms"));
    }
    return json_pack("{s:s, s:o, s:[s], s:{s:f, s:o, s:f, s:f, s:f}, s:s, s:i, s:o}", "timestamp",
        in->page->run.started ? in->page->run.started : "", "configuration", params_of(in, v),
        "objectives", name, "times", "compilation_time", v->compile_ms, "runtimes", runtimes,
        "framework", 0.0, "search_algorithm", 0.0, "validation", 0.0, "invalidity",
        invalidity(v->verdict), "correctness", v->verdict == VERDICT_OK, "measurements",
        measurements);
}

bool export_t4(struct export_input *in, struct export_files *files, struct err *err)
{
    struct str *out = export_add(files, arena_printf(in->arena, "%s.t4.json", in->name));
    json_t *results = json_array();
    struct variants all;
    const bool ok = collect(in, &all, err);

    for (size_t i = 0; ok && i < all.nr; i++)
        json_array_append_new(results, t4_result(in, &all.of[i]));
    free(all.of);
    json_add(out,
        json_pack("{s:s, s:{s:s, s:s}, s:o}", "schema_version", "1.0.0", "metadata", "device",
            device_name(in), "tuner", arena_printf(in->arena, "keet-opt %s", in->page->run.version),
            "results", results),
        JSON_INDENT(2));
    return ok;
}

/* ---- Kernel Tuner ---- */

static const char *failure(enum verdict verdict)
{
    if (verdict == VERDICT_NO_COMPILE)
        return "CompilationFailedConfig";
    return verdict == VERDICT_CONTRACT || verdict == VERDICT_NO_KERNEL ? "InvalidConfig"
                                                                       : "RuntimeFailedConfig";
}

static json_t *cache_entry(const struct export_input *in, const struct tuned_variant *v)
{
    json_t *entry = params_of(in, v);

    if (v->time_ns > 0) {
        json_object_set_new(entry, "time", json_real(v->time_ns * 1e-6));
        json_object_set_new(entry, "times", json_pack("[f]", v->time_ns * 1e-6));
    } else {
        json_object_set_new(entry, "time", json_string(failure(v->verdict)));
    }
    json_object_set_new(entry, "compile_time", json_real(v->compile_ms));
    json_object_set_new(entry, "verification_time", json_real(0));
    json_object_set_new(entry, "benchmark_time", json_real(0));
    json_object_set_new(entry, "strategy_time", json_real(0));
    json_object_set_new(entry, "framework_time", json_real(0));
    json_object_set_new(
        entry, "timestamp", json_string(in->page->run.started ? in->page->run.started : ""));
    return entry;
}

static json_t *tune_params(const struct export_input *in)
{
    json_t *params = json_object();

    for (unsigned i = 0; i < in->plan.nr_tunes; i++) {
        const struct tune *tune = &in->plan.tunes[i];
        json_t *choices = json_array();

        for (unsigned c = 0; c < tune->nr_choices; c++)
            json_array_append_new(choices, json_integer(tune->choices[c]));
        json_object_set_new(params, tune->name, choices);
    }
    return params;
}

static json_t *sizes_of(const struct export_input *in)
{
    const struct env *sizes = &in->task.timed.sizes;
    json_t *list = json_array();

    for (size_t i = 0; i < sizes->nr; i++)
        json_array_append_new(list, json_integer(sizes->bindings[i].value));
    return list;
}

bool export_kernel_tuner(struct export_input *in, struct export_files *files, struct err *err)
{
    struct str *out = export_add(files, arena_printf(in->arena, "%s.kernel_tuner.json", in->name));
    json_t *cache = json_object(), *keys = json_array();
    struct variants all;
    const bool ok = collect(in, &all, err);

    for (unsigned i = 0; i < in->plan.nr_tunes; i++)
        json_array_append_new(keys, json_string(in->plan.tunes[i].name));
    for (size_t i = 0; ok && i < all.nr; i++) {
        struct str key = {0};

        for (unsigned t = 0; t < in->plan.nr_tunes; t++)
            str_addf(&key, "%s%" PRId64, t ? "," : "", all.of[i].values[t]);
        json_object_set_new(cache, str_text(&key), cache_entry(in, &all.of[i]));
        str_finish(&key);
    }
    free(all.of);
    json_add(out,
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:o}", "schema_version", "1.0.0",
            "device_name", device_name(in), "kernel_name",
            in->plan.nr_launches ? in->plan.launches[0].kernel : in->name, "problem_size",
            sizes_of(in), "tune_params_keys", keys, "tune_params", tune_params(in), "objective",
            "time", "cache", cache),
        JSON_INDENT(2));
    return ok;
}
