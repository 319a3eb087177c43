/* Owns how a warp splits and joins. See exec.h for the tree of splits. */
#include "emu/exec/exec.h"

#include "base/mem.h"

enum { SPLITS_FIRST = 8 };

uint16_t warp_new_split(struct warp *w)
{
    for (unsigned i = 0; i < w->nr_splits; i++) {
        if (w->splits[i].state == SPLIT_FREE)
            return (uint16_t)i;
    }
    if (w->nr_splits == w->cap_splits)
        w->splits =
            grow(w->splits, &w->cap_splits, w->nr_splits + SPLITS_FIRST, sizeof(*w->splits));
    w->splits[w->nr_splits] = (struct warp_split){.state = SPLIT_FREE};
    return w->nr_splits++;
}

/* Sets member by member: a copy of a whole struct would wait for the stores that have just written
 * its members. */
static void set_split(
    struct warp_split *split, uint32_t pc, uint32_t rpc, uint32_t mask, uint16_t parent)
{
    split->pc = pc;
    split->rpc = rpc;
    split->mask = mask;
    split->need = 0;
    split->parent = parent;
    split->nr_sides = 0;
    split->state = SPLIT_READY;
    split->barrier = 0;
    split->is_call = split->counted = false;
}

void warp_start(struct warp *w, uint32_t live, uint32_t entry)
{
    w->nr_splits = 0;
    uint16_t s = warp_new_split(w);
    set_split(&w->splits[s], entry, NO_PC, live, NO_SPLIT);
    w->current = s;
    w->live = w->counted = live;
    w->done = live == 0;
    w->parted = w->polled = false;
    w->asked_at = w->at_cluster = 0;
    flight_start(w);
    w->waiting = false;
    w->round_at = NO_PC;
}

/* Removes a split that has neither lanes nor sides. Its parent goes on if this was the last side.
 */
static void side_gone(struct warp *w, uint16_t s)
{
    while (s != NO_SPLIT) {
        struct warp_split *split = &w->splits[s];
        uint16_t parent = split->parent;
        split->state = SPLIT_FREE;
        if (parent == NO_SPLIT)
            return;
        struct warp_split *up = &w->splits[parent];
        if (--up->nr_sides > 0)
            return;
        if (up->mask) {
            up->state = SPLIT_READY;
            up->is_call = false;
            w->current = parent;
            return;
        }
        s = parent;
    }
}

static void add_side(struct warp *w, uint16_t parent, uint32_t pc, uint32_t rpc, uint32_t mask)
{
    uint16_t s = warp_new_split(w);
    set_split(&w->splits[s], pc, rpc, mask, parent);
    w->splits[parent].nr_sides++;
    w->current = s;
}

/* The sides meet where s itself is expected, so they become sides of its parent. */
static void diverge_within(
    struct warp *w, uint16_t s, uint32_t taken, uint32_t target, uint32_t fall)
{
    struct warp_split *split = &w->splits[s];
    uint32_t rest = split->mask & ~taken, meet = split->rpc;
    uint16_t parent = split->parent;
    if (target == meet || fall == meet) {
        w->splits[parent].mask |= target == meet ? taken : rest;
        split->mask = target == meet ? rest : taken;
        split->pc = target == meet ? fall : target;
        return;
    }
    split->mask = rest;
    split->pc = fall;
    add_side(w, parent, target, meet, taken);
    w->current = s;
}

void warp_diverge(
    struct warp *w, uint16_t s, uint32_t taken, uint32_t target, uint32_t fall, uint32_t meet)
{
    struct warp_split *split = &w->splits[s];
    uint32_t rest = split->mask & ~taken;
    if (meet == split->rpc && split->parent != NO_SPLIT) {
        diverge_within(w, s, taken, target, fall);
        return;
    }
    split->state = SPLIT_PARENT;
    split->pc = meet;
    split->mask = (target == meet ? taken : 0) | (fall == meet ? rest : 0);
    if (target != meet)
        add_side(w, s, target, meet, taken);
    if (fall != meet)
        add_side(w, s, fall, meet, rest);
}

void warp_arrive(struct warp *w, uint16_t s)
{
    w->splits[w->splits[s].parent].mask |= w->splits[s].mask;
    side_gone(w, s);
}

void warp_call(struct warp *w, uint16_t s, uint32_t mask, uint32_t target, uint32_t back)
{
    struct warp_split *split = &w->splits[s];
    split->state = SPLIT_PARENT;
    split->is_call = true;
    split->pc = back;
    split->mask &= ~mask;
    add_side(w, s, target, NO_PC, mask);
}

static void leave(struct warp *w, uint16_t s, uint32_t mask)
{
    w->splits[s].mask &= ~mask;
    if (w->splits[s].mask == 0)
        side_gone(w, s);
}

void warp_return(struct warp *w, uint16_t s, uint32_t mask)
{
    uint16_t up = w->splits[s].parent;
    while (up != NO_SPLIT && !w->splits[up].is_call)
        up = w->splits[up].parent;
    if (up == NO_SPLIT) {
        warp_exit(w, s, mask);
        return;
    }
    w->splits[up].mask |= mask;
    leave(w, s, mask);
}

void warp_exit(struct warp *w, uint16_t s, uint32_t mask)
{
    w->live &= ~mask;
    w->done = w->live == 0;
    leave(w, s, mask);
}

void warp_part(struct warp *w, uint16_t s)
{
    uint16_t up = w->splits[s].parent;
    while (up != NO_SPLIT && w->splits[up].mask == 0)
        up = w->splits[up].parent;
    if (up == NO_SPLIT)
        return;
    uint16_t made = warp_new_split(w);
    w->parted = true;
    struct warp_split *from = &w->splits[up];
    w->splits[made] = (struct warp_split){.pc = from->pc,
        .rpc = from->rpc,
        .mask = from->mask,
        .parent = from->parent,
        .state = SPLIT_READY};
    from->mask = 0;
    if (from->parent != NO_SPLIT)
        w->splits[from->parent].nr_sides++;
    w->current = made;
}

uint16_t warp_ready(const struct warp *w, uint16_t after)
{
    unsigned s = after == NO_SPLIT || after + 1u >= w->nr_splits ? 0 : after + 1u;
    for (unsigned i = 0; i < w->nr_splits; i++) {
        if (w->splits[s].state == SPLIT_READY)
            return (uint16_t)s;
        s = s + 1 == w->nr_splits ? 0 : s + 1;
    }
    return NO_SPLIT;
}

const struct warp_split *warp_split_at(const struct warp *w, enum split_state state)
{
    for (unsigned s = 0; s < w->nr_splits; s++)
        if (w->splits[s].state == state)
            return &w->splits[s];
    return NULL;
}

const struct warp_split *warp_waiting(
    const struct block_worker *k, enum split_state state, const struct warp **w)
{
    const struct warp_split *split = NULL;
    for (unsigned i = 0; i < k->nr_warps && !split; i++) {
        *w = &k->warps[i];
        split = warp_split_at(*w, state);
    }
    return split;
}
