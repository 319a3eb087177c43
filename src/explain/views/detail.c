/* Owns the details of a launch: units by their own time, instructions, accesses, lines, waiting,
 * and what would remain without each cause. */
#include "explain/limits.h"
#include "explain/remains.h"
#include "explain/views/views.h"
#include "report/report.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* A cause whose absence changes the time by less than this share is left out. */
static const double LEAST_EFFECT = 0.02;

static double get(const struct counters *n, enum metric metric)
{
    return counters_get(n, metric);
}

static void begin_line(struct str *out, bool markdown, const char *what)
{
    str_addf(out, "%s%s: ", markdown ? "- " : "    ", what);
}

/* ---- units ---- */

static const enum metric units[] = {METRIC_DRAM_PCT, METRIC_L2_PCT, METRIC_LSU_PCT,
    METRIC_ISSUE_PCT, METRIC_FMA_PCT, METRIC_ALU_PCT, METRIC_FP64_PCT, METRIC_XU_PCT,
    METRIC_TENSOR_PCT};

static void add_units(
    struct str *out, const struct chip *chip, const struct counters *n, bool markdown)
{
    const double body_ns = remains_body_ns(chip, n);
    bool done[ARRAY_SIZE(units)] = {false};

    begin_line(out, markdown, "units, and the time that each needs by itself");
    for (size_t k = 0; k < ARRAY_SIZE(units); k++) {
        size_t most = ARRAY_SIZE(units);

        for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
            if (!done[i] && (most == ARRAY_SIZE(units) || get(n, units[i]) > get(n, units[most]))) {
                most = i;
            }
        }
        done[most] = true;
        if (get(n, units[most]) < LIMITS_LEAST_PCT) {
            break;
        }
        str_addf(out, "%s%s %.3g%% (", k > 0 ? ", " : "", limits_unit_name(units[most]),
            get(n, units[most]));
        report_time(out, get(n, units[most]) / 100 * body_ns);
        str_add_char(out, ')');
    }
    str_add_char(out, '\n');
}

/* ---- counts ---- */

struct count {
    enum metric metric;
    const char *name;
};

static void add_counts(
    struct str *out, const struct counters *n, const struct count *counts, size_t nr, double each)
{
    const char *before = "";

    for (size_t i = 0; i < nr; i++) {
        if (get(n, counts[i].metric) > 0) {
            const double count = get(n, counts[i].metric) / each;

            str_addf(out, count < 1e4 ? "%s%s %.4g" : "%s%s %.0f", before, counts[i].name, count);
            before = ", ";
        }
    }
    str_add_char(out, '\n');
}

static void add_instructions(struct str *out, const struct counters *n, double warps, bool markdown)
{
    static const struct count kinds[] = {{METRIC_INST_FP32, "f32"}, {METRIC_INST_FP64, "f64"},
        {METRIC_INST_FP16, "f16"}, {METRIC_INST_INTEGER, "integer"},
        {METRIC_INST_CONTROL, "control"}, {METRIC_INST_MEMORY, "memory"},
        {METRIC_INST_CONVERSION, "conversion"}, {METRIC_INST_SPECIAL, "special functions"},
        {METRIC_INST_SHUFFLE, "shuffles"}, {METRIC_INST_OTHER, "other"}};

    begin_line(out, markdown, "instructions of a warp");
    str_addf(out, "%.0f, with %.3g lanes each; of a warp's 32 lanes together, by 32: ",
        get(n, METRIC_WARP_INST) / warps,
        get(n, METRIC_THREAD_INST) / fmax(get(n, METRIC_WARP_INST), 1));
    add_counts(out, n, kinds, ARRAY_SIZE(kinds), 32 * warps);
}

static void add_accesses(struct str *out, const struct counters *n, double warps, bool markdown)
{
    static const struct count kinds[] = {{METRIC_GLOBAL_LD_REQUESTS, "global loads"},
        {METRIC_GLOBAL_LD_SECTORS, "of sectors"}, {METRIC_GLOBAL_LD_SECTORS_IDEAL, "at least"},
        {METRIC_GLOBAL_ST_REQUESTS, "global stores"}, {METRIC_GLOBAL_ST_SECTORS, "of sectors"},
        {METRIC_GLOBAL_ST_SECTORS_IDEAL, "at least"}, {METRIC_GLOBAL_ATOMICS, "global atomics"},
        {METRIC_SHARED_LD_REQUESTS, "shared loads"}, {METRIC_SHARED_LD_WAVEFRONTS, "of wavefronts"},
        {METRIC_SHARED_ST_REQUESTS, "shared stores"},
        {METRIC_SHARED_ST_WAVEFRONTS, "of wavefronts"}, {METRIC_SHARED_ATOMICS, "shared atomics"},
        {METRIC_LOCAL_LD_REQUESTS, "local loads"}, {METRIC_LOCAL_ST_REQUESTS, "local stores"},
        {METRIC_BARRIERS, "barriers"}};

    begin_line(out, markdown, "accesses of a warp");
    add_counts(out, n, kinds, ARRAY_SIZE(kinds), warps);
}

static void add_waits(struct str *out, const struct counters *n, bool markdown)
{
    const char *before = "";

    begin_line(out, markdown, "of their time, warps wait for");
    for (int w = 0; w < NR_WAITS; w++) {
        const double pct = get(n, (enum metric)(METRIC_STALL_LONG_PCT + w));

        if (pct >= 1) {
            str_addf(out, "%s%s %.0f%%", before, wait_reason_name((enum wait_reason)w), pct);
            before = ", ";
        }
    }
    str_add_char(out, '\n');
}

/* ---- lines ---- */

enum { LINES_SHOWN = 8 };
/* Of the instructions or of the waiting. */
static const double LEAST_OF_LINE = 0.03;

struct line_share {
    const struct line_cost *line;
    double inst, waits; /* of the launch's, 0..1 */
};

static int by_share(const void *a, const void *b)
{
    const struct line_share *x = a, *y = b;
    const double p = fmax(x->inst, x->waits), q = fmax(y->inst, y->waits);

    return p != q ? (p < q) - (p > q)
                  : (x->line->line > y->line->line) - (x->line->line < y->line->line);
}

static void add_of_line(struct str *out, const char *what, double count, double warps)
{
    if (count / warps >= 0.05) {
        str_addf(out, ", %s %.3g", what, count / warps);
    }
}

static void add_line(struct str *out, const struct line_share *l, double warps)
{
    const struct line_cost *line = l->line;

    str_addf(out, "line %u: %.4g instructions a warp (%.0f%%), %.3g lanes", line->line,
        line->warp_inst / warps, 100 * l->inst, line->thread_inst / fmax(line->warp_inst, 1));
    add_of_line(out, "integer", line->integer_inst / 32, warps);
    add_of_line(out, "conversions", line->conversion_inst / 32, warps);
    add_of_line(out, "special functions", line->special_inst / 32, warps);
    add_of_line(out, "f64", line->fp64_inst / 32, warps);
    add_of_line(out, "global accesses", line->global_requests, warps);
    add_of_line(out, "of sectors", line->global_sectors, warps);
    add_of_line(out, "shared accesses", line->shared_requests, warps);
    add_of_line(out, "of wavefronts", line->shared_wavefronts, warps);
    add_of_line(out, "local accesses", line->local_requests, warps);
    add_of_line(out, "atomics", line->atomics, warps);
    add_of_line(out, "barriers", line->barriers, warps);
    str_addf(out, "; %.0f%% of the waiting\n", 100 * l->waits);
}

/* What each source line costs, of a warp. */
static void add_lines(
    struct str *out, struct arena *arena, const struct counters *n, double warps, bool markdown)
{
    struct line_share *all = arena_array(arena, n->nr_lines + 1u, sizeof(*all));
    double inst = 0, waits = 0;
    unsigned nr = 0;

    for (unsigned i = 0; i < n->nr_lines; i++) {
        inst += n->lines[i].warp_inst;
        waits += n->lines[i].stall_cycles;
    }
    for (unsigned i = 0; i < n->nr_lines; i++) {
        const struct line_cost *line = &n->lines[i];
        const struct line_share share = {line, inst > 0 ? line->warp_inst / inst : 0,
            waits > 0 ? line->stall_cycles / waits : 0};

        if (line->line > 0 && fmax(share.inst, share.waits) >= LEAST_OF_LINE) {
            all[nr++] = share;
        }
    }
    if (nr == 0) {
        return;
    }
    qsort(all, nr, sizeof(all[0]), by_share);
    begin_line(out, markdown, "by line");
    str_add_char(out, '\n');
    for (unsigned i = 0; i < nr && i < LINES_SHOWN; i++) {
        str_add(out, markdown ? "  - " : "      ");
        add_line(out, &all[i], warps);
    }
}

/* ---- without a cause ---- */

struct without {
    enum cure cure;
    double ns;
};

static int by_time(const void *a, const void *b)
{
    const struct without *x = a, *y = b;

    return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns)
                          : (x->cure > y->cure) - (x->cure < y->cure);
}

static void add_cures(struct str *out, const struct counters *n, bool markdown)
{
    const double now = get(n, METRIC_TIME_NS);
    struct without all[NR_CURES];
    unsigned nr = 0;

    for (int c = 0; c < NR_CURES; c++) {
        const double ns = get(n, cure_metric((enum cure)c));

        if (ns > 0 && ns < (1 - LEAST_EFFECT) * now) {
            all[nr++] = (struct without){(enum cure)c, ns};
        }
    }
    if (nr == 0) {
        return;
    }
    qsort(all, nr, sizeof(all[0]), by_time);
    begin_line(out, markdown, "the time without one cause each, and what limits then (modelled)");
    str_add_char(out, '\n');
    for (unsigned i = 0; i < nr; i++) {
        str_add(out, markdown ? "  - " : "      ");
        report_time(out, all[i].ns);
        str_addf(out, " (%.2fx) without %s: ", now / all[i].ns, cure_what(all[i].cure));
        limits_say(&n->left[all[i].cure], out);
        str_add_char(out, '\n');
    }
}

/* Launches of one kind follow a time that one of their blocks takes alone. */
static void add_time(struct str *out, const struct chip *chip, const struct counters *n)
{
    const double now = get(n, METRIC_TIME_NS), body_ns = remains_body_ns(chip, n);

    report_time(out, now);
    str_add(out, ", of which ");
    report_time(out, now - body_ns);
    str_add(out, " to start and to end");
    if (counters_has(n, METRIC_ONE_BLOCK_NS)) {
        str_add(out, "; one block alone takes ");
        report_time(out, get(n, METRIC_ONE_BLOCK_NS));
    }
    str_add_char(out, '\n');
}

void view_detail(struct str *out, struct arena *arena, const struct chip *chip, const char *kernel,
    const struct counters *n, bool markdown)
{
    const double warps = get(n, METRIC_WARPS_LAUNCHED);

    str_addf(out, markdown ? "\n### `%s` in detail\n\n" : "  %s in detail: ", kernel);
    add_time(out, chip, n);
    if (markdown) {
        str_add_char(out, '\n');
    }
    add_units(out, chip, n, markdown);
    if (warps > 0) {
        add_instructions(out, n, warps, markdown);
        add_accesses(out, n, warps, markdown);
        add_lines(out, arena, n, warps, markdown);
    }
    add_waits(out, n, markdown);
    add_cures(out, n, markdown);
}
