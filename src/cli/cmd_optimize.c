/* Owns `keet-opt KERNEL.cu`. */
#include "cli/commands.h"

#include "base/clock.h"
#include "base/str.h"
#include "cli/cmd_patch.h"
#include "cli/load_task.h"
#include "cli/parts.h"
#include "report/report.h"
#include "run/loop.h"

#include <stdio.h>

/* ---- watching the loop ---- */

struct watcher {
    struct loop_watcher base;
    struct progress progress;
};

static struct progress_state state_of(const struct session *s)
{
    const struct session_state state = session_state(s);

    return (struct progress_state){
        .nr_evaluated = state.nr_evaluated,
        .nr_failed = state.nr_nodes - state.nr_ok,
        .best_speedup = state.best_speedup,
        .elapsed_s = state.elapsed_s,
        .best = state.best,
        .from = state.from,
    };
}

static void watch_trying(
    struct loop_watcher *base, const struct session *s, const struct candidate *c)
{
    const struct progress_state state = state_of(s);

    progress_trying(&((struct watcher *)base)->progress, &state, c);
}

static void watch_done(
    struct loop_watcher *base, const struct session *s, const struct candidate *c)
{
    const struct progress_state state = state_of(s);

    progress_done(&((struct watcher *)base)->progress, &state, c);
}

static void watch_revised(
    struct loop_watcher *base, const struct session *s, const struct candidate *c)
{
    const struct progress_state state = state_of(s);

    progress_revised(&((struct watcher *)base)->progress, &state, c);
}

/* ---- a run ---- */

/* The parts of a run, opened in this order. */
struct search_parts {
    const struct options *options;
    struct session_options session_options;
    struct arena *arena;
    struct task task;
    struct workbench *bench;
    struct session *session;
};

static bool open_parts(struct search_parts *p, const struct options *options, struct err *err)
{
    const struct workbench_options bench = options_bench(options);

    *p = (struct search_parts){
        .options = options, .session_options = options_session(options), .arena = arena_create()};
    p->session_options.started_ns = clock_ns();
    if (!load_task(&p->task, p->arena, options, err))
        return false;
    if (options->verb == VERB_TUNE && p->task.plan.nr_tunes == 0)
        return err_set(err,
            "%s has no `tune` lines: name what may vary, as in `#pragma keet tune BLOCK = 128 in "
            "{64, "
            "128, 256}`",
            p->task.path);
    command_ends_neatly();
    p->bench = workbench_open(&bench, err);
    if (p->bench)
        p->session = session_open(&p->session_options, p->bench, &p->task, err);
    return p->session != NULL;
}

static void close_parts(struct search_parts *p)
{
    session_close(p->session);
    workbench_close(p->bench);
    arena_destroy(p->arena);
}

/* Writes the best kernel to the output file, and back into the user's file where that has host
 * code. Then prints the outcome of the run. */
static bool finish(struct search_parts *p, const char *why, struct err *err)
{
    const struct options *o = p->options;
    struct session_result result;
    struct session_output output;
    struct report_run run;
    struct str text = {0};
    const struct candidate *best;

    if (!session_result(p->session, &result, err) ||
        !session_write_output(p->session, &result, &output, err))
        return false;
    best = result.kept ? &result.kept->winner : &result.path[result.nr_path - 1];
    run = (struct report_run){
        .task = &p->task,
        .run = result.run,
        .db_path = result.db_path,
        .output_path = result.output_path,
        .device_name = workbench_chip(p->bench)->name,
        .why = why,
        .elapsed_s = result.state.elapsed_s,
        .nr_nodes = result.state.nr_nodes,
        .nr_evaluated = result.state.nr_evaluated,
        .nr_fill = result.state.nr_fill,
        .nr_ok = result.state.nr_ok,
        .nr_fallen = result.state.nr_fallen,
        .unsettled = result.state.unsettled,
        .nr_reused = result.state.nr_reused,
        .verdicts = result.state.verdicts,
        .recalled = result.state.recalled,
        .tree_hash = result.tree_hash,
        .spent = result.spent,
        .path = result.path,
        .nr_path = result.nr_path,
        .kept = result.kept ? best : NULL,
        .kept_run = result.kept ? result.kept->run : 0,
        .moved_to = output.moved_to,
        .unchanged = output.unchanged,
        .replaced = output.replaced,
        .columns = report_columns(stdout),
        .tables = o->verbosity > 0,
    };
    if (!writeback(&run.patch, p->arena, o, &p->task, best->source, best->source_bytes,
            result.output_path, err))
        return false;
    if (o->json)
        report_json(&text, &run);
    else if (o->verbosity < 0)
        report_short(&text, &run);
    else
        report_summary(&text, &run);
    fputs(str_text(&text), stdout);
    str_finish(&text);
    return true;
}

/* The run broke off, but what it found is not lost: the best kernel goes to the output file as far
 * as the database can be read and the file be written. */
static void rescue(struct search_parts *p, struct err *err)
{
    struct session_result result;
    struct session_output output;
    struct err ignored, why = *err;

    if (session_state(p->session).best > 0 && session_result(p->session, &result, &ignored) &&
        session_write_output(p->session, &result, &output, &ignored))
        err_set(err, "%s; the best kernel so far (%.2fx) is in %s", why.text,
            result.state.best_speedup, result.output_path);
}

static bool show_prompt(struct search_parts *p, struct err *err)
{
    struct str text = {0};
    const bool ok = session_show_prompt(p->session, &text, err);

    if (ok)
        fputs(str_text(&text), stdout);
    str_finish(&text);
    return ok;
}

static bool search(struct search_parts *p, struct err *err)
{
    struct watcher watcher = {.base = {watch_trying, watch_done, watch_revised}};
    const char *why;
    bool ok;

    progress_init(&watcher.progress, stderr, p->options->verbosity<0, p->options->verbosity> 0,
        p->options->budget_nodes);
    ok = loop_run(p->session, &watcher.base, &why, err);
    progress_finish(&watcher.progress);
    if (!ok)
        rescue(p, err);
    return ok && finish(p, why, err);
}

bool cmd_optimize(const struct options *options, int *status, struct err *err)
{
    struct search_parts parts;
    const bool ok = open_parts(&parts, options, err) &&
                    (options->show_prompt ? show_prompt(&parts, err) : search(&parts, err));

    close_parts(&parts);
    return ok;
}
