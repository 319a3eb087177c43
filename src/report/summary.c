/* Owns the summary that a run ends with. */
#include "report/report.h"

#include "base/file.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned width_of(const struct report_run *run)
{
    return run->columns > 0 && run->columns < REPORT_WIDTH ? run->columns : REPORT_WIDTH;
}

/* Adds the text as a paragraph, and frees the text. */
static void add_lines(
    struct str *out, const struct report_run *run, const char *first, struct str *text)
{
    report_wrap(out, width_of(run), first, str_text(text));
    str_finish(text);
}

/* ---- the result ---- */

/* Adds the known facts of how the best kernel was timed. */
static void add_timing(
    struct str *out, const struct report_run *run, const struct profile_timing *t)
{
    struct str text = {0};

    if (t->ratio > 0 && t->nr_samples > 1) {
        str_addf(&text, "original / best, timed in turn: %.3fx, 95%% interval %.3f to %.3f (",
            t->ratio, t->ratio_low, t->ratio_high);
        str_add_count(&text, t->nr_samples, "pair");
        str_add_char(&text, ')');
        add_lines(out, run, "  ", &text);
    }
    if (t->clock_high_mhz > 0) {
        str_addf(&text, "SM clock %.0f to %.0f MHz (original %.0f to %.0f), %.0f to %.0f C",
            t->clock_low_mhz, t->clock_high_mhz, t->baseline_clock_low_mhz,
            t->baseline_clock_high_mhz, t->temperature_low_c, t->temperature_high_c);
        add_lines(out, run, "  ", &text);
    }
    if (t->throttle & ~UINT64_C(1)) /* bit 0 is idleness */
        str_addf(out, "  clocks were held back: NVML's reasons 0x%llx\n",
            (unsigned long long)t->throttle);
}

/* Joules are the energy of one run of all launches, and include everything that the card draws. */
static void add_energy(struct str *out, const struct report_run *run, const struct candidate *root,
    const struct candidate *best)
{
    const struct counters *before = &root->profile.total, *after = &best->profile.total;
    const double joules = counters_get(after, METRIC_ENERGY_J);
    struct str text = {0};

    if (!counters_has(before, METRIC_ENERGY_J) || !counters_has(after, METRIC_ENERGY_J))
        return;
    str_addf(&text, "%.4g J -> %.4g J per run (%s; interval %.4g to %.4g), %+.1f%%",
        counters_get(before, METRIC_ENERGY_J), joules,
        provenance_name(after->metric[METRIC_ENERGY_J].from),
        counters_get(after, METRIC_ENERGY_LOW_J), counters_get(after, METRIC_ENERGY_HIGH_J),
        100 * (joules / counters_get(before, METRIC_ENERGY_J) - 1));
    add_lines(out, run, "  ", &text);
}

/* Adds the winner of an earlier run that stays in the output file. */
static void add_kept(struct str *out, const struct report_run *run)
{
    struct str text = {0};

    if (!run->kept)
        return;
    str_addf(&text, "this run: %.2fx; kept: %.2fx of run %lld, node %lld; %s %s",
        run->path[run->nr_path - 1].speedup, run->kept->speedup, (long long)run->kept_run,
        (long long)run->kept->node, run->output_path,
        run->unchanged ? "is unchanged" : "holds that one again");
    add_lines(out, run, "  ", &text);
}

static void add_result(struct str *out, const struct report_run *run)
{
    const struct candidate *root = &run->path[0], *best = &run->path[run->nr_path - 1];
    struct str text = {0};

    str_addf(&text, "%s: ", run->task->path);
    report_result(&text, root, best, run->device_name);
    add_lines(out, run, "", &text);
    add_kept(out, run);
    if (report_is_gain(root, best)) {
        add_timing(out, run, &best->profile.timing);
        add_energy(out, run, root, best);
        if (best->check.note && *best->check.note)
            report_wrap(out, width_of(run), "  ", best->check.note);
        if (best->explanation.roofline_ns > 0)
            str_addf(out, "  at %.0f%% of the roofline of the stated work\n",
                100 * best->explanation.roofline_share);
    }
}

/* Adds a line for each move on the path to the best that gained more than 1%, and one line for all
 * other moves. */
static void add_path(struct str *out, const struct report_run *run)
{
    struct str idle = {0}, text = {0};
    unsigned nr_idle = 0;

    str_add(out, "\nThe moves that led there\n");
    for (unsigned i = 1; i < run->nr_path; i++) {
        const struct candidate *c = &run->path[i];
        struct str speed = {0};
        char first[64];

        if (c->verdict == VERDICT_OK && !report_is_gain(&run->path[i - 1], c)) {
            str_addf(&idle, "%s%lld", nr_idle++ ? ", " : "", (long long)c->node);
            continue;
        }
        report_speed_or_verdict(&speed, c);
        snprintf(first, sizeof(first), "  node %-4lld %9s  %-15s ", (long long)c->node,
            str_text(&speed), action_name(c->option.action));
        report_wrap(out, width_of(run), first, c->option.what ? c->option.what : "");
        str_finish(&speed);
    }
    if (nr_idle > 0) {
        str_add_count(&text, nr_idle, "move");
        str_addf(&text, " on the way brought no more than 1%% by %s: %s %s",
            nr_idle == 1 ? "itself" : "themselves", nr_idle == 1 ? "node" : "nodes",
            str_text(&idle));
        add_lines(out, run, "  ", &text);
    }
    str_finish(&idle);
}

/* ---- what to try ---- */

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

static void add_budget(struct str *out, const struct report_run *run)
{
    const char *budget = run->run->budget ? run->run->budget : "";

    if (is_number(budget))
        str_addf(out,
            "The budget of %s is spent. The same command with --resume --budget %llu goes on from "
            "here.",
            budget, 2 * strtoull(budget, NULL, 10));
    else
        str_addf(out, "The time is over (%s). The same command with --resume goes on from here.",
            budget);
}

static void add_advice(struct str *out, const struct report_run *run)
{
    const bool model = run->run->models && *run->run->models;
    const char *why = run->why;

    if (strcmp(why, "budget") == 0)
        add_budget(out, run);
    else if (strcmp(why, "tokens") == 0 || strcmp(why, "cost") == 0)
        str_addf(out,
            "The models' %s are spent. The same command with --resume and more of them goes "
            "on from here.",
            strcmp(why, "cost") == 0 ? "dollars" : "tokens");
    else if (strcmp(why, "roofline") == 0)
        str_add(out,
            "The kernel is within 5% of the roofline of the stated work: only less work, or "
            "a type of fewer bytes, makes it faster.");
    else if (strcmp(why, "converged") == 0 || strcmp(why, "exhausted") == 0)
        str_addf(out, "%s Another --seed or --policy goes other ways; %s.",
            strcmp(why, "converged") == 0 ? "The last variants brought no gain."
                                          : "All moves that are known for this kernel are tried.",
            model ? "another --model has other ideas"
                  : "a language model (--model) writes variants that no rewriter knows");
    else
        str_add(out, "The run was interrupted. The same command with --resume goes on from here.");
}

/* ---- where things are ---- */

struct listed_place {
    char *where, *what; /* heap memory */
};

struct place_list {
    struct listed_place list[8];
    unsigned nr;
};

__attribute__((format(printf, 3, 4))) static void add_place(
    struct place_list *places, const char *where, const char *format, ...)
{
    struct str what = {0};
    va_list ap;

    va_start(ap, format);
    str_vaddf(&what, format, ap);
    va_end(ap);
    places->list[places->nr++] = (struct listed_place){xstrdup(where), str_take(&what)};
}

/* Adds a command on the database; the command names the run when an earlier run has the winner. */
static void add_verb(struct place_list *places, const struct report_run *run, const char *verb,
    const char *nodes, const char *what)
{
    struct str command = {0};

    str_addf(&command, "keet-opt %s ", verb);
    str_add_shell(&command, run->db_path);
    str_add(&command, nodes);
    if (run->kept)
        str_addf(&command, " --run %lld", (long long)run->kept_run);
    add_place(places, str_text(&command), "%s", what);
    str_finish(&command);
}

/* Prints two columns. A place that is too long for the first column has a line of its own. */
static void print_places(struct str *out, const struct report_run *run, struct place_list *places)
{
    enum { MOST = 46 };
    const size_t most = width_of(run) / 2 < MOST ? width_of(run) / 2 : MOST;
    size_t column = 0;

    for (unsigned i = 0; i < places->nr; i++) {
        const size_t len = strlen(places->list[i].where);

        column = len > column && len <= most ? len : column;
    }
    for (unsigned i = 0; i < places->nr; i++) {
        struct listed_place *place = &places->list[i];
        char first[MOST + 8];

        if (strlen(place->where) > column) {
            str_addf(out, "  %s\n", place->where);
            snprintf(first, sizeof(first), "  %*s  ", (int)column, "");
        } else {
            snprintf(first, sizeof(first), "  %-*s  ", (int)column, place->where);
        }
        report_wrap(out, width_of(run), first, place->what);
        free(place->where);
        free(place->what);
    }
}

static void add_places(struct str *out, const struct report_run *run)
{
    const long long number = (long long)run->run->id;
    struct place_list places = {0};
    struct str text = {0};

    add_place(&places, run->output_path,
        run->replaced ? "the best kernel; the kernel before stays in the database: keet-opt runs"
                      : "the best kernel");
    if (run->moved_to)
        add_place(&places, run->moved_to, "what %s held before: no kernel of this database",
            file_name(run->output_path));
    if (run->patch.patched_path)
        add_place(&places, run->patch.patched_path, "your file with it");
    if (run->patch.patch_path)
        add_place(&places, run->patch.patch_path, "the same as a diff");
    if (run->patch.stale)
        add_place(&places, run->patch.stale, "of an earlier run; this run found nothing to write");
    add_place(&places, run->db_path,
        number > 1 ? "every variant of this run, number %lld, and of the runs before"
                   : "every variant of this run, number %lld",
        number);
    add_verb(&places, run, "show", " best", "counters (also: -v)");
    add_verb(&places, run, "diff", " original best", "what changed (also: -v)");
    add_verb(&places, run, "report", "", "a page for the browser");
    print_places(out, run, &places);
    if (run->patch.note) {
        str_addf(&text, "Look at this: %s", run->patch.note);
        add_lines(out, run, "", &text);
    }
    if (run->patch.why) {
        str_addf(&text, "Not written back to your file: %s", run->patch.why);
        add_lines(out, run, "", &text);
    }
}

static void add_counts(struct str *out, const struct report_run *run)
{
    struct str text = {0};

    report_counts(&text, run->nr_evaluated, run->nr_fill, run->verdicts, run->recalled);
    if (run->nr_reused > 0)
        str_addf(&text, "; %llu taken over from earlier runs", (unsigned long long)run->nr_reused);
    if (run->nr_fallen > 0)
        str_addf(&text, "; %llu led until the timed size showed that they are wrong",
            (unsigned long long)run->nr_fallen);
    str_addf(&text, "; %.1f s, policy %s, seed %llu, stopped by: %s", run->elapsed_s,
        run->run->policy, (unsigned long long)run->run->seed, run->why);
    add_lines(out, run, "", &text);
    if (run->unsettled > 0) {
        str_addf(&text,
            "Node %lld is faster, and was not compared at the timed size before the run ended; the "
            "same command with --resume does that.",
            (long long)run->unsettled);
        add_lines(out, run, "", &text);
    }
    if (run->spent && run->spent->nr_calls > 0) {
        report_spent(&text, run->spent, run->path[run->nr_path - 1].speedup);
        add_lines(out, run, "", &text);
    }
}

/* ---- tables ---- */

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

        report_metric(&cell, m, sides[i]);
        str_addf(out, "%11s", str_text(&cell));
        str_finish(&cell);
    }
    str_addf(out, " %s\n", provenance_name(from));
}

static void add_tables(struct str *out, const struct report_run *run)
{
    const struct candidate *root = &run->path[0], *best = &run->path[run->nr_path - 1];

    if (!run->tables || best == root)
        return;
    str_addf(out, "\nWhat changed\n  %-66s%11s%11s %s\n", "metric", "original", "best", "is");
    for (size_t i = 0; i < nr_report_metrics; i++)
        add_metric_row(out, report_metrics[i], &root->profile.total, &best->profile.total);
    str_add_char(out, '\n');
    report_diff(out, run->task->path, root->source, run->output_path, best->source);
}

void report_summary(struct str *out, const struct report_run *run)
{
    const struct candidate *root = &run->path[0], *best = &run->path[run->nr_path - 1];
    const struct candidate *limited = run->kept ? run->kept : best;
    struct str advice = {0};

    add_result(out, run);
    if (report_is_gain(root, best))
        add_path(out, run);
    add_tables(out, run);
    str_addf(out, "\nWhat limits %s now\n", run->kept ? "the kept kernel" : "it");
    if (limited->profile.no_counters)
        str_addf(out, "  No hardware counters: %s\n", limited->profile.no_counters);
    report_explanation(out, width_of(run), &limited->explanation);
    str_add(out, "\nWhat to try\n");
    add_advice(&advice, run);
    add_lines(out, run, "  ", &advice);
    str_add(out, "\nWhere things are\n");
    add_places(out, run);
    str_add_char(out, '\n');
    add_counts(out, run);
}

void report_short(struct str *out, const struct report_run *run)
{
    const struct candidate *best = &run->path[run->nr_path - 1];

    str_addf(out, "%.2fx %s  %s", best->speedup, report_speedup_word(best->profile.time_from),
        run->output_path);
    if (run->kept)
        str_addf(out, " (kept: %.2fx of run %lld)", run->kept->speedup, (long long)run->kept_run);
    str_add_char(out, '\n');
}
