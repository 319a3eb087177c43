/* Owns blocks that run side by side: clusters, and cooperative grids. The blocks take turns on one
 * thread, each with a worker's state of its own.
 *
 * barrier.cluster (PTX ISA 9.0, 9.7.13.4): each thread of the cluster arrives once in a phase, and
 * a wait holds it until all threads that have not exited have arrived. An address of shared memory
 * names the block by its upper bits (windows.h); what the ranks and offsets stand for is the same
 * in each block of the cluster. */
#include "emu/exec/exec.h"

#include "emu/state/windows.h"
#include "emu/watch/where.h"

#include <inttypes.h>
#include <stdio.h>

/* --- turns --- */

static bool is_done(const struct block_worker *k)
{
    return k->nr_done == k->nr_warps;
}

static uint64_t all_moves(const struct cluster *c)
{
    uint64_t moves = 0;
    for (unsigned i = 0; i < c->nr; i++)
        moves += c->blocks[i].moves + c->blocks[i].contacts + c->blocks[i].nr_done;
    return moves;
}

/* Nobody can go on. */
static bool stuck(struct cluster *c, bool asks)
{
    for (unsigned i = 0; i < c->nr; i++) {
        struct block_worker *k = &c->blocks[i];
        if (!is_done(k))
            return asks ? mbarrier_deadlock(k) : sync_deadlock(k);
    }
    return true;
}

struct turns {
    unsigned nr_done;
    bool idle, waits; /* all blocks that are left */
    bool moved;
};

/* One round: each block has its turn, or falls behind. */
static bool give_turns(struct cluster *c, unsigned round, struct turns *t)
{
    *t = (struct turns){.idle = true, .waits = true};
    for (unsigned i = 0; i < c->nr; i++) {
        struct block_worker *k = &c->blocks[i];
        const uint64_t steps = k->steps;
        if (!is_done(k) && !seeded_turn(k, round)) {
            t->moved = true;
            t->idle = t->waits = false;
        } else if (!is_done(k)) {
            if (!exec_block(k))
                return false;
            t->idle &= k->idle;
            t->waits &= k->waits;
        }
        t->moved |= k->steps != steps;
        t->nr_done += is_done(k);
    }
    for (unsigned i = 0; i < c->nr; i++)
        sums_settle(&c->blocks[i]);
    return true;
}

/* Says false where the blocks that are left wait for ever: by themselves where they are the whole
 * grid, else by what the other workers say (wait.c). */
static bool may_wait(struct cluster *c, bool waits)
{
    enum { IN_VAIN_ROUNDS = 256 };
    struct block_worker *k = c->blocks;
    while (is_done(k))
        k++;
    if (!k->exec->together)
        return wait_on(k, waits);
    c->wait_rounds = waits ? c->wait_rounds + 1 : 0;
    return c->wait_rounds < IN_VAIN_ROUNDS || wait_in_vain(k);
}

bool cluster_run(struct cluster *c)
{
    c->idle_rounds = c->wait_rounds = 0;
    for (unsigned round = 0;; round++) {
        const uint64_t before = all_moves(c);
        struct turns t;
        if (!give_turns(c, round, &t))
            return false;
        if (t.nr_done == c->nr)
            return true;
        if (!t.moved)
            return stuck(c, false);
        c->idle_rounds = t.idle && all_moves(c) == before ? c->idle_rounds + 1 : 0;
        if (c->idle_rounds > MBARRIER_IDLE_ROUNDS)
            return stuck(c, true);
        if (!may_wait(c, t.waits))
            return false;
    }
}

uint64_t cluster_block(const struct emu_run *run, uint64_t cluster, unsigned rank)
{
    const uint32_t *g = run->launch->grid, *c = run->cluster;
    const uint64_t nx = g[0] / c[0], ny = g[1] / c[1];
    const uint64_t x = cluster % nx * c[0] + rank % c[0],
                   y = cluster / nx % ny * c[1] + rank / c[0] % c[1],
                   z = cluster / nx / ny * c[2] + rank / c[0] / c[1];
    return run->cluster_blocks == 1 ? cluster : (z * g[1] + y) * g[0] + x;
}

void cluster_start(struct cluster *c)
{
    c->phase = c->arrived = 0;
    c->live = c->nr * c->blocks[0].nr_threads;
    reach_start(c);
}

/* --- the barrier --- */

static void tell(struct block_worker *k, const struct warp *w, enum emu_mbarrier what)
{
    reach_meet(k, 0, CLUSTER_BARRIER, what);
    exec_tell_mbarrier(k, w->index, CLUSTER_BARRIER, what);
}

/* The lanes that wait and for which the phase is over go on. */
static void release(struct block_worker *k, struct warp *w)
{
    for (unsigned s = 0; s < w->nr_splits; s++) {
        struct warp_split *split = &w->splits[s];
        const uint32_t parity = k->cluster->phase & 1 ? ~w->cluster_odd : w->cluster_odd;
        if (split->state != SPLIT_AT_CLUSTER || split->need & w->live & ~parity)
            continue;
        split->state = SPLIT_READY;
        split->pc++;
        w->at_cluster &= ~split->need;
        tell(k, w, MBARRIER_PASS);
    }
}

static void settle(struct cluster *c)
{
    if (c->live == 0 || c->arrived < c->live)
        return;
    c->phase++;
    c->arrived = 0;
    for (unsigned i = 0; i < c->nr; i++) {
        struct block_worker *k = &c->blocks[i];
        k->moves++;
        for (unsigned w = 0; w < k->nr_warps; w++) {
            if (w == 0)
                tell(k, &k->warps[w], MBARRIER_COMPLETE);
            release(k, &k->warps[w]);
        }
    }
}

static bool misused(
    struct block_worker *k, const struct warp *w, uint32_t pc, uint32_t lanes, const char *what)
{
    char who[WHERE_BYTES];
    where_thread(
        &k->exec->run, k->block.index, w->index * WARP_LANES + (unsigned)__builtin_ctz(lanes), who);
    exec_fault(k, VERDICT_FAULT, pc, "%s by %s", what, who);
    k->fault.check = EMU_CHECK_SYNC;
    return exec_note(k);
}

bool cluster_barrier(struct block_worker *k, struct warp *w, uint16_t s, uint32_t pc, uint32_t mask)
{
    struct cluster *c = k->cluster;
    const bool arrives = k->program->insts[pc].sub == PTX_SUB_ARRIVE;
    const uint32_t wrong = arrives ? mask & w->at_cluster : mask & ~w->at_cluster;
    if (wrong)
        return misused(k, w, pc, wrong,
            arrives ? "barrier.cluster.arrive twice without a wait between"
                    : "barrier.cluster.wait without an arrival before");
    if (arrives) {
        w->at_cluster |= mask;
        w->cluster_odd = c->phase & 1 ? w->cluster_odd | mask : w->cluster_odd & ~mask;
        c->arrived += (unsigned)__builtin_popcount(mask);
        k->moves++;
        tell(k, w, MBARRIER_ARRIVE);
        settle(c);
        return true;
    }
    w->splits[s].state = SPLIT_AT_CLUSTER;
    w->splits[s].pc = pc;
    w->splits[s].need = mask;
    release(k, w);
    return true;
}

void cluster_lanes_left(struct block_worker *k, struct warp *w, uint32_t gone)
{
    struct cluster *c = k->cluster;
    const uint32_t now = c->phase & 1 ? w->cluster_odd : ~w->cluster_odd;
    c->live -= (unsigned)__builtin_popcount(gone);
    c->arrived -= (unsigned)__builtin_popcount(gone & w->at_cluster & now);
    w->at_cluster &= ~gone;
    settle(c);
    release(k, w);
}

bool cluster_deadlock(struct block_worker *k)
{
    const struct warp *w;
    const struct warp_split *split = warp_waiting(k, SPLIT_AT_CLUSTER, &w);
    if (!split)
        return false;
    exec_fault(k, VERDICT_FAULT, split->pc,
        "deadlock: warp %u of block (%u,%u,%u) waits at the barrier of its cluster, at which %u of "
        "%u threads have arrived; the others never do",
        w->index, k->block.ctaid[0], k->block.ctaid[1], k->block.ctaid[2], k->cluster->arrived,
        k->cluster->live);
    return true;
}

/* --- shared memory of other blocks --- */

bool cluster_tell(struct block_worker *k, const struct warp *w, uint32_t pc, unsigned lane,
    struct block_worker *to, uint64_t offset, unsigned bytes, bool write, bool atomic)
{
    uint64_t address[WARP_LANES] = {0};
    const struct emu_access access = {.warp = w->index,
        .pc = pc,
        .mask = 1u << lane,
        .space = PTX_SHARED,
        .is_write = write,
        .is_atomic = atomic,
        .bytes = bytes,
        .address = address,
        .kind = ACCESS_UNIFORM,
        .lo = offset,
        .hi = offset,
        .file = w->file,
        .wavefronts = 1,
        .ideal = 1,
        .data = 1};
    address[lane] = offset;
    reach_access(k, to, pc);
    if (to == k) /* the model of time hears of all lanes at once */
        return exec_tell_watchers(k, &access);
    for (unsigned i = 0; write && i < to->nr_listeners; i++) {
        struct emu_listener *l = to->listeners[i];
        if (l->class->written)
            l->class->written(l, offset, bytes);
    }
    return true;
}

struct block_worker *cluster_at(struct block_worker *k, const struct warp *w, unsigned lane,
    uint32_t pc, uint64_t address, uint64_t *offset)
{
    const uint64_t rank = address >> CLUSTER_SHIFT;
    char who[WHERE_BYTES];
    *offset = CLUSTER_OFFSET(address);
    if (rank == 0 || rank == k->rank + 1)
        return k;
    struct block_worker *other = rank <= k->cluster->nr ? &k->cluster->blocks[rank - 1] : NULL;
    if (other && other->live_threads)
        return other;
    where_thread(&k->exec->run, k->block.index, w->index * WARP_LANES + lane, who);
    if (!other) {
        exec_fault(k, VERDICT_FAULT, pc,
            "out of bounds: shared memory of block %" PRIu64 " of a cluster of %u blocks, by %s",
            rank - 1, k->cluster->nr, who);
        return NULL;
    }
    exec_fault(k, VERDICT_FAULT, pc, "shared memory of block (%u,%u,%u), which has ended%s, by %s",
        other->block.ctaid[0], other->block.ctaid[1], other->block.ctaid[2], other->ended_at, who);
    k->fault.check = EMU_CHECK_SYNC;
    return NULL;
}
