/* Owns the comparison of the lead at the timed sizes, and what follows where the lead fails. */
#include "run/lead.h"

#include "base/proc.h"
#include "run/session_parts.h"

#include <math.h>
#include <string.h>

void lead_taken(struct session *s, const struct candidate *c)
{
    s->state.best_speedup = c->speedup;
    s->state.best = c->node;
    s->lead.settled = c->check.timed;
    s->lead.since = s->state.nr_nodes;
}

bool lead_is_due(const struct session *s)
{
    return !s->lead.settled && s->state.nr_nodes >= s->lead.since + LEAD_STANDS;
}

bool lead_compare_at_once(struct session *s, struct candidate *c, struct err *err)
{
    return c->option.proposer != PROPOSER_MODEL || c->verdict != VERDICT_OK || c->recalled ||
           c->check.timed || c->speedup <= s->state.best_speedup ||
           evaluator_confirm(s->evaluator, c, err);
}

/* ---- another outcome ---- */

/* Tallies and search learn of it. */
static void retell(struct session *s, const struct candidate *c)
{
    const bool ok = c->verdict == VERDICT_OK && c->speedup > 0;

    s->state.verdicts[VERDICT_OK]--;
    s->state.verdicts[c->verdict]++;
    s->state.recalled[VERDICT_OK] -= c->recalled;
    s->state.recalled[c->verdict] += c->recalled;
    s->state.nr_ok -= !ok;
    s->state.nr_fallen += !ok;
    search_revise(s->search, c->node, ok, ok ? log2(c->speedup) : 0);
}

void lead_before(const struct store_order *order, struct candidate *c)
{
    for (size_t i = 0; i < order->nr_revisions; i++)
        if (order->revisions[i].number == c->node) {
            c->verdict = VERDICT_OK;
            c->speedup = order->revisions[i].speedup;
        }
}

bool lead_retell(struct session *s, const struct store_revision *revision, struct err *err)
{
    struct candidate c;
    bool found;

    session_candidate(s, s->arena, &c, 0, -1, (struct option){.action = ACTION_NONE});
    if (!store_load_told(s->store, revision->number, &c, &found, err))
        return false;
    if (found)
        retell(s, &c);
    return true;
}

bool lead_find(struct session *s, struct err *err)
{
    struct arena *arena = arena_create();
    struct store_speed *nodes, *fastest = NULL;
    struct profile none = {0};
    unsigned nr;
    const bool ok = store_list_speeds(s->store, arena, &nodes, &nr, err);

    for (unsigned i = 0; ok && i < nr; i++) {
        const bool right = nodes[i].verdict && strcmp(nodes[i].verdict, "ok") == 0;

        if (right && nodes[i].speedup > (fastest ? fastest->speedup : 1))
            fastest = &nodes[i];
    }
    if (ok) {
        s->state.best = fastest ? fastest->number : 0;
        s->state.best_speedup = fastest ? fastest->speedup : 1;
        s->lead = (struct lead){.since = s->state.nr_nodes};
        s->standing = objective_start(s->options->objective, &s->root.profile);
        objective_take(s->options->objective, &s->standing, &none, s->state.best_speedup, true);
    }
    arena_destroy(arena);
    return ok;
}

/* ---- the comparison ---- */

/* Reads the node back, and compares it. *before: as it was told. */
static bool compare(struct session *s, struct candidate *c, struct candidate *before,
    struct arena *arena, struct err *err)
{
    bool found;

    session_candidate(s, arena, c, s->state.best, -1, (struct option){.action = ACTION_NONE});
    if (!store_load_node(s->store, s->state.best, c, &found, err))
        return false;
    if (!found)
        return err_set(err, "node %lld is missing in the database", (long long)s->state.best);
    *before = *c;
    return c->check.timed || (compile_kernel(workbench_compiler(s->bench), c, err) &&
                                 evaluator_confirm(s->evaluator, c, err));
}

/* The node and everyone who was told of it learn of the comparison. */
static bool note(struct session *s, struct candidate *c, const struct candidate *before,
    struct arena *arena, struct err *err)
{
    const struct store_revision revision = {.nr_told = (int64_t)s->state.nr_nodes,
        .nr_asked = (int64_t)(s->state.nr_nodes + in_flight_nr(s)),
        .speedup = before->speedup};
    const bool other = c->verdict != before->verdict || c->speedup != before->speedup;
    struct candidate parent;
    bool found;

    if (other && c->verdict == VERDICT_OK && !explain_kernel(workbench_chip(s->bench), c, err))
        return false;
    candidate_note_verdict(c);
    if ((other && !in_flight_note(s, err)) ||
        !store_revise(s->store, c, other ? &revision : NULL, err))
        return false;
    if (!other)
        return true;
    retell(s, c);
    session_candidate(s, arena, &parent, c->parent, -1, (struct option){.action = ACTION_NONE});
    if (!store_load_node(s->store, c->parent, &parent, &found, err) ||
        !lessons_note(s->memory, &parent, c, err))
        return false;
    propose_told(s->propose, c, session_gain(&parent, c));
    return lead_find(s, err);
}

static bool settle_one(
    struct session *s, struct loop_watcher *watcher, bool *changed, struct err *err)
{
    struct arena *arena = arena_create();
    struct candidate c, before = {0};
    const int64_t node = s->state.best;
    bool ok = compare(s, &c, &before, arena, err);
    const bool known = ok && before.check.timed;

    ok = ok && (known || note(s, &c, &before, arena, err));
    if (ok && !known && (c.verdict != VERDICT_OK || c.speedup != before.speedup)) {
        *changed = true;
        watcher->revised(watcher, s, &c);
    }
    s->lead.settled = ok && c.verdict == VERDICT_OK && s->state.best == node;
    arena_destroy(arena);
    return ok;
}

bool lead_settle(struct session *s, struct loop_watcher *watcher, bool *changed, struct err *err)
{
    *changed = false;
    while (s->state.best > 0 && !s->lead.settled)
        if (!settle_one(s, watcher, changed, err))
            return err_wrap(err, "comparing node %lld at the timed size", (long long)s->state.best);
    s->lead.settled = true;
    return true;
}

bool lead_fall_back(struct session *s, struct err *err)
{
    struct store_digest digest;

    if (s->lead.settled || s->state.best == 0)
        return true;
    if (!store_digest(s->store, &digest, err))
        return false;
    s->state.unsettled = s->state.best;
    s->state.best = digest.best > 0 ? digest.best : 0;
    s->state.best_speedup = digest.best > 0 ? digest.speedup : 1;
    return true;
}

void lead_rescue(struct session *s)
{
    struct arena *arena = arena_create();
    struct candidate c, before;
    struct err ignored;

    if (s->state.best > 0 && !s->lead.settled)
        s->lead.settled = compare(s, &c, &before, arena, &ignored) && c.verdict == VERDICT_OK &&
                          c.speedup == before.speedup;
    lead_fall_back(s, &ignored);
    arena_destroy(arena);
}
