/* Owns the JSON that programs read. Every value carries its provenance. */
#include "report/json_text.h"
#include "report/report.h"

#include <string.h>

static json_t *metrics_of(const struct counters *c)
{
    json_t *all = json_object();

    for (int m = 0; m < NR_METRICS; m++) {
        if (!counters_has(c, (enum metric)m))
            continue;
        json_object_set_new(all, metric_name((enum metric)m),
            json_pack("{s:o, s:s, s:s}", "value",
                json_real_or_null(counters_get(c, (enum metric)m)), "unit",
                metric_unit((enum metric)m), "from", provenance_name(c->metric[m].from)));
    }
    return all;
}

static json_t *findings_of(const struct explanation *e)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < e->nr_findings; i++) {
        const struct finding *f = &e->findings[i];
        json_array_append_new(all,
            json_pack("{s:s, s:I, s:o, s:f, s:o}", "tool", f->tool, "line", (json_int_t)f->line,
                "max_gain", f->max_gain > 0 ? json_real_or_null(f->max_gain) : json_null(),
                "expected_gain", finding_expected(f), "text", json_text_or_null(f->text)));
    }
    return all;
}

static json_t *range_of(double low, double high)
{
    return high > 0 ? json_pack("[f, f]", low, high) : json_null();
}

/* Clocks in MHz, temperature in degrees Celsius. */
static json_t *timing_of(const struct profile_timing *t)
{
    json_t *timing = json_pack("{s:I, s:I, s:f, s:b, s:I, s:o}", "samples",
        (json_int_t)t->nr_samples, "dropped", (json_int_t)t->nr_dropped, "standard_error",
        t->standard_error, "refused", (int)t->refused, "throttle_bits", (json_int_t)t->throttle,
        "note", json_text_or_null(t->note));

    if (t->ratio > 0) {
        json_object_set_new(timing, "ratio", json_real_or_null(t->ratio));
        json_object_set_new(timing, "ratio_interval", range_of(t->ratio_low, t->ratio_high));
    }
    if (t->baseline_ns > 0)
        json_object_set_new(timing, "original_ns", json_real_or_null(t->baseline_ns));
    json_object_set_new(timing, "clock", range_of(t->clock_low_mhz, t->clock_high_mhz));
    json_object_set_new(
        timing, "original_clock", range_of(t->baseline_clock_low_mhz, t->baseline_clock_high_mhz));
    json_object_set_new(
        timing, "temperature", range_of(t->temperature_low_c, t->temperature_high_c));
    return timing;
}

/* The machine code by source line: the number of instructions of each kind. */
static json_t *sass_of(const struct candidate *c)
{
    unsigned nr;
    const struct sass_line *lines = candidate_sass_lines(c, &nr);
    json_t *all = json_array();

    for (unsigned i = 0; i < nr; i++) {
        const struct sass_mix *mix = &lines[i].mix;
        json_t *line = json_pack("{s:I, s:I, s:I, s:I}", "line", (json_int_t)lines[i].line, "all",
            (json_int_t)mix->nr, "wide global load", (json_int_t)mix->wide_loads,
            "wide global store", (json_int_t)mix->wide_stores);

        for (int k = 0; k < NR_SASS_CLASSES; k++)
            if (mix->of[k] > 0)
                json_object_set_new(
                    line, sass_class_name((enum sass_class)k), json_integer(mix->of[k]));
        json_array_append_new(all, line);
    }
    return all;
}

/* What each source line cost; zeros are left out. */
static json_t *costs_of(const struct counters *counters)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < counters->nr_lines; i++) {
        const struct line_cost *l = &counters->lines[i];
        const struct {
            const char *name;
            double value;
        } costs[] = {{"warp_inst", l->warp_inst}, {"thread_inst", l->thread_inst},
            {"global_requests", l->global_requests}, {"global_sectors", l->global_sectors},
            {"global_sectors_ideal", l->global_sectors_ideal}, {"global_bytes", l->global_bytes},
            {"shared_requests", l->shared_requests}, {"shared_wavefronts", l->shared_wavefronts},
            {"shared_wavefronts_ideal", l->shared_wavefronts_ideal},
            {"local_requests", l->local_requests}, {"atomics", l->atomics},
            {"barriers", l->barriers}, {"branches", l->branches},
            {"branches_divergent", l->branches_divergent}, {"stall_cycles", l->stall_cycles}};
        json_t *line = json_pack("{s:I}", "line", (json_int_t)l->line);
        enum wait_reason most;

        for (size_t k = 0; k < sizeof(costs) / sizeof(costs[0]); k++)
            if (costs[k].value != 0)
                json_object_set_new(line, costs[k].name, json_real_or_null(costs[k].value));
        if (line_waits_for(l, &most))
            json_object_set_new(line, "waits_for", json_string(wait_reason_name(most)));
        json_array_append_new(all, line);
    }
    return all;
}

static json_t *candidate_of(const struct candidate *c, bool whole)
{
    json_t *node = json_pack("{s:I, s:I, s:s, s:s, s:o, s:s, s:o}", "node", (json_int_t)c->node,
        "parent", (json_int_t)c->parent, "move", action_name(c->option.action), "proposer",
        proposer_name(c->option.proposer), "what", json_text_or_null(c->option.what), "verdict",
        verdict_name(c->verdict), "verdict_text", json_text_or_null(c->verdict_text));

    if (c->profiled) {
        json_object_set_new(node, "time_ns", json_real_or_null(c->profile.time_ns));
        json_object_set_new(node, "time_from", json_string(provenance_name(c->profile.time_from)));
        json_object_set_new(node, "speedup", json_real_or_null(c->speedup));
        if (c->profile.timing.nr_samples > 0 || c->profile.timing.refused)
            json_object_set_new(node, "timing", timing_of(&c->profile.timing));
    }
    if (whole) {
        json_object_set_new(node, "source", json_text_or_null(c->source));
        json_object_set_new(node, "metrics", metrics_of(&c->profile.total));
        json_object_set_new(node, "no_counters", json_text_or_null(c->profile.no_counters));
        json_object_set_new(node, "no_energy", json_text_or_null(c->profile.no_energy));
        json_object_set_new(node, "bound", json_string(bound_name(c->explanation.bound)));
        json_object_set_new(node, "confidence", json_real(c->explanation.confidence));
        json_object_set_new(node, "summary", json_text_or_null(c->explanation.summary));
        json_object_set_new(node, "findings", findings_of(&c->explanation));
        json_object_set_new(node, "unexamined", json_text_or_null(c->explanation.unexamined));
        json_object_set_new(node, "lines", costs_of(&c->profile.total));
        json_object_set_new(node, "machine_code", sass_of(c));
    }
    return node;
}

/* cost is null when no call has a known price. calls_without_price counts the calls without one. */
static json_t *spent_of(const struct model_spent *spent, const char *models)
{
    const bool has_cost = spent->nr_unpriced < spent->nr_calls;

    return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:o, s:o}", "models",
        json_lines(models), "calls", (json_int_t)spent->nr_calls, "failed",
        (json_int_t)spent->nr_failed, "attempts", (json_int_t)spent->nr_attempts, "tokens_in",
        (json_int_t)spent->tokens_in, "tokens_cached", (json_int_t)spent->tokens_cached,
        "tokens_out", (json_int_t)spent->tokens_out, "lost_in", (json_int_t)spent->lost_in,
        "lost_out", (json_int_t)spent->lost_out, "cost",
        has_cost ? json_real_or_null(spent->cost) : json_null(), "calls_without_price",
        (json_int_t)spent->nr_unpriced, "latency_ms", json_real_or_null(spent->latency_ms),
        "waited_ms", json_real_or_null(spent->waited_ms));
}

void report_json(struct str *out, const struct report_run *run)
{
    const struct candidate *root = &run->path[0], *best = &run->path[run->nr_path - 1];
    json_t *verdicts = json_object(), *recalled = json_object(), *path = json_array(), *all;

    for (int v = 0; v < NR_VERDICTS; v++) {
        json_object_set_new(
            verdicts, verdict_name((enum verdict)v), json_integer((json_int_t)run->verdicts[v]));
        json_object_set_new(
            recalled, verdict_name((enum verdict)v), json_integer((json_int_t)run->recalled[v]));
    }
    for (unsigned i = 0; i < run->nr_path; i++)
        json_array_append_new(path, candidate_of(&run->path[i], false));
    all = json_pack("{s:s, s:s, s:s, s:I, s:s, s:s, s:o, s:o}", "kernel", run->task->path, "device",
        run->device_name, "policy", run->run->policy, "seed", (json_int_t)run->run->seed, "version",
        run->run->version, "stopped_by", run->why, "speedup", json_real_or_null(best->speedup),
        "elapsed_s", json_real_or_null(run->elapsed_s));
    json_object_set_new(all, "speedup_from", json_string(provenance_name(best->profile.time_from)));
    json_object_set_new(all, "nodes", json_integer((json_int_t)run->nr_nodes));
    json_object_set_new(all, "evaluated", json_integer((json_int_t)run->nr_evaluated));
    json_object_set_new(all, "fill", json_integer((json_int_t)run->nr_fill));
    json_object_set_new(all, "fallen", json_integer((json_int_t)run->nr_fallen));
    json_object_set_new(all, "unsettled",
        run->unsettled > 0 ? json_integer((json_int_t)run->unsettled) : json_null());
    json_object_set_new(all, "reused", json_integer((json_int_t)run->nr_reused));
    json_object_set_new(all, "verdicts", verdicts);
    json_object_set_new(all, "recalled", recalled);
    json_object_set_new(all, "path", path);
    json_object_set_new(all, "original", candidate_of(root, true));
    json_object_set_new(all, "best", candidate_of(best, true));
    json_object_set_new(all, "output", json_text_or_null(run->output_path));
    json_object_set_new(all, "run", json_integer((json_int_t)run->run->id));
    json_object_set_new(all, "kept",
        run->kept
            ? json_pack("{s:I, s:I, s:o}", "run", (json_int_t)run->kept_run, "node",
                  (json_int_t)run->kept->node, "speedup", json_real_or_null(run->kept->speedup))
            : json_null());
    if (run->moved_to)
        json_object_set_new(all, "moved_to", json_string(run->moved_to));
    if (run->patch.patched_path)
        json_object_set_new(all, "patched", json_string(run->patch.patched_path));
    if (run->patch.patch_path)
        json_object_set_new(all, "patch", json_string(run->patch.patch_path));
    if (run->patch.why)
        json_object_set_new(all, "not_written_back", json_string(run->patch.why));
    json_object_set_new(all, "tree", json_text_or_null(run->tree_hash));
    if (run->spent)
        json_object_set_new(all, "model", spent_of(run->spent, run->run->models));
    json_object_set_new(all, "database", json_text_or_null(run->db_path));
    json_add(out, all, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
}

json_t *report_candidate_value(const struct candidate *c)
{
    return candidate_of(c, true);
}

void report_candidate_json(struct str *out, const struct candidate *c)
{
    json_add(out, candidate_of(c, true), JSON_INDENT(2) | JSON_REAL_PRECISION(12));
}
