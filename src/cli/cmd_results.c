/* Owns `keet-opt results`: the best of a run or a campaign. */
#include "base/arena.h"
#include "base/str.h"
#include "campaign/results.h"
#include "cli/commands.h"
#include "cli/look.h"
#include "report/page.h"
#include "report/plot.h"

#include <stdio.h>

/* The best so far, and where the best kernel stands below the roofs. */
static void draw(const struct page *page, const struct plot *plot)
{
    double *speedups = arena_array(page->arena, page->nr_nodes + 1, sizeof(*speedups));
    const struct page_node *best = page->nr_nodes > 0 ? &page->nodes[page->best] : NULL;
    struct str text = {0};

    for (size_t i = 0; i < page->nr_nodes; i++)
        speedups[i] = page->nodes[i].verdict == VERDICT_OK ? page->nodes[i].speedup : 0;
    plot_best(&text, plot, speedups, (unsigned)page->nr_nodes);
    if (page->chip && best) {
        str_add(&text, text.len > 0 ? "\n" : "");
        plot_roofline(&text, plot, page->chip, best->flops, best->dram_bytes, best->time_ns);
    }
    if (text.len > 0)
        putchar('\n');
    plot_print(stdout, str_text(&text), plot);
    fflush(stdout);
    str_finish(&text);
}

static bool draw_run(const struct options *o, struct err *err)
{
    struct arena *arena;
    struct store *store;
    struct plot plot;
    struct page page;
    bool ok;

    if (o->json || !plot_wanted(o->plot, stdout, &plot))
        return true;
    arena = arena_create();
    store = look_database(o->kernel_path, err);
    ok = store && page_load(&page, arena, store, o->kernel_path, (int64_t)o->run, err);
    if (ok)
        draw(&page, &plot);
    store_close(store);
    arena_destroy(arena);
    return ok;
}

bool cmd_results(const struct options *o, int *status, struct err *err)
{
    const unsigned top = o->campaign.top;
    struct looked l;
    struct str text = {0};
    bool ok = look_open(&l, o->kernel_path, o->run, err);

    ok = ok &&
         (l.is_campaign ? results_campaign(&l.campaign, top ? top : UINT32_MAX, o->json, &text, err)
                        : results_run(l.path, (int64_t)o->run, top, o->json, &text, err));
    if (ok)
        look_print(str_text(&text));
    ok = ok && (l.is_campaign || draw_run(o, err));
    str_finish(&text);
    look_close(&l);
    return ok;
}
