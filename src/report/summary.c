/* Owns the summary that a run ends with. */
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *report_speedup_word(enum provenance from)
{
    return from == PROV_MEASURED ? "speedup" : "modelled speedup";
}

void report_time(struct str *out, double ns)
{
    if (ns < 1e3)
        str_addf(out, "%.4g ns", ns);
    else if (ns < 1e6)
        str_addf(out, "%.4g us", ns / 1e3);
    else
        str_addf(out, "%.4g ms", ns / 1e6);
}

/* The metrics that a reader compares first. */
static const enum metric shown[] = {
    METRIC_TIME_NS,
    METRIC_ENERGY_J,
    METRIC_POWER_W,
    METRIC_WARP_INST,
    METRIC_GLOBAL_LD_REQUESTS,
    METRIC_GLOBAL_LD_SECTORS,
    METRIC_GLOBAL_ST_SECTORS,
    METRIC_SHARED_LD_WAVEFRONTS,
    METRIC_SHARED_LD_CONFLICTS,
    METRIC_BRANCHES_DIVERGENT,
    METRIC_BARRIERS,
    METRIC_REGISTERS,
    METRIC_SPILL_BYTES,
    METRIC_BLOCK_THREADS,
    METRIC_GRID_BLOCKS,
    METRIC_OCCUPANCY_PCT,
    METRIC_L1_HIT_PCT,
    METRIC_DRAM_BYTES,
    METRIC_DRAM_PCT,
    METRIC_FMA_PCT,
    METRIC_LSU_PCT,
    METRIC_ISSUE_PCT,
};

/* 1234, 17.4 k, 33.55 M */
static void add_value(struct str *out, double value)
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    const bool whole = fabs(value - rint(value)) < 1e-9 && fabs(value) < 99999.5;
    unsigned unit = 0;

    while (!whole && fabs(value) >= 9999.5 && unit < 4) {
        value /= 1000;
        unit++;
    }
    str_addf(out, whole ? "%.0f%s" : "%.4g%s", value, units[unit]);
}

static void add_metric(struct str *out, enum metric m, const struct counters *c)
{
    if (!counters_has(c, m))
        str_add(out, "-");
    else if (m == METRIC_TIME_NS)
        report_time(out, counters_get(c, m));
    else
        add_value(out, counters_get(c, m));
}

/* Lines of at most 98 columns, broken between words; the first starts with `first`, the others with
 * as many blanks. */
static void add_wrapped(struct str *out, const char *first, const char *text)
{
    enum { WIDTH = 98 };
    const int indent = (int)strlen(first);
    int at = indent;

    str_add(out, first);
    while (*text) {
        const int len = (int)strcspn(text, " ");
        if (at > indent && at + 1 + len > WIDTH) {
            str_addf(out, "\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            str_add_char(out, ' ');
            at++;
        }
        str_add_n(out, text, (size_t)len);
        at += len;
        text += len + (text[len] == ' ');
    }
    str_add_char(out, '\n');
}

static void add_metric_row(
    struct str *out, enum metric m, const struct counters *before, const struct counters *after)
{
    const struct counters *sides[] = {before, after};
    const enum provenance from =
        counters_has(after, m) ? after->metric[m].from : before->metric[m].from;

    if (from == PROV_ABSENT)
        return;
    str_addf(out, "  %-66s", metric_name(m));
    for (int i = 0; i < 2; i++) {
        struct str cell = {0};
        add_metric(&cell, m, sides[i]);
        str_addf(out, "%11s", str_text(&cell));
        str_finish(&cell);
    }
    str_addf(out, " %s\n", provenance_name(from));
}

static void add_metrics(
    struct str *out, const struct counters *before, const struct counters *after)
{
    str_addf(out, "  %-66s%11s%11s %s\n", "metric", "original", "best", "is");
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
        add_metric_row(out, shown[i], before, after);
}

static void add_explanation(struct str *out, const struct explanation *e)
{
    if (e->summary)
        add_wrapped(out, "  ", e->summary);
    for (unsigned i = 0; i < e->nr_findings; i++)
        add_wrapped(out, "  - ", e->findings[i].text);
}

static void add_path(struct str *out, const struct report_run *run)
{
    for (unsigned i = 1; i < run->nr_path; i++) {
        const struct candidate *c = &run->path[i];
        str_addf(out, "  node %-4lld %8.2fx  %-15s %s\n", (long long)c->node, c->speedup,
            action_name(c->option.action), c->option.what ? c->option.what : "");
    }
}

static void add_failures(struct str *out, const struct report_run *run)
{
    bool any = false;

    for (int v = 1; v < NR_VERDICTS; v++) {
        if (!run->verdicts[v])
            continue;
        str_addf(out, "%s%llu %s", any ? ", " : "; refused: ", (unsigned long long)run->verdicts[v],
            verdict_name((enum verdict)v));
        any = true;
    }
}

/* How the best one's time was taken, where that is known. */
static void add_timing(struct str *out, const struct profile_timing *t)
{
    if (t->ratio > 0 && t->nr_samples > 1)
        str_addf(out,
            "  original / best, timed in turn: %.3fx, 95%% interval %.3f to %.3f (%u pairs)\n",
            t->ratio, t->ratio_low, t->ratio_high, t->nr_samples);
    if (t->clock_high_mhz > 0)
        str_addf(out, "  SM clock %.0f to %.0f MHz (original %.0f to %.0f), %.0f to %.0f C\n",
            t->clock_low_mhz, t->clock_high_mhz, t->baseline_clock_low_mhz,
            t->baseline_clock_high_mhz, t->temperature_low_c, t->temperature_high_c);
    if (t->throttle & ~UINT64_C(1)) /* bit 0 is idleness */
        str_addf(out, "  clocks were held back: NVML's reasons 0x%llx\n",
            (unsigned long long)t->throttle);
}

/* Joules are of one run of all launches, over which the card's whole power is drawn. */
static void add_energy(struct str *out, const struct candidate *root, const struct candidate *best)
{
    const struct counters *before = &root->profile.total, *after = &best->profile.total;
    const double joules = counters_get(after, METRIC_ENERGY_J);

    if (!counters_has(before, METRIC_ENERGY_J) || !counters_has(after, METRIC_ENERGY_J))
        return;
    str_addf(out, "  %.4g J -> %.4g J per run (%s; interval %.4g to %.4g), %+.1f%%\n",
        counters_get(before, METRIC_ENERGY_J), joules,
        provenance_name(after->metric[METRIC_ENERGY_J].from),
        counters_get(after, METRIC_ENERGY_LOW_J), counters_get(after, METRIC_ENERGY_HIGH_J),
        100 * (joules / counters_get(before, METRIC_ENERGY_J) - 1));
}

static void add_result(struct str *out, const struct report_run *run)
{
    const struct candidate *root = &run->path[0], *best = &run->path[run->nr_path - 1];
    const enum provenance from = best->profile.time_from;

    if (best == root) {
        str_addf(out, "No variant beat the original (");
        report_time(out, root->profile.time_ns);
        str_addf(out, ", %s).\n", provenance_name(root->profile.time_from));
        return;
    }
    str_addf(out, "%.2fx %s: ", best->speedup, report_speedup_word(from));
    report_time(out, root->profile.time_ns);
    str_add(out, " -> ");
    report_time(out, best->profile.time_ns);
    str_addf(out, " (%s, %s), verified on %u shapes, %u runs\n", provenance_name(from),
        run->device_name, best->check.nr_shapes, best->check.nr_runs);
    add_timing(out, &best->profile.timing);
    add_energy(out, root, best);
    if (best->check.note && *best->check.note)
        str_addf(out, "  %s\n", best->check.note);
    if (best->explanation.roofline_ns > 0)
        str_addf(out, "  at %.0f%% of the roofline of the stated work\n",
            100 * best->explanation.roofline_share);
}

/* 12 calls to m (2 without an answer), 31000 tokens in (20000 cached), 8000 out, 0.2154 dollars */
static void add_spent(struct str *out, const struct model_spent *spent)
{
    str_addf(out,
        "Language model: %u calls (%u without an answer), %llu tokens in (%llu cached), "
        "%llu out, ",
        spent->nr_calls, spent->nr_failed, (unsigned long long)(spent->tokens_in + spent->lost_in),
        (unsigned long long)spent->tokens_cached,
        (unsigned long long)(spent->tokens_out + spent->lost_out));
    if (spent->nr_unpriced == spent->nr_calls)
        str_add(out, "cost unknown (no price in prompts/prices.txt)");
    else if (spent->nr_unpriced > 0)
        str_addf(out, "%.4f dollars and %u calls without a price", spent->cost, spent->nr_unpriced);
    else
        str_addf(out, "%.4f dollars", spent->cost);
    str_addf(out, ", %.1f s of waiting for answers\n", spent->latency_ms * 1e-3);
}

void report_patch_text(struct str *out, const struct report_patch *patch)
{
    if (patch->patched_path)
        str_addf(out, "Your file with it: %s\n", patch->patched_path);
    if (patch->patch_path)
        str_addf(out, "The same as a diff: %s\n", patch->patch_path);
    if (patch->note)
        str_addf(out, "Look at this: %s\n", patch->note);
    if (patch->why)
        str_addf(out, "Not written back to your file: %s\n", patch->why);
}

void report_summary(struct str *out, const struct report_run *run)
{
    const struct candidate *root = &run->path[0], *best = &run->path[run->nr_path - 1];

    str_addf(out, "%s on %s, seed %llu, policy %s\n", run->task->path, run->device_name,
        (unsigned long long)run->run->seed, run->run->policy);
    str_addf(out, "%llu variants evaluated (%llu right) in %.1f s, stopped by: %s",
        (unsigned long long)run->nr_evaluated, (unsigned long long)run->nr_ok, run->elapsed_s,
        run->why);
    if (run->nr_reused > 0)
        str_addf(out, "; %llu taken over from earlier runs", (unsigned long long)run->nr_reused);
    add_failures(out, run);
    str_add(out, "\n\n");
    add_result(out, run);
    if (best != root) {
        str_add(out, "\nThe moves that led there\n");
        add_path(out, run);
        str_add(out, "\nWhat changed\n");
        add_metrics(out, &root->profile.total, &best->profile.total);
        str_add(out, "\n");
        report_diff(out, run->task->path, root->source, run->output_path, best->source);
    }
    if (best->profile.no_counters)
        str_addf(out, "\nNo hardware counters: %s\n", best->profile.no_counters);
    str_add(out, "\nWhat limits the best now\n");
    add_explanation(out, &best->explanation);
    str_addf(out, "\nBest kernel: %s\n", run->output_path);
    report_patch_text(out, &run->patch);
    str_addf(out, "Everything else: %s\n", run->db_path);
    if (run->spent && run->spent->nr_calls > 0)
        add_spent(out, run->spent);
}

/* The kinds of instructions that a line of machine code has: "fp32 8, special function 2". */
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
        add_wrapped(out, first, str_text(&mix));
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
        add_metric(&cell, (enum metric)m, t);
        str_addf(out, "  %-76s%12s  %-8s %s\n", metric_name((enum metric)m), str_text(&cell),
            metric_unit((enum metric)m), provenance_name(t->metric[m].from));
        str_finish(&cell);
    }
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
    add_explanation(out, &c->explanation);
}
