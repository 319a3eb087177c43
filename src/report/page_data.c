/* Owns the data that the page's script shows: every node, compactly.
 *
 * Sources, prompts and replies repeat each other's lines. So the data hold one list of lines, and a
 * text is a list of number pairs: the first line in the list, and the number of lines. Texts are
 * added while the page stays small enough to open at once. A text beyond that size is null. */
#include "base/hash.h"
#include "base/mem.h"
#include "core/prediction.h"
#include "report/escape.h"
#include "report/page.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TABLE_BITS = 18,
    MOST_TRIED = 24,  /* places compared for one line */
    WORTH_BYTES = 24, /* a shorter match costs more than it saves */
    MOST_SOURCES = 5 << 20,
    MOST_FINDINGS = 3 << 20,
    MOST_TEXTS = 9 << 20, /* all together */
};

struct line {
    const char *text; /* in the list's own memory */
    size_t len;
    struct hash hash;
    int64_t earlier; /* the line before with the same bucket; -1: none */
};

struct line_pool {
    struct line *lines;
    size_t nr, cap;
    int64_t *last; /* by bucket */
    struct arena *arena;
    struct str json; /* the lines as JSON strings, with commas */
    size_t encoded;  /* bytes of all texts' pairs */
};

static void lines_init(struct line_pool *l)
{
    *l = (struct line_pool){.arena = arena_create()};
    l->last = xmalloc(sizeof(*l->last) << TABLE_BITS);
    memset(l->last, 0xff, sizeof(*l->last) << TABLE_BITS);
}

static void lines_finish(struct line_pool *l)
{
    free(l->lines);
    free(l->last);
    arena_destroy(l->arena);
    str_finish(&l->json);
}

static size_t lines_add(struct line_pool *l, const char *text, size_t len, struct hash hash)
{
    int64_t *last = &l->last[hash.low & ((UINT64_C(1) << TABLE_BITS) - 1)];

    l->lines = grow(l->lines, &l->cap, l->nr + 1, sizeof(*l->lines));
    l->lines[l->nr] = (struct line){arena_strndup(l->arena, text, len), len, hash, *last};
    *last = (int64_t)l->nr;
    if (l->nr > 0)
        str_add_char(&l->json, ',');
    escape_json_n(&l->json, text, len);
    return l->nr++;
}

static bool same_line(const struct line *line, const char *text, size_t len)
{
    return line->len == len && memcmp(line->text, text, len) == 0;
}

/* The number of lines at the start of `text` that stand in the list from line `from` on. *bytes:
 * their length. */
static size_t match_at(const struct line_pool *l, size_t from, const char *text, size_t *bytes)
{
    size_t nr = 0;

    *bytes = 0;
    for (; from + nr < l->nr && *text; nr++) {
        const size_t len = strcspn(text, "\n");

        if (!same_line(&l->lines[from + nr], text, len))
            break;
        *bytes += len + 1;
        text = str_next_line(text);
    }
    return nr;
}

/* Adds the text as JSON: [first,number,first,number,...]. A newline at the end of the text is
 * dropped. */
static void lines_encode(struct line_pool *l, struct str *out, const char *text)
{
    bool any = false, literal = false;
    size_t start = 0, nr = 0;

    str_add_char(out, '[');
    while (*text) {
        const size_t len = strcspn(text, "\n");
        const struct hash hash = hash_bytes(text, len, 0);
        size_t most = 0, most_bytes = 0, from = 0;
        int64_t at = l->last[hash.low & ((UINT64_C(1) << TABLE_BITS) - 1)];

        for (unsigned tries = 0; at >= 0 && tries < MOST_TRIED; tries++) {
            size_t bytes;
            const size_t lines = match_at(l, (size_t)at, text, &bytes);

            if (bytes > most_bytes) {
                most = lines;
                most_bytes = bytes;
                from = (size_t)at;
            }
            at = l->lines[at].earlier;
        }
        if (most_bytes >= WORTH_BYTES || (most > 0 && !text[most_bytes - 1])) {
            if (nr > 0)
                str_addf(out, "%s%zu,%zu", any ? "," : "", start, nr);
            any |= nr > 0;
            str_addf(out, "%s%zu,%zu", any ? "," : "", from, most);
            any = true;
            literal = false;
            nr = 0;
            for (size_t i = 0; i < most; i++)
                text = str_next_line(text);
            continue;
        }
        from = lines_add(l, text, len, hash);
        start = literal ? start : from;
        nr = literal ? nr + 1 : 1;
        literal = true;
        text = str_next_line(text);
    }
    if (nr > 0)
        str_addf(out, "%s%zu,%zu", any ? "," : "", start, nr);
    str_add_char(out, ']');
}

/* Adds the text as lines_encode does; adds null when lines and texts would exceed `limit` bytes. */
static void add_text(struct line_pool *l, struct str *out, const char *text, size_t limit)
{
    const size_t before = out->len;

    if (!text || l->json.len + l->encoded + strlen(text) > limit)
        str_add(out, "null");
    else
        lines_encode(l, out, text);
    l->encoded += out->len - before;
}

/* ---- nodes ---- */

static void add_metrics(struct str *out, const struct candidate *c)
{
    static const char letters[] = "-mcseEM";

    _Static_assert(sizeof(letters) == NR_PROVENANCES + 1, "a letter for each");

    str_add(out, ",\"m\":[");
    for (size_t i = 0; i < nr_report_metrics; i++) {
        const enum metric m = report_metrics[i];

        str_add(out, i ? "," : "");
        if (counters_has(&c->profile.total, m))
            escape_number(out, counters_get(&c->profile.total, m));
        else
            str_add(out, "null");
    }
    str_add(out, "],\"f\":\"");
    for (size_t i = 0; i < nr_report_metrics; i++)
        str_add_char(out, letters[c->profile.total.metric[report_metrics[i]].from]);
    str_add_char(out, '"');
}

static void add_findings(struct str *out, const struct candidate *c, bool brief)
{
    const unsigned nr = brief && c->explanation.nr_findings > 1 ? 1 : c->explanation.nr_findings;

    if (c->explanation.summary && !brief) {
        str_add(out, ",\"why\":");
        escape_json(out, c->explanation.summary);
    }
    if (nr == 0)
        return;
    str_add(out, ",\"a\":[");
    for (unsigned i = 0; i < nr; i++) {
        str_add(out, i ? "," : "");
        escape_json(out, c->explanation.findings[i].text);
    }
    str_add_char(out, ']');
}

static void add_check(struct str *out, const struct candidate *c)
{
    if (c->check.note && *c->check.note) {
        str_add(out, ",\"check\":");
        escape_json(out, c->check.note);
    }
    if (c->recalled)
        str_addf(out, ",\"same\":%lld", (long long)c->recalled_from);
}

static void add_node(
    struct str *out, struct line_pool *l, const struct candidate *c, size_t *findings)
{
    const size_t before = out->len;
    const char *said;

    str_addf(out, "{\"n\":%lld,\"p\":%lld,\"v\":\"%s\",\"x\":", (long long)c->node,
        (long long)c->parent, verdict_name(c->verdict));
    escape_number(out, c->speedup);
    str_addf(out, ",\"by\":\"%s\"", proposer_name(c->option.proposer));
    if (c->proposal_note && *c->proposal_note) {
        str_add(out, ",\"note\":");
        escape_json(out, c->proposal_note);
        said = prediction_compared(c->arena, c);
        if (*said) {
            str_add(out, ",\"said\":");
            escape_json(out, said);
        }
    }
    if (c->verdict_text) {
        str_add(out, ",\"vt\":");
        escape_json(out, c->verdict_text);
    }
    add_check(out, c);
    add_findings(out, c, *findings > MOST_FINDINGS);
    *findings += out->len - before;
    if (c->profiled)
        add_metrics(out, c);
    str_add(out, ",\"s\":");
    add_text(l, out, c->source, MOST_SOURCES);
    str_add(out, "}");
}

static void add_call(struct str *out, struct line_pool *l, const struct model_call *call)
{
    str_add(out, "{\"purpose\":");
    escape_json(out, call->purpose);
    str_add(out, ",\"model\":");
    escape_json(out, call->model);
    str_add(out, ",\"outcome\":");
    escape_json(out, call->error ? call->error : call->outcome);
    str_addf(out, ",\"verdict\":\"%s\"", verdict_name(call->verdict));
    if (call->verdict_text) {
        str_add(out, ",\"vt\":");
        escape_json(out, call->verdict_text);
    }
    str_addf(out, ",\"in\":%llu,\"out\":%llu,\"cost\":", (unsigned long long)call->tokens_in,
        (unsigned long long)call->tokens_out);
    escape_number(out, call->cost);
    str_add(out, ",\"prompt\":");
    add_text(l, out, call->prompt, MOST_TEXTS);
    str_add(out, ",\"reply\":");
    if (call->reply)
        add_text(l, out, call->reply, MOST_TEXTS);
    else
        str_add(out, "[]");
    str_add_char(out, '}');
}

/* Adds the calls of a node. */
static bool add_calls(
    const struct page *page, struct str *out, struct line_pool *l, int64_t number, struct err *err)
{
    struct arena *scratch = arena_create();
    struct candidate c = {.arena = scratch, .node = number};
    const bool ok = store_load_calls(page->store, &c, err);

    if (ok && c.nr_calls > 0) {
        str_addf(out, "%s\"%lld\":[", out->len > 0 ? "," : "", (long long)number);
        for (unsigned i = 0; i < c.nr_calls; i++) {
            str_add(out, i ? "," : "");
            add_call(out, l, &c.calls[i]);
        }
        str_add_char(out, ']');
    }
    arena_destroy(scratch);
    return ok;
}

static bool on_path(const struct page *page, int64_t number)
{
    for (unsigned i = 0; i < page->nr_path; i++)
        if (page->path[i].node == number)
            return true;
    return false;
}

static bool add_all_calls(
    const struct page *page, struct str *out, struct line_pool *l, struct err *err)
{
    bool ok = true;

    if (page->spent.nr_calls == 0)
        return true;
    for (unsigned i = 0; ok && i < page->nr_path; i++)
        ok = add_calls(page, out, l, page->path[i].node, err);
    for (size_t i = 0; ok && i < page->nr_nodes; i++)
        if (!on_path(page, page->nodes[i].number))
            ok = add_calls(page, out, l, page->nodes[i].number, err);
    return ok;
}

static bool add_nodes(
    const struct page *page, struct str *out, struct line_pool *l, struct err *err)
{
    struct arena *scratch = arena_create();
    size_t findings = 0;
    bool ok = true;

    for (size_t i = 0; ok && i < page->nr_nodes; i++) {
        struct candidate c = {.arena = scratch};
        bool found;

        ok = store_load_node(page->store, page->nodes[i].number, &c, &found, err);
        if (ok && found) {
            str_add(out, i ? ",\n" : "\n");
            add_node(out, l, &c, &findings);
        }
        arena_reset(scratch);
    }
    arena_destroy(scratch);
    return ok;
}

bool page_data(const struct page *page, struct str *out, struct err *err)
{
    struct line_pool lines;
    struct str nodes = {0}, calls = {0}, unused = {0};
    bool ok;

    lines_init(&lines);
    /* The sources on the path to the best come first, so that the limit cuts off other sources. */
    for (unsigned i = 0; i < page->nr_path; i++)
        add_text(&lines, &unused, page->path[i].source, MOST_SOURCES);
    ok = add_nodes(page, &nodes, &lines, err) && add_all_calls(page, &calls, &lines, err);
    str_add(out, "{\"metrics\":[");
    for (size_t i = 0; i < nr_report_metrics; i++) {
        str_add(out, i ? "," : "");
        escape_json(out, metric_name(report_metrics[i]));
    }
    str_addf(out, "],\"nodes\":[%s],\n\"calls\":{%s},\n", str_text(&nodes), str_text(&calls));
    str_addf(out, "\"lines\":[%s]}", str_text(&lines.json));
    str_finish(&nodes);
    str_finish(&calls);
    str_finish(&unused);
    lines_finish(&lines);
    return ok;
}
