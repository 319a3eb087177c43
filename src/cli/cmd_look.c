/* Owns status, stop, results, show, diff and watch. */
#include "cli/cmd_look.h"

#include "base/file.h"
#include "base/lock.h"
#include "base/mem.h"
#include "base/str.h"
#include "campaign/campaign.h"
#include "campaign/results.h"
#include "campaign/watch.h"
#include "report/json_text.h"
#include "report/report.h"
#include "store/store.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- what is looked at ---- */

struct looked {
    bool is_campaign;
    const char *path, *lock_path;
    struct campaign campaign;
};

static bool look_open(struct looked *l, const char *path, struct err *err)
{
    *l = (struct looked){.is_campaign = campaign_is_folder(path), .path = path};
    campaign_init(&l->campaign);
    if (l->is_campaign) {
        l->lock_path = arena_printf(l->campaign.arena, "%s/campaign.lock", path);
        return campaign_open(&l->campaign, path, err);
    }
    l->lock_path = arena_printf(l->campaign.arena, "%s-lock", path);
    return file_exists(path) || err_set(err, "%s: there is no such file", path);
}

static void print(const char *text)
{
    fputs(text, stdout);
    fflush(stdout);
}

static void print_json(json_t *root)
{
    struct str text = {0};

    json_add(&text, root, JSON_INDENT(1));
    print(str_text(&text));
    str_finish(&text);
}

/* ---- status, results, watch ---- */

static bool view(struct looked *l, const struct options *o, struct str *out, struct err *err)
{
    const long holder = lock_holder(l->lock_path);

    if (o->verb == VERB_RESULTS)
        return l->is_campaign
                   ? results_campaign(&l->campaign, o->campaign.top ? o->campaign.top : UINT32_MAX,
                         o->json, out, err)
                   : results_run(l->path, (int64_t)o->run, o->campaign.top, o->json, out, err);
    if (o->verb == VERB_STATUS)
        return l->is_campaign
                   ? watch_campaign_status(&l->campaign, holder, o->json, out, err)
                   : watch_run_status(l->path, (int64_t)o->run, holder, o->json, out, err);
    return l->is_campaign ? watch_campaign(&l->campaign, holder, out, err)
                          : watch_run(l->path, (int64_t)o->run, holder, out, err);
}

static bool look_once(const struct options *o, bool *running, struct str *out, struct err *err)
{
    struct looked l;
    bool ok = look_open(&l, o->kernel_path, err);

    *running = ok && lock_holder(l.lock_path) != 0;
    ok = ok && view(&l, o, out, err);
    campaign_finish(&l.campaign);
    return ok;
}

/* Once a second, until what is watched has ended. */
static bool watch(const struct options *o, struct err *err)
{
    const struct timespec second = {1, 0};
    const bool live = isatty(STDOUT_FILENO) && !o->campaign.once;
    bool running, ok;

    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    do {
        struct str text = {0};

        ok = look_once(o, &running, &text, err);
        if (ok && live)
            print("\033[H\033[2J");
        if (ok)
            print(str_text(&text));
        str_finish(&text);
        if (ok && running && !o->campaign.once)
            nanosleep(&second, NULL);
    } while (ok && running && !o->campaign.once);
    return ok;
}

/* ---- stop ---- */

static bool stop(const struct options *o, struct err *err)
{
    enum { PATIENCE = 600 };
    const struct timespec step = {0, 100000000};
    struct looked l;
    bool ended = false;
    bool ok = look_open(&l, o->kernel_path, err);
    const long holder = ok ? lock_holder(l.lock_path) : 0;

    if (ok && holder == 0)
        ok = err_set(err, "%s: nothing is at work there", o->kernel_path);
    else if (ok && holder < 0)
        ok = err_set(err, "%s: it runs on another machine; stop it there", o->kernel_path);
    else if (ok && kill((pid_t)holder, SIGTERM) != 0)
        ok = err_errno(err, "asking process %ld to end", holder);
    for (int i = 0; ok && !ended && i < PATIENCE; i++) {
        ended = lock_holder(l.lock_path) != holder;
        if (!ended)
            nanosleep(&step, NULL);
    }
    if (ok && o->json)
        print_json(json_pack("{s:I, s:b}", "process", (json_int_t)holder, "ended", (int)ended));
    else if (ok)
        printf(ended ? "process %ld has ended; --resume goes on\n"
                     : "process %ld was asked to end, and is not done with its last variant yet\n",
            holder);
    campaign_finish(&l.campaign);
    return ok;
}

/* ---- show, diff ---- */

/* "best", "original", or a number. */
static bool node_number(struct store *store, const char *text, int64_t *number, struct err *err)
{
    struct store_digest digest;
    char *end;

    if (strcmp(text, "original") == 0) {
        *number = 0;
        return true;
    }
    if (strcmp(text, "best") == 0) {
        if (!store_digest(store, &digest, err))
            return false;
        *number = digest.best < 0 ? 0 : digest.best;
        return true;
    }
    *number = strtoll(text, &end, 10);
    return (end > text && !*end && *number >= 0) ||
           err_set(err, "%s: expected a node's number, best or original", text);
}

static bool load(struct store *store, const char *text, struct candidate *c, struct err *err)
{
    int64_t number;
    bool found;

    if (!node_number(store, text, &number, err) || !store_load_node(store, number, c, &found, err))
        return false;
    return found ||
           err_set(err, "there is no node %lld; `keet-opt results` lists them", (long long)number);
}

static void add_node(const struct candidate *c, struct str *out)
{
    str_addf(out, "node %lld", (long long)c->node);
    if (c->parent >= 0)
        str_addf(out, ", made of %lld by %s (%s)", (long long)c->parent,
            action_name(c->option.action), proposer_name(c->option.proposer));
    if (c->speedup > 0)
        str_addf(out, ", %.2fx %s", c->speedup, report_speedup_word(c->profile.time_from));
    str_add_char(out, '\n');
    if (c->option.what)
        str_addf(out, "%s\n", c->option.what);
    if (c->recalled_from >= 0)
        str_addf(out, "it compiled to the same as node %lld\n", (long long)c->recalled_from);
    report_candidate(out, c);
    for (unsigned i = 0; i < c->nr_calls; i++)
        str_addf(out, "asked %s to %s: %s\n", c->calls[i].model, c->calls[i].purpose,
            verdict_name(c->calls[i].verdict));
    str_addf(out, "\n%s", c->source ? c->source : "");
}

static bool show(struct store *store, const struct run_info *run, const struct options *o,
    struct arena *arena, struct str *out, struct err *err)
{
    struct candidate c = {.arena = arena};
    const struct task task = {.path = run->kernel_path};

    if (!load(store, o->paths[1], &c, err))
        return false;
    c.task = &task; /* for its name only */
    if (o->json)
        report_candidate_json(out, &c);
    else
        add_node(&c, out);
    return true;
}

static bool diff(struct store *store, const struct options *o, struct arena *arena, struct str *out,
    struct err *err)
{
    struct candidate a = {.arena = arena}, b = {.arena = arena};
    struct str text = {0};

    if (!load(store, o->paths[1], &a, err) || !load(store, o->paths[2], &b, err))
        return false;
    report_diff(&text, arena_printf(arena, "node %lld", (long long)a.node),
        a.source ? a.source : "", arena_printf(arena, "node %lld", (long long)b.node),
        b.source ? b.source : "");
    if (o->json) {
        json_t *root = json_pack("{s:I, s:I, s:s}", "a", (json_int_t)a.node, "b",
            (json_int_t)b.node, "diff", str_text(&text));

        json_add(out, root, JSON_INDENT(1));
    } else {
        str_add(out, str_text(&text));
    }
    str_finish(&text);
    return true;
}

static bool look_at_nodes(const struct options *o, struct str *out, struct err *err)
{
    const char *path = o->kernel_path;
    struct arena *arena = arena_create();
    struct store *store = NULL;
    struct run_info run;
    bool ok = file_exists(path) || err_set(err, "%s: there is no such file", path);

    ok = ok && !campaign_is_folder(path) ? true
         : ok ? err_set(err, "%s is a campaign; expected one of its databases, NAME.keet.db", path)
              : false;
    store = ok ? store_open(path, err) : NULL;
    ok = store && store_take_run(store, arena, (int64_t)o->run, &run, err);
    ok = ok && (o->verb == VERB_SHOW ? show(store, &run, o, arena, out, err)
                                     : diff(store, o, arena, out, err));
    store_close(store);
    arena_destroy(arena);
    return ok;
}

bool look_verb(const struct options *options, struct err *err)
{
    struct str text = {0};
    bool running, ok;

    if (options->verb == VERB_STOP)
        return stop(options, err);
    if (options->verb == VERB_WATCH)
        return watch(options, err);
    ok = options->verb == VERB_SHOW || options->verb == VERB_DIFF
             ? look_at_nodes(options, &text, err)
             : look_once(options, &running, &text, err);
    if (ok)
        print(str_text(&text));
    str_finish(&text);
    return ok;
}
