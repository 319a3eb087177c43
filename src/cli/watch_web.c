/* Owns what the live page is made of: the report, anew for each request, and events from a look at
 * the database a few times a second. */
#include "cli/watch_web.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "campaign/overview.h"
#include "cli/commands.h"
#include "cli/look.h"
#include "report/escape.h"
#include "report/page.h"
#include "web/web.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A look takes this part of the time at most, and comes no sooner than after this time. */
static const double LOOK_SHARE = 0.1, LEAST_WAIT_NS = 2e8;

/* Several nodes may be under way at once: one with a lower number may come after others. */
enum { LATE = 64 };

struct shown {
    const struct options *options;
    bool is_campaign;
};

/* One listener. */
struct listener {
    const struct shown *shown;
    int64_t run, newest, nr_nodes; /* of a run: its number, the newest node that was told */
    int64_t best, nr_right;        /* as were told */
    uint64_t nr_ok;                /* of nr_nodes */
    struct hash state;             /* of a campaign: of the page that was told */
    struct hash trials;            /* of what was told to be under way */
    int running;                   /* as was told; -1: nothing was */
    uint64_t next_ns;              /* when it is looked again */
};

/* ---- contents ---- */

static bool content_of_run(
    const struct shown *shown, const char *name, struct str *out, struct err *err)
{
    struct arena *arena = arena_create();
    struct store *store = look_database(shown->options->kernel_path, err);
    struct page page;
    bool ok = store && page_load(&page, arena, store, shown->options->kernel_path,
                           (int64_t)shown->options->run, err);

    page.live = true;
    if (ok && strcmp(name, "above") == 0)
        page_above(&page, out);
    else if (ok && strcmp(name, "data") == 0)
        ok = page_data(&page, out, err);
    else if (ok)
        ok = page_html(&page, out, err);
    store_close(store);
    arena_destroy(arena);
    return ok;
}

static bool content_of_campaign(const struct shown *shown, struct str *out, struct err *err)
{
    struct campaign c;
    bool ok;

    campaign_init(&c);
    ok = campaign_open(&c, shown->options->kernel_path, err) && overview_html(&c, true, out, err);
    campaign_finish(&c);
    return ok;
}

static bool content(
    void *owner, const char *name, const char **type, struct str *out, bool *found, struct err *err)
{
    const struct shown *shown = owner;
    const bool is_data = strcmp(name, "data") == 0 && !shown->is_campaign;

    *found = !*name || is_data || strcmp(name, "above") == 0;
    *type = is_data ? "application/json" : "text/html; charset=utf-8";
    return *found && (shown->is_campaign ? content_of_campaign(shown, out, err)
                                         : content_of_run(shown, name, out, err));
}

/* ---- events ---- */

static void *begin_listening(void *owner, int64_t from, struct err *err)
{
    struct listener *l = xcalloc(1, sizeof(*l));

    (void)err;
    *l = (struct listener){.shown = owner, .newest = from, .nr_nodes = -1, .running = -1};
    return l;
}

static void end_listening(void *listener)
{
    free(listener);
}

static void add_node(struct str *out, const struct store_speed *s)
{
    str_addf(out, "{\"n\":%lld,\"v\":", (long long)s->number);
    escape_json(out, s->verdict);
    str_add(out, ",\"x\":");
    escape_number(out, s->speedup > 0 ? s->speedup : 0);
    str_add(out, ",\"a\":");
    escape_json(out, s->number > 0 ? s->action : "original");
    str_add(out, ",\"what\":");
    escape_json(out, s->what);
    str_add(out, ",\"why\":");
    escape_json(out, s->verdict_text);
    str_add_char(out, '}');
}

/* The nodes that came; what is in the page already is passed over there. A node that was right and
 * is no longer (run/lead.h) has the page drawn anew. */
static bool tell_nodes(struct listener *l, const struct looked_run *run, struct str *out)
{
    struct store_speed *speeds;
    struct str data = {0};
    int64_t newest = l->newest, nr_right = 0, nr_right_known = 0;
    unsigned nr, told = 0;
    struct err err;

    if (!store_list_speeds(run->store, run->arena, &speeds, &nr, &err))
        return false;
    for (unsigned i = 0; i < nr; i++) {
        nr_right += speeds[i].speedup > 0;
        nr_right_known += speeds[i].speedup > 0 && speeds[i].number <= l->newest;
        if (speeds[i].number <= l->newest - LATE)
            continue;
        str_add_char(&data, told++ ? ',' : '[');
        add_node(&data, &speeds[i]);
        newest = speeds[i].number > newest ? speeds[i].number : newest;
    }
    if (nr_right_known < l->nr_right) {
        web_event(out, "another", "-");
    } else if (told > 0) {
        str_add_char(&data, ']');
        web_event(out, "nodes", str_text(&data));
    }
    l->newest = newest;
    l->nr_right = nr_right;
    str_finish(&data);
    return true;
}

/* What is being tried, each with the time since when in milliseconds, which grows in the page. */
static void tell_trials(
    struct listener *l, const struct looked_run *run, bool running, struct str *out)
{
    struct store_trial *trials = NULL;
    struct str data = {0}, mark = {0};
    struct hash state;
    struct timespec now;
    unsigned nr = 0;
    struct err err;

    if (running && !store_list_trials(run->store, run->arena, &trials, &nr, &err))
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    str_add_char(&data, '[');
    for (unsigned i = 0; i < nr; i++) {
        const struct store_trial *t = &trials[i];
        const int64_t ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - t->since_ms;

        str_addf(&mark, "%lld %s %lld\n", (long long)t->number, t->stage, (long long)t->since_ms);
        str_addf(&data, "%s{\"n\":%lld,\"parent\":%lld,\"ms\":%lld,\"stage\":", i ? "," : "",
            (long long)t->number, (long long)t->parent, (long long)(ms > 0 ? ms : 0));
        escape_json(&data, t->stage);
        str_add(&data, ",\"a\":");
        escape_json(&data, t->action);
        str_add(&data, ",\"what\":");
        escape_json(&data, t->what);
        str_add_char(&data, '}');
    }
    str_add_char(&data, ']');
    state = hash_bytes(str_text(&mark), mark.len, 0);
    if (state.low != l->trials.low || state.high != l->trials.high)
        web_event(out, "trying", str_text(&data));
    l->trials = state;
    str_finish(&data);
    str_finish(&mark);
}

/* A database that cannot be read just now is looked at again. */
static void news_of_run(struct listener *l, bool running, struct str *out)
{
    const struct options *o = l->shown->options;
    struct store_digest digest;
    struct looked_run run;
    struct err err;

    if (look_open_run(&run, o->kernel_path, o->run, &err) &&
        store_digest(run.store, &digest, &err)) {
        if (l->run != 0 && l->run != run.run.id)
            web_event(out, "another", "-");
        else if ((digest.nr_nodes != l->nr_nodes || digest.best != l->best ||
                     digest.verdicts[VERDICT_OK] != l->nr_ok) &&
                 tell_nodes(l, &run, out)) {
            l->nr_nodes = digest.nr_nodes;
            l->best = digest.best;
            l->nr_ok = digest.verdicts[VERDICT_OK];
        }
        l->run = run.run.id;
        tell_trials(l, &run, running, out);
    }
    look_close_run(&run);
}

static void news_of_campaign(struct listener *l, struct str *out)
{
    struct str page = {0};
    struct hash state;
    struct err err;

    if (content_of_campaign(l->shown, &page, &err)) {
        state = hash_bytes(str_text(&page), page.len, 0);
        if (state.low != l->state.low || state.high != l->state.high)
            web_event(out, "changed", "-");
        l->state = state;
    }
    str_finish(&page);
}

static void news(void *listener, struct str *out)
{
    struct listener *l = listener;
    struct looked looked;
    const uint64_t began_ns = clock_ns();
    struct err err;
    int running = 0;

    if (began_ns < l->next_ns)
        return;
    if (look_open(&looked, l->shown->options->kernel_path, l->shown->options->run, &err))
        running = look_holder(&looked) != 0;
    look_close(&looked);
    if (l->shown->is_campaign)
        news_of_campaign(l, out);
    else
        news_of_run(l, running, out);
    if (running != l->running) /* after the last nodes */
        web_event(out, running ? "running" : "ended", "-");
    l->running = running;
    l->next_ns =
        clock_ns() + (uint64_t)fmax(LEAST_WAIT_NS, (double)(clock_ns() - began_ns) / LOOK_SHARE);
}

bool watch_web(const struct options *o, struct err *err)
{
    struct shown shown = {o, campaign_is_folder(o->kernel_path)};
    const struct web_site site = {&shown, content, begin_listening, news, end_listening};
    struct looked looked;
    struct web *web;
    sigset_t ends;
    char *address;
    int number;
    const bool ok = look_open(&looked, o->kernel_path, o->run, err);

    look_close(&looked);
    sigemptyset(&ends);
    if (!command_ignores(SIGINT))
        sigaddset(&ends, SIGINT);
    if (!command_ignores(SIGTERM))
        sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL); /* before there are threads */
    web = ok ? web_open(&site, o->port, &address, err) : NULL;
    if (!web)
        return false;
    look_print(address);
    look_print("\n");
    sigwait(&ends, &number);
    web_close(web);
    free(address);
    return true;
}
