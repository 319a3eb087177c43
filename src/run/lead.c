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
    s->lead.due_at = s->state.nr_nodes + LEAD_STANDS;
}

bool lead_is_due(const struct session *s)
{
    return !s->lead.settled && s->state.nr_nodes >= s->lead.due_at;
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

static const struct store_revision *revision_of(
    const struct store_order *order, size_t from, int64_t node)
{
    for (size_t i = from; i < order->nr_revisions; i++)
        if (order->revisions[i].number == node)
            return &order->revisions[i];
    return NULL;
}

void lead_before(const struct store_order *order, size_t from, struct candidate *c)
{
    const struct store_revision *revision = revision_of(order, from, c->node);

    if (revision) {
        c->verdict = VERDICT_OK;
        c->speedup = revision->speedup;
    }
}

/* The fastest of the nodes that were told leads. Revisions of `order` from number `from` on are yet
 * to come. */
static bool find(struct session *s, const struct store_order *order, size_t from, struct err *err)
{
    struct arena *arena = arena_create();
    struct store_speed *nodes;
    struct profile none = {0};
    unsigned nr;
    const bool ok = store_list_speeds(s->store, arena, &nodes, &nr, err);

    if (ok) {
        s->state.best = 0;
        s->state.best_speedup = 1;
    }
    for (unsigned i = 0; ok && i < nr; i++) {
        const struct store_revision *revision = revision_of(order, from, nodes[i].number);
        const bool right = revision || (nodes[i].verdict && strcmp(nodes[i].verdict, "ok") == 0);
        const double speedup = revision ? revision->speedup : nodes[i].speedup;

        if (right && speedup > s->state.best_speedup &&
            search_node(s->search, nodes[i].number).visits > 0) {
            s->state.best = nodes[i].number;
            s->state.best_speedup = speedup;
        }
    }
    if (ok) {
        s->lead = (struct lead){.due_at = 0}; /* until one passes, also in a run that goes on */
        s->standing = objective_start(s->options->objective, &s->root.profile);
        objective_take(s->options->objective, &s->standing, &none, s->state.best_speedup, true);
    }
    arena_destroy(arena);
    return ok;
}

/* What its calls cost was told already. */
static void retell_proposers(struct session *s, const struct candidate *c)
{
    struct candidate without_calls = *c;

    without_calls.nr_calls = 0;
    propose_told(s->propose, &without_calls, 0);
}

bool lead_retell(struct session *s, const struct store_order *order, size_t number, struct err *err)
{
    const int64_t node = order->revisions[number].number;
    struct arena *arena = arena_create();
    struct candidate c;
    bool found;

    session_candidate(s, arena, &c, node, -1, (struct option){.action = ACTION_NONE});
    const bool ok = store_load_told(s->store, node, &c, &found, err) &&
                    store_load_source(s->store, arena, node, &c.source, &c.source_bytes, err);

    if (ok) {
        retell(s, &c);
        retell_proposers(s, &c);
    }
    arena_destroy(arena);
    return ok && find(s, order, number + 1, err);
}

/* ---- the comparison ---- */

/* Or takes over what an earlier run found. */
static bool compare_at_timed(struct session *s, struct candidate *c, struct err *err)
{
    bool found;

    return compile_kernel(workbench_compiler(s->bench), c, err) &&
           reuse_find_compared(s->reuse, c, &found, err) &&
           (found ||
               (evaluator_confirm(s->evaluator, c, err) && reuse_note_compared(s->reuse, c, err)));
}

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
    return c->check.timed || compare_at_timed(s, c, err);
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

    if (other && !explain_kernel(workbench_chip(s->bench), c, err))
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
    retell_proposers(s, c);
    return find(s, &(struct store_order){.nr_revisions = 0}, 0, err);
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
    s->state.unsettled = s->state.best;
    s->state.best = 0; /* whatever can be read of the others */
    s->state.best_speedup = 1;
    if (!store_digest(s->store, &digest, err))
        return false;
    if (digest.best > 0) {
        s->state.best = digest.best;
        s->state.best_speedup = digest.speedup;
    }
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
