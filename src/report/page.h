/* The report of a run, made from the run's database alone: an HTML page, Markdown or JSON.
 *
 *     struct page page;
 *     ok = page_load(&page, arena, store, path, 0, &err);    // 0: the newest run
 *     page_html(&page, &text, &err);
 *
 * The report is a pure function of the database: the same file gives the same bytes. */
#ifndef KEET_REPORT_PAGE_H
#define KEET_REPORT_PAGE_H

#include "base/str.h"
#include "core/candidate.h"
#include "core/chip.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

/* The facts of a node that charts and lists show. Strings are in the page's arena. */
struct page_node {
    int64_t number, parent; /* -1: the root */
    enum verdict verdict;
    enum action action;
    enum proposer proposer;
    const char *what, *verdict_text;
    bool profiled;
    double speedup, time_ns;  /* 0 when dead */
    double flops, dram_bytes; /* 0 when not known */
    double tokens, cost;      /* spent on models up to and including this node, by rising number */
    unsigned depth;
};

struct page {
    struct arena *arena; /* borrowed */
    struct store *store; /* borrowed */
    const char *db_path;
    const char *prefix; /* of all ids where several runs share a page; else "" */
    struct run_info run;
    const struct chip *chip; /* NULL: an unknown chip */
    const char *device_name;
    struct page_node *nodes; /* by rising number; the root first */
    size_t nr_nodes;
    uint64_t nr_fill;       /* variants beside the budget, between answers of models */
    size_t best;            /* index: the node that store_digest calls the best */
    struct candidate *path; /* from the root to the best, whole */
    unsigned nr_path;
    uint64_t verdicts[NR_VERDICTS]; /* the root is not counted */
    uint64_t nr_recalled; /* nodes with the compiled code of an earlier node: not evaluated again */
    struct model_spent spent;
    char tree_hash[33];
    bool live; /* set after page_load: the page is served, and keeps itself up to date */
};

/* Reads the run of this number; 0: the newest run. An error when the store has no such run. Arena
 * and store must outlive the page. */
bool page_load(struct page *page, struct arena *arena, struct store *store, const char *db_path,
    int64_t run, struct err *err);

/* The index of the node with this number; nr_nodes when no node has the number. */
size_t page_find(const struct page *page, int64_t number);

/* Each adds a sentence of plain text: what the run was asked for, and the outcome of the run. */
void page_asked(const struct page *page, struct str *out);
void page_result(const struct page *page, struct str *out);
/* Adds the command that repeats the run. */
void page_command(const struct page *page, struct str *out);

bool page_html(const struct page *page, struct str *out, struct err *err);
void page_markdown(const struct page *page, struct str *out);
bool page_json(const struct page *page, struct str *out, struct err *err);

/* The part of page_html that changes while a run goes on, without the nodes: the elements `header`
 * and `#above`. */
void page_above(const struct page *page, struct str *out);

/* Parts of a page with several runs. page_begin adds everything up to </head>. page_end adds what
 * follows </main>. page_section adds a short report of one run; the caller adds the heading and the
 * element around the section. live: as in struct page. */
void page_begin(const char *title, bool live, struct str *out);
void page_live(bool live, struct str *out); /* in the header: says whether the run goes on */
void page_end(bool live, struct str *out);
void page_section(const struct page *page, struct str *out);

/* Adds text that others wrote to a line of Markdown or to a cell of a Markdown table. */
void page_plain(struct str *out, const char *text);

/* Horizontal bars. The longest bar takes the whole width. Strings are borrowed. */
struct page_bar {
    const char *label, *href, *text; /* href NULL: no link; text stands behind the bar */
    double value;
    bool good;
};
void page_bars(
    struct str *out, const char *id, const char *says, const struct page_bar *bars, size_t nr);

/* Parts of page_html: charts as SVG, and the data for the script. */
void page_chart_speedup(const struct page *page, struct str *out);
void page_chart_tokens(const struct page *page, struct str *out); /* nothing without models */
void page_chart_cost(const struct page *page, struct str *out);   /* nothing without prices */
void page_chart_tree(const struct page *page, struct str *out);
void page_chart_roofline(const struct page *page, struct str *out);
void page_chart_failures(const struct page *page, struct str *out);
bool page_data(const struct page *page, struct str *out, struct err *err);

#endif
