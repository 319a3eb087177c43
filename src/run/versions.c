/* Owns the evaluation of two versions of one kernel. */
#include "run/versions.h"

#include "explain/explain.h"
#include "run/station.h"

static bool evaluate_old(struct workbench *bench, struct station *station,
    struct compilation *oracle, struct candidate *c, struct err *err)
{
    if (!compile_kernel(workbench_compiler(bench), c, err))
        return false;
    if (c->verdict == VERDICT_OK) {
        if (!workbench_oracle(bench, c->task, &c->compilation, c->arena, oracle, err))
            return false;
        station_original(station, c, oracle);
        if (!station_check(station, c, err) || !station_profile(station, c, err) ||
            !explain_kernel(workbench_chip(bench), c, err))
            return false;
    }
    return c->verdict == VERDICT_OK ||
           err_original(err, "%s: the old version is broken itself (%s): %s", c->task->path,
               verdict_name(c->verdict), c->verdict_text ? c->verdict_text : "");
}

static bool evaluate_new(
    struct workbench *bench, struct station *station, struct candidate *c, struct err *err)
{
    struct err why;

    if (!plan_parse(&c->plan, c->task, c->arena, c->source, c->source_bytes, &c->verdict, &why))
        return candidate_fail(c, c->verdict, 0, "%s", why.text);
    return compile_kernel(workbench_compiler(bench), c, err) && station_check(station, c, err) &&
           station_profile(station, c, err) && station_confirm(station, c, err) &&
           explain_kernel(workbench_chip(bench), c, err);
}

bool versions_evaluate(struct workbench *bench, const struct task *task, uint64_t seed,
    struct candidate *old_version, struct candidate *new_version, struct err *err)
{
    struct station station = station_at(bench, 0, task);
    struct compilation oracle;
    bool ok;

    candidate_begin(old_version, old_version->arena, task, seed);
    new_version->node = 1;
    new_version->parent = 0;
    new_version->seed = seed;
    ok = evaluate_old(bench, &station, &oracle, old_version, err) &&
         evaluate_new(bench, &station, new_version, err);
    station_finish(&station);
    return ok;
}
