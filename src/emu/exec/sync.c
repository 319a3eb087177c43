/* Owns what lanes do together: barriers of a block, syncs of a warp, matches, reductions. Also the
 * verdict when some lanes can never come. */
#include "emu/exec/exec.h"
#include "emu/sem/sem.h"
#include "emu/watch/where.h"

#include <stdio.h>
#include <string.h>

/* --- barriers --- */

static unsigned expected(const struct block_worker *k, const struct barrier *b)
{
    return b->expected ? b->expected : k->live_threads;
}

static void finish_reduction(
    const struct barrier *b, const struct inst *in, uint8_t *file, uint32_t mask)
{
    if (in->sub != PTX_SUB_RED)
        return;
    uint32_t *d = (uint32_t *)(file + in->d);
    if (in->imm == 0) {
        for (unsigned l = 0; l < WARP_LANES; l++)
            d[l] = (mask >> l & 1) ? b->true_threads : d[l];
        return;
    }
    bool yes = in->imm == PTX_BOOL_AND ? b->true_threads == b->red_threads : b->true_threads > 0;
    *d = yes ? *d | mask : *d & ~mask;
}

static void tell_barrier(struct block_worker *k, unsigned id, const uint32_t *lanes, uint32_t pc)
{
    struct emu_barrier event = {.id = id, .lanes = lanes, .pc = pc};
    for (unsigned i = 0; i < k->nr_listeners; i++) {
        if (k->listeners[i]->class->barrier)
            k->listeners[i]->class->barrier(k->listeners[i], &event);
    }
}

static void release(struct block_worker *k, unsigned id)
{
    struct barrier *b = &k->barriers[id];
    uint32_t lanes[WARP_LANES] = {0}, pc = 0; /* a block has at most 32 warps */
    for (unsigned i = 0; i < k->nr_warps; i++) {
        struct warp *w = &k->warps[i];
        for (size_t s = 0; s < w->nr_splits; s++) {
            struct warp_split *split = &w->splits[s];
            if (split->state != SPLIT_AT_BARRIER || split->barrier != id)
                continue;
            pc = split->pc;
            finish_reduction(b, &k->program->insts[pc], w->file, split->need);
            lanes[i] |= split->need;
            split->state = SPLIT_READY;
            split->pc++;
        }
    }
    *b = (struct barrier){0};
    k->moves++;
    tell_barrier(k, id, lanes, pc);
}

static bool sync_fault(
    struct block_worker *k, uint32_t pc, const char *format, uint32_t a, uint32_t b)
{
    char what[200], who[WHERE_BYTES];
    snprintf(what, sizeof(what), format, a, b);
    where_thread(&k->exec->run, k->block.index, 0, who);
    exec_fault(k, VERDICT_FAULT, pc, "%s; %s", what, strstr(who, "block"));
    k->fault.check = EMU_CHECK_SYNC;
    return exec_note(k);
}

/* bar.sync and barrier.aligned are for whole warps. */
static bool whole_warp(struct block_worker *k, const struct warp *w, uint32_t pc, uint32_t mask)
{
    const struct ptx_inst *ptx = k->program->info[pc].ptx;
    if (mask == w->live || w->parted || !(ptx->op == PTX_OP_BAR || ptx->aligned))
        return true;
    return sync_fault(k, pc,
        "barrier in divergent code: lanes 0x%08x of a warp are at it, lanes 0x%08x are not", mask,
        w->live & ~mask);
}

bool sync_barrier(struct block_worker *k, struct warp *w, uint16_t s, uint32_t pc, uint32_t mask)
{
    const struct inst *in = &k->program->insts[pc];
    struct warp_split *split = &w->splits[s];
    unsigned lane = (unsigned)__builtin_ctz(mask);
    if (k->exec->find_sync && !whole_warp(k, w, pc, mask))
        return false;
    uint32_t id = ((const uint32_t *)(w->file + in->a))[lane];
    if (id >= MAX_BARRIERS)
        return exec_fault(k, VERDICT_FAULT, pc, "barrier %u: there are 16", id);
    struct barrier *b = &k->barriers[id];
    unsigned count = in->b == NO_ROW ? 0 : ((const uint32_t *)(w->file + in->b))[lane];
    if (in->b != NO_ROW && (count == 0 || count % WARP_LANES))
        return exec_fault(
            k, VERDICT_FAULT, pc, "barrier %u for %u threads, not a multiple of 32", id, count);
    b->expected = count;
    if (in->sub == PTX_SUB_RED) {
        uint32_t p = *(const uint32_t *)(w->file + in->c);
        p = in->flags & INST_NEGATE_C ? ~p : p;
        b->true_threads += (unsigned)__builtin_popcount(p & mask);
        b->red_threads += (unsigned)__builtin_popcount(mask);
    }
    /* a barrier with a count takes a warp's arrival for 32 threads, those that have exited included
     */
    bool whole = mask == w->live;
    b->arrived += count && whole ? WARP_LANES : (unsigned)__builtin_popcount(mask);
    if (in->sub != PTX_SUB_ARRIVE) {
        split->state = SPLIT_AT_BARRIER;
        split->barrier = (uint8_t)id;
        split->pc = pc;
        split->need = mask;
        b->waiting++;
    }
    if (b->arrived >= expected(k, b))
        release(k, id);
    return true;
}

static void check_barriers(struct block_worker *k)
{
    for (unsigned id = 0; id < MAX_BARRIERS; id++) {
        struct barrier *b = &k->barriers[id];
        if (b->waiting && !b->expected && b->arrived >= k->live_threads)
            release(k, id);
    }
}

/* --- syncs within a warp --- */

static uint32_t wanted(const struct warp *w, const struct inst *in, uint32_t mask)
{
    const uint32_t *row = (const uint32_t *)(w->file + in->e);
    uint32_t all = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        all |= (mask >> l & 1) ? row[l] : 0;
    return all & w->live;
}

/* Each lane must be among those that its own mask names. */
static bool in_own_masks(
    struct block_worker *k, const struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    const uint32_t *row = (const uint32_t *)(w->file + in->e);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        if (!(row[lane] >> lane & 1))
            return sync_fault(
                k, pc, "lane %u executes it, but is not in its own mask 0x%08x", lane, row[lane]);
    }
    return true;
}

static void tell_sync(struct block_worker *k, const struct warp *w, uint32_t mask)
{
    for (unsigned i = 0; i < k->nr_listeners; i++) {
        if (k->listeners[i]->class->warp_sync)
            k->listeners[i]->class->warp_sync(k->listeners[i], w->index, mask);
    }
}

/* Can these two waiting splits meet? They can at the same instruction, or when both are plain
 * syncs. */
static bool compatible(
    const struct block_worker *k, const struct warp_split *a, const struct warp_split *b)
{
    const struct inst *insts = k->program->insts;
    return a->pc == b->pc ||
           (insts[a->pc].kind == INST_WARP_SYNC && insts[b->pc].kind == INST_WARP_SYNC);
}

/* If all lanes for which split s waits have come, they execute the instruction together and go on.
 */
static bool try_meet(struct block_worker *k, struct warp *w, const struct warp_split *s)
{
    uint32_t need = s->need & w->live, here = 0, before = 0;
    const struct warp_split like = *s;
    /* those that came may name further lanes */
    while (need != before) {
        before = need;
        here = 0;
        for (size_t i = 0; i < w->nr_splits; i++) {
            const struct warp_split *o = &w->splits[i];
            if (o->state != SPLIT_AT_SYNC || !compatible(k, &like, o) || !(o->mask & need))
                continue;
            here |= o->mask;
            need |= o->need & w->live;
        }
    }
    if (need & ~here)
        return false;
    const struct inst *in = &k->program->insts[like.pc];
    /* lanes of a waiting split whose predicate is off do not take part */
    uint32_t guard = *(const uint32_t *)(w->file + in->guard);
    uint32_t doing = here & (in->guard_negated ? ~guard : guard);
    if (in->kind == INST_COLLECTIVE)
        in->run(w->file, in, doing);
    for (size_t i = 0; i < w->nr_splits; i++) {
        struct warp_split *o = &w->splits[i];
        if (o->state == SPLIT_AT_SYNC && compatible(k, &like, o) && o->mask & here) {
            o->state = SPLIT_READY;
            o->pc++;
        }
    }
    tell_sync(k, w, here);
    return true;
}

bool sync_collective(struct block_worker *k, struct warp *w, uint16_t s, uint32_t pc, uint32_t mask)
{
    const struct inst *in = &k->program->insts[pc];
    struct warp_split *split = &w->splits[s];
    uint32_t need = wanted(w, in, mask);
    if (k->exec->find_sync && !in_own_masks(k, w, in, pc, mask))
        return false;
    if ((need & ~mask) == 0) {
        if (in->kind == INST_COLLECTIVE)
            in->run(w->file, in, mask);
        if (k->nr_listeners)
            tell_sync(k, w, mask);
        return true;
    }
    split->state = SPLIT_AT_SYNC;
    split->pc = pc;
    split->need = need;
    try_meet(k, w, split);
    return true;
}

static void note_end(struct block_worker *k, uint32_t pc)
{
    char line[WHERE_BYTES];
    snprintf(k->ended_at, sizeof(k->ended_at), "%.31s", where_line(&k->exec->run, pc, line));
}

bool sync_lanes_left(struct block_worker *k, struct warp *w, uint32_t pc)
{
    const unsigned gone = (unsigned)__builtin_popcount(w->counted & ~w->live);
    if (gone == 0)
        return true;
    const uint32_t left = w->counted & ~w->live;
    w->counted = w->live;
    k->live_threads -= gone;
    if (!w->live)
        registers_left(k, w);
    if (k->live_threads)
        check_barriers(k);
    else
        note_end(k, pc);
    cluster_lanes_left(k, w, left);
    for (size_t i = 0; i < w->nr_splits; i++) {
        if (w->splits[i].state == SPLIT_AT_SYNC)
            try_meet(k, w, &w->splits[i]);
    }
    return k->live_threads || reach_end(k, pc);
}

static bool deadlock(struct block_worker *k)
{
    const struct warp *w;
    const struct warp_split *split;
    if (cluster_deadlock(k) || flight_deadlock(k) || registers_deadlock(k))
        return false;
    split = warp_waiting(k, SPLIT_AT_BARRIER, &w);
    if (split) {
        const struct barrier *b = &k->barriers[split->barrier];
        return exec_fault(k, VERDICT_FAULT, split->pc,
            "barrier in divergent code: %u of %u threads wait, the others never arrive; block "
            "(%u,%u,%u)",
            b->arrived, expected(k, b), k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2]);
    }
    split = warp_waiting(k, SPLIT_AT_SYNC, &w);
    if (split)
        return exec_fault(k, VERDICT_FAULT, split->pc,
            "warp synchronisation in divergent code: lanes 0x%08x wait for lanes 0x%08x, which "
            "never arrive; warp %u of block (%u,%u,%u)",
            split->mask, split->need & ~split->mask, w->index, k->block.ctaid[0], k->block.ctaid[1],
            k->block.ctaid[2]);
    return exec_fault(k, VERDICT_FAULT, NO_PC, "no warp can go on");
}

bool sync_deadlock(struct block_worker *k)
{
    deadlock(k);
    k->fault.check = EMU_CHECK_SYNC;
    return false;
}

/* --- collectives: a, b, c sources; e the lanes' mask; d, d2 results --- */

static inline const uint32_t *row(const uint8_t *file, uint32_t offset)
{
    return (const uint32_t *)(file + offset);
}

/* sub: 0 any, 1 all; reg_bytes: of the values */
static void match(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const uint32_t *members = row(file, in->e);
    uint32_t *d = (uint32_t *)(file + in->d), all_same = 0, r[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint32_t group = members[l] & mask, same = 0;
        for (unsigned j = 0; j < WARP_LANES; j++) {
            bool equal = in->reg_bytes == 8 ? ((const uint64_t *)(file + in->a))[j] ==
                                                  ((const uint64_t *)(file + in->a))[l]
                                            : row(file, in->a)[j] == row(file, in->a)[l];
            same |= (uint32_t)equal << j;
        }
        bool all = (same & group) == group;
        all_same |= (uint32_t)all << l;
        r[l] = in->sub ? (all ? group : 0) : same & group;
    }
    for (unsigned l = 0; l < WARP_LANES; l++)
        d[l] = (mask >> l & 1) ? r[l] : d[l];
    if (in->d2 != NO_ROW) {
        uint32_t *p = (uint32_t *)(file + in->d2);
        *p = (*p & ~mask) | (all_same & mask);
    }
}

static void redux(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const uint32_t *members = row(file, in->e);
    uint32_t a[WARP_LANES], *d = (uint32_t *)(file + in->d);
    bool is_signed = in->type == PTX_S32;
    memcpy(a, file + in->a, sizeof(a));
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint32_t group = members[l] & mask, r = 0;
        bool first = true;
        for (uint32_t m = group; m; m &= m - 1) {
            uint32_t v = a[__builtin_ctz(m)];
            bool less = is_signed ? (int32_t)v < (int32_t)r : v < r;
            switch (in->sub) {
            case PTX_ATOM_ADD:
                r += v;
                break;
            case PTX_ATOM_MIN:
                r = first || less ? v : r;
                break;
            case PTX_ATOM_MAX:
                r = first || !less ? v : r;
                break;
            case PTX_ATOM_AND:
                r = first ? v : r & v;
                break;
            case PTX_ATOM_OR:
                r |= v;
                break;
            default:
                r ^= v;
            }
            first = false;
        }
        d[l] = (mask >> l & 1) ? r : d[l];
    }
}

/* elect.sync: the lowest lane of the group leads. */
static void elect(uint8_t *file, const struct inst *in, uint32_t mask)
{
    const uint32_t *members = row(file, in->e);
    uint32_t *d = (uint32_t *)(file + in->d), leaders = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        if (!(mask >> l & 1))
            continue;
        unsigned lead = (unsigned)__builtin_ctz(members[l] & mask);
        d[l] = lead;
        leaders |= (uint32_t)(lead == l) << l;
    }
    if (in->d2 != NO_ROW) {
        uint32_t *p = (uint32_t *)(file + in->d2);
        *p = (*p & ~mask) | leaders;
    }
}

static sem_fn *pick_match(const struct ptx_inst *p, struct inst *in)
{
    in->sub = p->vote == PTX_VOTE_ALL;
    in->reg_bytes = ptx_type_bytes(p->type) == 8 ? 8 : 4;
    return match;
}

static sem_fn *pick_redux(const struct ptx_inst *p, struct inst *in)
{
    in->sub = (uint8_t)p->atom;
    return ptx_type_is_float(p->type) ? NULL : redux;
}

static sem_fn *pick_elect(const struct ptx_inst *p, struct inst *in)
{
    return elect;
}

sem_fn *sync_find(const struct ptx_inst *p, struct inst *in)
{
#define TOGETHER(name) pick_##name
#define BY_TYPE(...) NULL
#define LOOP(name) NULL
#define VIDEO(what, parts) NULL
#define NO_LOOP NULL
    static sem_fn *(*const picks[NR_PTX_OPS])(const struct ptx_inst *, struct inst *) = {
#define OP(id, name, class, takes, costs, decoder, meaning) [PTX_OP_##id] = meaning,
#include "ptx/ops.def"
#undef OP
    };
    return picks[p->op] ? picks[p->op](p, in) : sem_find(p, in);
}
