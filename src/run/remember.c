/* Owns what is kept of a whole run for later runs: the experience, in an expert's words. */
#include "base/file.h"
#include "base/str.h"
#include "run/session_parts.h"

#include <math.h>
#include <string.h>

/* log2 of 10%: what ended below is not worth telling; of 2%: a move below did nothing. */
static const double LEAST_TOLD = 0.1375, LEAST_MOVE = 0.0286;

enum { MOST_SOURCE_BYTES = 8192, MOST_MOVES = 12 };

static void add_sizes(struct str *out, const struct task *task)
{
    for (size_t i = 0; i < task->timed.sizes.nr; i++)
        str_addf(out, "%s%s = %lld", i ? ", " : "", task->timed.sizes.bindings[i].name,
            (long long)task->timed.sizes.bindings[i].value);
}

/* The moves from the original to a node that made it faster, with the speedup after each, and those
 * that led until they turned out wrong. */
static bool add_moves(
    struct session *s, struct arena *arena, int64_t node, struct str *out, struct err *err)
{
    const char *moves[MOST_MOVES];
    unsigned nr = 0;

    for (int64_t at = node; at > 0;) {
        const struct candidate *c, *parent;

        if (!in_flight_load_node(s, arena, at, &c, err) ||
            !in_flight_load_node(s, arena, c ? c->parent : -1, &parent, err))
            return false;
        if (!c || !parent)
            break;
        const char *what = c->option.what ? c->option.what : action_name(c->option.action);

        if (nr < MOST_MOVES && c->verdict != VERDICT_OK)
            moves[nr++] = arena_printf(arena, "%s (%s by itself)", what, verdict_name(c->verdict));
        else if (nr < MOST_MOVES &&
                 (parent->verdict != VERDICT_OK || session_gain(parent, c) >= LEAST_MOVE))
            moves[nr++] = arena_printf(arena, "%s (%.3gx)", what, c->speedup);
        at = c->parent;
    }
    for (unsigned i = nr; i-- > 0;)
        str_addf(out, "%s%s", moves[i], i ? "; " : "");
    return true;
}

static bool add_story(struct session *s, struct arena *arena, const struct candidate *best,
    struct str *out, struct err *err)
{
    const double floor_ns = s->root.explanation.roofline_ns;
    const int64_t other = search_partner(s->search, s->state.best);
    const struct candidate *partner;

    str_add(out, "At ");
    add_sizes(out, s->task);
    str_addf(out, " it ended at %.3g times the original's speed, %.4g us (%s)", best->speedup,
        best->profile.time_ns / 1e3, provenance_name(best->profile.time_from));
    if (floor_ns > 0)
        str_addf(out, ", %.2g times the floor", best->profile.time_ns / floor_ns);
    str_add(out, ". The way: ");
    if (!add_moves(s, arena, best->node, out, err) ||
        !in_flight_load_node(s, arena, other, &partner, err))
        return false;
    str_add(out, ".");
    if (partner) {
        str_addf(out, " Another way ended at %.3gx: ", partner->speedup);
        if (!add_moves(s, arena, other, out, err))
            return false;
        str_add(out, ".");
    }
    return true;
}

bool session_remember(struct session *s, struct err *err)
{
    struct arena *arena = s->in_flight.trials[0].arena;
    const struct candidate *best;
    struct experience experience;
    struct str story = {0};
    bool ok;

    if (!s->memory || log2(s->state.best_speedup) < LEAST_TOLD)
        return true;
    arena_reset(arena);
    if (!in_flight_load_node(s, arena, s->state.best, &best, err))
        return false;
    ok = !best || add_story(s, arena, best, &story, err);
    if (ok && best) {
        experience = (struct experience){.kernel = file_name(s->task->path),
            .device = s->run.device,
            .shape = experience_shape(arena, s->task),
            .intensity = experience_intensity(s->task),
            .speedup = best->speedup,
            .time_ns = best->profile.time_ns,
            .story = str_text(&story),
            .source = best->source_bytes <= MOST_SOURCE_BYTES
                          ? arena_strndup(arena, best->source, best->source_bytes)
                          : ""};
        ok = lessons_conclude(s->memory, &experience, err);
    }
    str_finish(&story);
    return ok;
}
