/* Owns one candidate as text, for `keet-opt run` and `keet-opt show`. */
#include "report/report.h"

#include <stdio.h>

/* Adds the kinds of machine instructions at a source line: "fp32 8, special function 2". */
static void add_mix(struct str *out, const struct sass_mix *mix)
{
    bool any = false;

    for (int i = 0; i < NR_SASS_CLASSES; i++) {
        if (mix->of[i] == 0)
            continue;
        str_addf(out, "%s%s %u", any ? ", " : "", sass_class_name((enum sass_class)i), mix->of[i]);
        if (i == SASS_GLOBAL_LOAD && mix->wide_loads > 0)
            str_addf(out, " (%u wide)", mix->wide_loads);
        if (i == SASS_GLOBAL_STORE && mix->wide_stores > 0)
            str_addf(out, " (%u wide)", mix->wide_stores);
        any = true;
    }
}

static void add_sass(struct str *out, const struct candidate *c)
{
    unsigned nr;
    const struct sass_line *lines = candidate_sass_lines(c, &nr);

    if (nr == 0)
        return;
    str_addf(
        out, "\n  %5s %5s  in the machine code, each instruction once (counted)\n", "line", "inst");
    for (unsigned i = 0; i < nr; i++) {
        struct str mix = {0};
        char first[32];

        snprintf(first, sizeof(first), "  %5u %5u  ", lines[i].line, lines[i].mix.nr);
        add_mix(&mix, &lines[i].mix);
        report_wrap(out, REPORT_WIDTH, first, str_text(&mix));
        str_finish(&mix);
    }
}

void report_candidate(struct str *out, const struct candidate *c)
{
    const struct counters *t = &c->profile.total;

    str_addf(out, "%s: %s\n", c->task->path, verdict_name(c->verdict));
    if (c->verdict_text)
        str_addf(out, "%s\n", c->verdict_text);
    if (!c->profiled)
        return;
    str_add(out, "time ");
    report_time(out, c->profile.time_ns);
    str_addf(out, " (%s)\n\n", provenance_name(c->profile.time_from));
    if (c->profile.no_counters)
        str_addf(out, "No hardware counters: %s\n\n", c->profile.no_counters);
    if (c->profile.no_energy)
        str_addf(out, "Energy not known: %s\n\n", c->profile.no_energy);
    for (int m = 0; m < NR_METRICS; m++) {
        struct str cell = {0};
        if (!counters_has(t, (enum metric)m))
            continue;
        report_metric(&cell, (enum metric)m, t);
        str_addf(out, "  %-76s%12s  %-8s %s\n", metric_name((enum metric)m), str_text(&cell),
            metric_unit((enum metric)m), provenance_name(t->metric[m].from));
        str_finish(&cell);
    }
    if (counters_lines_emulated(t))
        str_add(out, "\n  By line, as counted on the emulator; cycles as sampled on the GPU:");
    str_addf(out, "\n  %5s %14s %14s %14s %12s\n", "line", "warp inst", "global sectors",
        "shared wavefr.", "stall cycles");
    for (unsigned i = 0; i < t->nr_lines; i++) {
        const struct line_cost *l = &t->lines[i];
        enum wait_reason most;

        str_addf(out, "  %5u %14.0f %14.0f %14.0f %12.0f", l->line, l->warp_inst, l->global_sectors,
            l->shared_wavefronts, l->stall_cycles);
        str_addf(out, "%s%s\n", line_waits_for(l, &most) ? "  mostly for " : "",
            line_waits_for(l, &most) ? wait_reason_name(most) : "");
    }
    add_sass(out, c);
    str_add_char(out, '\n');
    report_explanation(out, REPORT_WIDTH, &c->explanation);
}
