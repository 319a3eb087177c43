/* Owns the report of a campaign, made of parts of the report of a run. Texts from sources, models
 * and tasks are escaped, as in the report of a run. */
#include "campaign/overview.h"

#include "report/escape.h"
#include "report/page.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct overview {
    const struct campaign *c;
    struct arena *arena;
    struct campaign_figures *all;
    unsigned nr_right, nr_measured; /* tasks with a correct result; and those timed on a GPU */
    double log_sum;                 /* of the speedups of the correct results */
    uint64_t tokens, nr_calls, verdicts[NR_VERDICTS];
    double cost;
};

static bool gather(struct overview *o, const struct campaign *c, struct err *err)
{
    *o = (struct overview){.c = c, .arena = arena_create()};
    o->all = arena_array(o->arena, c->nr_tasks, sizeof(*o->all));
    for (unsigned i = 0; i < c->nr_tasks; i++) {
        const struct campaign_figures *f = &o->all[i];

        if (!campaign_figures(c, &c->tasks[i], o->arena, &o->all[i], err))
            return false;
        if (f->measured) {
            o->nr_right++;
            o->nr_measured += f->digest.from == PROV_MEASURED;
            o->log_sum += log(f->digest.speedup);
        }
        o->tokens += f->digest.tokens;
        o->nr_calls += f->digest.nr_calls;
        o->cost += f->digest.cost;
        for (int v = 0; v < NR_VERDICTS; v++)
            o->verdicts[v] += f->digest.verdicts[v];
    }
    return true;
}

/* Measured and modelled times are never put into one figure. */
static const char *speedup_word(const struct overview *o)
{
    return report_speedup_word(
        o->nr_measured == o->nr_right && o->nr_right > 0 ? PROV_MEASURED : PROV_MODELLED);
}

static bool is_mixed(const struct overview *o)
{
    return o->nr_measured > 0 && o->nr_measured < o->nr_right;
}

static void say_asked(const struct overview *o, struct str *out)
{
    const struct campaign *c = o->c;

    str_addf(out, "%u tasks of %s, in %u rounds, begun %s.", c->nr_tasks, c->source, c->nr_rounds,
        c->started);
}

static void say_result(const struct overview *o, struct str *out)
{
    const struct campaign *c = o->c;

    str_addf(out, "%u of %u tasks have a right result", o->nr_right, c->nr_tasks);
    if (o->nr_right > 0 && is_mixed(o))
        str_addf(
            out, ", %u of them measured and the others modelled: no common mean", o->nr_measured);
    else if (o->nr_right > 0)
        str_addf(out, "; geometric mean of theirs %.2fx %s", exp(o->log_sum / o->nr_right),
            speedup_word(o));
    str_addf(out, ". %s%s after %.0f s.", c->ended ? "Ended: " : "",
        c->ended ? c->ended : "Not ended", c->elapsed_s);
    if (o->nr_calls > 0)
        str_addf(out, " %llu calls to models, %llu tokens, %.4f dollars where prices are known.",
            (unsigned long long)o->nr_calls, (unsigned long long)o->tokens, o->cost);
}

/* ---- HTML ---- */

static void add_paragraph(struct str *out, const char *kind,
    void (*say)(const struct overview *, struct str *), const struct overview *o)
{
    struct str text = {0};

    say(o, &text);
    str_addf(out, "<p class=\"%s\">", kind);
    escape_html(out, str_text(&text));
    str_add(out, "</p>\n");
    str_finish(&text);
}

static void add_task_row(const struct overview *o, unsigned i, struct str *out)
{
    const struct campaign_task *t = &o->c->tasks[i];
    const struct campaign_figures *f = &o->all[i];
    const struct store_digest *d = &f->digest;

    str_addf(out, "<tr><td><a href=\"#t%u-task\">", i + 1);
    escape_html(out, t->name);
    str_addf(out, "</a></td><td>%s</td>", campaign_state_name(f));
    if (f->measured) {
        str_addf(out, "<td class=\"n\">%.2fx</td><td>%s</td><td class=\"n\">", d->speedup,
            provenance_name(d->from));
        report_time(out, d->best_ns);
        str_add(out, "</td>");
    } else {
        str_add(out, "<td class=\"n\">-</td><td></td><td class=\"n\">-</td>");
    }
    str_addf(out,
        "<td class=\"n\">%lld</td><td class=\"n\">%llu</td><td class=\"n\">%llu</td>"
        "<td class=\"n\">%.4f</td><td class=\"n\">%.1f</td><td>",
        (long long)d->nr_evaluated, (unsigned long long)d->verdicts[VERDICT_OK],
        (unsigned long long)d->tokens, d->cost, t->wall_s);
    escape_html(out, f->problem ? f->problem : f->why);
    str_add(out, "</td></tr>\n");
}

static void add_table(const struct overview *o, struct str *out)
{
    str_add(out, "<h2 id=\"tasks\">All tasks</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>task"
                 "</th><th>state</th><th>speedup</th><th>is</th><th>best</th><th>variants</th>"
                 "<th>right</th><th>tokens</th><th>dollars</th><th>seconds</th><th>stopped by</th>"
                 "</tr></thead>\n<tbody>\n");
    for (unsigned i = 0; i < o->c->nr_tasks; i++)
        add_task_row(o, i, out);
    str_add(out, "</tbody></table></div>\n");
}

static struct page_bar bar_of(const struct overview *o, unsigned i)
{
    return (struct page_bar){.label = arena_printf(o->arena, "%.22s", o->c->tasks[i].name),
        .href = arena_printf(o->arena, "#t%u-task", i + 1),
        .good = o->all[i].state != TASK_FAILED};
}

static int by_value(const void *a, const void *b)
{
    const struct page_bar *one = a, *other = b;

    if (one->value != other->value)
        return one->value > other->value ? -1 : 1;
    return strcmp(one->label, other->label);
}

static void add_speedups(const struct overview *o, struct str *out)
{
    struct page_bar *bars = arena_array(o->arena, o->c->nr_tasks, sizeof(*bars));

    for (unsigned i = 0; i < o->c->nr_tasks; i++) {
        const struct campaign_figures *f = &o->all[i];

        bars[i] = bar_of(o, i);
        bars[i].value = f->measured ? f->digest.speedup : 0;
        bars[i].text = f->measured ? arena_printf(o->arena, "%.2fx%s", f->digest.speedup,
                                         f->digest.from == PROV_MEASURED ? "" : " modelled")
                                   : campaign_state_name(f);
    }
    qsort(bars, o->c->nr_tasks, sizeof(*bars), by_value);
    str_addf(out,
        "<h2 id=\"speedups\">The best of each task</h2>\n<p>Each bar is the %s over the "
        "original%s.</p>\n",
        is_mixed(o) ? "speedup, measured or modelled as marked," : speedup_word(o),
        o->nr_measured ? "" : ": an estimate by the emulator, not a measurement");
    page_bars(out, "chart-speedups", "Speedup of each task's best variant", bars, o->c->nr_tasks);
}

/* Adds the chart of costs: tokens where there are any, else the time of the processes. */
static void add_costs(const struct overview *o, struct str *out)
{
    struct page_bar *bars = arena_array(o->arena, o->c->nr_tasks, sizeof(*bars));

    for (unsigned i = 0; i < o->c->nr_tasks; i++) {
        const struct store_digest *d = &o->all[i].digest;

        bars[i] = bar_of(o, i);
        bars[i].value = o->tokens ? (double)d->tokens : o->c->tasks[i].wall_s;
        bars[i].text = o->tokens ? arena_printf(o->arena, "%llu", (unsigned long long)d->tokens)
                                 : arena_printf(o->arena, "%.1f s", o->c->tasks[i].wall_s);
    }
    qsort(bars, o->c->nr_tasks, sizeof(*bars), by_value);
    str_addf(out, "<h2 id=\"cost\">What it cost</h2>\n<p>%s.</p>\n",
        o->tokens ? "Tokens of language models, in and out"
                  : "Seconds of each task's processes; no language model was asked");
    page_bars(out, "chart-cost", "Cost of each task", bars, o->c->nr_tasks);
}

static void add_verdicts(const struct overview *o, struct str *out)
{
    struct page_bar bars[NR_VERDICTS];
    size_t nr = 0;

    for (int v = 0; v < NR_VERDICTS; v++)
        if (o->verdicts[v])
            bars[nr++] = (struct page_bar){.label = verdict_name((enum verdict)v),
                .text = arena_printf(o->arena, "%llu", (unsigned long long)o->verdicts[v]),
                .value = (double)o->verdicts[v],
                .good = v == VERDICT_OK};
    str_add(out, "<h2 id=\"verdicts\">All variants by verdict</h2>\n");
    page_bars(out, "chart-all-verdicts", "All variants by verdict", bars, nr);
}

static bool add_run(const char *db, unsigned i, struct str *out, struct err *err)
{
    struct arena *arena = arena_create();
    struct store *store = store_open(db, err);
    struct page page;
    const bool ok = store && page_load(&page, arena, store, db, 0, err);

    if (ok) {
        page.prefix = arena_printf(arena, "t%u-", i + 1);
        page_section(&page, out);
    }
    store_close(store);
    arena_destroy(arena);
    return ok;
}

static bool add_section(const struct overview *o, unsigned i, struct str *out, struct err *err)
{
    const struct campaign_task *t = &o->c->tasks[i];
    const char *db = campaign_path(o->c, o->arena, t->name, ".keet.db");
    bool ok = true;

    str_addf(out, "<section>\n<h2 id=\"t%u-task\">", i + 1);
    escape_html(out, t->name);
    str_add(out, "</h2>\n");
    if (o->all[i].problem) {
        str_add(out, "<p class=\"vt\">");
        escape_html(out, o->all[i].problem);
        str_add(out, "</p>\n");
    }
    if (o->all[i].measured)
        ok = add_run(db, i, out, err);
    else
        str_add(out, "<p>There is no measured original: nothing was tried.</p>\n");
    str_add(out, "</section>\n");
    return ok;
}

bool overview_html(const struct campaign *c, bool live, struct str *out, struct err *err)
{
    struct overview o;
    bool ok = gather(&o, c, err);

    if (ok) {
        page_begin(c->source, live, out);
        str_add(out, "<body>\n<header>\n<h1>");
        escape_html(out, c->source);
        str_add(out, "</h1>\n");
        add_paragraph(out, "asked", say_asked, &o);
        add_paragraph(out, "result", say_result, &o);
        page_live(live, out);
        str_add(out, "<nav aria-label=\"Sections\"><a href=\"#tasks\">Tasks</a> "
                     "<a href=\"#speedups\">Speedups</a> <a href=\"#cost\">Cost</a> "
                     "<a href=\"#verdicts\">Verdicts</a></nav>\n</header>\n<main>\n");
        add_table(&o, out);
        add_speedups(&o, out);
        add_costs(&o, out);
        add_verdicts(&o, out);
    }
    for (unsigned i = 0; ok && i < c->nr_tasks; i++)
        ok = add_section(&o, i, out, err);
    if (ok) {
        str_add(out, "</main>\n");
        page_end(live, out);
    }
    arena_destroy(o.arena);
    return ok;
}

/* ---- Markdown ---- */

static void add_said(
    struct str *out, void (*say)(const struct overview *, struct str *), const struct overview *o)
{
    struct str text = {0};

    say(o, &text);
    page_plain(out, str_text(&text));
    str_add(out, "\n\n");
    str_finish(&text);
}

bool overview_markdown(const struct campaign *c, struct str *out, struct err *err)
{
    struct overview o;
    const bool ok = gather(&o, c, err);

    str_add(out, "# ");
    page_plain(out, c->source);
    str_add(out, "\n\n");
    add_said(out, say_asked, &o);
    add_said(out, say_result, &o);
    str_add(out, "| task | state | speedup | is | variants | right | tokens | dollars | seconds |"
                 " stopped by |\n|---|---|---:|---|---:|---:|---:|---:|---:|---|\n");
    for (unsigned i = 0; ok && i < c->nr_tasks; i++) {
        const struct campaign_figures *f = &o.all[i];
        const struct store_digest *d = &f->digest;

        str_add(out, "| ");
        page_plain(out, c->tasks[i].name);
        str_addf(out, " | %s | ", campaign_state_name(f));
        if (f->measured)
            str_addf(out, "%.2fx | %s", d->speedup, provenance_name(d->from));
        else
            str_add(out, "- | ");
        str_addf(out, " | %lld | %llu | %llu | %.4f | %.1f | ", (long long)d->nr_evaluated,
            (unsigned long long)d->verdicts[VERDICT_OK], (unsigned long long)d->tokens, d->cost,
            c->tasks[i].wall_s);
        page_plain(out, f->problem ? f->problem : f->why);
        str_add(out, " |\n");
    }
    arena_destroy(o.arena);
    return ok;
}
