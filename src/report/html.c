/* Owns the HTML page of a run: one file, which loads nothing from elsewhere. All text of models and
 * sources goes through escape_html or escape_json, without exception. The Content-Security-Policy
 * in the head lets only the page's own script run, by the script's hash. */
#include "base/file.h"
#include "report/assets.h"
#include "report/escape.h"
#include "report/page.h"
#include "report/report.h"

#include <math.h>
#include <string.h>

static void add_policy(struct str *out, bool live)
{
    str_add(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "base-uri 'none'; form-action 'none'; style-src 'sha256-");
    escape_base64(out, report_asset_report_css_sha256);
    str_add(out, "'; script-src 'sha256-");
    escape_base64(out, report_asset_report_js_sha256);
    if (live) {
        str_add(out, "' 'sha256-");
        escape_base64(out, report_asset_live_js_sha256);
        str_add(out, "'; connect-src 'self");
    }
    str_add(out, "'\">\n");
}

void page_begin(const char *title, bool live, struct str *out)
{
    str_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    add_policy(out, live);
    str_add(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"color-scheme\" content=\"light dark\">\n"
                 "<meta name=\"referrer\" content=\"no-referrer\">\n<title>");
    escape_html(out, file_name(title));
    str_add(out, " - keet-opt</title>\n<style>");
    str_add(out, report_asset_report_css);
    str_add(out, "</style>\n</head>\n");
}

void page_live(bool live, struct str *out)
{
    if (live)
        str_add(out,
            "<p class=\"asked\" id=\"live\" role=\"status\"></p>\n"
            "<ul class=\"asked\" id=\"trying\" aria-label=\"What is being tried\"></ul>\n");
}

void page_end(bool live, struct str *out)
{
    if (live) {
        str_add(out, "<script>");
        str_add(out, report_asset_live_js);
        str_add(out, "</script>\n");
    }
    str_add(out, "</body>\n</html>\n");
}

static void add_heading(struct str *out, const char *id, const char *text)
{
    str_addf(out, "<h2 id=\"%s\">%s</h2>\n", id, text);
}

static void add_said(struct str *out, const char *kind,
    void (*say)(const struct page *, struct str *), const struct page *page)
{
    struct str text = {0};

    say(page, &text);
    str_addf(out, "<p class=\"%s\">", kind);
    escape_html(out, str_text(&text));
    str_add(out, "</p>\n");
    str_finish(&text);
}

static void add_top(const struct page *page, struct str *out)
{
    str_add(out, "<header>\n<h1>");
    escape_html(out, file_name(page->run.kernel_path));
    str_add(out, "</h1>\n");
    add_said(out, "asked", page_asked, page);
    add_said(out, "result", page_result, page);
    page_live(page->live, out);
    str_add(out,
        "<nav aria-label=\"Sections\"><a href=\"#progress\">Progress</a> "
        "<a href=\"#moves\">Moves</a> <a href=\"#metrics\">Metrics</a> "
        "<a href=\"#kernel\">Kernel</a> <a href=\"#roofline\">Roofline</a> "
        "<a href=\"#tree\">Tree</a> <a href=\"#verdicts\">Verdicts</a> "
        "<a href=\"#nodes\">Nodes</a> <a href=\"#again\">Reproduce</a></nav>\n</header>\n");
}

static void add_moves(const struct page *page, struct str *out)
{
    if (page->nr_path < 2) {
        str_add(out, "<p>None: the original stands.</p>\n");
        return;
    }
    str_add(out, "<ol>\n");
    for (unsigned i = 1; i < page->nr_path; i++) {
        const struct candidate *c = &page->path[i];

        str_addf(out, "<li><a href=\"#%sn%lld\">node %lld</a> <b>", page->prefix,
            (long long)c->node, (long long)c->node);
        report_speed_or_verdict(out, c);
        str_addf(out, "</b> <code>%s</code> ", action_name(c->option.action));
        escape_html(out, c->option.what);
        str_add(out, "</li>\n");
    }
    str_add(out, "</ol>\n");
}

/* Adds a metric's name. A long name may break after its underscores and dots. */
static void add_metric_name(enum metric m, struct str *out)
{
    for (const char *at = metric_name(m); *at; at++) {
        str_add_char(out, *at);
        if (strchr("_.", *at) && at[1] && at[1] != '_')
            str_add(out, "<wbr>");
    }
}

static void add_metrics(const struct page *page, struct str *out)
{
    const struct counters *before = &page->path[0].profile.total;
    const struct counters *after = &page->path[page->nr_path - 1].profile.total;

    add_heading(out, "metrics", "Before and after");
    str_add(out, "<div class=\"wide\"><table>\n<thead><tr><th>metric</th><th>original</th>"
                 "<th>best</th><th>is</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < nr_report_metrics; i++) {
        const enum metric m = report_metrics[i];
        const bool has_after = counters_has(after, m);

        if (!has_after && !counters_has(before, m))
            continue;
        str_add(out, "<tr><td><code>");
        add_metric_name(m, out);
        str_add(out, "</code></td><td class=\"n\">");
        report_metric(out, m, before);
        str_add(out, "</td><td class=\"n\">");
        report_metric(out, m, after);
        str_addf(out, "</td><td>%s</td></tr>\n",
            provenance_name((has_after ? after : before)->metric[m].from));
    }
    str_add(out, "</tbody></table></div>\n");
}

static const struct line_cost *cost_of(const struct counters *c, unsigned line)
{
    for (unsigned i = 0; i < c->nr_lines; i++)
        if (c->lines[i].line == line)
            return &c->lines[i];
    return NULL;
}

static void add_count(struct str *out, double value)
{
    static const char *const units[] = {"", "k", "M", "G", "T"};
    unsigned unit = 0;

    for (; value >= 9999.5 && unit < 4; unit++)
        value /= 1000;
    str_add(out, "<td class=\"n\">");
    if (value > 0)
        str_addf(out, "%.4g%s", value, units[unit]);
    str_add(out, "</td>");
}

static void add_cost_cells(struct str *out, const struct line_cost *cost, double cycles)
{
    const double share = cost && cycles > 0 ? cost->stall_cycles / cycles : 0;

    add_count(out, cost ? cost->warp_inst : 0);
    add_count(out, cost ? cost->global_sectors : 0);
    add_count(out, cost ? cost->shared_wavefronts : 0);
    str_addf(out, "<td class=\"n h%d\">", (int)ceil(share * 4 - 0.04));
    if (share >= 0.0005)
        str_addf(out, "%.1f%%", 100 * share);
    str_add(out, "</td>");
}

static void add_source(const struct page *page, struct str *out)
{
    const struct candidate *best = &page->path[page->nr_path - 1];
    const struct counters *total = &best->profile.total;
    const char *text = best->source ? best->source : "";
    double cycles = 0;

    for (unsigned i = 0; i < total->nr_lines; i++)
        cycles += total->lines[i].stall_cycles;
    if (counters_lines_emulated(total))
        str_add(
            out, "<p>Counts by line are the emulator's; waiting is as sampled on the GPU.</p>\n");
    str_add(out, "<div class=\"wide\"><table class=\"code\">\n<thead><tr><th>line</th>"
                 "<th>warp inst</th><th>global sectors</th><th>shared wavefr.</th>"
                 "<th>waiting</th><th>source</th></tr></thead>\n<tbody>\n");
    for (unsigned line = 1; *text; line++) {
        const size_t len = strcspn(text, "\n");

        str_addf(out, "<tr><td class=\"n\">%u</td>", line);
        add_cost_cells(out, cost_of(total, line), cycles);
        str_add(out, "<td><pre>");
        escape_html_n(out, text, len);
        str_add(out, "</pre></td></tr>\n");
        text = str_next_line(text);
    }
    str_add(out, "</tbody></table></div>\n");
}

static void add_diff(const struct page *page, bool open, struct str *out)
{
    const struct candidate *root = &page->path[0], *best = &page->path[page->nr_path - 1];
    struct str diff = {0};

    report_diff(&diff, "original", root->source ? root->source : "", "best",
        best->source ? best->source : "");
    str_addf(out, "<details%s><summary>Everything that changed</summary><pre class=\"diff\">",
        open ? " open" : "");
    for (const char *at = str_text(&diff); *at;) {
        const size_t len = strcspn(at, "\n");
        const char *kind = *at == '+' ? "add" : *at == '-' ? "del" : *at == '@' ? "hunk" : "same";

        str_addf(out, "<span class=\"%s\">", kind);
        escape_html_n(out, at, len);
        str_add(out, "</span>\n");
        at = str_next_line(at);
    }
    str_add(out, "</pre></details>\n");
    str_finish(&diff);
}

static void add_kernel(const struct page *page, struct str *out)
{
    const struct candidate *best = &page->path[page->nr_path - 1];

    add_heading(out, "kernel", "The best kernel, and what its lines cost");
    if (best->explanation.summary) {
        str_add(out, "<p>");
        escape_html(out, best->explanation.summary);
        str_add(out, "</p>\n");
    }
    if (best->explanation.nr_findings > 0) {
        str_add(out, "<ul>\n");
        for (unsigned i = 0; i < best->explanation.nr_findings; i++) {
            str_add(out, "<li>");
            escape_html(out, best->explanation.findings[i].text);
            str_add(out, "</li>\n");
        }
        str_add(out, "</ul>\n");
    }
    add_source(page, out);
    if (page->nr_path > 1)
        add_diff(page, true, out);
}

static void add_node(const struct page *page, const struct page_node *n, struct str *out)
{
    str_addf(out,
        "<details class=\"node %s\" id=\"%sn%lld\"><summary><span class=\"no\">%lld</span> ",
        n->verdict == VERDICT_OK ? "right" : "wrong", page->prefix, (long long)n->number,
        (long long)n->number);
    if (n->speedup > 0)
        str_addf(out, "<b>%.2fx</b> ", n->speedup);
    else
        str_addf(out, "<b>%s</b> ", verdict_name(n->verdict));
    str_addf(out, "<code>%s</code> ", n->number > 0 ? action_name(n->action) : "original");
    escape_html(out, n->what);
    str_add(out, "</summary>");
    if (n->verdict_text) {
        str_add(out, "<p class=\"vt\">");
        escape_html(out, n->verdict_text);
        str_add(out, "</p>");
    }
    str_add(out, "</details>\n");
}

static void add_nodes(const struct page *page, struct str *out)
{
    add_heading(out, "nodes", "Every node");
    str_add(out, "<p>Opened (Enter or a click), a node shows its difference from its parent, its "
                 "verdict, findings, metrics, and what a model was asked and said.</p>\n"
                 "<noscript><p>Without scripts, the list has moves and verdicts only.</p>"
                 "</noscript>\n");
    for (size_t i = 0; i < page->nr_nodes; i++)
        add_node(page, &page->nodes[i], out);
}

static void add_spent(const struct page *page, struct str *out)
{
    const struct model_spent *spent = &page->spent;

    if (spent->nr_calls == 0) {
        str_add(out, "<p>No language model was asked: no tokens, no money.</p>\n");
        return;
    }
    str_add(out, "<p>");
    report_spent(out, spent, page->path[page->nr_path - 1].speedup);
    str_add(out, ".</p>\n");
}

static void add_row(struct str *out, const char *what, const char *value)
{
    str_addf(out, "<tr><th scope=\"row\">%s</th><td>", what);
    escape_html(out, value && *value ? value : "-");
    str_add(out, "</td></tr>\n");
}

static void add_again(const struct page *page, struct str *out)
{
    const struct run_info *run = &page->run;
    struct str command = {0};
    char seed[32];

    snprintf(seed, sizeof(seed), "%llu", (unsigned long long)run->seed);
    page_command(page, &command);
    add_heading(out, "again", "How to do it again");
    str_add(out, "<pre class=\"command\">");
    escape_html(out, str_text(&command));
    str_add(out, "</pre>\n<div class=\"wide\"><table><tbody>\n");
    add_row(out, "device", page->device_name);
    add_row(out, "recorded as", run->device);
    add_row(out, "policy", run->policy);
    add_row(out, "seed", seed);
    add_row(out, "budget", run->budget);
    add_row(out, "keet-opt", run->version);
    add_row(out, "models", run->models);
    add_row(out, "begun (UTC)", run->started);
    add_row(out, "ended (UTC)", run->ended);
    add_row(out, "stopped by", run->why_stopped);
    add_row(out, "tree", page->tree_hash);
    str_add(out, "</tbody></table></div>\n"
                 "<p>Without a model, the same command on the same version gives the same tree. "
                 "Modelled times are an estimate by the emulator, not a measurement; counted is "
                 "exact; sampled is scaled up from some of the blocks.</p>\n");
    str_finish(&command);
}

void page_section(const struct page *page, struct str *out)
{
    struct str command = {0};

    add_said(out, "asked", page_asked, page);
    add_said(out, "result", page_result, page);
    page_chart_speedup(page, out);
    add_moves(page, out);
    page_chart_failures(page, out);
    add_spent(page, out);
    if (page->nr_path > 1)
        add_diff(page, false, out);
    str_add(out, "<details><summary>Every node</summary>\n");
    for (size_t i = 0; i < page->nr_nodes; i++)
        add_node(page, &page->nodes[i], out);
    str_add(out, "</details>\n<pre class=\"command\">");
    page_command(page, &command);
    escape_html(out, str_text(&command));
    str_add(out, "</pre>\n");
    str_finish(&command);
}

void page_above(const struct page *page, struct str *out)
{
    add_top(page, out);
    str_add(out, "<main>\n<div id=\"above\">\n");
    add_heading(out, "progress", "Progress");
    page_chart_speedup(page, out);
    add_heading(out, "moves", "The moves that led there");
    add_moves(page, out);
    add_metrics(page, out);
    add_kernel(page, out);
    add_heading(out, "roofline", "Roofline");
    page_chart_roofline(page, out);
    add_heading(out, "tree", "The search tree");
    page_chart_tree(page, out);
    add_heading(out, "verdicts", "Variants by verdict");
    page_chart_failures(page, out);
    add_heading(out, "spent", "Tokens and money");
    add_spent(page, out);
    page_chart_tokens(page, out);
    page_chart_cost(page, out);
    add_again(page, out);
    str_add(out, "</div>\n");
}

bool page_html(const struct page *page, struct str *out, struct err *err)
{
    struct str data = {0};
    const bool ok = page_data(page, &data, err);

    if (!ok) {
        str_finish(&data);
        return false;
    }
    page_begin(page->run.kernel_path, page->live, out);
    str_add(out, "<body>\n");
    page_above(page, out);
    add_nodes(page, out);
    str_add(out, "</main>\n<script type=\"application/json\" id=\"data\">");
    str_add_n(out, str_text(&data), data.len);
    str_add(out, "</script>\n<script>");
    str_add(out, report_asset_report_js);
    str_add(out, "</script>\n");
    page_end(page->live, out);
    str_finish(&data);
    return true;
}
