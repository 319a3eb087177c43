/* Owns the view of one explained kernel. */
#include "explain/explain.h"
#include "explain/launch_groups.h"
#include "explain/limits.h"
#include "explain/views/views.h"
#include "report/report.h"

#include <jansson.h>

static void print_limits(
    struct str *out, const struct chip *chip, const struct candidate *c, bool markdown)
{
    const struct limits limits = explain_limits(chip, c);

    limits_write(&limits, out);
    if (markdown && (limits.nr_pipes > 0 || limits.needed_bytes > 0)) {
        str_add_char(out, '\n');
    }
}

json_t *view_limits_json(const struct chip *chip, const struct candidate *c)
{
    const struct limits limits = explain_limits(chip, c);
    json_t *busy = json_object();

    for (unsigned i = 0; i < limits.nr_pipes; i++) {
        json_object_set_new(
            busy, metric_name(limits.pipes[i].metric), json_real(limits.pipes[i].pct));
    }
    return json_pack("{s:s, s:f, s:f, s:f, s:f, s:o, s:f, s:f, s:f, s:f}", "roofline_from",
        limits.roofline.source == ROOFLINE_STATED    ? "work"
        : limits.roofline.source == ROOFLINE_COUNTED ? "counted bytes"
                                                     : "none",
        "roofline_ns", limits.roofline.least_ns, "roofline_memory_pct",
        limits_pct(&limits, limits.roofline.memory_ns), "roofline_compute_pct",
        limits_pct(&limits, limits.roofline.fastest_ns), "roofline_vector_pct",
        limits_pct(&limits, limits.roofline.vector_ns), "busy_pct", busy, "in_flight_needed_bytes",
        limits.needed_bytes, "in_flight_one_each_bytes", limits.one_each, "in_flight_moved_bytes",
        limits.moved_bytes, "resident_warps", limits.warps);
}

enum { SHOWN = 3, MOST_GROUPS = 32 };

/* The figures of a launch need a share of the time that is worth looking at. */
static const double LEAST_SHARE = 0.04;

/* Of a group of launches; NULL: of the only launch. */
static void print_figures(struct str *out, const struct chip *chip, const struct candidate *c,
    const struct launch_group *group, bool markdown)
{
    const struct counters *n = group ? &c->profile.launches[group->longest] : &c->profile.total;
    struct str figures = {0};

    if (!group || group->share >= LEAST_SHARE) {
        view_figures(&figures, chip, n);
    }
    if (figures.len > 0) {
        str_addf(out, "%s%s: %s.\n",
            markdown ? "\n"
            : group  ? "  "
                     : "",
            group ? c->profile.configs[group->longest].kernel : "Figures", str_text(&figures));
    }
    str_finish(&figures);
}

/* Where the time goes, when there are several launches. */
static void print_launches(
    struct str *out, const struct chip *chip, const struct candidate *c, bool markdown)
{
    struct launch_group groups[MOST_GROUPS];
    const struct profile *profile = &c->profile;
    const unsigned nr =
        profile->nr_launches > 1 ? launch_groups(profile, c->arena, groups, MOST_GROUPS, 0) : 0;

    if (nr > 0) {
        str_add(out,
            markdown ? "| of the launches' time | launches | each | kernel |\n|---|---|---|---|\n"
                     : "  of the launches' time  launches        each  kernel\n");
    }
    for (unsigned i = 0; i < nr; i++) {
        const struct launch_config *config = &profile->configs[groups[i].longest];
        const double time_ns = counters_get(&profile->launches[groups[i].longest], METRIC_TIME_NS);
        struct str each = {0};

        report_time(&each, time_ns);
        str_addf(out,
            markdown ? "| %.1f%% | %u | %s | `%s`, %u x %u x %u blocks of %u x %u x %u |\n"
                     : "  %20.1f%%  %8u  %10s  %s, %u x %u x %u blocks of %u x %u x %u\n",
            100 * groups[i].share, groups[i].nr, str_text(&each), config->kernel, config->grid[0],
            config->grid[1], config->grid[2], config->block[0], config->block[1], config->block[2]);
        str_finish(&each);
    }
    for (unsigned i = 0; i < nr || i == 0; i++) {
        print_figures(out, chip, c, nr > 0 ? &groups[i] : NULL, markdown);
    }
}

static void print_details(
    struct str *out, const struct chip *chip, const struct candidate *c, bool markdown)
{
    struct launch_group groups[MOST_GROUPS];
    const struct profile *profile = &c->profile;
    const unsigned nr = launch_groups(profile, c->arena, groups, MOST_GROUPS, LEAST_SHARE);

    for (unsigned i = 0; i < nr; i++) {
        view_detail(out, c->arena, chip, profile->configs[groups[i].longest].kernel,
            &profile->launches[groups[i].longest], markdown);
    }
}

static void print_head(struct str *out, unsigned nr, const struct finding *f, bool markdown)
{
    const struct gain_text gain = finding_gain(f);

    str_addf(out, markdown ? "%u. **%s**" : "  %u. [%s", nr, f->tool);
    if (gain.text[0]) {
        str_addf(out, markdown ? " (%s)" : ", %s", gain.text);
    }
    str_addf(out, markdown ? " %s\n" : "] %s\n", f->text);
}

static void print_finding(struct str *out, unsigned nr, const struct finding *f, bool markdown)
{
    print_head(out, nr, f, markdown);
    for (unsigned k = 0; k < f->nr_evidence; k++) {
        str_addf(out, markdown ? "   - `%s` = %.6g %s (%s)\n" : "       %s = %.6g %s (%s)\n",
            metric_name(f->evidence[k].metric), f->evidence[k].value,
            metric_unit(f->evidence[k].metric), provenance_name(f->evidence[k].from));
    }
}

static void print_findings(struct str *out, const struct explanation *e, bool markdown, bool all)
{
    unsigned nr_left_out = 0;

    for (unsigned i = 0; i < e->nr_findings; i++) {
        if (all || i < SHOWN || e->findings[i].from_user) {
            print_finding(out, i + 1, &e->findings[i], markdown);
        } else {
            nr_left_out++;
        }
    }
    if (nr_left_out > 0) {
        str_addf(out, "%s%u more finding%s with less to gain: -v shows %s.\n",
            markdown ? "\n" : "  ", nr_left_out, nr_left_out == 1 ? "" : "s",
            nr_left_out == 1 ? "it" : "them");
    }
    if (e->nr_findings == 0) {
        str_add(out, "No finding.\n");
    }
}

void view_one_print(struct str *out, const char *name, const struct chip *chip,
    const struct candidate *c, bool markdown, bool all)
{
    const struct explanation *e = &c->explanation;

    str_addf(out, markdown ? "## %s\n\n" : "%s\n", name);
    if (c->profiled && c->profile.time_ns > 0) {
        str_add(out, "time ");
        report_time(out, c->profile.time_ns);
        str_addf(out, " (%s)\n%s", provenance_name(c->profile.time_from), markdown ? "\n" : "");
    }
    print_launches(out, chip, c, markdown);
    str_addf(out, "%s%s", e->summary ? e->summary : "", markdown ? "\n\n" : "\n");
    print_limits(out, chip, c, markdown);
    print_findings(out, e, markdown, all);
    if (all && c->profiled) {
        print_details(out, chip, c, markdown);
    }
    if (e->unexamined && *e->unexamined) {
        str_addf(out, "%sNot examined for lack of metrics: %s.\n", markdown ? "\n" : "  ",
            e->unexamined);
    }
}

const char *view_bottleneck(const struct explained *e)
{
    const struct explanation *found = &e->c.explanation;

    if (found->nr_findings > 0) {
        return found->findings[0].tool;
    }
    return found->unexamined && *found->unexamined ? "too few metrics" : "none";
}
