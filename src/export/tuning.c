/* Owns tuning results: the variants that differ from the best in values of tuning parameters only,
 * as T4 and as a cache file of Kernel Tuner. */
#include "base/mem.h"
#include "export/export_input.h"
#include "report/json_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct variant {
    int64_t node;
    enum verdict verdict;
    const char *why;
    double time_ns, compile_ms; /* time 0: not profiled */
    const int64_t *values;      /* of the best one's parameters, in its order */
};

struct variants {
    struct variant *of;
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

/* The values of the best one's parameters in this plan; NULL where they are not the same ones. */
static const int64_t *values_of(const struct subject *s, const struct plan *plan)
{
    int64_t *values = arena_array(s->arena, s->plan.nr_tunes + 1, sizeof(*values));

    if (plan->nr_tunes != s->plan.nr_tunes || !same_launches(plan, &s->plan))
        return NULL;
    for (unsigned i = 0; i < plan->nr_tunes; i++) {
        if (strcmp(plan->tunes[i].name, s->plan.tunes[i].name) != 0)
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

static void add_variant(struct subject *s, struct variants *all, const struct candidate *c)
{
    char *code = task_code(c->source, c->source_bytes);
    char *best = task_code(s->best->source, s->best->source_bytes);
    enum verdict verdict;
    struct plan plan;
    struct err why;
    const int64_t *values = NULL;

    /* Lines may move with the pragmas; blank lines mean nothing. */
    if (strcmp(code + strspn(code, " \n"), best + strspn(best, " \n")) == 0 &&
        plan_parse(&plan, &s->task, c->arena, c->source, c->source_bytes, &verdict, &why))
        values = values_of(s, &plan);
    if (values && !is_known(all, values, plan.nr_tunes)) {
        all->of = grow(all->of, &all->cap, all->nr + 1, sizeof(*all->of));
        all->of[all->nr++] = (struct variant){
            .node = c->node,
            .verdict = c->verdict,
            .why = c->verdict_text ? arena_strdup(s->arena, c->verdict_text) : "",
            .time_ns = c->verdict == VERDICT_OK && c->profiled ? c->profile.time_ns : 0,
            .compile_ms = c->compilation.compile_ms,
            .values = values,
        };
    }
    free(code);
    free(best);
}

static bool collect(struct subject *s, struct variants *all, struct err *err)
{
    struct arena *scratch = arena_create();
    bool ok = true, found;

    *all = (struct variants){0};
    if (s->plan.nr_tunes == 0)
        ok = err_set(err,
            "%s: node %" PRId64 ", the best, has no tuning parameters, so there are no tuning "
            "results",
            s->page->db_path, s->best->node);
    for (size_t i = 0; ok && i < s->page->nr_nodes; i++) {
        struct candidate c = {.arena = scratch};

        ok = store_load_node(s->page->store, s->page->nodes[i].number, &c, &found, err);
        if (ok && found && c.source)
            add_variant(s, all, &c);
        arena_reset(scratch);
    }
    arena_destroy(scratch);
    return ok;
}

static bool is_modelled(const struct subject *s)
{
    return s->best->profile.time_from != PROV_MEASURED;
}

static const char *device_name(const struct subject *s)
{
    return is_modelled(s) ? arena_printf(s->arena, "%s, times modelled", s->page->device_name)
                          : s->page->device_name;
}

static json_t *params_of(const struct subject *s, const struct variant *v)
{
    json_t *params = json_object();

    for (unsigned i = 0; i < s->plan.nr_tunes; i++)
        json_object_set_new(params, s->plan.tunes[i].name, json_integer(v->values[i]));
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

static json_t *t4_result(const struct subject *s, const struct variant *v)
{
    json_t *runtimes = json_array(), *measurements = json_array();
    const char *name = is_modelled(s) ? "modelled_time" : "time";

    if (v->time_ns > 0) {
        json_array_append_new(runtimes, json_real(v->time_ns * 1e-6));
        json_array_append_new(measurements,
            json_pack("{s:s, s:f, s:s}", "name", name, "value", v->time_ns * 1e-6, "unit", "ms"));
    }
    return json_pack("{s:s, s:o, s:[s], s:{s:f, s:o, s:f, s:f, s:f}, s:s, s:i, s:o}", "timestamp",
        s->page->run.started ? s->page->run.started : "", "configuration", params_of(s, v),
        "objectives", name, "times", "compilation_time", v->compile_ms, "runtimes", runtimes,
        "framework", 0.0, "search_algorithm", 0.0, "validation", 0.0, "invalidity",
        invalidity(v->verdict), "correctness", v->verdict == VERDICT_OK, "measurements",
        measurements);
}

bool export_t4(struct subject *s, struct export_files *files, struct err *err)
{
    struct str *out = export_add(files, arena_printf(s->arena, "%s.t4.json", s->name));
    json_t *results = json_array();
    struct variants all;
    const bool ok = collect(s, &all, err);

    for (size_t i = 0; ok && i < all.nr; i++)
        json_array_append_new(results, t4_result(s, &all.of[i]));
    free(all.of);
    json_add(out,
        json_pack("{s:s, s:{s:s, s:s}, s:o}", "schema_version", "1.0.0", "metadata", "device",
            device_name(s), "tuner", arena_printf(s->arena, "keet-opt %s", s->page->run.version),
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

static json_t *cache_entry(const struct subject *s, const struct variant *v)
{
    json_t *entry = params_of(s, v);

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
        entry, "timestamp", json_string(s->page->run.started ? s->page->run.started : ""));
    return entry;
}

static json_t *tune_params(const struct subject *s)
{
    json_t *params = json_object();

    for (unsigned i = 0; i < s->plan.nr_tunes; i++) {
        const struct tune *tune = &s->plan.tunes[i];
        json_t *choices = json_array();

        for (unsigned c = 0; c < tune->nr_choices; c++)
            json_array_append_new(choices, json_integer(tune->choices[c]));
        json_object_set_new(params, tune->name, choices);
    }
    return params;
}

static json_t *sizes_of(const struct subject *s)
{
    const struct env *sizes = &s->task.timed.sizes;
    json_t *list = json_array();

    for (size_t i = 0; i < sizes->nr; i++)
        json_array_append_new(list, json_integer(sizes->bindings[i].value));
    return list;
}

bool export_kernel_tuner(struct subject *s, struct export_files *files, struct err *err)
{
    struct str *out = export_add(files, arena_printf(s->arena, "%s.kernel_tuner.json", s->name));
    json_t *cache = json_object(), *keys = json_array();
    struct variants all;
    const bool ok = collect(s, &all, err);

    for (unsigned i = 0; i < s->plan.nr_tunes; i++)
        json_array_append_new(keys, json_string(s->plan.tunes[i].name));
    for (size_t i = 0; ok && i < all.nr; i++) {
        struct str key = {0};

        for (unsigned t = 0; t < s->plan.nr_tunes; t++)
            str_addf(&key, "%s%" PRId64, t ? "," : "", all.of[i].values[t]);
        json_object_set_new(cache, str_text(&key), cache_entry(s, &all.of[i]));
        str_finish(&key);
    }
    free(all.of);
    json_add(out,
        json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:o}", "schema_version", "1.0.0",
            "device_name", device_name(s), "kernel_name",
            s->plan.nr_launches ? s->plan.launches[0].kernel : s->name, "problem_size", sizes_of(s),
            "tune_params_keys", keys, "tune_params", tune_params(s), "objective", "time", "cache",
            cache),
        JSON_INDENT(2));
    return ok;
}
