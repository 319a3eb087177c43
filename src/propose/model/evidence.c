/* Owns the figures of a version in the words of a prompt. */
#include "propose/model/evidence.h"

#include "base/linediff.h"
#include "base/mem.h"
#include "base/str.h"
#include "propose/model/phrases.h"
#include "propose/proposer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HOT_LINES = 6, LAUNCHES_SHOWN = 8, MOVES_SHOWN = 5, HEADLINES_SHOWN = 8, CODE_BYTES = 100 };

struct named {
    enum metric metric;
    const char *name;
};

static const struct named units[] = {{METRIC_TENSOR_PCT, "tensor cores"},
    {METRIC_LSU_PCT, "load/store unit (shared memory and L1)"}, {METRIC_FMA_PCT, "f32 pipe"},
    {METRIC_ALU_PCT, "integer pipe"}, {METRIC_FP64_PCT, "f64 pipe"},
    {METRIC_XU_PCT, "special functions"}, {METRIC_ISSUE_PCT, "issue slots"}, {METRIC_L2_PCT, "L2"},
    {METRIC_DRAM_PCT, "memory"}};
static const struct named stalls[] = {{METRIC_STALL_LONG_PCT, "global memory"},
    {METRIC_STALL_SHORT_PCT, "shared memory"}, {METRIC_STALL_BARRIER_PCT, "barriers"},
    {METRIC_STALL_WAIT_PCT, "fixed latency of the instruction before"},
    {METRIC_STALL_MIO_PCT, "a full queue of the load/store unit"},
    {METRIC_STALL_MATH_PCT, "a busy arithmetic pipe"},
    {METRIC_STALL_OTHER_PCT,
        "other (code fetched for the first time, fences, turns of other warps)"}};
/* What is compared between two versions. */
static const struct named compared[] = {{METRIC_WARP_INST, "warp instructions"},
    {METRIC_INST_TENSOR, "tensor instructions"}, {METRIC_GLOBAL_LD_SECTORS, "global load sectors"},
    {METRIC_GLOBAL_ST_SECTORS, "global store sectors"},
    {METRIC_SHARED_LD_WAVEFRONTS, "shared load wavefronts"},
    {METRIC_SHARED_ST_WAVEFRONTS, "shared store wavefronts"},
    {METRIC_SHARED_LD_CONFLICTS, "of them for bank conflicts"}, {METRIC_DRAM_BYTES, "DRAM bytes"},
    {METRIC_LOCAL_BYTES, "local bytes (spills)"}, {METRIC_BARRIERS, "barriers"},
    {METRIC_REGISTERS, "registers a thread"}, {METRIC_OCCUPANCY_ACHIEVED_PCT, "resident warps, %"},
    {METRIC_STALL_LONG_PCT, "waits for global memory, %"},
    {METRIC_STALL_BARRIER_PCT, "waits at barriers, %"}};

static double get(const struct counters *n, enum metric metric)
{
    return counters_get(n, metric);
}

/* "head: a 81%, b 20%, ...\n": those of at least 1%, the largest first; at most 9 of them. */
static void add_shares(struct str *out, const char *head, const struct counters *n,
    const struct named *items, size_t nr)
{
    bool done[9] = {false};
    unsigned nr_shown = 0;

    for (;;) {
        size_t best = nr;

        for (size_t i = 0; i < nr; i++)
            if (!done[i] && get(n, items[i].metric) >= 1 &&
                (best == nr || get(n, items[i].metric) > get(n, items[best].metric)))
                best = i;
        if (best == nr)
            break;
        done[best] = true;
        str_addf(out, "%s%s %.0f%%", nr_shown++ ? ", " : head, items[best].name,
            get(n, items[best].metric));
    }
    str_add(out, nr_shown ? "\n" : "");
}

static void add_launches(struct str *out, struct arena *arena, const struct profile *p)
{
    for (unsigned i = 0; i < p->nr_launches && i < LAUNCHES_SHOWN; i++) {
        const struct launch_config *g = p->configs ? &p->configs[i] : NULL;
        const struct counters *n = &p->launches[i];

        if (!g || !g->kernel)
            continue;
        str_addf(out, "- launch %u, %s: %s; grid %ux%ux%u, block %ux%ux%u", i + 1, g->kernel,
            phrase_time(arena, get(n, METRIC_TIME_NS)), g->grid[0], g->grid[1], g->grid[2],
            g->block[0], g->block[1], g->block[2]);
        if (counters_has(n, METRIC_WAVES))
            str_addf(out, ", %.3g waves", get(n, METRIC_WAVES));
        str_addf(out, "; %.0f registers, %.0f bytes of static and %u of dynamic shared memory\n",
            get(n, METRIC_REGISTERS), get(n, METRIC_SMEM_STATIC), g->smem_bytes);
    }
    if (p->nr_launches > LAUNCHES_SHOWN)
        str_addf(out, "- and %u launches more\n", p->nr_launches - LAUNCHES_SHOWN);
    if (counters_has(&p->total, METRIC_GAP_NS) && get(&p->total, METRIC_GAP_NS) > 0)
        str_addf(out, "- between launches no kernel runs for %s\n",
            phrase_time(arena, get(&p->total, METRIC_GAP_NS)));
}

static void add_occupancy(struct str *out, const struct chip *chip, const struct counters *n)
{
    const double most = chip->max_warps_per_sm;
    struct str names = {0};
    double least;

    if (!counters_has(n, METRIC_OCCUPANCY_PCT))
        return;
    str_addf(out, "- occupancy: %.0f of %.0f warps fit on a multiprocessor",
        get(n, METRIC_OCCUPANCY_PCT) / 100 * most, most);
    least = counters_limiters(n, &names);
    if (names.len > 0)
        str_addf(out, ", limited by %s (%.0f blocks)", str_text(&names), least);
    str_finish(&names);
    if (counters_has(n, METRIC_OCCUPANCY_ACHIEVED_PCT))
        str_addf(out, "; %.3g are resident on average",
            get(n, METRIC_OCCUPANCY_ACHIEVED_PCT) / 100 * most);
    str_add(out, "\n");
}

static void add_traffic(struct str *out, const struct counters *n)
{
    const double loads = get(n, METRIC_GLOBAL_LD_REQUESTS);
    const double shared = get(n, METRIC_SHARED_LD_WAVEFRONTS) + get(n, METRIC_SHARED_ST_WAVEFRONTS);
    const double conflicts =
        get(n, METRIC_SHARED_LD_CONFLICTS) + get(n, METRIC_SHARED_ST_CONFLICTS);

    if (loads > 0)
        str_addf(out,
            "- global loads: %.4g requests of warps, %.3g sectors each, %.4g sectors at least; "
            "%.4g wavefronts\n",
            loads, get(n, METRIC_GLOBAL_LD_SECTORS) / loads, get(n, METRIC_GLOBAL_LD_SECTORS_IDEAL),
            get(n, METRIC_GLOBAL_LD_WAVEFRONTS));
    if (get(n, METRIC_GLOBAL_ST_REQUESTS) > 0)
        str_addf(out, "- global stores: %.4g requests of warps, %.3g sectors each\n",
            get(n, METRIC_GLOBAL_ST_REQUESTS),
            get(n, METRIC_GLOBAL_ST_SECTORS) / get(n, METRIC_GLOBAL_ST_REQUESTS));
    if (shared > 0)
        str_addf(out, "- shared memory: %.4g wavefronts, %.4g of them for bank conflicts\n", shared,
            conflicts);
    if (counters_has(n, METRIC_DRAM_BYTES))
        str_addf(out, "- memory: %.4g MB from and to DRAM; L1 hits %.0f%%, L2 hits %.0f%%\n",
            get(n, METRIC_DRAM_BYTES) / 1e6, get(n, METRIC_L1_HIT_PCT), get(n, METRIC_L2_HIT_PCT));
    if (get(n, METRIC_LOCAL_BYTES) > 0)
        str_addf(
            out, "- spills and local arrays: %.4g bytes of traffic\n", get(n, METRIC_LOCAL_BYTES));
    if (get(n, METRIC_WARP_INST) > 0)
        str_addf(out, "- instructions of warps: %.4g, of them on tensor cores %.4g\n",
            get(n, METRIC_WARP_INST), get(n, METRIC_INST_TENSOR));
}

/* The text of a line of the source, without indentation, at most CODE_BYTES of it. */
static const char *line_text(struct arena *arena, const char *source, unsigned line)
{
    for (; source && *source && line > 1; line--)
        source = str_next_line(source);
    if (!source)
        return "";
    source += strspn(source, " \t");
    const size_t len = strcspn(source, "\n");
    return arena_strndup(arena, source, len < CODE_BYTES ? len : CODE_BYTES);
}

static void add_lines(struct str *out, struct arena *arena, const struct candidate *c)
{
    const struct counters *n = &c->profile.total;
    const char *source = arena_strndup(arena, c->source ? c->source : "", c->source_bytes);
    double all = 0, below = INFINITY;

    for (unsigned i = 0; i < n->nr_lines; i++)
        all += n->lines[i].stall_cycles;
    for (unsigned shown = 0; all > 0 && shown < HOT_LINES; shown++) {
        const struct line_cost *hot = NULL;
        enum wait_reason reason;

        for (unsigned i = 0; i < n->nr_lines; i++)
            if (n->lines[i].stall_cycles < below &&
                (!hot || n->lines[i].stall_cycles > hot->stall_cycles))
                hot = &n->lines[i];
        if (!hot || hot->stall_cycles < 0.02 * all)
            break;
        below = hot->stall_cycles;
        str_addf(out, "- line %u: %.0f%% of the waiting%s%s", hot->line,
            100 * hot->stall_cycles / all, line_waits_for(hot, &reason) ? ", most for " : "",
            line_waits_for(hot, &reason) ? wait_reason_name(reason) : "");
        if (hot->shared_wavefronts > 0)
            str_addf(out, "; %.4g shared wavefronts (%.4g at least)", hot->shared_wavefronts,
                hot->shared_wavefronts_ideal);
        if (hot->global_sectors > 0)
            str_addf(out, "; %.4g global sectors (%.4g at least)", hot->global_sectors,
                hot->global_sectors_ideal);
        str_addf(out, ": %s\n", line_text(arena, source, hot->line));
    }
}

/* The largest errors alone can exceed the tolerance: more is allowed of large values, and where the
 * original rounds as much. The note says what part of what is allowed they are. */
static void add_error(struct str *out, const struct candidate *c)
{
    const struct check_result *check = &c->check;

    str_addf(out,
        "- largest error where it was compared: %.3g absolute, %.3g relative; the tolerance: abs = "
        "%.3g, rel = %.3g\n",
        check->max_abs, check->max_rel, fmax(c->task->tolerance.abs, 0),
        fmax(c->task->tolerance.rel, 0));
    if (check->note)
        str_addf(out, "- what was compared: %s\n", check->note);
}

const char *evidence_text(struct arena *arena, const struct chip *chip, const struct candidate *c)
{
    struct str out = {0};
    const struct counters *n = &c->profile.total;

    if (!c->profiled)
        return "";
    add_launches(&out, arena, &c->profile);
    add_shares(&out, "- how busy, in % of what each can do: ", n, units, ARRAY_SIZE(units));
    add_shares(&out, "- what warps wait for, in % of the time that they are resident: ", n, stalls,
        ARRAY_SIZE(stalls));
    add_occupancy(&out, chip, n);
    add_traffic(&out, n);
    add_lines(&out, arena, c);
    if (c->check.nr_runs > 0 && c->task && c->node != 0)
        add_error(&out, c);
    return phrase_finish(arena, &out);
}

const char *evidence_version(
    struct arena *arena, const struct chip *chip, const struct candidate *c, bool with_evidence)
{
    const char *what = c->node == 0     ? "the original"
                       : c->option.what ? c->option.what
                                        : proposer_name(c->option.proposer);
    struct str out = {0};

    str_addf(&out, "Version %lld (%s). %s\n\n", (long long)c->node, what, phrase_state(arena, c));
    str_addf(&out, "%s\n",
        phrase_source(arena, arena_strndup(arena, c->source ? c->source : "", c->source_bytes)));
    if (with_evidence) {
        const char *evidence = evidence_text(arena, chip, c);
        const char *findings = phrase_findings(arena, c);

        str_addf(&out, "%s%s", *evidence ? "\nWhat its profile says:\n" : "", evidence);
        str_addf(&out, "%s%s", *findings ? "\n\nWhat the tools found:\n" : "", findings);
    }
    return phrase_finish(arena, &out);
}

/* ---- what changed ---- */

static void add_moved(struct str *out, const struct counters *from, const struct counters *to)
{
    enum { SHOWN = 5 };
    bool done[ARRAY_SIZE(compared)] = {false};

    for (unsigned shown = 0; shown < SHOWN; shown++) {
        size_t best = ARRAY_SIZE(compared);
        double most = log(1.1);

        for (size_t i = 0; i < ARRAY_SIZE(compared); i++) {
            const double a = get(from, compared[i].metric), b = get(to, compared[i].metric);
            const double moved = fabs(log((b + 1) / (a + 1)));

            if (!done[i] && counters_has(from, compared[i].metric) &&
                counters_has(to, compared[i].metric) && moved > most) {
                best = i;
                most = moved;
            }
        }
        if (best == ARRAY_SIZE(compared))
            break;
        done[best] = true;
        str_addf(out, "%s%s %.3g -> %.3g", shown ? ", " : "  ", compared[best].name,
            get(from, compared[best].metric), get(to, compared[best].metric));
    }
}

static void add_diff(struct str *out, const struct candidate *from, const struct candidate *to,
    struct arena *arena, unsigned most_lines)
{
    struct text_lines a = lines_split(arena_strndup(arena, from->source, from->source_bytes));
    struct text_lines b = lines_split(arena_strndup(arena, to->source, to->source_bytes));
    size_t nr_steps, nr = 0;
    struct line_step *steps = lines_diff(&a, &b, &nr_steps);

    for (size_t i = 0; i < nr_steps; i++)
        nr += steps[i].kind != ' ';
    if (nr <= most_lines) {
        for (size_t i = 0; i < nr_steps; i++) {
            const struct line_step *s = &steps[i];

            if (s->kind == '-')
                str_addf(out, "  -%.*s", (int)lines_len(&a, s->old), a.at[s->old]);
            else if (s->kind == '+')
                str_addf(out, "  +%.*s", (int)lines_len(&b, s->new_), b.at[s->new_]);
        }
    } else {
        str_addf(out, "  (%zu lines differ)\n", nr);
    }
    free(steps);
    free(a.at);
    free(b.at);
}

const char *evidence_change(struct arena *arena, const struct candidate *from,
    const struct candidate *to, unsigned most_lines)
{
    struct str out = {0};

    if (from->profiled && to->profiled)
        add_moved(&out, &from->profile.total, &to->profile.total);
    str_add(&out, out.len > 0 ? "\n" : "");
    if (from->source && to->source)
        add_diff(&out, from, to, arena, most_lines);
    return phrase_finish(arena, &out);
}

const char *evidence_lines(struct arena *arena, const struct candidate *from,
    const struct candidate *to, unsigned most_lines)
{
    struct str out = {0};

    if (from->source && to->source)
        add_diff(&out, from, to, arena, most_lines);
    return phrase_finish(arena, &out);
}

/* ---- moves and headlines ---- */

static bool is_ruled_out(const struct candidate *c, enum action action)
{
    const struct counters *n = &c->profile.total;

    switch (action) {
    case ACTION_TENSOR_CORES:
        return get(n, METRIC_INST_TENSOR) > 0;
    case ACTION_FUSE:
        return c->plan.nr_launches < 2 && c->profile.nr_launches < 2;
    case ACTION_SHARED_TILE:
        return get(n, METRIC_SHARED_LD_REQUESTS) > 0;
    case ACTION_PAD_SHARED:
        return get(n, METRIC_SHARED_LD_REQUESTS) <= 0;
    case ACTION_PRIVATIZE:
        return get(n, METRIC_GLOBAL_ATOMICS) <= 0;
    case ACTION_TUNE:
        return c->plan.nr_tunes == 0;
    default:
        return action_is_request(action);
    }
}

/* The second line of a page: the sentence that says what the move is. */
static const char *page_sentence(struct arena *arena, const char *page)
{
    const char *line = page ? str_next_line(page) : NULL;

    return line ? arena_strndup(arena, line, strcspn(line, "\n")) : "";
}

const char *evidence_moves(struct arena *arena, const struct chip *chip, const struct candidate *c,
    const char *(*page)(const void *pages, enum action action), const void *pages)
{
    double weights[NR_ACTIONS] = {0};
    struct str out = {0};

    for (unsigned i = 0; i < c->explanation.nr_findings; i++) {
        const struct finding *f = &c->explanation.findings[i];

        for (unsigned k = 0; k < f->nr_weights; k++)
            weights[f->weights[k].action] += (double)f->weights[k].weight / (i + 1);
    }
    for (unsigned shown = 0; shown < MOVES_SHOWN; shown++) {
        int best = -1;

        for (int a = 0; a < NR_ACTIONS; a++)
            if (weights[a] > 0 && (best < 0 || weights[a] > weights[best]) &&
                !is_ruled_out(c, (enum action)a) && !proposer_chip_lacks(chip, (enum action)a))
                best = a;
        if (best < 0)
            break;
        weights[best] = 0;
        str_addf(&out, "- %s: %s\n", action_name((enum action)best),
            page_sentence(arena, page(pages, (enum action)best)));
    }
    return phrase_finish(arena, &out);
}

static const char *brief(struct arena *arena, const char *text)
{
    const size_t len = text ? strcspn(text, "\n") : 0;

    return arena_strndup(arena, text ? text : "", len < 160 ? len : 160);
}

const char *evidence_others(struct arena *arena, const struct propose_headline *headlines,
    unsigned nr, int64_t but, int64_t and_but)
{
    struct str out = {0};
    unsigned shown = 0;

    for (unsigned i = 0; i < nr && shown < HEADLINES_SHOWN; i++) {
        const struct propose_headline *h = &headlines[i];

        if (h->node == but || h->node == and_but || h->node == 0)
            continue;
        shown++;
        str_addf(&out, "- version %lld (from %lld), %s: ", (long long)h->node, (long long)h->parent,
            h->what ? brief(arena, h->what) : h->action);
        if (h->speedup > 0)
            str_addf(&out, "%s, %.2f times the original's speed\n", phrase_time(arena, h->time_ns),
                h->speedup);
        else
            str_addf(&out, "failed (%s): %s\n", h->verdict, brief(arena, h->verdict_text));
    }
    return phrase_finish(arena, &out);
}
