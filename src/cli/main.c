/* Owns the process: argv in, exit status out, and everything that is printed. */
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/cmd_calls.h"
#include "cli/cmd_campaign.h"
#include "cli/cmd_doctor.h"
#include "cli/cmd_explain.h"
#include "cli/cmd_export.h"
#include "cli/cmd_init.h"
#include "cli/cmd_look.h"
#include "cli/cmd_patch.h"
#include "cli/cmd_report.h"
#include "cli/cmd_run.h"
#include "cli/cmd_write.h"
#include "cli/options.h"
#include "report/report.h"
#include "run/loop.h"
#include "run/session.h"

#include <signal.h>
#include <stdio.h>

enum { EXIT_OK = 0, EXIT_ERROR = 1, EXIT_USAGE = 2, EXIT_BROKEN_KERNEL = 3 };

static void on_signal(int number)
{
    loop_interrupt();
    campaign_interrupt();
    signal(number, SIG_DFL); /* a second one ends the process */
}

/* ---- watching the loop ---- */

struct watcher {
    struct loop_watcher base;
    struct progress progress;
};

static struct progress_state state_of(const struct session *s)
{
    return (struct progress_state){
        .nr_evaluated = s->nr_evaluated,
        .nr_failed = s->nr_nodes - s->nr_ok,
        .best_speedup = s->best_speedup,
        .elapsed_s = (double)(clock_ns() - s->started_ns) * 1e-9,
        .best = s->best,
        .from = s->root.profile.time_from,
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

/* ---- the end of a run ---- */

/* The nodes from the root to the best one, read back from the store. */
static bool load_path(
    struct session *s, struct candidate **path, unsigned *nr_path, struct err *err)
{
    unsigned depth = 0;
    int64_t node = s->best;

    for (int64_t at = s->best; at > 0; depth++)
        at = search_node(s->search, at).parent;
    *nr_path = depth + 1;
    *path = arena_array(s->arena, *nr_path, sizeof(**path));
    for (unsigned i = depth + 1; i-- > 0;) {
        struct candidate *c = &(*path)[i];
        bool found;

        session_candidate(s, s->arena, c, 0, -1, (struct option){.action = ACTION_NONE});
        if (!store_load_node(s->store, node, c, &found, err))
            return false;
        if (!found)
            return err_set(err, "node %lld is missing in the database", (long long)node);
        node = c->parent;
    }
    return true;
}

static bool finish(struct session *s, const char *why, struct err *err)
{
    const struct options *o = s->options;
    struct candidate *path;
    struct report_run run = {
        .task = &s->task,
        .run = &s->run,
        .db_path = s->db_path,
        .output_path = s->output_path,
        .device_name = s->device->chip->name,
        .why = why,
        .elapsed_s = (double)(clock_ns() - s->started_ns) * 1e-9,
        .nr_nodes = s->nr_nodes,
        .nr_evaluated = s->nr_evaluated,
        .nr_ok = s->nr_ok,
        .nr_reused = s->nr_reused,
        .verdicts = s->verdicts,
    };
    const struct model_spent spent = propose_spent(s->propose);
    struct str text = {0};
    const struct candidate *best;
    char tree[33];

    if (!load_path(s, &path, &run.nr_path, err) || !store_tree_hash(s->store, tree, err))
        return false;
    run.tree_hash = tree;
    if (propose_has_model(s->propose) || spent.nr_calls > 0)
        run.spent = &spent;
    run.path = path;
    best = &path[run.nr_path - 1];
    if (!file_write(s->output_path, best->source, best->source_bytes, err) ||
        !writeback(&run.patch, s->arena, o, &s->task, best->source, best->source_bytes,
            s->output_path, err))
        return false;
    if (o->json)
        report_json(&text, &run);
    else if (o->verbosity < 0)
        str_addf(&text, "%.2fx %s  %s\n", best->speedup,
            report_speedup_word(best->profile.time_from), s->output_path);
    else
        report_summary(&text, &run);
    fputs(str_text(&text), stdout);
    str_finish(&text);
    return true;
}

static bool show_prompt(const struct options *options, struct err *err)
{
    struct session s;
    struct str text = {0};
    const bool ok = session_open(&s, options, err) && session_show_prompt(&s, &text, err);

    if (ok)
        fputs(str_text(&text), stdout);
    str_finish(&text);
    session_close(&s);
    return ok;
}

static bool optimize(const struct options *options, struct err *err)
{
    struct session s;
    struct watcher watcher = {.base = {watch_trying, watch_done}};
    const char *why;
    bool ok;

    progress_init(&watcher.progress, stderr, options->verbosity<0, options->verbosity> 0,
        options->budget_nodes);
    ok = session_open(&s, options, err) && loop_run(&s, &watcher.base, &why, err);
    progress_finish(&watcher.progress);
    ok = ok && finish(&s, why, err);
    session_close(&s);
    return ok;
}

/* What a verb came to beside its error: a kernel that is broken, a campaign that is not complete.
 */
struct outcome {
    bool clean, complete;
};

static bool run_verb(const struct options *o, struct outcome *outcome, struct err *err)
{
    switch (o->verb) {
    case VERB_HELP:
        options_help();
        return true;
    case VERB_VERSION:
        puts("keet-opt " KEET_VERSION);
        return true;
    case VERB_DOCTOR:
        return doctor(o, &outcome->complete, err);
    case VERB_EXPLAIN:
        if (str_ends(o->kernel_path, ".csv") || str_ends(o->kernel_path, ".ncu-rep"))
            return explain_profiles(o, err);
        return o->nr_paths > 1 || o->sweep ? explain_kernels(o, err)
                                           : run_once(o, &outcome->clean, err);
    case VERB_RUN:
        return run_once(o, &outcome->clean, err);
    case VERB_INIT:
        return init_verb(o, err);
    case VERB_PATCH:
        return patch_verb(o, err);
    case VERB_CAMPAIGN:
        return campaign_verb(o, &outcome->complete, err);
    case VERB_STATUS:
    case VERB_STOP:
    case VERB_RESULTS:
    case VERB_SHOW:
    case VERB_DIFF:
    case VERB_WATCH:
        return look_verb(o, err);
    case VERB_REPORT:
        return report_verb(o, err);
    case VERB_WRITE:
        return first_verb(o, err);
    case VERB_EXPORT:
        return export_verb(o, err);
    case VERB_CALLS:
        return calls_list(o, err);
    default:
        return o->show_prompt ? show_prompt(o, err) : optimize(o, err);
    }
}

int main(int argc, char **argv)
{
    struct options options;
    struct err err;
    struct outcome outcome = {true, true};

    propose_hide_keys();
    if (!options_parse(&options, argc, argv, &err)) {
        fprintf(stderr, "keet-opt: %s\n", err.text);
        return EXIT_USAGE;
    }
    log_set_level(options.verbosity > 1   ? LOG_DETAIL
                  : options.verbosity > 0 ? LOG_NOTE
                                          : LOG_QUIET);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    signal(SIGPIPE, SIG_IGN);
    if (!run_verb(&options, &outcome, &err)) {
        fprintf(stderr, "keet-opt: %s\n", err.text);
        return EXIT_ERROR;
    }
    if (!outcome.complete)
        return EXIT_ERROR;
    return outcome.clean ? EXIT_OK : EXIT_BROKEN_KERNEL;
}
