/* Owns what surrounds a request to a model: the versions that it is shown beside the parent. */
#include "run/session_parts.h"

#include <math.h>
#include <stdlib.h>

enum { SIBLINGS_LOADED = 6, FAILURES_SHOWN = 4 };

bool in_flight_load_node(struct session *s, struct arena *arena, int64_t node,
    const struct candidate **c, struct err *err)
{
    struct candidate *loaded = arena_alloc(arena, sizeof(*loaded));
    bool found = false;

    session_candidate(s, arena, loaded, node, -1, (struct option){.action = ACTION_NONE});
    if (node >= 0 && !store_load_node(s->store, node, loaded, &found, err))
        return false;
    *c = found ? loaded : NULL;
    return true;
}

/* The newest siblings come with their sources and counters, the others without. */
static bool add_siblings(struct session *s, const struct candidate *parent, struct arena *arena,
    struct propose_context *context, struct err *err)
{
    const struct candidate **siblings;
    struct candidate *children;
    unsigned nr;

    if (!store_list_children(s->store, arena, parent->node, &children, &nr, err))
        return false;
    siblings = arena_array(arena, nr + 1, sizeof(const void *));
    for (unsigned i = 0; i < nr; i++) {
        siblings[i] = &children[i];
        if (i + SIBLINGS_LOADED >= nr &&
            !in_flight_load_node(s, arena, children[i].node, &siblings[i], err))
            return false;
    }
    context->siblings = siblings;
    context->nr_siblings = nr;
    return true;
}

static int by_speed(const void *a, const void *b)
{
    const struct propose_headline *x = a, *y = b;

    if (x->speedup > y->speedup || x->speedup < y->speedup)
        return x->speedup > y->speedup ? -1 : 1;
    return x->node > y->node ? -1 : x->node < y->node;
}

/* All versions that are right, then the newest failures. */
static bool add_headlines(
    struct session *s, struct arena *arena, struct propose_context *context, struct err *err)
{
    struct propose_headline *headlines;
    struct store_speed *speeds;
    unsigned nr, nr_failures = 0, nr_kept = 0;

    if (!store_list_speeds(s->store, arena, &speeds, &nr, err))
        return false;
    headlines = arena_array(arena, nr + 1, sizeof(*headlines));
    for (unsigned i = nr; i-- > 0;) {
        const bool ok = speeds[i].speedup > 0;

        if (!ok && nr_failures++ >= FAILURES_SHOWN)
            continue;
        headlines[nr_kept++] = (struct propose_headline){.node = speeds[i].number,
            .parent = speeds[i].parent,
            .action = speeds[i].action,
            .what = speeds[i].what,
            .verdict = speeds[i].verdict,
            .verdict_text = speeds[i].verdict_text,
            .speedup = ok ? speeds[i].speedup : 0,
            .time_ns = isnan(speeds[i].time_ns) ? 0 : speeds[i].time_ns};
    }
    qsort(headlines, nr_kept, sizeof(*headlines), by_speed);
    context->headlines = headlines;
    context->nr_headlines = nr_kept;
    return true;
}

bool in_flight_surround(struct session *s, const struct candidate *c,
    const struct candidate *parent, struct arena *arena, struct propose_context *context,
    struct err *err)
{
    const struct lesson **lessons = arena_array(arena, LESSONS_SHOWN, sizeof(const void *));
    int64_t partner = -1;

    const struct experience **experiences =
        arena_array(arena, EXPERIENCES_SHOWN, sizeof(const void *));

    *context = (struct propose_context){.parent = parent,
        .experiences = experiences,
        .nr_experiences = lessons_experiences(s->memory, s->task, arena, experiences),
        .lessons = lessons,
        .nr_lessons = lessons_recall(s->memory, parent, lessons),
        .evidence = s->feedback == FEEDBACK_FINDINGS};
    if (c->option.action == ACTION_COMBINE)
        partner = search_partner(s->search, parent->node);
    else if (c->option.action == ACTION_REPAIR)
        partner = parent->parent;
    if (session_is_independent(s))
        return true;
    return add_siblings(s, parent, arena, context, err) && add_headlines(s, arena, context, err) &&
           (s->options->no_best ||
               in_flight_load_node(s, arena, s->state.best, &context->best, err)) &&
           in_flight_load_node(s, arena, partner, &context->partner, err);
}
