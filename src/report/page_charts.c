/* Owns the report's charts: SVG with classes that the style colours, and one link per node. The Tab
 * key skips these links, because the list of nodes has all of them. */
#include "base/mem.h"
#include "report/escape.h"
#include "report/page.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_LINKED = 1500 };
enum { LEFT = 64, RIGHT = 16, TOP = 14, BOTTOM = 40, WIDTH = 720, HEIGHT = 300 };

static void add_title(struct str *out, const struct page_node *n)
{
    str_addf(out, "<title>node %lld, ", (long long)n->number);
    if (n->speedup > 0)
        str_addf(out, "%.2fx, ", n->speedup);
    str_addf(out, "%s, ", n->number > 0 ? action_name(n->action) : "original");
    str_addf(out, "%s</title>", verdict_name(n->verdict));
}

/* Adds a point that leads to its node. The point is a link; on a page with many nodes the page's
 * script follows the point instead, because each link takes three elements. */
static void add_point(
    struct str *out, const struct page *page, const struct page_node *n, double x, double y)
{
    const size_t index = (size_t)(n - page->nodes);
    const char *kind = n->verdict != VERDICT_OK ? "bad"
                       : index == page->best    ? "best"
                       : n->number == 0         ? "root"
                                                : "good";

    const char *radius = index == page->best ? "6" : "4";

    if (page->nr_nodes > MOST_LINKED) {
        str_addf(out, "<circle class=\"%s\" data-n=\"%lld\" cx=\"%.1f\" cy=\"%.1f\" r=\"%s\"/>\n",
            kind, (long long)n->number, x, y, radius);
        return;
    }
    str_addf(out,
        "<a href=\"#%sn%lld\" tabindex=\"-1\"><circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" "
        "r=\"%s\">",
        page->prefix, (long long)n->number, kind, x, y, radius);
    add_title(out, n);
    str_add(out, "</circle></a>\n");
}

/* The place of a node's point in a chart of WIDTH by HEIGHT. there: the node has a point. */
struct chart_spot {
    double x, y;
    bool there;
};

/* Leaves out each point that a later point on the same pixel covers. The best node keeps its point.
 */
static void leave_out_covered(const struct page *page, struct chart_spot *spots)
{
    bool *taken = xcalloc((size_t)WIDTH * HEIGHT, sizeof(*taken));

    for (size_t i = page->nr_nodes; i-- > 0;) {
        const long x = lrint(spots[i].x), y = lrint(spots[i].y);

        if (!spots[i].there || i == page->best || x < 0 || x >= WIDTH || y < 0 || y >= HEIGHT)
            continue;
        spots[i].there = !taken[y * WIDTH + x];
        taken[y * WIDTH + x] = true;
    }
    free(taken);
}

static void add_points(struct str *out, const struct page *page, struct chart_spot *spots)
{
    if (page->nr_nodes > MOST_LINKED)
        leave_out_covered(page, spots);
    for (size_t i = 0; i < page->nr_nodes; i++)
        if (spots[i].there)
            add_point(out, page, &page->nodes[i], spots[i].x, spots[i].y);
}

/* fit: the chart shrinks with the screen; else the chart scrolls. */
static void begin_svg(struct str *out, const char *prefix, const char *id, bool fit, double width,
    double height, const char *says)
{
    str_addf(out,
        "<div class=\"chart\"><svg id=\"%s%s\"%s viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
        "height=\"%.0f\" role=\"img\" aria-label=\"",
        prefix, id, fit ? " class=\"fit\"" : "", width, height, width, height);
    escape_html(out, says);
    str_add(out, "\">\n");
}

static void end_svg(struct str *out)
{
    str_add(out, "</svg></div>\n");
}

static void add_label(struct str *out, double x, double y, const char *anchor, const char *text)
{
    str_addf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    escape_html(out, text);
    str_add(out, "</text>\n");
}

static void add_line(struct str *out, const char *kind, double x1, double y1, double x2, double y2)
{
    str_addf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", kind,
        x1, y1, x2, y2);
}

/* A step of 1, 2 or 5 times a power of ten, so that at most `most` steps reach `span`. */
static double step_for(double span, unsigned most)
{
    double step = pow(10, floor(log10(span / most)));

    if (!isfinite(step) || step <= 0) /* nothing that has steps */
        return INFINITY;
    while (span / step > most) {
        const double lead = step / pow(10, floor(log10(step) + 1e-9));
        step *= lead > 1.5 && lead < 3 ? 2.5 : 2;
    }
    return step;
}

/* ---- speedup over nodes ---- */

/* The quantity on the horizontal axis: the node's number, or the tokens or dollars spent up to the
 * node. */
enum spent { SPENT_NODES, SPENT_TOKENS, SPENT_DOLLARS };

struct axis {
    const char *id, *says, *under;
    enum spent spent;
    double last; /* the value at the right end */
};

static double axis_x(const struct axis *axis, const struct page_node *n)
{
    const double value = axis->spent == SPENT_TOKENS    ? n->tokens
                         : axis->spent == SPENT_DOLLARS ? n->cost
                                                        : (double)n->number;

    return LEFT + (WIDTH - LEFT - RIGHT) * value / axis->last;
}

static void add_axes(struct str *out, const struct axis *axis, double top, const char *word)
{
    const double wide = WIDTH - LEFT - RIGHT, high = HEIGHT - TOP - BOTTOM;
    const double y_step = step_for(top, 6);
    const double x_step = fmax(axis->spent == SPENT_DOLLARS ? 0 : 1, step_for(axis->last, 8));
    char text[96];

    for (double v = 0; v <= top && isfinite(v); v += y_step) {
        const double at = TOP + high * (1 - v / top);

        snprintf(text, sizeof(text), "%gx", v);
        add_line(out, "grid", LEFT, at, WIDTH - RIGHT, at);
        add_label(out, LEFT - 6, at + 4, "end", text);
    }
    for (double v = 0; v <= axis->last && isfinite(v); v += x_step) {
        snprintf(text, sizeof(text), v >= 1e4 ? "%gk" : "%g", v >= 1e4 ? v / 1e3 : v);
        add_label(out, LEFT + wide * v / axis->last, HEIGHT - BOTTOM + 18, "middle", text);
    }
    snprintf(text, sizeof(text), "%s; up: %s, 0: refused", axis->under, word);
    add_label(out, LEFT + wide / 2, HEIGHT - 6, "middle", text);
}

/* Adds the best speedup so far, as steps. */
static void add_steps(struct str *out, const struct page *page, const struct axis *axis, double top)
{
    const double high = HEIGHT - TOP - BOTTOM;
    double best = 0, y = 0;

    str_add(out, "<path class=\"line\" d=\"");
    for (size_t i = 0; i < page->nr_nodes; i++) {
        const struct page_node *n = &page->nodes[i];
        const double x = axis_x(axis, n);

        if (n->speedup <= best)
            continue;
        if (best > 0)
            str_addf(out, "L%.1f %.1f", x, y);
        y = TOP + high * (1 - n->speedup / top);
        str_addf(out, "%s%.1f %.1f", best > 0 ? "L" : "M", x, y);
        best = n->speedup;
    }
    if (best > 0)
        str_addf(out, "L%d %.1f", WIDTH - RIGHT, y);
    str_add(out, "\"/>\n");
}

static void add_speedups(const struct page *page, struct str *out, const struct axis *axis)
{
    const double top = fmax(1.2, 1.08 * page->nodes[page->best].speedup);
    const double high = HEIGHT - TOP - BOTTOM;
    struct chart_spot *spots = xcalloc(page->nr_nodes, sizeof(*spots));

    begin_svg(out, page->prefix, axis->id, true, WIDTH, HEIGHT, axis->says);
    add_axes(out, axis, top, report_speedup_word(page->path[page->nr_path - 1].profile.time_from));
    add_steps(out, page, axis, top);
    for (size_t i = 0; i < page->nr_nodes; i++) {
        const struct page_node *n = &page->nodes[i];
        spots[i] = (struct chart_spot){axis_x(axis, n), TOP + high * (1 - n->speedup / top), true};
    }
    add_points(out, page, spots);
    end_svg(out);
    free(spots);
}

void page_chart_speedup(const struct page *page, struct str *out)
{
    const struct axis axis = {"chart-speedup", "Speedup of each variant over the node number",
        "node", SPENT_NODES, fmax(1, (double)page->nodes[page->nr_nodes - 1].number)};

    add_speedups(page, out, &axis);
}

void page_chart_tokens(const struct page *page, struct str *out)
{
    const struct axis axis = {"chart-tokens",
        "Speedup of each variant over the tokens spent by then", "tokens, in and out", SPENT_TOKENS,
        page->nodes[page->nr_nodes - 1].tokens};

    if (axis.last > 0)
        add_speedups(page, out, &axis);
}

void page_chart_cost(const struct page *page, struct str *out)
{
    const struct axis axis = {"chart-cost", "Speedup of each variant over the money spent by then",
        "dollars", SPENT_DOLLARS, page->nodes[page->nr_nodes - 1].cost};

    if (axis.last > 0)
        add_speedups(page, out, &axis);
}

/* ---- the tree ---- */

/* Leaves stand side by side, in the order of the children's numbers. A parent stands over the
 * middle of its leaves. A parent's number is smaller than the numbers of its children. */
struct tree_spot {
    double x, next; /* next: of the leftmost free leaf below the node */
    unsigned nr_leaves;
};

static void place(const struct page *page, struct tree_spot *at, size_t *parents)
{
    for (size_t i = 0; i < page->nr_nodes; i++)
        parents[i] = i > 0 ? page_find(page, page->nodes[i].parent) : page->nr_nodes;
    for (size_t i = page->nr_nodes; i-- > 0;) {
        if (at[i].nr_leaves == 0)
            at[i].nr_leaves = 1;
        if (parents[i] < i)
            at[parents[i]].nr_leaves += at[i].nr_leaves;
    }
    for (size_t i = 0; i < page->nr_nodes; i++) {
        const double first = parents[i] < i ? at[parents[i]].next : 0;

        at[i].x = first + at[i].nr_leaves / 2.0;
        at[i].next = first;
        if (parents[i] < i)
            at[parents[i]].next += at[i].nr_leaves;
    }
}

static double level_y(const struct page_node *n)
{
    return 20 + 46.0 * n->depth;
}

void page_chart_tree(const struct page *page, struct str *out)
{
    struct tree_spot *at = xcalloc(page->nr_nodes, sizeof(*at));
    size_t *parents = xcalloc(page->nr_nodes, sizeof(*parents));
    unsigned depth = 0;
    double wide;

    place(page, at, parents);
    for (size_t i = 0; i < page->nr_nodes; i++)
        depth = page->nodes[i].depth > depth ? page->nodes[i].depth : depth;
    wide = fmax(14.0 * at[0].nr_leaves, 320);
    begin_svg(out, page->prefix, "chart-tree", false, wide + 32, 46.0 * depth + 40,
        "The search tree, original on top");
    for (size_t i = 0; i < page->nr_nodes; i++)
        at[i].x = 16 + wide * at[i].x / at[0].nr_leaves;
    str_add(out, "<path class=\"edge\" d=\"");
    for (size_t i = 1; i < page->nr_nodes; i++) {
        if (parents[i] >= i)
            continue;
        str_addf(out, "M%.1f %.1fL%.1f %.1f", at[parents[i]].x, level_y(&page->nodes[parents[i]]),
            at[i].x, level_y(&page->nodes[i]));
    }
    str_add(out, "\"/>\n");
    for (unsigned i = 1; i < page->nr_path; i++) {
        const size_t a = page_find(page, page->path[i - 1].node);
        const size_t b = page_find(page, page->path[i].node);

        add_line(out, "way", at[a].x, level_y(&page->nodes[a]), at[b].x, level_y(&page->nodes[b]));
    }
    for (size_t i = 0; i < page->nr_nodes; i++)
        add_point(out, page, &page->nodes[i], at[i].x, level_y(&page->nodes[i]));
    end_svg(out);
    free(at);
    free(parents);
}

/* ---- roofline ---- */

static bool in_roofline(const struct page_node *n)
{
    return n->profiled && n->flops > 0 && n->dram_bytes > 0 && n->time_ns > 0;
}

struct window {
    double x_low, x_high, y_low, y_high; /* powers of ten */
};

static double roof_x(const struct window *w, double x)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (log10(x) - w->x_low) / (w->x_high - w->x_low);
}

static double roof_y(const struct window *w, double y)
{
    return TOP + (HEIGHT - TOP - BOTTOM) * (w->y_high - log10(y)) / (w->y_high - w->y_low);
}

/* The peak of the FP32 pipe, flop/s. A fused multiply-add counts as two operations. */
static double peak_of(const struct chip *chip)
{
    return 2 * chip->fp32_per_clk * chip->nr_sms * chip->clock_hz;
}

/* A variant that is above the FP32 pipe's peak worked on the tensor cores: then their peak (f16,
 * dense) is a roof as well. 0: no variant is. */
static double tensor_peak_of(const struct page *page)
{
    double fastest = 0;

    for (size_t i = 0; page->chip && i < page->nr_nodes; i++) {
        const struct page_node *n = &page->nodes[i];
        if (in_roofline(n))
            fastest = fmax(fastest, n->flops / n->time_ns * 1e9);
    }
    return page->chip && fastest > peak_of(page->chip) ? page->chip->peak[WORK_F16].tensor_per_s
                                                       : 0;
}

static struct window window_of(const struct page *page)
{
    struct window w = {INFINITY, -INFINITY, INFINITY, -INFINITY};

    for (size_t i = 0; i < page->nr_nodes; i++) {
        const struct page_node *n = &page->nodes[i];
        if (!in_roofline(n))
            continue;
        w.x_low = fmin(w.x_low, log10(n->flops / n->dram_bytes));
        w.x_high = fmax(w.x_high, log10(n->flops / n->dram_bytes));
        w.y_low = fmin(w.y_low, log10(n->flops / n->time_ns * 1e9));
        w.y_high = fmax(w.y_high, log10(n->flops / n->time_ns * 1e9));
    }
    if (page->chip) {
        const double peak = peak_of(page->chip), highest = fmax(peak, tensor_peak_of(page));
        w.x_low = fmin(w.x_low, log10(peak / page->chip->dram_bytes_per_s));
        w.x_high = fmax(w.x_high, log10(highest / page->chip->dram_bytes_per_s));
        w.y_high = fmax(w.y_high, log10(highest));
    }
    w.x_low = floor(w.x_low - 0.1);
    w.x_high = ceil(w.x_high + 0.1);
    w.y_low = floor(w.y_low - 0.1);
    w.y_high = ceil(w.y_high + 0.05);
    return w;
}

/* The slope of DRAM up to the peak, and the peak from there on. */
static void add_roof(
    struct str *out, const struct window *w, const struct chip *chip, double peak, const char *pipe)
{
    const double ridge = peak / chip->dram_bytes_per_s;
    const double left = fmax(pow(10, w->x_low), pow(10, w->y_low) / chip->dram_bytes_per_s);
    char text[64];

    add_line(out, "roof", roof_x(w, left), roof_y(w, left * chip->dram_bytes_per_s),
        roof_x(w, ridge), roof_y(w, peak));
    add_line(out, "roof", roof_x(w, ridge), roof_y(w, peak), WIDTH - RIGHT, roof_y(w, peak));
    snprintf(text, sizeof(text), "%s %.3g TFLOP/s, DRAM %.3g TB/s", pipe, peak / 1e12,
        chip->dram_bytes_per_s / 1e12);
    add_label(out, WIDTH - RIGHT, roof_y(w, peak) - 5, "end", text);
}

static void add_roof_axes(struct str *out, const struct window *w)
{
    char text[64];

    for (double p = w->y_low; p <= w->y_high + 0.01 && isfinite(p); p++) {
        const double at = roof_y(w, pow(10, p));
        snprintf(text, sizeof(text), p > 12.5 ? "%gk" : "%g", pow(10, p > 12.5 ? p - 12 : p - 9));
        add_line(out, "grid", LEFT, at, WIDTH - RIGHT, at);
        add_label(out, LEFT - 6, at + 4, "end", text);
    }
    for (double p = w->x_low; p <= w->x_high + 0.01 && isfinite(p); p++) {
        snprintf(text, sizeof(text), "%g", pow(10, p));
        add_label(out, roof_x(w, pow(10, p)), HEIGHT - BOTTOM + 18, "middle", text);
    }
    add_label(out, LEFT + (WIDTH - LEFT - RIGHT) / 2.0, HEIGHT - 6, "middle",
        "flops per byte of DRAM; up: GFLOP/s");
}

void page_chart_roofline(const struct page *page, struct str *out)
{
    struct window w;
    struct chart_spot *spots;
    size_t nr = 0;

    for (size_t i = 0; i < page->nr_nodes; i++)
        nr += in_roofline(&page->nodes[i]);
    if (nr == 0) {
        str_add(out, "<p>No variant has both floating-point work and DRAM traffic on record: there "
                     "is nothing to place under a roofline.</p>\n");
        return;
    }
    w = window_of(page);
    begin_svg(
        out, page->prefix, "chart-roofline", true, WIDTH, HEIGHT, "Roofline with every variant");
    add_roof_axes(out, &w);
    if (page->chip)
        add_roof(out, &w, page->chip, peak_of(page->chip), "FP32");
    if (tensor_peak_of(page) > 0)
        add_roof(out, &w, page->chip, tensor_peak_of(page), "tensor cores, f16");
    spots = xcalloc(page->nr_nodes, sizeof(*spots));
    for (size_t i = 0; i < page->nr_nodes; i++) {
        const struct page_node *n = &page->nodes[i];
        if (in_roofline(n))
            spots[i] = (struct chart_spot){roof_x(&w, n->flops / n->dram_bytes),
                roof_y(&w, n->flops / n->time_ns * 1e9), true};
    }
    add_points(out, page, spots);
    end_svg(out);
    free(spots);
}

/* ---- verdicts ---- */

void page_bars(
    struct str *out, const char *id, const char *says, const struct page_bar *bars, size_t nr)
{
    enum { ROW = 26, NAME = 170, AFTER = 180 };
    double most = 0;

    if (nr == 0)
        return;
    for (size_t i = 0; i < nr; i++)
        most = fmax(most, bars[i].value);
    begin_svg(out, "", id, true, WIDTH, ROW * (double)nr + 8, says);
    for (size_t i = 0; i < nr; i++) {
        const double y = 4 + ROW * (double)i;
        const double wide = most > 0 ? (WIDTH - NAME - AFTER) * bars[i].value / most : 0;

        if (bars[i].href) {
            str_add(out, "<a href=\"");
            escape_html(out, bars[i].href);
            str_add(out, "\">");
        }
        add_label(out, NAME - 8, y + 16, "end", bars[i].label);
        if (bars[i].href)
            str_add(out, "</a>");
        str_addf(out, "<rect class=\"%s\" x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"%d\"/>\n",
            bars[i].good ? "good" : "bad", NAME, y, wide, ROW - 6);
        add_label(out, NAME + wide + 6, y + 16, "start", bars[i].text);
    }
    end_svg(out);
}

void page_chart_failures(const struct page *page, struct str *out)
{
    struct page_bar bars[NR_VERDICTS];
    char texts[NR_VERDICTS][24], id[64];
    unsigned nr = 0;

    for (int v = 0; v < NR_VERDICTS; v++) {
        if (page->verdicts[v] == 0)
            continue;
        snprintf(texts[nr], sizeof(texts[nr]), "%llu", (unsigned long long)page->verdicts[v]);
        bars[nr] = (struct page_bar){.label = verdict_name((enum verdict)v),
            .text = texts[nr],
            .value = (double)page->verdicts[v],
            .good = v == VERDICT_OK};
        nr++;
    }
    snprintf(id, sizeof(id), "%schart-verdicts", page->prefix);
    page_bars(out, id, "Variants by verdict", bars, nr);
}
