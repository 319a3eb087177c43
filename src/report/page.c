/* Owns reading a run for its report, and the sentences that all formats share. */
#include "report/page.h"

#include "base/file.h"
#include "report/report.h"

#include <string.h>

size_t page_find(const struct page *page, int64_t number)
{
    size_t low = 0, high = page->nr_nodes;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (page->nodes[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < page->nr_nodes && page->nodes[low].number == number ? low : page->nr_nodes;
}

static void note_node(struct page *page, const struct candidate *c)
{
    const size_t parent = c->parent >= 0 ? page_find(page, c->parent) : page->nr_nodes;
    struct page_node *node = &page->nodes[page->nr_nodes];
    const struct counters *total = &c->profile.total;

    *node = (struct page_node){
        .number = c->node,
        .parent = c->parent,
        .verdict = c->verdict,
        .action = c->option.action,
        .proposer = c->option.proposer,
        .what = c->option.what ? arena_strdup(page->arena, c->option.what) : NULL,
        .verdict_text = c->verdict_text ? arena_strdup(page->arena, c->verdict_text) : NULL,
        .profiled = c->profiled && c->verdict == VERDICT_OK,
        .speedup = c->verdict == VERDICT_OK ? c->speedup : 0,
        .time_ns = c->profile.time_ns,
        .flops = counters_get(total, METRIC_FLOPS),
        .dram_bytes = counters_get(total, METRIC_DRAM_BYTES),
        .depth = parent < page->nr_nodes ? page->nodes[parent].depth + 1 : 0,
    };
    page->nr_nodes++;
    page->nr_recalled += c->recalled;
    if (c->node > 0)
        page->verdicts[c->verdict]++;
    for (unsigned i = 0; i < c->nr_calls; i++)
        model_spent_add(&page->spent, &c->calls[i]);
    node->tokens = (double)page->spent.tokens;
    node->cost = page->spent.cost;
}

/* Loads all nodes by rising number. The numbers have gaps where a run was killed. */
static bool load_nodes(struct page *page, struct err *err)
{
    enum { MOST_MISSING = 100000 };
    struct arena *scratch = arena_create();
    struct store_digest digest;
    int64_t nr, missing = 0;
    bool ok = store_nr_nodes(page->store, &nr, err);

    if (ok && nr == 0)
        ok = err_set(err, "%s: the run has no node yet", page->db_path);
    if (ok)
        page->nodes = arena_array(page->arena, (size_t)nr, sizeof(*page->nodes));
    for (int64_t number = 0; ok && (int64_t)page->nr_nodes < nr && missing < MOST_MISSING;
         number++) {
        struct candidate c = {.arena = scratch};
        bool found;

        ok = store_load_node(page->store, number, &c, &found, err);
        if (ok && found)
            note_node(page, &c);
        missing += !found;
        arena_reset(scratch);
    }
    arena_destroy(scratch);
    if (!ok || !store_digest(page->store, &digest, err))
        return false;
    page->nr_fill = (uint64_t)digest.nr_fill;
    page->best = digest.best >= 0 ? page_find(page, digest.best) : 0;
    return page->nodes[0].parent < 0 ||
           err_set(err, "%s: the original is not in it", page->db_path);
}

static bool load_path(struct page *page, struct err *err)
{
    size_t at = page->best;

    page->nr_path = page->nodes[at].depth + 1;
    page->path = arena_array(page->arena, page->nr_path, sizeof(*page->path));
    for (unsigned i = page->nr_path; i-- > 0;) {
        struct candidate *c = &page->path[i];
        bool found;

        *c = (struct candidate){.arena = page->arena};
        if (at == page->nr_nodes)
            return err_set(err, "%s: a parent is missing", page->db_path);
        if (!store_load_node(page->store, page->nodes[at].number, c, &found, err))
            return false;
        at = page_find(page, c->parent);
    }
    return true;
}

bool page_load(struct page *page, struct arena *arena, struct store *store, const char *db_path,
    int64_t run, struct err *err)
{
    *page = (struct page){.arena = arena, .store = store, .db_path = db_path, .prefix = ""};
    if (!store_take_run(store, arena, run, &page->run, err))
        return false;
    page->chip = chip_of_device(page->run.device);
    page->device_name = page->chip ? page->chip->name : page->run.device;
    return load_nodes(page, err) && load_path(page, err) &&
           store_tree_hash(store, page->tree_hash, err);
}

/* "50" is a number of variants, "10m" a time. */
static void add_budget(struct str *out, const char *budget, const char *of_what)
{
    if (!budget || !*budget)
        return;
    if (strspn(budget, "0123456789") == strlen(budget))
        str_addf(out, ", %s %s", budget, of_what);
    else
        str_addf(out, ", within %s", budget);
}

void page_asked(const struct page *page, struct str *out)
{
    str_addf(out, "A faster %s on %s", file_name(page->run.kernel_path), page->device_name);
    add_budget(out, page->run.budget, page->nr_fill ? "answers of models" : "variants");
    str_addf(out, ", policy %s, seed %llu", page->run.policy, (unsigned long long)page->run.seed);
    if (page->run.models && *page->run.models) {
        str_add(out, ", proposed by ");
        for (const char *at = page->run.models; *at; at++) {
            if (*at != '\n')
                str_add_char(out, *at);
            else if (at[1])
                str_add(out, ", ");
        }
    }
    str_add_char(out, '.');
}

void page_result(const struct page *page, struct str *out)
{
    const struct candidate *root = &page->path[0], *best = &page->path[page->nr_path - 1];

    report_result(out, root, best, NULL);
    str_add(out, "; of ");
    str_add_count(out, page->nr_nodes - 1, "variant");
    str_addf(out, ", %llu %s right", (unsigned long long)page->verdicts[VERDICT_OK],
        page->verdicts[VERDICT_OK] == 1 ? "was" : "were");
    if (page->nr_recalled > 0)
        str_addf(out, " (%llu compiled to the same as an earlier one)",
            (unsigned long long)page->nr_recalled);
    if (page->nr_fill > 0)
        str_addf(out, "; %llu were evaluated for the rewriter and the tuner between answers",
            (unsigned long long)page->nr_fill);
    str_add_char(out, '.');
    if (!page->run.done)
        str_add(out, " The run is not finished.");
}

void page_command(const struct page *page, struct str *out)
{
    const struct run_info *run = &page->run;
    const char *models = run->models ? run->models : "";

    str_add(out, "keet-opt ");
    str_add_shell(out, run->kernel_path);
    str_add(out, " --device ");
    /* The run records a GPU's kind; --device takes a GPU's number. */
    str_add_shell(out, str_starts(run->device, "gpu") ? "gpu" : run->device);
    str_addf(out, " --policy %s --seed %llu --budget ", run->policy, (unsigned long long)run->seed);
    str_add_shell(out, run->budget && *run->budget ? run->budget : "50");
    for (const char *at = models; *at;) {
        const size_t len = strcspn(at, "\n");

        str_add(out, " --model ");
        str_add_shell(out, arena_strndup(page->arena, at, len));
        at = str_next_line(at);
    }
}
