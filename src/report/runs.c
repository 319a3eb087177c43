/* Owns the list of a database's runs: `keet-opt runs`. */
#include "report/json_text.h"
#include "report/report.h"

#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "2026-11-23T10:24:10Z" -> "2026-11-23 10:24" */
static void add_time(struct str *out, const char *utc)
{
    struct str text = {0};

    for (unsigned i = 0; utc && utc[i] && i < 16; i++)
        str_add_char(&text, utc[i] == 'T' ? ' ' : utc[i]);
    str_addf(out, "  %-16s", str_text(&text));
    str_finish(&text);
}

static const char *state_of(const struct store_run *run, bool running)
{
    return running ? "running" : run->info.done ? "done" : "cut off";
}

/* The widths of the columns whose cells have no usual width. */
struct widths {
    int kernel, device, policy, budget;
};

static int widest(int so_far, const char *text)
{
    const int len = text ? (int)strlen(text) : 0;

    return len > so_far ? len : so_far;
}

static struct widths widths_of(const struct store_run *runs, unsigned nr)
{
    struct widths w = {6, 6, 6, 6};

    for (unsigned i = 0; i < nr; i++) {
        w.kernel = widest(w.kernel, file_name(runs[i].info.kernel_path));
        w.device = widest(w.device, runs[i].info.device);
        w.policy = widest(w.policy, runs[i].info.policy);
        w.budget = widest(w.budget, runs[i].info.budget);
    }
    return w;
}

static void add_models(struct str *out, const char *models)
{
    if (!models || !*models)
        return;
    str_add(out, "     with ");
    for (const char *at = models; *at; at++) {
        if (*at == '\n')
            str_add(out, ", ");
        else
            str_add_char(out, *at);
    }
    str_add_char(out, '\n');
}

static void add_run(struct str *out, const struct store_run *run, struct widths w, bool running)
{
    const struct run_info *info = &run->info;
    const struct store_digest *d = &run->digest;
    char speedup[32] = "-";

    if (d->best >= 0)
        snprintf(speedup, sizeof(speedup), "%.2fx", d->speedup);
    str_addf(out, "%3lld", (long long)info->id);
    add_time(out, info->started);
    str_addf(out, "  %-*s  %-*s  %-*s  %4llu  %*s  %5lld  %7s  ", w.kernel,
        file_name(info->kernel_path), w.device, info->device, w.policy, info->policy,
        (unsigned long long)info->seed, w.budget, info->budget, (long long)d->nr_nodes, speedup);
    if (running || !info->done)
        str_addf(out, "%s\n", state_of(run, running));
    else
        str_addf(out, "%s\n", info->why_stopped ? info->why_stopped : "?");
    add_models(out, info->models);
}

void report_runs(struct str *out, const struct store_run *runs, unsigned nr, long holder)
{
    const struct widths w = widths_of(runs, nr);

    str_addf(out, "%3s  %-16s  %-*s  %-*s  %-*s  %4s  %*s  %5s  %7s  %s\n", "run", "started (UTC)",
        w.kernel, "kernel", w.device, "device", w.policy, "policy", "seed", w.budget, "budget",
        "nodes", "best", "ended by");
    for (unsigned i = 0; i < nr; i++)
        add_run(out, &runs[i], w, holder != 0 && i + 1 == nr);
}

static json_t *run_json(const struct store_run *run, bool running)
{
    const struct run_info *info = &run->info;
    const struct store_digest *d = &run->digest;
    const bool measured = d->best >= 0;
    json_t *row = json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:I, s:I}", "run",
        (json_int_t)info->id, "started", json_text_or_null(info->started), "ended",
        json_text_or_null(info->ended), "kernel", json_text_or_null(info->kernel_path), "device",
        json_text_or_null(info->device), "policy", json_text_or_null(info->policy), "seed",
        (json_int_t)info->seed, "budget", json_text_or_null(info->budget), "models",
        json_lines(info->models), "nodes", (json_int_t)d->nr_nodes, "evaluated",
        (json_int_t)d->nr_evaluated);

    json_object_set_new(row, "fill", json_integer((json_int_t)d->nr_fill));
    json_object_set_new(row, "best", measured ? json_integer((json_int_t)d->best) : json_null());
    json_object_set_new(row, "speedup", json_real_or_null(measured ? d->speedup : (double)NAN));
    json_object_set_new(row, "from", json_text_or_null(measured ? provenance_name(d->from) : NULL));
    json_object_set_new(row, "state", json_string(state_of(run, running)));
    json_object_set_new(
        row, "stopped_by", json_text_or_null(running || !info->done ? NULL : info->why_stopped));
    return row;
}

void report_runs_json(struct str *out, const struct store_run *runs, unsigned nr, long holder)
{
    json_t *list = json_array();

    for (unsigned i = 0; i < nr; i++)
        json_array_append_new(list, run_json(&runs[i], holder != 0 && i + 1 == nr));
    json_add(out, json_pack("{s:o}", "runs", list), JSON_INDENT(1) | JSON_REAL_PRECISION(12));
}
