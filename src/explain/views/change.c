/* Owns the comparison of two versions of a kernel. */
#include "explain/views/views.h"

#include "report/report.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The resources that a kernel can keep busy, and the reasons for which a kernel can wait. */
static const struct {
    enum metric metric;
    const char *what;
} resources[] = {
    {METRIC_STALL_LONG_PCT, "waiting for global memory"},
    {METRIC_STALL_BARRIER_PCT, "waiting at barriers"},
    {METRIC_STALL_SHORT_PCT, "waiting for shared memory or special functions"},
    {METRIC_STALL_MIO_PCT, "waiting for the queue of memory and special instructions"},
    {METRIC_STALL_MATH_PCT, "waiting for an arithmetic pipe"},
    {METRIC_DRAM_PCT, "DRAM busy"},
    {METRIC_L2_PCT, "L2 busy"},
    {METRIC_LSU_PCT, "load/store unit busy"},
    {METRIC_FMA_PCT, "FMA pipe busy"},
    {METRIC_ALU_PCT, "integer pipe busy"},
    {METRIC_FP64_PCT, "FP64 pipe busy"},
    {METRIC_XU_PCT, "special-function pipe busy"},
    {METRIC_TENSOR_PCT, "tensor pipe busy"},
    {METRIC_ISSUE_PCT, "issuing instructions"},
};

static const double LARGE_PART_PCT = 35, SAVES_SHARE = 1.0 / 3;

static int by_saving(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    return (x->saved_ns < y->saved_ns) - (x->saved_ns > y->saved_ns);
}

bool view_equal(double a_ns, double b_ns)
{
    return a_ns > 0 && b_ns > 0 && fabs(a_ns - b_ns) <= VIEW_RESOLUTION * fmax(a_ns, b_ns);
}

struct version_changes view_changes(
    const struct chip *chip, const struct explained *before, const struct explained *after)
{
    const struct counters *n = &before->c.profile.total, *m = &after->c.profile.total;
    const double was = before->c.profile.time_ns, is = after->c.profile.time_ns;
    struct version_changes v = {
        .chip = chip, .before = before, .after = after, .saved_ns = was - is};

    v.equal = view_equal(was, is);
    for (size_t i = 0; !v.equal && i < sizeof(resources) / sizeof(resources[0]); i++) {
        const enum metric metric = resources[i].metric;
        struct change *change = &v.changes[v.nr];

        if (!counters_has(n, metric) || !counters_has(m, metric))
            continue;
        *change = (struct change){.what = resources[i].what,
            .metric = metric,
            .before_pct = counters_get(n, metric),
            .after_pct = counters_get(m, metric)};
        change->saved_ns = (change->before_pct * was - change->after_pct * is) / 100;
        change->paid = v.saved_ns > 0.02 * was && change->before_pct >= LARGE_PART_PCT &&
                       change->saved_ns >= SAVES_SHARE * v.saved_ns;
        v.nr += fabs(change->saved_ns) >= 0.02 * fmax(was, is);
    }
    qsort(v.changes, v.nr, sizeof(v.changes[0]), by_saving);
    return v;
}

/* The tools that have a finding on one version and none on the other. */
static const char *only_in(
    struct arena *arena, const struct explanation *here, const struct explanation *there)
{
    const char *names = "";

    for (unsigned i = 0; i < here->nr_findings; i++) {
        const struct finding *f = &here->findings[i];
        bool also = false;

        for (unsigned k = 0; k < there->nr_findings; k++)
            also = also || strcmp(there->findings[k].tool, f->tool) == 0;
        if (!also && !strstr(names, f->tool))
            names = arena_printf(arena, "%s%s%s", names, *names ? ", " : "", f->tool);
    }
    return names;
}

static void add_time(struct str *out, double ns)
{
    if (ns < 0)
        str_add_char(out, '-');
    report_time(out, fabs(ns));
}

static void print_words(struct str *out, const struct version_changes *v, bool markdown)
{
    const char *item = markdown ? "- " : "  ";
    unsigned nr_paid = 0;

    for (unsigned i = 0; i < v->nr; i++) {
        const struct change *c = &v->changes[i];
        const bool worse = c->saved_ns < -0.05 * v->before->c.profile.time_ns;

        if (!c->paid && !worse)
            continue;
        nr_paid += c->paid;
        str_addf(out, "%s%s: %s took ", item, c->paid ? "Paid" : "Costs more", c->what);
        add_time(out, c->before_pct / 100 * v->before->c.profile.time_ns);
        str_add(out, " and now takes ");
        add_time(out, c->after_pct / 100 * v->after->c.profile.time_ns);
        str_addf(out, " (`%s` %.3g%% before, %.3g%% after).\n", metric_name(c->metric),
            c->before_pct, c->after_pct);
    }
    if (nr_paid == 0 && v->nr > 0 && v->saved_ns > 0.02 * v->before->c.profile.time_ns)
        str_addf(out, "%sNo single resource explains the gain.\n", item);
}

static void print_findings(struct str *out, const struct version_changes *v, bool markdown)
{
    const char *item = markdown ? "- " : "  ";
    struct arena *arena = v->after->c.arena;
    const struct explanation *a = &v->before->c.explanation, *b = &v->after->c.explanation;
    const char *gone = only_in(arena, a, b), *added = only_in(arena, b, a);

    if (*gone)
        str_addf(out, "%sNo longer a finding: %s.\n", item, gone);
    if (*added)
        str_addf(out, "%sA finding only now: %s.\n", item, added);
    if (b->nr_findings > 0 && finding_gain(&b->findings[0]).text[0])
        str_addf(out, "%sLeft to gain: %s, by %s.\n", item, finding_gain(&b->findings[0]).text,
            b->findings[0].tool);
}

static void print_metrics(struct str *out, const struct version_changes *v, bool markdown)
{
    const struct counters *before = &v->before->c.profile.total,
                          *after = &v->after->c.profile.total;

    str_add(out, markdown ? "\n| metric | before | after | change |\n|---|---|---|---|\n" : "\n");
    for (int m = 0; m < NR_METRICS; m++) {
        const double x = counters_get(before, (enum metric)m);
        const double y = counters_get(after, (enum metric)m);

        if (!counters_has(before, (enum metric)m) || !counters_has(after, (enum metric)m) ||
            fabs(x - y) <= 0.02 * fmax(fabs(x), fabs(y)))
            continue;
        str_addf(out,
            markdown ? "| `%s` | %.6g | %.6g | %+.0f%% |\n" : "  %-72s %12.6g %12.6g %+6.0f%%\n",
            metric_name((enum metric)m), x, y, x != 0 ? 100 * (y / x - 1) : 100);
    }
}

void view_say_equal(struct str *out, enum provenance from, const char *before, const char *after)
{
    str_addf(out, "%sequal within %s (%.0f%%)%s", before,
        from == PROV_MODELLED ? "the model's resolution" : "what repeats", 100 * VIEW_RESOLUTION,
        after);
}

void view_change_print(struct str *out, const struct version_changes *v, bool markdown)
{
    const double was = v->before->c.profile.time_ns, is = v->after->c.profile.time_ns;

    str_addf(out, "%s%s against %s", markdown ? "# " : "", v->after->file, v->before->file);
    if (was > 0 && is > 0) {
        if (v->equal)
            view_say_equal(out, v->after->c.profile.time_from, ": ", ", ");
        else
            str_addf(out, ": %.2fx %s, ", is < was ? was / is : is / was,
                is < was ? "faster" : "slower");
        report_time(out, was);
        str_add(out, " before, ");
        report_time(out, is);
        str_addf(out, " after (%s)", provenance_name(v->after->c.profile.time_from));
    }
    str_add(out, markdown ? "\n\n" : "\n");
    print_words(out, v, markdown);
    print_findings(out, v, markdown);
    print_metrics(out, v, markdown);
    str_add_char(out, '\n');
    view_one_print(out, "Before", v->chip, &v->before->c, markdown, false);
    str_add_char(out, '\n');
    view_one_print(out, "After", v->chip, &v->after->c, markdown, false);
}

json_t *view_change_json(const struct version_changes *v)
{
    struct arena *arena = v->after->c.arena;
    json_t *changes = json_array();

    for (unsigned i = 0; i < v->nr; i++)
        json_array_append_new(
            changes, json_pack("{s:s, s:s, s:f, s:f, s:f, s:b}", "what", v->changes[i].what,
                         "metric", metric_name(v->changes[i].metric), "before_pct",
                         v->changes[i].before_pct, "after_pct", v->changes[i].after_pct, "saved_ns",
                         v->changes[i].saved_ns, "paid", v->changes[i].paid));
    return json_pack("{s:s, s:s, s:f, s:f, s:b, s:s, s:s, s:o}", "before", v->before->file, "after",
        v->after->file, "before_ns", v->before->c.profile.time_ns, "after_ns",
        v->after->c.profile.time_ns, "equal", v->equal, "gone",
        only_in(arena, &v->before->c.explanation, &v->after->c.explanation), "new",
        only_in(arena, &v->after->c.explanation, &v->before->c.explanation), "changes", changes);
}
