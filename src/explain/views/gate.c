/* Owns the limits of `keet-opt compare`, and how a comparison is shown. */
#include "explain/views/gate.h"

#include "report/json_text.h"
#include "report/report.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading limits ---- */

static bool parse_amount(struct gate_limit *limit, const char *text, struct err *err)
{
    char *end;

    limit->amount = fabs(strtod(text, &end));
    limit->percent = end > text && *end == '%';
    end += limit->percent;
    if (end == text || *end || !isfinite(limit->amount))
        return err_set(
            err, "--fail-if %s: expected a number or a percentage behind the =", limit->text);
    if (limit->kind == GATE_SLOWER && (!limit->percent || *text == '-'))
        return err_set(err, "--fail-if %s: expected a percentage such as slower=5%%", limit->text);
    if (limit->kind == GATE_ABOVE && limit->percent)
        return err_set(err,
            "--fail-if %s: a percentage is of OLD's value: +%s limits a rise, -%s a fall",
            limit->text, text, text);
    return true;
}

/* A pattern stands for what was counted; a model's time without something must be named in full. */
static bool matches(const struct gate_limit *limit, enum metric metric)
{
    return metric_is_cure(metric) ? strcmp(limit->pattern, metric_name(metric)) == 0
                                  : fnmatch(limit->pattern, metric_name(metric), 0) == 0;
}

bool gate_limit_parse(struct gate_limit *limit, const char *text, struct err *err)
{
    const char *equals = strrchr(text, '='), *value = equals ? equals + 1 : "";
    bool known = false;

    *limit = (struct gate_limit){.text = text, .kind = GATE_SLOWER};
    if (str_starts(text, "slower="))
        return parse_amount(limit, value, err);
    if (!str_starts(text, "metric:") || !equals)
        return err_set(err,
            "--fail-if %s: expected slower=5%%, metric:NAME=0, metric:NAME=+5%% or "
            "metric:NAME=-5%%",
            text);
    limit->kind = *value == '+' ? GATE_RISES : *value == '-' ? GATE_FALLS : GATE_ABOVE;
    text += strlen("metric:");
    if ((size_t)(equals - text) >= sizeof(limit->pattern))
        return err_set(err, "--fail-if %s: the name is too long", limit->text);
    memcpy(limit->pattern, text, (size_t)(equals - text));
    for (int m = 0; m < NR_METRICS && !known; m++)
        known = matches(limit, (enum metric)m);
    if (!known)
        return err_set(err,
            "--fail-if %s: there is no metric %s; `keet-opt run KERNEL.cu` lists them, and a * "
            "stands for any part of a name",
            limit->text, limit->pattern);
    return parse_amount(limit, value, err);
}

/* ---- judging ---- */

/* Whole numbers stay whole in these sums, so that a rise by exactly 5% is no rise by more. */
static bool rises(const struct gate_limit *limit, double from, double to)
{
    return limit->percent ? (to - from) * 100 > limit->amount * fabs(from)
                          : to - from > limit->amount;
}

static bool is_broken(const struct gate_limit *limit, double before, double after)
{
    switch (limit->kind) {
    case GATE_ABOVE:
        return after > limit->amount;
    case GATE_FALLS:
        return rises(limit, -before, -after);
    case GATE_SLOWER:
    case GATE_RISES:
        break;
    }
    return rises(limit, before, after);
}

static bool add_outcome(struct gate *gate, const struct gate_outcome *outcome, struct err *err)
{
    if (gate->nr_outcomes == GATE_MOST_OUTCOMES)
        return err_set(err, "--fail-if: more than %d limits", (int)GATE_MOST_OUTCOMES);
    gate->outcomes[gate->nr_outcomes++] = *outcome;
    gate->nr_broken += outcome->broken;
    return true;
}

/* A card's times vary: NEW counts as slower where all of the interval of the ratio says so. */
static bool judge_time(struct gate *gate, const struct gate_limit *limit, struct err *err)
{
    const struct profile *before = &gate->before->c.profile, *after = &gate->after->c.profile;
    const struct profile_timing *timing = &after->timing;
    struct gate_outcome outcome = {.limit = limit,
        .metric = METRIC_TIME_NS,
        .before = timing->baseline_ns > 0 ? timing->baseline_ns : before->time_ns,
        .after = after->time_ns};

    if (timing->refused || !(outcome.before > 0) || !(outcome.after > 0))
        return err_set(err, "--fail-if %s: the times do not compare: %s", limit->text,
            timing->note ? timing->note : "they are not known");
    outcome.broken = is_broken(limit, outcome.before, outcome.after);
    if (timing->ratio_high > 0)
        outcome.broken = is_broken(limit, timing->ratio_high, 1);
    return add_outcome(gate, &outcome, err);
}

static bool judge_metrics(struct gate *gate, const struct gate_limit *limit, struct err *err)
{
    const struct counters *before = &gate->before->c.profile.total,
                          *after = &gate->after->c.profile.total;
    const unsigned nr = gate->nr_outcomes;

    for (int m = 0; m < NR_METRICS; m++) {
        const enum metric metric = (enum metric)m;
        struct gate_outcome outcome = {.limit = limit,
            .metric = metric,
            .before = counters_get(before, metric),
            .after = counters_get(after, metric)};

        if (!matches(limit, metric) || !counters_has(after, metric) ||
            (limit->kind != GATE_ABOVE && !counters_has(before, metric)))
            continue;
        outcome.broken = is_broken(limit, outcome.before, outcome.after);
        if (!add_outcome(gate, &outcome, err))
            return false;
    }
    return gate->nr_outcomes > nr ||
           err_set(err, "--fail-if %s: this metric is not known on %s", limit->text, gate->device);
}

bool gate_judge(struct gate *gate, struct err *err)
{
    const bool alive = gate->after->c.verdict == VERDICT_OK;

    gate->nr_outcomes = gate->nr_broken = 0;
    for (unsigned i = 0; alive && i < gate->nr_limits; i++)
        if (!(gate->limits[i].kind == GATE_SLOWER ? judge_time(gate, &gate->limits[i], err)
                                                  : judge_metrics(gate, &gate->limits[i], err)))
            return false;
    gate->passed = alive && gate->nr_broken == 0;
    return true;
}

/* ---- showing ---- */

static bool has_limit(const struct gate *gate, enum metric metric)
{
    for (unsigned i = 0; i < gate->nr_outcomes; i++)
        if (gate->outcomes[i].metric == metric)
            return true;
    return false;
}

static bool differs(const struct gate *gate, enum metric metric)
{
    const struct counters *before = &gate->before->c.profile.total,
                          *after = &gate->after->c.profile.total;

    return counters_has(before, metric) != counters_has(after, metric) ||
           counters_get(before, metric) != counters_get(after, metric);
}

/* Models of a time without something are for explanations. */
static bool is_known(const struct gate *gate, enum metric metric)
{
    return !metric_is_cure(metric) && (counters_has(&gate->before->c.profile.total, metric) ||
                                          counters_has(&gate->after->c.profile.total, metric));
}

static bool is_for_people(enum metric metric)
{
    for (size_t i = 0; i < nr_report_metrics; i++)
        if (report_metrics[i] == metric)
            return true;
    return false;
}

static void add_change(struct str *out, double before, double after)
{
    if (before == after)
        str_add(out, "=");
    else if (before == 0)
        str_add(out, "from 0");
    else
        str_addf(out, "%+.1f%%", 100 * (after - before) / fabs(before));
}

static void print_row(struct str *out, const struct gate *gate, enum metric metric, bool markdown)
{
    const struct counters *before = &gate->before->c.profile.total,
                          *after = &gate->after->c.profile.total;
    struct str was = {0}, is = {0}, change = {0};

    report_metric(&was, metric, before);
    report_metric(&is, metric, after);
    if (counters_has(before, metric) && counters_has(after, metric))
        add_change(&change, counters_get(before, metric), counters_get(after, metric));
    else
        str_add(&change, "-");
    str_addf(out, markdown ? "| `%s` | %s | %s | %s |\n" : "  %-72s %10s %10s %9s\n",
        metric_name(metric), str_text(&was), str_text(&is), str_text(&change));
    str_finish(&was);
    str_finish(&is);
    str_finish(&change);
}

static void print_metrics(struct str *out, const struct gate *gate, bool markdown, bool verbose)
{
    unsigned nr_equal = 0, nr_different = 0;

    if (markdown)
        str_add(out, "\n| metric | old | new | change |\n|---|---|---|---|\n");
    else
        str_addf(out, "\n  %-72s %10s %10s %9s\n", "metric", "old", "new", "change");
    for (int m = 0; m < NR_METRICS; m++) {
        const enum metric metric = (enum metric)m;
        const bool different = differs(gate, metric);

        if (has_limit(gate, metric) || metric == METRIC_TIME_NS ||
            (is_known(gate, metric) && (verbose || (different && is_for_people(metric)))))
            print_row(out, gate, metric, markdown);
        else if (is_known(gate, metric) && different)
            nr_different++;
        else if (is_known(gate, metric))
            nr_equal++;
    }
    str_add(out, markdown ? "\n" : "  ");
    if (nr_different > 0)
        str_addf(out, "%u more differ (-v shows all); ", nr_different);
    str_addf(out, "%u more are the same\n", nr_equal);
}

static void print_limits(struct str *out, const struct gate *gate, bool markdown)
{
    if (gate->nr_outcomes > 0)
        str_add_char(out, '\n');
    for (unsigned i = 0; i < gate->nr_outcomes; i++) {
        const struct gate_outcome *o = &gate->outcomes[i];

        str_addf(out, markdown ? "- **%s** `%s`: " : "%-8s %s: ", o->broken ? "broken" : "kept",
            o->limit->text);
        if (strpbrk(o->limit->pattern, "*?["))
            str_addf(out, "%s ", metric_name(o->metric));
        str_addf(out, "%.12g before, %.12g now (", o->before, o->after);
        add_change(out, o->before, o->after);
        str_add(out, ")\n");
    }
}

static void add_verdict(struct str *out, const struct gate *gate)
{
    const struct candidate *c = &gate->after->c;

    if (c->verdict != VERDICT_OK)
        str_addf(out, "failed: %s does not pass the check (%s)\n", gate->after->file,
            verdict_name(c->verdict));
    else if (gate->nr_broken > 0)
        str_addf(out, "failed: %u of %u limits broken\n", gate->nr_broken, gate->nr_outcomes);
    else if (gate->nr_limits == 0)
        str_addf(out, "%s is right; no limit was set\n", gate->after->file);
    else
        str_add(out, "passed\n");
}

void gate_print(struct str *out, const struct gate *gate, bool markdown, bool verbose)
{
    const struct candidate *c = &gate->after->c;

    str_addf(out, "%s%s against %s, %s\n", markdown ? "### " : "", gate->after->file,
        gate->before->file, gate->device);
    if (markdown)
        str_add_char(out, '\n');
    if (c->verdict != VERDICT_OK) {
        str_addf(out, "%s\n", c->verdict_text ? c->verdict_text : verdict_name(c->verdict));
    } else {
        if (c->check.note)
            str_addf(out, "right: %s\n", c->check.note);
        print_metrics(out, gate, markdown, verbose);
        print_limits(out, gate, markdown);
    }
    str_add_char(out, '\n');
    add_verdict(out, gate);
}

static json_t *known_json(const struct counters *c, enum metric metric)
{
    return counters_has(c, metric) ? json_real_or_null(counters_get(c, metric)) : json_null();
}

static json_t *change_json(double before, double after)
{
    return before != 0 ? json_real_or_null(100 * (after - before) / fabs(before)) : json_null();
}

static json_t *metrics_json(const struct gate *gate)
{
    const struct counters *before = &gate->before->c.profile.total,
                          *after = &gate->after->c.profile.total;
    json_t *all = json_array();

    for (int m = 0; m < NR_METRICS; m++) {
        const enum metric metric = (enum metric)m;

        if (!has_limit(gate, metric) && (!is_known(gate, metric) || !differs(gate, metric)))
            continue;
        json_array_append_new(all,
            json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "metric", metric_name(metric), "unit",
                metric_unit(metric), "from",
                provenance_name(
                    after->metric[m].from ? after->metric[m].from : before->metric[m].from),
                "old", known_json(before, metric), "new", known_json(after, metric), "change_pct",
                change_json(counters_get(before, metric), counters_get(after, metric))));
    }
    return all;
}

static json_t *limits_json(const struct gate *gate)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < gate->nr_outcomes; i++) {
        const struct gate_outcome *o = &gate->outcomes[i];

        json_array_append_new(
            all, json_pack("{s:s, s:s, s:f, s:f, s:o, s:b}", "limit", o->limit->text, "metric",
                     metric_name(o->metric), "old", o->before, "new", o->after, "change_pct",
                     change_json(o->before, o->after), "broken", (int)o->broken));
    }
    return all;
}

void gate_print_json(struct str *out, const struct gate *gate)
{
    const struct candidate *old = &gate->before->c, *new_ = &gate->after->c;
    const bool alive = new_->verdict == VERDICT_OK;

    json_add(out,
        json_pack("{s:s, s:s, s:s, s:b, s:s, s:o, s:i, s:o, s:f, s:o, s:s, s:o, s:o}", "old",
            gate->before->file, "new", gate->after->file, "device", gate->device, "passed",
            (int)gate->passed, "verdict", verdict_name(new_->verdict), "reason",
            json_text_or_null(new_->verdict_text), "line", (int)new_->verdict_line, "compared",
            json_text_or_null(new_->check.note), "old_ns", old->profile.time_ns, "new_ns",
            alive ? json_real_or_null(new_->profile.time_ns) : json_null(), "from",
            provenance_name(old->profile.time_from), "metrics",
            alive ? metrics_json(gate) : json_array(), "limits", limits_json(gate)),
        JSON_INDENT(1) | JSON_REAL_PRECISION(12));
}
