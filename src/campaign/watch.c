/* Owns the view of a running search or campaign from outside. */
#include "campaign/watch.h"

#include "campaign/results.h"
#include "campaign/rounds.h"
#include "campaign/table.h"
#include "report/escape.h"
#include "report/report.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { TREE_LINES = 24, NEWEST = 8, WHAT = 60 };

/* ---- a run ---- */

struct seen {
    struct arena *arena;
    struct run_info run;
    struct store_digest digest;
    struct store_speed *nodes; /* by rising number */
    unsigned nr_nodes;
    struct store_trial *trials; /* of a process that is at work */
    unsigned nr_trials;
};

/* A process that holds the database is at work on the newest run. */
static bool look(struct seen *s, const char *db_path, int64_t run, long *holder, struct err *err)
{
    struct store *store = store_open(db_path, err);
    struct run_info newest = {0};
    bool ok = store && store_take_run(store, s->arena, 0, &newest, err) &&
              store_take_run(store, s->arena, run, &s->run, err) &&
              store_digest(store, &s->digest, err) &&
              store_list_speeds(store, s->arena, &s->nodes, &s->nr_nodes, err);

    if (ok && s->run.id != newest.id)
        *holder = 0;
    ok = ok && (*holder == 0 || store_list_trials(store, s->arena, &s->trials, &s->nr_trials, err));
    store_close(store);
    return ok;
}

static double seconds_of(const struct store_trial *t)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return fmax(0, (double)now.tv_sec + (double)now.tv_nsec / 1e9 - (double)t->since_ms / 1e3);
}

/* The database may be a stranger's: only printable characters are shown. */
static void add_printable(struct str *out, const char *text)
{
    for (unsigned nr = 0; text && *text && nr < WHAT; text++, nr++)
        str_add_char(out, (unsigned char)*text < ' ' || *text == 127 ? ' ' : *text);
}

static void add_trials(const struct seen *s, struct str *out)
{
    for (unsigned i = 0; i < s->nr_trials; i++) {
        const struct store_trial *t = &s->trials[i];

        str_addf(out, "trying: node %lld from %lld, ", (long long)t->number, (long long)t->parent);
        add_printable(out, t->action);
        str_add_char(out, ' ');
        add_printable(out, t->what);
        str_addf(out, "%s for %.0f s\n",
            t->stage && strcmp(t->stage, "written") == 0 ? ", being written" : "", seconds_of(t));
    }
}

static void add_state(const struct run_info *run, long holder, struct str *out)
{
    if (holder > 0)
        str_addf(out, "running (process %ld)", holder);
    else if (holder < 0)
        str_add(out, "running on another machine");
    else if (run->done)
        str_addf(out, "stopped by: %s", run->why_stopped ? run->why_stopped : "?");
    else
        str_add(out, "cut off; --resume goes on");
}

static void add_counts(const struct store_digest *d, struct str *out)
{
    report_counts(out, (uint64_t)d->nr_evaluated, (uint64_t)d->nr_fill, d->verdicts, d->recalled);
    if (d->nr_calls) {
        str_add(out, "; ");
        str_add_count(out, d->nr_calls, "call");
        str_addf(out, " to models, %llu tokens", (unsigned long long)d->tokens);
    }
    str_add_char(out, '\n');
}

static void add_run_text(const struct seen *s, long holder, struct str *out)
{
    const struct store_digest *d = &s->digest;

    str_addf(out, "%s on %s, policy %s, seed %llu, budget %s: ", s->run.kernel_path, s->run.device,
        s->run.policy, (unsigned long long)s->run.seed, s->run.budget);
    add_state(&s->run, holder, out);
    str_add_char(out, '\n');
    add_counts(d, out);
    add_trials(s, out);
    if (d->best < 0) {
        str_add(out, "the original is not measured yet\n");
        return;
    }
    str_addf(out, "best: node %lld, %.2fx %s, ", (long long)d->best, d->speedup,
        report_speedup_word(d->from));
    report_time(out, d->best_ns);
    str_addf(out, " (%s)\n", provenance_name(d->from));
}

static void add_number(struct str *out, const char *name, double value)
{
    str_addf(out, ", \"%s\": ", name);
    escape_number(out, value);
}

static void add_text(struct str *out, const char *name, const char *text)
{
    str_addf(out, ", \"%s\": ", name);
    escape_json(out, text);
}

static void add_holder(struct str *out, long holder)
{
    str_addf(out, "{\"running\": %s", holder ? "true" : "false");
    if (holder > 0)
        str_addf(out, ", \"process\": %ld", holder);
}

static void add_run_json(const struct seen *s, long holder, struct str *out)
{
    const struct store_digest *d = &s->digest;

    add_holder(out, holder);
    str_addf(out, ", \"run\": %lld", (long long)s->run.id);
    add_text(out, "kernel", s->run.kernel_path);
    add_text(out, "device", s->run.device);
    add_text(out, "policy", s->run.policy);
    add_text(out, "budget", s->run.budget);
    add_text(out, "started", s->run.started);
    add_text(out, "stopped_by", holder || !s->run.done ? NULL : s->run.why_stopped);
    str_addf(out,
        ", \"seed\": %llu, \"evaluated\": %lld, \"fill\": %lld, \"nodes\": %lld, \"best\": %lld",
        (unsigned long long)s->run.seed, (long long)d->nr_evaluated, (long long)d->nr_fill,
        (long long)d->nr_nodes, (long long)d->best);
    add_number(out, "speedup", d->best < 0 ? (double)NAN : d->speedup);
    add_number(out, "time_ns", d->best < 0 ? (double)NAN : d->best_ns);
    add_text(out, "from", d->best < 0 ? NULL : provenance_name(d->from));
    str_addf(out, ", \"calls\": %llu, \"tokens\": %llu", (unsigned long long)d->nr_calls,
        (unsigned long long)d->tokens);
    add_number(out, "cost", d->cost);
    str_add(out, ", \"trying\": [");
    for (unsigned i = 0; i < s->nr_trials; i++) {
        const struct store_trial *t = &s->trials[i];

        str_addf(out, "%s{\"node\": %lld, \"parent\": %lld", i ? ", " : "", (long long)t->number,
            (long long)t->parent);
        add_text(out, "move", t->action);
        add_text(out, "what", t->what);
        add_text(out, "stage", t->stage);
        add_number(out, "seconds", seconds_of(t));
        str_add_char(out, '}');
    }
    str_add(out, "], \"verdicts\": {");
    for (int v = 0, nr = 0; v < NR_VERDICTS; v++)
        if (d->verdicts[v])
            str_addf(out, "%s\"%s\": %llu", nr++ ? ", " : "", verdict_name((enum verdict)v),
                (unsigned long long)d->verdicts[v]);
    str_add(out, "}}\n");
}

bool watch_run_status(
    const char *db_path, int64_t run, long holder, bool json, struct str *out, struct err *err)
{
    struct seen s = {.arena = arena_create()};
    const bool ok = look(&s, db_path, run, &holder, err);

    if (ok && json)
        add_run_json(&s, holder, out);
    else if (ok)
        add_run_text(&s, holder, out);
    arena_destroy(s.arena);
    return ok;
}

/* One line: number, speedup or verdict, move. A model's text may hold anything, so only printable
 * characters are shown. */
static void add_node(
    const struct seen *s, const struct store_speed *n, unsigned depth, struct str *out)
{
    const size_t start = out->len;

    str_addf(out, "%*s%lld ", (int)(2 * depth + 2), "", (long long)n->number);
    if (strcmp(n->verdict, "ok") == 0)
        str_addf(out, "%.2fx", n->speedup);
    else
        str_add(out, n->verdict);
    str_addf(out, " %s %.*s%s", n->parent < 0 ? "original" : n->action, WHAT,
        n->what ? n->what : "", n->number == s->digest.best ? "  <- best" : "");
    for (size_t i = start; i < out->len; i++)
        if ((unsigned char)out->text[i] < ' ' || out->text[i] == 127)
            out->text[i] = ' ';
    str_add_char(out, '\n');
}

static unsigned index_of(const struct seen *s, int64_t number)
{
    for (unsigned i = 0; i < s->nr_nodes; i++)
        if (s->nodes[i].number == number)
            return i;
    return s->nr_nodes;
}

/* Children follow their parent, in the order of their numbers. */
static void add_tree(const struct seen *s, struct str *out)
{
    unsigned *first = arena_array(s->arena, s->nr_nodes + 1, sizeof(*first));
    unsigned *next = arena_array(s->arena, s->nr_nodes + 1, sizeof(*next));
    unsigned *parent = arena_array(s->arena, s->nr_nodes + 1, sizeof(*parent));
    unsigned nr = 0, depth = 0, at = 0;

    for (unsigned i = 0; i <= s->nr_nodes; i++)
        first[i] = next[i] = s->nr_nodes;
    for (unsigned i = s->nr_nodes; i-- > 1;) {
        parent[i] = index_of(s, s->nodes[i].parent);
        next[i] = first[parent[i]];
        first[parent[i]] = i;
    }
    parent[0] = s->nr_nodes;
    while (at < s->nr_nodes && nr < TREE_LINES) {
        add_node(s, &s->nodes[at], depth, out);
        nr++;
        if (first[at] < s->nr_nodes) {
            at = first[at];
            depth++;
            continue;
        }
        while (at < s->nr_nodes && next[at] == s->nr_nodes) {
            at = parent[at];
            depth -= depth > 0;
        }
        if (at < s->nr_nodes)
            at = next[at];
    }
    if (nr < s->nr_nodes)
        str_addf(out, "  ... and %u more\n", s->nr_nodes - nr);
}

static void add_way(const struct seen *s, struct str *out)
{
    unsigned way[64], nr = 0;

    for (unsigned at = index_of(s, s->digest.best); at < s->nr_nodes && nr < 64;
         at = index_of(s, s->nodes[at].parent))
        way[nr++] = at;
    while (nr-- > 0)
        add_node(s, &s->nodes[way[nr]], 0, out);
}

bool watch_run(const char *db_path, int64_t run, long holder, struct str *out, struct err *err)
{
    struct seen s = {.arena = arena_create()};
    const bool ok = look(&s, db_path, run, &holder, err);

    if (ok) {
        add_run_text(&s, holder, out);
        str_add(out, "\nthe way to the best\n");
        add_way(&s, out);
        str_add(out, "\nthe tree\n");
        add_tree(&s, out);
        str_add(out, "\nthe newest\n");
        for (unsigned i = s.nr_nodes > NEWEST ? s.nr_nodes - NEWEST : 0; i < s.nr_nodes; i++)
            add_node(&s, &s.nodes[i], 0, out);
    }
    arena_destroy(s.arena);
    return ok;
}

/* ---- a campaign ---- */

bool watch_campaign_status(
    const struct campaign *c, long holder, bool json, struct str *out, struct err *err)
{
    struct arena *arena = arena_create();
    const struct round round = rounds_next(c, arena);
    bool ok;

    if (json) {
        add_holder(out, holder);
        str_addf(out, ", \"round\": %u, \"results\": ", round.number);
        ok = results_campaign(c, 0, true, out, err);
        str_add(out, "}\n");
    } else {
        ok = watch_campaign(c, holder, out, err);
    }
    arena_destroy(arena);
    return ok;
}

bool watch_campaign(const struct campaign *c, long holder, struct str *out, struct err *err)
{
    struct arena *arena = arena_create();
    const struct round round = rounds_next(c, arena);

    str_addf(out, "%s: ", c->folder);
    if (holder != 0)
        str_addf(out, "running (process %ld), round %u", holder, round.number);
    else if (c->ended)
        str_addf(out, "ended: %s", c->ended);
    else
        str_addf(out, "cut off in round %u; --resume goes on", round.number);
    str_add(out, "\n\n");
    arena_destroy(arena);
    return results_campaign(c, 0, false, out, err);
}
