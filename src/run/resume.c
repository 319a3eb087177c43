/* Owns the replay of a resumed tree. */
#include "run/moves.h"
#include "run/session_parts.h"

static bool strange_tree(int64_t node, struct err *err)
{
    return err_set(err,
        "cannot resume: node %lld is not what this version of the search would have tried; start a "
        "new run without --resume",
        (long long)node);
}

/* Tell a stored node again. The search must have asked for this node. */
static bool retell(struct session *s, const struct store_order *order, size_t nr_revised,
    int64_t node, const struct search_pick *pick, struct err *err)
{
    struct arena *arena = s->in_flight.trials[0].arena;
    struct candidate c, parent;
    bool found;

    arena_reset(arena);
    session_candidate(s, arena, &c, node, -1, (struct option){.action = ACTION_NONE});
    if (!store_load_told(s->store, node, &c, &found, err))
        return false;
    if (!found || pick->node != node || pick->parent != c.parent ||
        pick->move != moves_id(&c.option))
        return strange_tree(node, err);
    lead_before(order, nr_revised, &c);
    session_tell(s, pick, &c);
    s->state.nr_evaluated += candidate_nr_repairs(&c);
    session_candidate(s, arena, &parent, c.parent, -1, (struct option){.action = ACTION_NONE});
    if (!store_load_source(s->store, arena, node, &c.source, &c.source_bytes, err) ||
        (c.nr_calls > 0 && !store_load_told(s->store, c.parent, &parent, &found, err)))
        return false;
    lead_before(order, nr_revised, &parent);
    propose_told(s->propose, &c, session_gain(&parent, &c));
    return true;
}

/* Revisions that were made when so many nodes had been told, and asked. */
static bool revise(struct session *s, const struct store_order *order, size_t *nr, int64_t nr_told,
    int64_t nr_asked, struct err *err)
{
    bool ok = true;

    for (; ok && *nr < order->nr_revisions && order->revisions[*nr].nr_told <= nr_told &&
           order->revisions[*nr].nr_asked <= nr_asked;
         ++*nr)
        ok = lead_retell(s, order, *nr, err);
    return ok;
}

bool session_replay(struct session *s, struct err *err)
{
    struct store_order order;
    struct search_pick *picks;
    int64_t nr_asked = 0;
    size_t nr_revised = 0;
    bool ok = true;

    if (!store_load_order(s->store, s->arena, &order, err))
        return false;
    picks = arena_array(s->arena, (size_t)order.nr_asked + 1, sizeof(*picks));
    for (int64_t told = 0; ok && told <= order.nr_told; told++) {
        ok = revise(s, &order, &nr_revised, told, nr_asked, err);
        for (; ok && nr_asked < order.nr_asked && order.asked[nr_asked].nr_told <= told;
             ok = revise(s, &order, &nr_revised, told, ++nr_asked, err))
            if (!in_flight_ask_again(s, &order.asked[nr_asked], &picks[nr_asked]))
                return strange_tree(nr_asked + 1, err);
        if (!ok)
            return false;
        if (told == order.nr_told)
            break;
        const int64_t node = order.told[told];
        if (node < 1 || node > nr_asked)
            return strange_tree(node, err);
        ok = retell(s, &order, nr_revised, node, &picks[node - 1], err);
        picks[node - 1].node = 0; /* done */
    }
    if (ok && nr_revised < order.nr_revisions)
        return strange_tree(order.revisions[nr_revised].number, err);
    for (int64_t i = 0; ok && i < nr_asked; i++)
        ok = picks[i].node == 0 || in_flight_begin(s, &picks[i], err);
    return ok;
}
