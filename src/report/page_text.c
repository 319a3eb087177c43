/* Owns the report as Markdown and as JSON. */
#include "report/escape.h"
#include "report/page.h"
#include "report/report.h"

#include <string.h>

/* Adds text to a line of Markdown. Characters that could begin markup or end a table's cell are
 * escaped. */
void page_plain(struct str *out, const char *text)
{
    for (; text && *text; text++) {
        if (strchr("\\`*_{}[]<>#|~!&", *text))
            str_add_char(out, '\\');
        str_add_char(out, *text == '\n' ? ' ' : *text);
    }
}

static void add_said(
    struct str *out, void (*say)(const struct page *, struct str *), const struct page *page)
{
    struct str text = {0};

    say(page, &text);
    page_plain(out, str_text(&text));
    str_add(out, "\n\n");
    str_finish(&text);
}

/* Adds the text between fences that are longer than any run of backquotes in the text. */
static void add_fenced(struct str *out, const char *language, const char *text)
{
    size_t longest = 2, run = 0;

    for (const char *at = text; *at; at++) {
        run = *at == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    for (size_t i = 0; i <= longest; i++)
        str_add_char(out, '`');
    str_addf(out, "%s\n%s%s", language, text, str_ends(text, "\n") ? "" : "\n");
    for (size_t i = 0; i <= longest; i++)
        str_add_char(out, '`');
    str_add(out, "\n\n");
}

static void add_metrics(const struct page *page, struct str *out)
{
    const struct counters *before = &page->path[0].profile.total;
    const struct counters *after = &page->path[page->nr_path - 1].profile.total;

    str_add(out, "## Before and after\n\n| metric | original | best | is |\n|---|---:|---:|---|\n");
    for (size_t i = 0; i < nr_report_metrics; i++) {
        const enum metric m = report_metrics[i];
        const bool has_after = counters_has(after, m);

        if (!has_after && !counters_has(before, m))
            continue;
        str_addf(out, "| `%s` | ", metric_name(m));
        report_metric(out, m, before);
        str_add(out, " | ");
        report_metric(out, m, after);
        str_addf(out, " | %s |\n", provenance_name((has_after ? after : before)->metric[m].from));
    }
    str_add_char(out, '\n');
}

static void add_nodes(const struct page *page, struct str *out)
{
    str_add(out, "## Every node\n\n| node | parent | speedup | move | verdict | what |\n"
                 "|---:|---:|---:|---|---|---|\n");
    for (size_t i = 0; i < page->nr_nodes; i++) {
        const struct page_node *n = &page->nodes[i];

        str_addf(out, "| %lld | ", (long long)n->number);
        if (n->parent >= 0)
            str_addf(out, "%lld", (long long)n->parent);
        str_add(out, " | ");
        if (n->speedup > 0)
            str_addf(out, "%.2fx", n->speedup);
        str_addf(out, " | %s | %s | ", n->number > 0 ? action_name(n->action) : "original",
            verdict_name(n->verdict));
        page_plain(out, n->verdict_text ? n->verdict_text : n->what);
        str_add(out, " |\n");
    }
    str_add_char(out, '\n');
}

void page_markdown(const struct page *page, struct str *out)
{
    const struct candidate *root = &page->path[0], *best = &page->path[page->nr_path - 1];
    struct str text = {0};

    str_add(out, "# ");
    page_plain(out, page->run.kernel_path);
    str_add(out, "\n\n");
    add_said(out, page_asked, page);
    add_said(out, page_result, page);
    if (best != root) {
        str_add(out, "## The moves that led there\n\n");
        for (unsigned i = 1; i < page->nr_path; i++) {
            const struct candidate *c = &page->path[i];
            str_addf(out, "%u. node %lld, ", i, (long long)c->node);
            report_speed_or_verdict(out, c);
            str_addf(out, ", %s: ", action_name(c->option.action));
            page_plain(out, c->option.what);
            str_add_char(out, '\n');
        }
        str_add_char(out, '\n');
    }
    add_metrics(page, out);
    str_add(out, "## What limits the best now\n\n");
    page_plain(out, best->explanation.summary);
    str_add(out, "\n\n");
    for (unsigned i = 0; i < best->explanation.nr_findings; i++) {
        str_add(out, "- ");
        page_plain(out, best->explanation.findings[i].text);
        str_add_char(out, '\n');
    }
    str_add(out, "\n## The best kernel\n\n");
    add_fenced(out, "cuda", best->source ? best->source : "");
    if (best != root) {
        report_diff(&text, "original", root->source ? root->source : "", "best",
            best->source ? best->source : "");
        add_fenced(out, "diff", str_text(&text));
        str_finish(&text);
    }
    str_add(out, "## Tokens and money\n\n");
    report_spent(out, &page->spent, best->speedup);
    str_add(out, ".\n\n");
    str_add(out, "## How to do it again\n\n");
    page_command(page, &text);
    add_fenced(out, "", str_text(&text));
    str_finish(&text);
    str_addf(out, "keet-opt %s, recorded as device `%s`, tree `%s`.\n\n", page->run.version,
        page->run.device, page->tree_hash);
    add_nodes(page, out);
}

/* ---- JSON ---- */

static void add_field(struct str *out, const char *name, const char *text)
{
    str_addf(out, "\"%s\": ", name);
    escape_json(out, text);
    str_add(out, ",\n");
}

static void add_said_field(struct str *out, const char *name,
    void (*say)(const struct page *, struct str *), const struct page *page)
{
    struct str text = {0};

    say(page, &text);
    add_field(out, name, str_text(&text));
    str_finish(&text);
}

static void add_call(struct str *out, const struct model_call *call)
{
    str_add(out, "{");
    add_field(out, "purpose", call->purpose);
    add_field(out, "model", call->model);
    add_field(out, "outcome", call->outcome);
    add_field(out, "error", call->error);
    add_field(out, "verdict", verdict_name(call->verdict));
    add_field(out, "prompt", call->prompt);
    add_field(out, "reply", call->reply);
    str_addf(out, "\"tokens_in\": %llu, \"tokens_out\": %llu, \"cost\": ",
        (unsigned long long)call->tokens_in, (unsigned long long)call->tokens_out);
    escape_number(out, call->cost);
    str_add(out, "}");
}

static void add_candidate(struct str *out, const struct candidate *c)
{
    str_add(out, "{\"candidate\": ");
    report_candidate_json(out, c);
    str_add(out, ", \"calls\": [");
    for (unsigned i = 0; i < c->nr_calls; i++) {
        str_add(out, i ? ",\n" : "");
        add_call(out, &c->calls[i]);
    }
    str_add(out, "]}");
}

bool page_json(const struct page *page, struct str *out, struct err *err)
{
    const struct candidate *best = &page->path[page->nr_path - 1];
    struct arena *scratch = arena_create();
    bool ok = true;

    str_add(out, "{\n");
    add_field(out, "kernel", page->run.kernel_path);
    add_said_field(out, "asked", page_asked, page);
    add_said_field(out, "result", page_result, page);
    add_said_field(out, "command", page_command, page);
    add_field(out, "device", page->run.device);
    add_field(out, "device_name", page->device_name);
    add_field(out, "policy", page->run.policy);
    add_field(out, "budget", page->run.budget);
    add_field(out, "version", page->run.version);
    add_field(out, "started", page->run.started);
    add_field(out, "ended", page->run.ended);
    add_field(out, "stopped_by", page->run.why_stopped);
    add_field(out, "tree", page->tree_hash);
    add_field(out, "speedup_from", provenance_name(best->profile.time_from));
    str_addf(out,
        "\"seed\": %llu,\n\"best\": %lld,\n\"speedup\": ", (unsigned long long)page->run.seed,
        (long long)best->node);
    escape_number(out, best->speedup);
    str_add(out, ",\n\"verdicts\": {");
    for (int v = 0; v < NR_VERDICTS; v++)
        str_addf(out, "%s\"%s\": %llu", v ? ", " : "", verdict_name((enum verdict)v),
            (unsigned long long)page->verdicts[v]);
    str_addf(out, "},\n\"calls\": %u,\n\"tokens_in\": %llu,\n\"tokens_out\": %llu,\n\"cost\": ",
        page->spent.nr_calls, (unsigned long long)(page->spent.tokens_in + page->spent.lost_in),
        (unsigned long long)(page->spent.tokens_out + page->spent.lost_out));
    escape_number(out, page->spent.cost);
    str_add(out, ",\n\"nodes\": [\n");
    for (size_t i = 0; ok && i < page->nr_nodes; i++) {
        struct candidate c = {.arena = scratch};
        bool found;

        ok = store_load_node(page->store, page->nodes[i].number, &c, &found, err);
        if (ok && found) {
            str_add(out, i ? ",\n" : "");
            add_candidate(out, &c);
        }
        arena_reset(scratch);
    }
    str_add(out, "]}\n");
    arena_destroy(scratch);
    return ok;
}
