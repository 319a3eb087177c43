/* Owns the results as text and as JSON. */
#include "campaign/results.h"

#include "campaign/table.h"
#include "core/chip.h"
#include "report/json_text.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *positive_or_null(double value)
{
    return isfinite(value) && value > 0 ? json_real(value) : json_null();
}

/* ---- a campaign ---- */

/* emu:h100 -> NVIDIA H100 SXM5 (emulated) */
static const char *device_name(const char *device)
{
    const struct chip *chip = device ? chip_of_device(device) : NULL;

    return chip ? chip->name : device;
}

static json_t *verdicts_json(const struct store_digest *d)
{
    json_t *verdicts = json_object();

    for (int v = 0; v < NR_VERDICTS; v++)
        if (d->verdicts[v])
            json_object_set_new(
                verdicts, verdict_name((enum verdict)v), json_integer((json_int_t)d->verdicts[v]));
    return verdicts;
}

static json_t *task_json(
    const struct campaign *c, const struct campaign_task *t, const struct campaign_figures *f)
{
    const struct store_digest *d = &f->digest;
    struct arena *arena = arena_create();
    json_t *row = json_pack("{s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:I}", "task", t->name, "kernel",
        t->kernel, "speedup", f->measured ? positive_or_null(d->speedup) : json_null(), "from",
        f->measured           ? provenance_name(d->from)
        : t->device[0] == 'g' ? "measured"
                              : "modelled",
        "state", campaign_state_name(f), "stopped_by", json_text_or_null(f->why), "problem",
        json_text_or_null(f->problem), "seed", (json_int_t)t->seed);

    json_object_set_new(row, "device", json_text_or_null(device_name(f->device)));
    json_object_set_new(row, "baseline", json_string("original"));
    json_object_set_new(row, "level", json_text_or_null(t->level));
    json_object_set_new(row, t->timed ? "budget_s" : "budget", json_real(t->budget));
    json_object_set_new(row, "evaluated", json_integer((json_int_t)d->nr_evaluated));
    json_object_set_new(row, "nodes", json_integer((json_int_t)d->nr_nodes));
    json_object_set_new(row, "verdicts", verdicts_json(d));
    json_object_set_new(row, "best", json_integer((json_int_t)d->best));
    json_object_set_new(row, "time_ns", positive_or_null(d->best_ns));
    json_object_set_new(row, "calls", json_integer((json_int_t)d->nr_calls));
    json_object_set_new(row, "tokens", json_integer((json_int_t)d->tokens));
    json_object_set_new(row, "cost",
        d->nr_calls > 0 && d->nr_unpriced == d->nr_calls ? json_null() : json_real(d->cost));
    json_object_set_new(row, "calls_without_price", json_integer((json_int_t)d->nr_unpriced));
    json_object_set_new(row, "wall_s", json_real(t->wall_s));
    json_object_set_new(row, "slices", json_integer(t->nr_slices));
    json_object_set_new(row, "database", json_string(campaign_path(c, arena, t->name, ".keet.db")));
    json_object_set_new(row, "output", json_string(campaign_path(c, arena, t->name, ".keet.cu")));
    arena_destroy(arena);
    return row;
}

struct ranked_item {
    unsigned index;
    double speedup;
};

static int by_speedup(const void *a, const void *b)
{
    const struct ranked_item *one = a, *other = b;

    if (one->speedup != other->speedup)
        return one->speedup > other->speedup ? -1 : 1;
    return one->index < other->index ? -1 : one->index > other->index;
}

static void add_campaign_json(const struct campaign *c, const struct campaign_figures *all,
    const struct ranked_item *order, unsigned nr, struct str *out)
{
    json_t *tasks = json_array();

    for (unsigned i = 0; i < nr; i++)
        json_array_append_new(tasks, task_json(c, &c->tasks[order[i].index], &all[order[i].index]));
    json_add(out,
        json_pack("{s:s, s:s, s:s, s:s, s:o, s:f, s:i, s:o}", "campaign", c->folder, "source",
            c->source, "started", c->started, "version", KEET_VERSION, "ended",
            json_text_or_null(c->ended), "elapsed_s", c->elapsed_s, "rounds", (int)c->nr_rounds,
            "tasks", tasks),
        JSON_INDENT(1) | JSON_REAL_PRECISION(12));
}

static void add_campaign_text(const struct campaign *c, const struct campaign_figures *all,
    const struct ranked_item *order, unsigned nr, struct str *out)
{
    uint64_t tokens = 0;
    double cost = 0;

    for (unsigned i = 0; i < c->nr_tasks; i++) {
        tokens += all[i].digest.tokens;
        cost += all[i].digest.cost;
    }
    table_head(out);
    for (unsigned i = 0; i < nr; i++)
        table_row(&c->tasks[order[i].index], &all[order[i].index], out);
    str_add_char(out, '\n');
    table_summary(c, all, out);
    str_addf(out, "; %s, %.0f s in all", c->ended ? c->ended : "not ended", c->elapsed_s);
    if (tokens > 0)
        str_addf(out, ", %llu tokens, %.4f dollars", (unsigned long long)tokens, cost);
    str_addf(out, "\neverything is in %s; keet-opt report %s makes a page of it\n", c->folder,
        c->folder);
}

bool results_campaign(
    const struct campaign *c, unsigned top, bool json, struct str *out, struct err *err)
{
    struct arena *arena = arena_create();
    struct campaign_figures *all = arena_array(arena, c->nr_tasks, sizeof(*all));
    struct ranked_item *order = arena_array(arena, c->nr_tasks, sizeof(*order));
    const unsigned nr = top && top < c->nr_tasks ? top : c->nr_tasks;
    bool ok = true;

    for (unsigned i = 0; ok && i < c->nr_tasks; i++) {
        ok = campaign_figures(c, &c->tasks[i], arena, &all[i], err);
        order[i] = (struct ranked_item){i, all[i].measured ? all[i].digest.speedup : 0};
    }
    if (ok && top)
        qsort(order, c->nr_tasks, sizeof(*order), by_speedup);
    if (ok && json)
        add_campaign_json(c, all, order, nr, out);
    else if (ok)
        add_campaign_text(c, all, order, nr, out);
    arena_destroy(arena);
    return ok;
}

/* ---- a run ---- */

static bool is_candidate(const struct store_speed *s)
{
    return strcmp(s->verdict, "ok") == 0 && s->speedup > 0;
}

static void add_node_text(const struct store_speed *s, struct str *out)
{
    str_addf(out, "node %-6lld %8.2fx  ", (long long)s->number, s->speedup);
    report_time(out, s->time_ns);
    str_addf(out, "  %s %s\n", s->parent < 0 ? "original" : s->action, s->what ? s->what : "");
}

static json_t *node_json(const struct store_speed *s, const struct store_digest *d)
{
    return json_pack("{s:I, s:I, s:o, s:o, s:s, s:s, s:o}", "node", (json_int_t)s->number, "parent",
        (json_int_t)s->parent, "speedup", positive_or_null(s->speedup), "time_ns",
        positive_or_null(s->time_ns), "from", provenance_name(d->from), "move",
        s->parent < 0 ? "original" : s->action, "what", json_text_or_null(s->what));
}

static void add_nodes(const struct store_speed *speeds, const struct ranked_item *order,
    unsigned nr, const struct store_digest *d, bool json, struct str *out)
{
    json_t *list = json_array();

    if (!json)
        str_addf(out, "%s, %s\n", report_speedup_word(d->from), provenance_name(d->from));
    for (unsigned i = 0; i < nr; i++) {
        if (json)
            json_array_append_new(list, node_json(&speeds[order[i].index], d));
        else
            add_node_text(&speeds[order[i].index], out);
    }
    if (json)
        json_add(out, json_incref(list), JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    json_decref(list);
}

bool results_run(
    const char *db_path, int64_t run, unsigned top, bool json, struct str *out, struct err *err)
{
    struct arena *arena = arena_create();
    struct store *store = store_open(db_path, err);
    struct store_speed *speeds = NULL;
    struct store_digest digest;
    struct run_info info;
    struct ranked_item *order;
    unsigned nr = 0, nr_right = 0;
    bool ok = store && store_take_run(store, arena, run, &info, err) &&
              store_digest(store, &digest, err) &&
              store_list_speeds(store, arena, &speeds, &nr, err);

    if (ok) {
        order = arena_array(arena, nr, sizeof(*order));
        for (unsigned i = 0; i < nr; i++)
            if (is_candidate(&speeds[i]))
                order[nr_right++] = (struct ranked_item){i, speeds[i].speedup};
        qsort(order, nr_right, sizeof(*order), by_speedup);
        add_nodes(speeds, order, top && top < nr_right ? top : nr_right, &digest, json, out);
    }
    store_close(store);
    arena_destroy(arena);
    return ok;
}
