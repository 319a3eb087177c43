/* Owns the rows that go beyond single nodes: calls of models, the order of asking, lessons,
 * siblings. */
#include "store/db.h"

#include "base/clock.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* id: of the node's row; 0: the node has no row yet. */
static bool save_call(
    struct store *store, int64_t id, const struct candidate *c, unsigned number, struct err *err)
{
    const struct model_call *call = &c->calls[number];
    struct query q = query_start(store, SQL_ADD_CALL);
    char now[32];

    clock_utc(now);
    put_int(&q, store->run);
    put_int(&q, c->node);
    if (id != 0) {
        put_int(&q, id);
    } else {
        put_null(&q);
    }
    put_int(&q, number);
    put_text(&q, call->purpose);
    put_text(&q, call->model);
    put_text(&q, call->prompt);
    put_text(&q, call->reply);
    put_text(&q, call->error);
    put_text(&q, call->outcome);
    put_int(&q, (int64_t)call->tokens_in);
    put_int(&q, (int64_t)call->tokens_out);
    put_int(&q, (int64_t)call->tokens_cached);
    put_int(&q, call->tokens_estimated);
    put_int(&q, (int64_t)call->lost_in);
    put_int(&q, (int64_t)call->lost_out);
    put_int(&q, call->attempts);
    put_real(&q, call->cost);
    put_real(&q, call->latency_ms);
    put_real(&q, call->waited_ms);
    put_real(&q, call->queued_ms);
    put_text(&q, verdict_name(call->verdict));
    put_text(&q, call->verdict_text);
    put_text(&q, now);
    return query_run(&q, "storing a call", err);
}

bool calls_save(struct store *store, int64_t id, const struct candidate *c, struct err *err)
{
    for (unsigned i = 0; i < c->nr_calls; i++) {
        if (!save_call(store, id, c, i, err)) {
            return false;
        }
    }
    return true;
}

static bool read_call(
    struct query *q, struct arena *arena, struct model_call *call, struct err *err)
{
    call->purpose = get_text(q, arena);
    call->model = get_text(q, arena);
    call->prompt = get_text(q, arena);
    call->reply = get_text(q, arena);
    call->error = get_text(q, arena);
    call->outcome = get_text(q, arena);
    call->tokens_in = (uint64_t)get_int(q);
    call->tokens_out = (uint64_t)get_int(q);
    call->tokens_cached = (uint64_t)get_int(q);
    call->tokens_estimated = get_int(q) != 0;
    call->lost_in = (uint64_t)get_int(q);
    call->lost_out = (uint64_t)get_int(q);
    call->attempts = get_unsigned(q);
    call->cost = get_real(q);
    call->latency_ms = get_real(q);
    call->waited_ms = get_real(q);
    call->queued_ms = get_real(q);
    const char *verdict = get_text(q, arena);

    call->verdict_text = get_text(q, arena);
    return (verdict && verdict_parse(verdict, &call->verdict)) ||
           db_strange(q->store, "verdict", verdict, err);
}

/* Moves a heap array of rows into the arena. */
static void *keep(struct arena *arena, void *rows, size_t nr, size_t bytes_each)
{
    void *kept = nr > 0 ? arena_array(arena, nr, bytes_each) : NULL;

    if (nr > 0) {
        memcpy(kept, rows, nr * bytes_each);
    }
    free(rows);
    return kept;
}

bool store_save_call(
    struct store *store, const struct candidate *c, unsigned number, struct err *err)
{
    return save_call(store, 0, c, number, err);
}

bool store_load_calls(struct store *store, struct candidate *c, struct err *err)
{
    struct query q = query_start(store, SQL_GET_CALLS);
    struct model_call *calls = NULL;
    size_t cap = 0, nr = 0;
    bool row, ok;

    put_int(&q, store->run);
    put_int(&q, c->node);
    while ((ok = query_next(&q, &row, "reading calls", err)) && row) {
        calls = grow(calls, &cap, nr + 1, sizeof(*calls));
        if (!read_call(&q, c->arena, &calls[nr++], err)) {
            query_end(&q);
            ok = false;
            break;
        }
    }
    c->calls = keep(c->arena, calls, nr, sizeof(*calls));
    c->nr_calls = (unsigned)nr;
    return ok;
}

bool store_list_calls(struct store *store, struct arena *arena, struct store_call **calls,
    unsigned *nr_calls, struct err *err)
{
    struct store_call *rows = NULL;
    size_t cap = 0, nr = 0;
    bool row, ok;

    if (!db_has_run(store, err)) {
        return false;
    }
    struct query q = query_start(store, SQL_LIST_CALLS);

    put_int(&q, store->run);
    while ((ok = query_next(&q, &row, "reading calls", err)) && row) {
        rows = grow(rows, &cap, nr + 1, sizeof(*rows));
        rows[nr].node = get_int(&q);
        rows[nr].action = get_text(&q, arena);
        if (!read_call(&q, arena, &rows[nr++].call, err)) {
            query_end(&q);
            ok = false;
            break;
        }
    }
    *calls = keep(arena, rows, nr, sizeof(*rows));
    *nr_calls = (unsigned)nr;
    return ok;
}

static const char *const trial_stages[NR_TRIAL_STAGES] = {"written", "evaluated"};

bool store_note_trial(
    struct store *store, const struct candidate *c, enum trial_stage stage, struct err *err)
{
    struct query q = query_start(store, SQL_ADD_TRIAL);
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    put_int(&q, store->run);
    put_int(&q, c->node);
    put_int(&q, c->parent);
    put_text(&q, action_name(c->option.action));
    put_text(&q, proposer_name(c->option.proposer));
    put_text(&q, c->option.what);
    put_text(&q, trial_stages[stage]);
    put_int(&q, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
    return query_run(&q, "noting what is under way", err);
}

bool store_list_trials(struct store *store, struct arena *arena, struct store_trial **trials,
    unsigned *nr_trials, struct err *err)
{
    struct query q = query_start(store, SQL_LIST_TRIALS);
    struct store_trial *rows = NULL;
    size_t cap = 0, nr = 0;
    bool row, ok;

    put_int(&q, store->run);
    while ((ok = query_next(&q, &row, "reading what is under way", err)) && row) {
        rows = grow(rows, &cap, nr + 1, sizeof(*rows));
        struct store_trial *t = &rows[nr++];

        t->number = get_within(&q, 0, INT64_MAX);
        t->parent = get_int(&q);
        t->action = get_text(&q, arena);
        t->proposer = get_text(&q, arena);
        t->what = get_text(&q, arena);
        t->stage = get_text(&q, arena);
        t->since_ms = get_int(&q);
    }
    *trials = keep(arena, rows, nr, sizeof(*rows));
    *nr_trials = (unsigned)nr;
    return ok;
}

static const char *const pick_kinds[NR_PICK_KINDS] = {"any", "request", "fill", "follow"};

bool store_add_pick(
    struct store *store, int64_t number, const struct store_pick *pick, struct err *err)
{
    struct query q = query_start(store, SQL_ADD_PICK);

    put_int(&q, store->run);
    put_int(&q, number);
    put_int(&q, pick->nr_told);
    put_text(&q, pick_kinds[pick->kind]);
    if (pick->kind == PICK_FOLLOW) {
        put_int(&q, pick->parent);
    } else {
        put_null(&q);
    }
    return query_run(&q, "storing a pick", err);
}

static bool read_pick(
    struct query *q, struct arena *arena, struct store_pick *pick, struct err *err)
{
    *pick = (struct store_pick){.nr_told = get_within(q, 0, INT64_MAX)};
    const char *kind = get_text(q, arena);

    pick->parent = get_int(q);
    for (int k = 0; kind && k < NR_PICK_KINDS; k++) {
        if (strcmp(kind, pick_kinds[k]) == 0) {
            pick->kind = (enum pick_kind)k;
            return true;
        }
    }
    return db_strange(q->store, "kind of pick", kind, err);
}

/* More candidates than any version keeps under way at once. */
enum { MOST_UNDER_WAY = 1024 };

static bool load_told(
    struct store *store, struct arena *arena, struct store_order *order, struct err *err)
{
    struct query q = query_start(store, SQL_GET_TOLD);
    int64_t *told = NULL;
    size_t cap = 0, nr = 0;
    bool row, ok;

    put_int(&q, store->run);
    while ((ok = query_next(&q, &row, "reading the order of nodes", err)) && row) {
        told = grow(told, &cap, nr + 1, sizeof(*told));
        told[nr] = get_within(&q, 1, INT64_MAX);
        order->nr_asked = told[nr] > order->nr_asked ? told[nr] : order->nr_asked;
        nr++;
    }
    order->told = keep(arena, told, nr, sizeof(*told));
    order->nr_told = (int64_t)nr;
    return ok;
}

static bool load_revisions(
    struct store *store, struct arena *arena, struct store_order *order, struct err *err)
{
    struct query q = query_start(store, SQL_GET_REVISIONS);
    struct store_revision *list = NULL;
    size_t cap = 0, nr = 0;
    bool row, ok;

    put_int(&q, store->run);
    while ((ok = query_next(&q, &row, "reading revisions", err)) && row) {
        list = grow(list, &cap, nr + 1, sizeof(*list));
        list[nr].number = get_within(&q, 1, INT64_MAX);
        list[nr].nr_told = get_within(&q, 0, INT64_MAX);
        list[nr].nr_asked = get_within(&q, 0, INT64_MAX);
        list[nr].speedup = get_real(&q);
        if (!(list[nr++].speedup > 0)) /* only what was right is revised */
            db_odd(store, "a revision without a speedup");
    }
    order->revisions = keep(arena, list, nr, sizeof(*list));
    order->nr_revisions = nr;
    return ok;
}

bool store_load_order(
    struct store *store, struct arena *arena, struct store_order *order, struct err *err)
{
    struct {
        int64_t number;
        struct store_pick pick;
    } *picks = NULL;
    size_t cap = 0, nr = 0;
    bool row, ok;

    *order = (struct store_order){0};
    if (!db_has_run(store, err) || !load_told(store, arena, order, err) ||
        !load_revisions(store, arena, order, err)) {
        return false;
    }
    struct query q = query_start(store, SQL_GET_PICKS);

    put_int(&q, store->run);
    while ((ok = query_next(&q, &row, "reading picks", err)) && row) {
        picks = grow(picks, &cap, nr + 1, sizeof(*picks));
        picks[nr].number = get_within(&q, 0, INT64_MAX);
        order->nr_asked = picks[nr].number > order->nr_asked ? picks[nr].number : order->nr_asked;
        if (!read_pick(&q, arena, &picks[nr++].pick, err)) {
            query_end(&q);
            ok = false;
            break;
        }
    }
    /* A node that was asked is told, or is one of the few under way. */
    if (!ok || order->nr_asked > order->nr_told + MOST_UNDER_WAY) {
        free(picks);
        return ok && err_set(err,
                         "%s: it holds a node %" PRId64 " among %" PRId64
                         " nodes: the database is damaged",
                         store->path, order->nr_asked, order->nr_told);
    }
    order->asked = arena_array(arena, (size_t)order->nr_asked + 1, sizeof(*order->asked));
    for (int64_t n = 1; n <= order->nr_asked; n++) {
        /* in turn, unless a pick says otherwise */
        order->asked[n - 1] = (struct store_pick){.nr_told = n - 1};
    }
    for (size_t i = 0; i < nr; i++) {
        if (picks[i].number >= 1) {
            order->asked[picks[i].number - 1] = picks[i].pick;
        }
    }
    free(picks);
    return ok;
}

bool store_add_lesson(struct store *store, const struct lesson *lesson, bool own, struct err *err)
{
    struct query q = query_start(store, SQL_ADD_LESSON);
    char now[32];

    clock_utc(now);
    if (own) {
        put_int(&q, store->run);
    } else {
        put_null(&q);
    }
    put_text(&q, action_name(lesson->action));
    put_text(&q, lesson->device);
    put_text(&q, lesson->text ? lesson->text : "");
    put_text(&q, now);
    put_text(&q, proposer_name(lesson->proposer));
    put_text(&q, bound_name(lesson->bound));
    put_int(&q, lesson->features);
    put_text(&q, lesson->kernel);
    put_text(&q, verdict_name(lesson->verdict));
    put_real(&q, lesson->gain);
    return query_run(&q, "storing a lesson", err);
}

static bool read_lesson(
    struct query *q, struct arena *arena, struct lesson *lesson, struct err *err)
{
    const char *action = get_text(q, arena);

    lesson->device = get_text(q, arena);
    lesson->text = get_text(q, arena);
    const char *proposer = get_text(q, arena), *bound = get_text(q, arena);

    lesson->features = get_unsigned(q);
    lesson->kernel = get_text(q, arena);
    const char *verdict = get_text(q, arena);

    lesson->gain = get_real(q);
    return db_parse_action(q->store, action, &lesson->action, err) &&
           db_parse_proposer(q->store, proposer, &lesson->proposer, err) &&
           db_parse_bound(q->store, bound, &lesson->bound, err) &&
           ((verdict && verdict_parse(verdict, &lesson->verdict)) ||
               db_strange(q->store, "verdict", verdict, err));
}

bool store_list_lessons(struct store *store, struct arena *arena, bool own, struct lesson **lessons,
    unsigned *nr_lessons, struct err *err)
{
    struct query q = query_start(store, SQL_GET_LESSONS);
    struct lesson *rows = NULL;
    size_t cap = 0, nr = 0;
    bool row, ok;

    put_int(&q, own ? store->run : 0);
    put_int(&q, own ? store->run : 0);
    while ((ok = query_next(&q, &row, "reading lessons", err)) && row) {
        rows = grow(rows, &cap, nr + 1, sizeof(*rows));
        if (!read_lesson(&q, arena, &rows[nr++], err)) {
            query_end(&q);
            ok = false;
            break;
        }
    }
    *lessons = keep(arena, rows, nr, sizeof(*rows));
    *nr_lessons = (unsigned)nr;
    return ok;
}

bool store_add_experience(struct store *store, const struct experience *e, struct err *err)
{
    struct query q = query_start(store, SQL_ADD_EXPERIENCE);
    char now[32];

    clock_utc(now);
    put_text(&q, e->kernel);
    put_text(&q, e->device);
    put_text(&q, e->shape);
    put_real(&q, e->intensity);
    put_real(&q, e->speedup);
    put_real(&q, e->time_ns);
    put_text(&q, e->story);
    put_text(&q, e->source);
    put_text(&q, now);
    return query_run(&q, "storing an experience", err);
}

bool store_list_experiences(struct store *store, struct arena *arena,
    struct experience **experiences, unsigned *nr_experiences, struct err *err)
{
    struct query q = query_start(store, SQL_GET_EXPERIENCES);
    struct experience *rows = NULL;
    size_t cap = 0, nr = 0;
    bool row, ok;

    while ((ok = query_next(&q, &row, "reading experiences", err)) && row) {
        struct experience *e;

        rows = grow(rows, &cap, nr + 1, sizeof(*rows));
        e = &rows[nr++];
        e->kernel = get_text(&q, arena);
        e->device = get_text(&q, arena);
        e->shape = get_text(&q, arena);
        e->intensity = get_real(&q);
        e->speedup = get_real(&q);
        e->time_ns = get_real(&q);
        e->story = get_text(&q, arena);
        e->source = get_text(&q, arena);
    }
    *experiences = keep(arena, rows, nr, sizeof(*rows));
    *nr_experiences = (unsigned)nr;
    return ok;
}

static bool read_child(
    struct query *q, struct arena *arena, struct candidate *child, struct err *err)
{
    *child = (struct candidate){.arena = arena, .node = get_int(q), .recalled_from = -1};
    const char *action = get_text(q, arena), *proposer = get_text(q, arena);

    child->option.variant = get_unsigned(q);
    child->option.what = get_text(q, arena);
    const char *verdict = get_text(q, arena);

    child->verdict_text = get_text(q, arena);
    child->speedup = get_real(q);
    return db_parse_action(q->store, action, &child->option.action, err) &&
           db_parse_proposer(q->store, proposer, &child->option.proposer, err) &&
           ((verdict && verdict_parse(verdict, &child->verdict)) ||
               db_strange(q->store, "verdict", verdict, err));
}

bool store_list_children(struct store *store, struct arena *arena, int64_t node,
    struct candidate **children, unsigned *nr_children, struct err *err)
{
    struct query q = query_start(store, SQL_GET_TRIED);
    struct candidate *rows = NULL;
    size_t cap = 0, nr = 0;
    bool row, ok;

    put_int(&q, store->run);
    put_int(&q, node);
    while ((ok = query_next(&q, &row, "reading siblings", err)) && row) {
        rows = grow(rows, &cap, nr + 1, sizeof(*rows));
        if (!read_child(&q, arena, &rows[nr++], err)) {
            query_end(&q);
            ok = false;
            break;
        }
    }
    *children = keep(arena, rows, nr, sizeof(*rows));
    *nr_children = (unsigned)nr;
    return ok;
}
