/* Owns the pieces of text that the summary, the reports and the verbs share. */
#include "report/report.h"

#include "base/terminal.h"

#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A smaller gain is noise: loop.c stops a search by the same 1%. */
static const double LEAST_GAIN = 1.01;

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

const enum metric report_metrics[] = {
    METRIC_TIME_NS,
    METRIC_ENERGY_J,
    METRIC_POWER_W,
    METRIC_WARP_INST,
    METRIC_FLOPS,
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
    METRIC_L2_HIT_PCT,
    METRIC_DRAM_BYTES,
    METRIC_DRAM_PCT,
    METRIC_FMA_PCT,
    METRIC_LSU_PCT,
    METRIC_ISSUE_PCT,
    METRIC_STALL_LONG_PCT,
    METRIC_STALL_BARRIER_PCT,
    METRIC_STALL_MIO_PCT,
};
const size_t nr_report_metrics = sizeof(report_metrics) / sizeof(report_metrics[0]);

void report_metric(struct str *out, enum metric metric, const struct counters *c)
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    double value = counters_get(c, metric);
    const bool whole = fabs(value - rint(value)) < 1e-9 && fabs(value) < 99999.5;
    unsigned unit = 0;

    if (!counters_has(c, metric)) {
        str_add(out, "-");
        return;
    }
    if (metric == METRIC_TIME_NS) {
        report_time(out, value);
        return;
    }
    while (!whole && fabs(value) >= 9999.5 && unit < 4) {
        value /= 1000;
        unit++;
    }
    str_addf(out, whole ? "%.0f%s" : "%.4g%s", value, units[unit]);
}

unsigned report_columns(FILE *out)
{
    enum { UNKNOWN = 80, LEAST = 20 };
    struct winsize size;

    if (!isatty(terminal_fd(out)))
        return REPORT_WIDTH;
    if (ioctl(terminal_fd(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return UNKNOWN;
    return size.ws_col > LEAST ? size.ws_col : LEAST;
}

void report_wrap(struct str *out, unsigned width, const char *first, const char *text)
{
    const size_t indent = strlen(first);
    size_t at = indent;

    str_add(out, first);
    while (*text) {
        size_t len = 0;

        while ((unsigned char)text[len] > ' ')
            len++;
        if (len > 0 && at > indent && at + 1 + len > width) {
            str_addf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (len > 0 && at > indent) {
            str_add_char(out, ' ');
            at++;
        }
        str_add_n(out, text, len);
        at += len;
        text += len + (text[len] != '\0');
    }
    str_add_char(out, '\n');
}

void report_explanation(struct str *out, unsigned width, const struct explanation *e)
{
    if (e->summary)
        report_wrap(out, width, "  ", e->summary);
    for (unsigned i = 0; i < e->nr_findings; i++)
        report_wrap(out, width, "  - ", e->findings[i].text);
}

static bool saves_energy(const struct candidate *from, const struct candidate *to)
{
    const struct counters *before = &from->profile.total, *after = &to->profile.total;

    return counters_has(before, METRIC_ENERGY_J) && counters_has(after, METRIC_ENERGY_J) &&
           counters_get(before, METRIC_ENERGY_J) >
               LEAST_GAIN * counters_get(after, METRIC_ENERGY_J);
}

bool report_is_gain(const struct candidate *from, const struct candidate *to)
{
    return from != to && (to->speedup > LEAST_GAIN * from->speedup || saves_energy(from, to));
}

void report_speed_or_verdict(struct str *out, const struct candidate *c)
{
    if (c->verdict == VERDICT_OK)
        str_addf(out, "%.2fx", c->speedup);
    else
        str_add(out, verdict_name(c->verdict));
}

static void add_time(struct str *out, const struct candidate *c)
{
    if (!c->profiled)
        return;
    str_add(out, " (");
    report_time(out, c->profile.time_ns);
    str_addf(out, ", %s)", provenance_name(c->profile.time_from));
}

void report_result(struct str *out, const struct candidate *root, const struct candidate *best,
    const char *device_name)
{
    if (!report_is_gain(root, best)) {
        str_add(out, "No variant was faster than the original by more than 1%");
        add_time(out, root);
        if (best != root)
            str_addf(out, "; the best, node %lld, is %.4gx", (long long)best->node, best->speedup);
        return;
    }
    str_addf(out, "%.2fx %s, ", best->speedup, report_speedup_word(best->profile.time_from));
    report_time(out, root->profile.time_ns);
    str_add(out, " -> ");
    report_time(out, best->profile.time_ns);
    str_addf(out, " (%s%s%s), verified on ", provenance_name(best->profile.time_from),
        device_name ? ", " : "", device_name ? device_name : "");
    str_add_count(out, best->check.nr_shapes, "shape");
    str_add(out, " in ");
    str_add_count(out, best->check.nr_runs, "run");
}

/* Each evaluation is counted once: as right, under its verdict, or as sent back for a repair. What
 * a model declined, or did not answer, was not evaluated. */
void report_counts(struct str *out, uint64_t nr_evaluated, uint64_t nr_fill,
    const uint64_t verdicts[NR_VERDICTS], const uint64_t recalled[NR_VERDICTS])
{
    const uint64_t nr_right = verdicts[VERDICT_OK] - recalled[VERDICT_OK];
    uint64_t nr_repairs = nr_evaluated + nr_fill, nr_recalled = 0;

    if (nr_fill > 0) {
        str_add_count(out, nr_evaluated, "answer");
        str_add(out, " of models and ");
        str_add_count(out, nr_fill, "variant");
        str_add(out, " between them");
    } else {
        str_add_count(out, nr_evaluated, "variant");
    }
    str_addf(out, " evaluated: %llu right", (unsigned long long)nr_right);
    for (int v = 0; v < NR_VERDICTS; v++) {
        const uint64_t nr = verdicts[v] - recalled[v];

        nr_repairs -= verdict_costs((enum verdict)v) ? nr : 0;
        nr_recalled += recalled[v];
        if (v != VERDICT_OK && nr > 0)
            str_addf(out, ", %llu %s", (unsigned long long)nr, verdict_name((enum verdict)v));
    }
    if (nr_repairs > 0)
        str_addf(out, ", %llu sent back for a repair", (unsigned long long)nr_repairs);
    if (nr_recalled > 0)
        str_addf(out, "; %llu more compiled to the same as one of them",
            (unsigned long long)nr_recalled);
}

/* What a percent of speed cost, where something was gained. */
static void add_price_of_gain(struct str *out, const struct model_spent *spent, double speedup)
{
    const double percent = 100 * (speedup - 1);

    if (speedup <= LEAST_GAIN || spent->tokens == 0)
        return;
    str_addf(out, spent->tokens < 100 * percent ? ", %.3g tokens" : ", %.0f tokens",
        (double)spent->tokens / percent);
    if (spent->nr_unpriced == 0 && spent->cost > 0)
        str_addf(out, " and %.3g dollars", spent->cost / percent);
    str_add(out, " for each percent of speed gained");
}

void report_spent(struct str *out, const struct model_spent *spent, double speedup)
{
    str_add_count(out, spent->nr_calls, "call");
    str_addf(out,
        " to language models (%u without an answer), %llu tokens in (%llu cached), %llu out, ",
        spent->nr_failed, (unsigned long long)(spent->tokens_in + spent->lost_in),
        (unsigned long long)spent->tokens_cached,
        (unsigned long long)(spent->tokens_out + spent->lost_out));
    if (spent->nr_calls > 0 && spent->nr_unpriced == spent->nr_calls)
        str_add(out, "cost unknown (no price in prompts/prices.txt)");
    else
        str_addf(out, "%.4f dollars", spent->cost);
    if (spent->nr_unpriced > 0 && spent->nr_unpriced < spent->nr_calls) {
        str_add(out, " and ");
        str_add_count(out, spent->nr_unpriced, "call");
        str_add(out, " without a price");
    }
    str_addf(out, ", %.1f s of waiting for answers", spent->latency_ms * 1e-3);
    add_price_of_gain(out, spent, speedup);
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
