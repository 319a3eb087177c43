/* Owns the simulation of one SM: warps that issue in order, pipes, the LSU, L1, and the SM's share
 * of what lies behind it. Time is in cycles since the first block started. */
#include "emu/exec/launch.h"
#include "emu/timing/sim_code.h"
#include "emu/timing/sim_memory.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WARPS = 64, MAX_SCHEDULERS = 4, MAX_GROUPS = 8, PLACES_ABREAST = 4 };
/* Sets of resident blocks that are simulated beyond three while they cost no more than so many. */
static const double small_events = 1.5e5;
enum { MOST_SETS = 12, TURNS_PER_LOOK = 4096 };
/* Figures that no vendor states, of the size that microbenchmarks find from Volta to Hopper: */
enum {
    BARRIER_CYCLES = 12, /* from a barrier's last arrival to the next issue */
    JUMP_CYCLES = 4,     /* to refill a warp's instructions after a jump back */
    JOIN_CYCLES = 20,    /* around a wgmma for which ptxas waits: WARPGROUP.DEPBAR and .ARRIVE */
    LSU_QUEUE = 32       /* cycles of work in the LSU's queue before warps stall */
};
/* Fitted. Cycles from a block's end to the first instruction of its successor: to 8448 blocks of
 * 1024 threads that do nothing, of which an SM holds two (bench/card, empty_8448x1024), and to
 * copies by blocks that the gap limits (copy_1_64M, copy_4_64M_b1024). */
enum { BLOCK_GAP = 500 };
/* Cycles from the start of one block on an SM to the start of the next. 65536 blocks of 128 threads
 * that do nothing but read a clock start within 38.5 us of each other on an H100, 16896 within 9.2
 * us, and the 2112 that the chip holds at a time within 0.29 us (bench/card/events.cu). Blocks end
 * one after another, too: 132, 1056 and 8448 blocks that do nothing take 2.40, 2.94 and 7.39 us
 * (bench/card, empty_132x128 and so on), also when all of them start at once. */
enum { BLOCK_FIRST = 36, BLOCK_NEXT = 159 };

/* One warp makes a product by mma.sync in so many times what the tensor core takes: on an H100 one
 * warp of each scheduler takes 11.2 cycles for each m16n8k16 of f16, two take 7.0 and more no less,
 * with eight sums each (bench/card, mma_4, mma_8, mma_16). */
static const double mma_of_warp = 1.6;

/* Fitted. What MEMBAR.GPU takes beyond the answers to what the warp accessed: to the kernels of
 * bench/time/found.txt, half `fit`, that run in clusters, whose warps execute up to 23 of them one
 * after the other; and to the grid-wide barrier of cooperative groups, which has one, an atomic
 * that the blocks make one after the other, and polling. On V100 this barrier takes about 1.4 us
 * with one block an SM (Zhang, Wahib, Zhang and Matsuoka, "A study of single and multi-device
 * synchronization methods in Nvidia GPUs", IPDPS 2020). */
enum { MEMBAR_CYCLES = 1200 };

struct async_group { /* of copies, or of products by warpgroups */
    double done;
    bool products;
};

struct sim_warp {
    struct sim_block *block; /* NULL: none */
    const struct trace_event *events;
    size_t nr, at;
    unsigned scheduler, place; /* s->warps[i]: i % nr_schedulers, i / nr_schedulers */
    double *reg;               /* when each register is ready */
    uint8_t *reason;           /* why one waits for it */
    double ready;              /* of the next event; INFINITY: at a barrier or none */
    double depends, held[2];   /* when operands were ready; then held by LSU, pipe */
    enum stall why;
    double last, begin; /* last cycle used, first cycle */
    struct async_group groups[MAX_GROUPS], open;
    unsigned nr_groups;
    double spills;
    double owed[2];   /* of the cost of events that are charged a part of it: others, accesses */
    bool queued;      /* waits for the LSU and has been given a time */
    double enters;    /* when the tensor core turns to the last wgmma */
    double product;   /* when a wgmma is done before which nothing issues */
    double next_mma;  /* when the next product of the warp can issue */
    double performed; /* when the chip has seen all that the warp accessed */
    uint32_t joined,
        waits_for; /* phases plus 1: at which it arrived to wait; for which it waits now */
};

struct sim {
    const struct sim_input *in;
    struct sim_output *out;
    const struct program *program;
    const struct chip *chip;
    struct sim_warp warps[MAX_WARPS]; /* warp i is scheduler i % nr_schedulers' */
    /* By scheduler and place: when the next event can issue; INFINITY at a barrier and where there
     * is no warp. And how many warps had started with it, times MAX_WARPS, plus the place. */
    double ready[MAX_SCHEDULERS][MAX_WARPS], age[MAX_SCHEDULERS][MAX_WARPS];
    unsigned nr_places;       /* a multiple of PLACES_ABREAST */
    struct sim_block *blocks; /* resident slots */
    unsigned nr_slots, warps_per_block, nr_schedulers;
    double issue_free[MAX_SCHEDULERS], next[MAX_SCHEDULERS];
    double pipe_free[MAX_SCHEDULERS][NR_PIPES];
    struct sim_memory memory;
    struct sim_code code;
    double cut; /* share of each trace that is played */
    uint64_t nr_started, nr_done, nr_blocks;
    double *ends; /* of blocks, in the order in which they ended */
    double next_dispatch;
    double told;                     /* when the end of the last block was taken note of */
    double stored;                   /* when L2 has what was written so far */
    unsigned greedy[MAX_SCHEDULERS]; /* the place that issued last */
    uint64_t nr_warps;               /* started */
};

/* --- warps --- */

static void pass_on(struct sim *s, struct sim_warp *w, uint32_t pc)
{
    const struct inst_info *info = &s->program->info[pc];
    double ready = 0;
    uint8_t why = STALL_WAIT;

    for (unsigned i = 0; i < info->nr_sources; i++) {
        if (w->reg[info->source[i]] > ready) {
            ready = w->reg[info->source[i]];
            why = w->reason[info->source[i]];
        }
    }
    for (unsigned i = 0; i < info->nr_dests; i++) {
        w->reg[info->dest[i]] = ready;
        w->reason[info->dest[i]] = why;
    }
}

/* A merged load is there when its head is. */
static void take_from_head(struct sim *s, struct sim_warp *w, uint32_t pc)
{
    const struct inst_info *info = &s->program->info[pc];
    const struct inst_info *head = &s->program->info[s->in->costs[pc].head];

    if (info->nr_dests == 0 || head->nr_dests == 0)
        return;
    w->reg[info->dest[0]] = w->reg[head->dest[0]];
    w->reason[info->dest[0]] = w->reason[head->dest[0]];
}

/* Does the event wait for the phase at which it arrives? */
static bool joins(const struct block_trace *trace, const struct trace_event *event, uint32_t phase)
{
    unsigned found = 0;

    for (uint32_t m = event->meet; m != 0; m = trace->meetings[m - 1].next)
        if (trace->meetings[m - 1].phase == phase)
            found |= trace->meetings[m - 1].waits ? 2 : 1;
    return found == 3;
}

static double *ready_of(struct sim *s, const struct sim_warp *w)
{
    return &s->ready[w->scheduler][w->place];
}

static void update_next(struct sim *s, unsigned scheduler)
{
    const double *ready = s->ready[scheduler];
    double earliest[PLACES_ABREAST];

    if (ready[s->greedy[scheduler]] <= s->issue_free[scheduler]) {
        s->next[scheduler] = s->issue_free[scheduler];
        return;
    }
    /* several chains of comparisons, since one would wait for itself */
    memcpy(earliest, ready, sizeof(earliest));
    for (unsigned i = PLACES_ABREAST; i < s->nr_places; i += PLACES_ABREAST)
        for (unsigned k = 0; k < PLACES_ABREAST; k++)
            earliest[k] = sooner(earliest[k], ready[i + k]);
    s->next[scheduler] =
        later(sooner(sooner(earliest[0], earliest[1]), sooner(earliest[2], earliest[3])),
            s->issue_free[scheduler]);
}

static void release_barrier(struct sim *s, struct sim_block *block, double now)
{
    for (unsigned i = 0; i < MAX_WARPS; i++) {
        struct sim_warp *w = &s->warps[i];

        if (w->block != block || *ready_of(s, w) < INFINITY || w->waits_for != 0)
            continue;
        *ready_of(s, w) = w->depends = later(w->depends, now + BARRIER_CYCLES);
        w->why = STALL_BARRIER;
        update_next(s, w->scheduler);
    }
    block->nr_waiting = 0;
}

static void start_block(struct sim *s, unsigned slot, double now);

static void end_warp(struct sim *s, struct sim_warp *w)
{
    struct sim_block *block = w->block;

    s->out->warp_cycles += w->last + 1 - w->begin;
    w->block = NULL;
    block->end = later(block->end, w->last + 1);
    *ready_of(s, w) = INFINITY;
    block->nr_live--;
    if (block->nr_live > 0) {
        if (block->nr_waiting == block->nr_live)
            release_barrier(s, block, w->last);
        return;
    }
    s->ends[s->nr_done++] = block->end;
    s->told = later(block->end, s->told + BLOCK_NEXT * s->in->turnover);
    if (s->nr_started < s->nr_blocks)
        start_block(s, (unsigned)(block - s->blocks), block->end + BLOCK_GAP * s->in->turnover);
}

static void wait_until(struct sim_warp *w, double at, enum stall why)
{
    if (at <= w->depends)
        return;
    w->depends = at;
    w->why = why;
}

/* From the last arrival at a phase to what waits for it: an mbarrier lies in shared memory. */
static double phase_cycles(const struct sim *s, const struct sim_block *block, uint32_t phase)
{
    switch (block->trace->phases[phase].kind) {
    case MEET_BARRIER:
        return BARRIER_CYCLES;
    case MEET_CLUSTER:
        return NET_LATENCY; /* the last arrival comes from another SM */
    default:
        return s->chip->lat_shared;
    }
}

/* When the copies of other blocks are there for which the phase waits: the n-th of them when the
 * block's own n-th copy to others is. Blocks of a cluster do the same, this one is as far as it is.
 */
static double came_from_far(const struct sim_block *block, uint32_t phase)
{
    const uint64_t received = block->trace->phases[phase].received;
    const uint64_t nr = received < block->nr_sent ? received : block->nr_sent;

    return nr == 0 || block->nr_sent - nr >= SENT_KEPT ? 0 : block->sent[(nr - 1) % SENT_KEPT];
}

/* Asks for what other blocks have L2 send to this one before the phase ends. */
static void receive(struct sim *s, struct sim_block *block, uint32_t number, double now)
{
    struct sim_phase *phase = &block->phases[number];
    uint32_t a = phase->asked ? 0 : block->trace->phases[number].receipts;
    uint8_t reason;

    phase->asked = true;
    for (; a != 0; a = block->trace->accesses[a - 1].next)
        phase->at = later(phase->at,
            sim_access(&s->memory, block, &block->trace->accesses[a - 1], false, now, &reason));
}

/* True: the phase is not over, and the warp is held. */
static bool held_by(struct sim *s, struct sim_warp *w, uint32_t phase)
{
    const struct sim_phase *p = &w->block->phases[phase];

    if (p->left > 0) {
        w->waits_for = phase + 1;
        w->block->nr_held++;
        *ready_of(s, w) = INFINITY;
        return true;
    }
    receive(s, w->block, phase, w->depends);
    wait_until(w, later(p->at, came_from_far(w->block, phase)) + phase_cycles(s, w->block, phase),
        STALL_BARRIER);
    return false;
}

static bool held_by_meetings(struct sim *s, struct sim_warp *w)
{
    if (w->joined != 0 && held_by(s, w, w->joined - 1))
        return true;
    for (uint32_t m = w->events[w->at].meet; m != 0; m = w->block->trace->meetings[m - 1].next) {
        const struct trace_meeting *meeting = &w->block->trace->meetings[m - 1];

        if (meeting->waits && !joins(w->block->trace, &w->events[w->at], meeting->phase) &&
            held_by(s, w, meeting->phase))
            return true;
    }
    return false;
}

/* Steps over events that cost nothing, and finds when the next event can issue. */
static void look_ahead(struct sim *s, struct sim_warp *w)
{
    const struct inst_info *info;
    const struct pc_cost *cost;

    while (w->at < w->nr && s->in->costs[w->events[w->at].pc].free) {
        uint32_t pc = w->events[w->at++].pc;

        if (s->in->costs[pc].head != pc)
            take_from_head(s, w, pc);
        else
            pass_on(s, w, pc);
    }
    if (w->at == w->nr) {
        end_warp(s, w);
        return;
    }
    info = &s->program->info[w->events[w->at].pc];
    cost = &s->in->costs[w->events[w->at].pc];
    w->depends = w->last + 1;
    w->why = STALL_OTHER;
    w->held[0] = w->held[1] = 0;
    w->queued = false;
    for (unsigned i = 0; i < info->nr_sources; i++)
        wait_until(w, w->reg[info->source[i]], (enum stall)w->reason[info->source[i]]);
    if (cost->async_wait && w->nr_groups > cost->async_left) {
        const struct async_group *group = &w->groups[w->nr_groups - cost->async_left - 1];
        wait_until(w, group->done, group->products ? STALL_MATH : STALL_LONG);
    }
    wait_until(w, w->product, STALL_MATH);
    if (cost->release)
        wait_until(w, later(w->depends, w->performed) + MEMBAR_CYCLES, STALL_OTHER);
    if (cost->guard != 0)
        wait_until(
            w, w->reg[cost->guard - 1] + GUARD_CYCLES, (enum stall)w->reason[cost->guard - 1]);
    if (w->at > 0 && w->events[w->at].pc < w->events[w->at - 1].pc &&
        s->program->info[w->events[w->at - 1].pc].is_branch &&
        (s->in->cured & (SPARED(LOOPS) | SPARED(OVERHEAD))) == 0)
        w->depends = later(w->depends, w->last + 1 + JUMP_CYCLES);
    wait_until(w, sim_code_fetch(&s->code, cost->place, w->last + 1), STALL_OTHER);
    if (!held_by_meetings(s, w))
        *ready_of(s, w) = w->depends;
}

static void release_phase(struct sim *s, struct sim_block *block, uint32_t phase)
{
    for (unsigned i = 0; i < MAX_WARPS; i++) {
        struct sim_warp *w = &s->warps[i];

        if (w->block != block || w->waits_for != phase + 1)
            continue;
        w->waits_for = 0;
        block->nr_held--;
        look_ahead(s, w);
        update_next(s, w->scheduler);
    }
}

/* Arrives at the phases at which the event does, at `at`. */
static void meet(struct sim *s, struct sim_warp *w, const struct trace_event *event, double at)
{
    struct sim_block *block = w->block;

    for (uint32_t m = event->meet; m != 0; m = block->trace->meetings[m - 1].next) {
        const struct trace_meeting *meeting = &block->trace->meetings[m - 1];
        struct sim_phase *phase = &block->phases[meeting->phase];

        if (meeting->waits)
            continue;
        if (joins(block->trace, event, meeting->phase))
            w->joined = meeting->phase + 1;
        phase->at = later(phase->at, at);
        receive(s, block, meeting->phase, at);
        phase->left -= phase->left > 0;
        if (phase->left == 0)
            release_phase(s, block, meeting->phase);
    }
}

static void start_warp(
    struct sim *s, struct sim_warp *w, struct sim_block *block, unsigned number, double now)
{
    const struct warp_trace *trace = &block->trace->warps[number];

    *w = (struct sim_warp){
        .scheduler = w->scheduler, .place = w->place, .reg = w->reg, .reason = w->reason};
    memset(w->reg, 0, (s->program->nr_regs + 1) * sizeof(*w->reg));
    memset(w->reason, 0, s->program->nr_regs + 1);
    w->block = block;
    s->age[w->scheduler][w->place] = (double)(++s->nr_warps * MAX_WARPS + w->place);
    w->events = trace->events;
    w->nr = (size_t)((double)trace->nr * s->cut);
    if (w->nr == 0)
        w->nr = trace->nr;
    w->begin = now;
    w->last = now - 1;
    w->owed[0] = w->owed[1] = (double)(s->nr_started % 16) / 16; /* not all blocks at once */
}

static void start_block(struct sim *s, unsigned slot, double now)
{
    uint64_t nr = s->nr_started++;
    struct sim_block *block = &s->blocks[slot];
    unsigned first = slot * s->warps_per_block;

    now = later(now, s->next_dispatch);
    s->next_dispatch = now + (nr < s->nr_slots ? BLOCK_FIRST : BLOCK_NEXT) * s->in->turnover;
    block->trace = s->in->traces[nr % s->in->nr_traces];
    block->space = (nr / s->in->nr_traces & 0x3f) << 57;
    block->nr_live = block->trace->nr_warps;
    block->nr_waiting = block->nr_held = 0;
    block->nr_sent = 0;
    block->end = now;
    for (size_t i = 0; i < block->trace->nr_phases; i++)
        block->phases[i] = (struct sim_phase){.left = block->trace->phases[i].arrivals};
    for (unsigned i = 0; i < block->trace->nr_warps; i++)
        start_warp(s, &s->warps[first + i], block, i, now);
    for (unsigned i = 0; i < block->trace->nr_warps; i++)
        look_ahead(s, &s->warps[first + i]);
    for (unsigned i = 0; i < s->nr_schedulers; i++)
        update_next(s, i);
}

static void commit_copies(struct sim_warp *w)
{
    if (w->nr_groups == MAX_GROUPS) {
        memmove(&w->groups[0], &w->groups[1], (MAX_GROUPS - 1) * sizeof(w->groups[0]));
        w->nr_groups--;
    }
    /* Groups complete in order. */
    if (w->nr_groups > 0)
        w->open.done = later(w->open.done, w->groups[w->nr_groups - 1].done);
    w->groups[w->nr_groups++] = w->open;
    w->open = (struct async_group){0};
}

/* Sets in motion everything that an issued instruction does. */
static void execute(
    struct sim *s, struct sim_warp *w, const struct trace_event *event, bool spared, double now)
{
    const struct pc_cost *cost = &s->in->costs[event->pc];
    const struct inst_info *info = &s->program->info[event->pc];
    double done = now + (spared && s->in->cured & SPARED(BARRIERS) ? 1 : cost->latency);
    uint8_t reason = cost->reason;

    if (info->is_memory && event->nr_accesses == 0) /* predicated off */
        done = now + s->chip->lat_alu;
    if (cost->constant)
        done = later(done, sim_code_constants(&s->code, now));
    if (cost->lsu && !spared)
        done = sim_lsu_enter(&s->memory, now, 1) + cost->latency;
    for (unsigned i = 0; i < event->nr_accesses; i++) {
        const struct trace_access *a = &w->block->trace->accesses[event->access + i];

        if (s->in->cured && sim_is_gone(&s->memory, a))
            continue;
        s->memory.rivals = cost->rivals;
        const double at = sim_access(&s->memory, w->block, a, spared, now, &reason);

        w->performed = later(w->performed, s->memory.performed);
        if (a->is_write && a->space == PTX_GLOBAL)
            s->stored = later(s->stored, s->memory.performed);
        if (a->away && a->bulk && a->lines > 0)
            w->block->sent[w->block->nr_sent++ % SENT_KEPT] = later(at, done);
        if (cost->async_copy)
            w->open.done = later(w->open.done, at);
        else
            done = i == 0 ? at : later(done, at);
    }
    if (cost->wgmma) {
        done = w->enters + cost->latency;
        w->open = (struct async_group){later(w->open.done, done), true};
        if (s->in->run->launch->serial_products)
            w->product = done + JOIN_CYCLES;
        done = now + 1;
    }
    if (cost->async_commit)
        commit_copies(w);
    if (cost->acquire)
        l1_forget(&s->memory.l1);
    if (event->meet != 0)
        meet(s, w, event,
            info->ptx->sub == PTX_SUB_MBARRIER_ARRIVE ? later(now, w->open.done)
            : info->is_memory                         ? later(now, done)
                                                      : now);
    for (unsigned i = 0; i < info->nr_dests; i++) {
        w->reg[info->dest[i]] = done;
        w->reason[info->dest[i]] = reason;
    }
    /* The PTX does not show spills: charge them as L1 hits, evenly over the instructions. */
    w->spills += s->in->spill_rate;
    while (w->spills >= 1) {
        w->spills -= 1;
        sim_lsu_enter(&s->memory, now, 1);
        w->last += 1 + s->chip->lat_l1 / 4;
    }
}

static void account(struct sim *s, const struct sim_warp *w, uint32_t pc, double now)
{
    double from = w->last + 1, dep = w->depends - from, total = now - from;

    s->out->stall_pc[pc] += total;
    if (dep > 0)
        s->out->stall[w->why] += dep;
    s->out->stall[STALL_MIO] += w->held[0];
    s->out->stall[STALL_MATH] += w->held[1];
    s->out->stall[STALL_OTHER] += later(0, total - later(dep, 0) - w->held[0] - w->held[1]);
}

/* The LSU takes what its queue holds; the rest waits, in the order in which it came. A waiting warp
 * gets a time by which those before it should be through, so that it rarely asks twice. */
static bool held_by_lsu(
    struct sim *s, struct sim_warp *w, const struct trace_event *event, double now)
{
    double room = s->memory.lsu_free - LSU_QUEUE, at;

    if (!w->queued && s->memory.lsu_line > room)
        room = s->memory.lsu_line;
    if (room <= now)
        return false;
    at = room;
    if (!w->queued) {
        s->memory.lsu_line = room;
        for (unsigned i = 0; i < event->nr_accesses; i++)
            s->memory.lsu_line +=
                sim_lsu_cycles(&s->memory, &w->block->trace->accesses[event->access + i]);
        w->queued = true;
    }
    w->held[0] += at - now;
    *ready_of(s, w) = at;
    return true;
}

/* Does a cure take all accesses of the instruction away? */
static bool is_gone(const struct sim *s, const struct sim_warp *w, const struct trace_event *event)
{
    for (unsigned i = 0; i < event->nr_accesses; i++)
        if (!sim_is_gone(&s->memory, &w->block->trace->accesses[event->access + i]))
            return false;
    return event->nr_accesses > 0;
}

/* Under a cure instructions cost a part of what they cost: cost->part; those of few lanes their
 * share of lanes; and what a warp does while others wait at a barrier is shared out among them. */
static double part_of_cost(
    const struct sim *s, const struct sim_warp *w, const struct trace_event *event)
{
    const unsigned cured = s->in->cured;
    const unsigned nr_waiting = w->block->nr_waiting + w->block->nr_held;
    double part = (double)s->in->costs[event->pc].part;

    if (is_gone(s, w, event))
        return 0;
    if (cured & SPARED(DIVERGENCE) && event->lanes > 0)
        part *= event->lanes / (double)WARP_LANES;
    if (cured & SPARED(BARRIERS) && nr_waiting > 0)
        part *= 1 - nr_waiting / (double)w->block->nr_live;
    return part;
}

/* Makes the warp wait for a pipe or the LSU when they are busy. True: it cannot issue now. */
static bool held_up(struct sim *s, struct sim_warp *w, unsigned scheduler,
    const struct trace_event *event, unsigned *pipe, double now)
{
    const struct pc_cost *cost = &s->in->costs[event->pc];
    double *free_at = s->pipe_free[scheduler];

    *pipe = cost->pipe;
    if (cost->alt != PIPE_NONE && free_at[cost->alt] < free_at[*pipe])
        *pipe = cost->alt;
    if ((cost->lsu || event->nr_accesses > 0) && held_by_lsu(s, w, event, now))
        return true;
    /* The tensor core makes products of warpgroups in the order in which they are handed to it. */
    w->enters = later(now, free_at[*pipe]);
    if (cost->wgmma)
        return false;
    const double free = *pipe == PIPE_TENSOR ? later(free_at[*pipe], w->next_mma) : free_at[*pipe];
    if (*pipe != PIPE_NONE && free > now) {
        w->held[1] += free - now;
        *ready_of(s, w) = free;
        return true;
    }
    return false;
}

static void arrive(struct sim *s, struct sim_warp *w, double now)
{
    struct sim_block *block = w->block;

    *ready_of(s, w) = INFINITY;
    if (++block->nr_waiting == block->nr_live)
        release_barrier(s, block, now);
}

/* Occupies the scheduler and a pipe. */
static void charge(
    struct sim *s, unsigned scheduler, unsigned pipe, const struct pc_cost *cost, double now)
{
    s->out->issued += cost->slots;
    s->issue_free[scheduler] = now + cost->slots;
    s->pipe_free[scheduler][pipe] = later(now, s->pipe_free[scheduler][pipe]) + cost->pipe_cycles;
    s->out->pipe_busy[pipe] += cost->pipe_cycles;
}

static void issue(struct sim *s, unsigned number, double now)
{
    struct sim_warp *w = &s->warps[number];
    unsigned scheduler = w->scheduler, pipe = PIPE_NONE;
    const struct trace_event *event = &w->events[w->at];
    const struct pc_cost *cost = &s->in->costs[event->pc];
    double *owed = &w->owed[event->nr_accesses > 0];
    const double now_owed = *owed + (s->in->cured != 0 ? part_of_cost(s, w, event) : 1);
    const bool spared = now_owed < 1;

    w->enters = now;
    if (!spared && held_up(s, w, scheduler, event, &pipe, now))
        return;
    account(s, w, event->pc, now);
    if (!spared)
        charge(s, scheduler, pipe, cost, now);
    if (pipe == PIPE_TENSOR && !cost->wgmma)
        w->next_mma = now + mma_of_warp * cost->pipe_cycles;
    *owed = spared ? now_owed : now_owed - 1;
    w->last = now + (spared ? 0 : cost->slots) - 1;
    execute(s, w, event, spared, now);
    w->at++;
    look_ahead(s, w);
    if (w->waits_for == 0)
        w->joined = 0;
    if (cost->barrier && event->meet == 0 && w->block != NULL)
        arrive(s, w, now);
}

/* Picks the warp that issued last while it can go on, else the youngest that can (Huerta et al.,
 * "Analyzing Modern NVIDIA GPU cores", arXiv 2503.20481, section 5.1.2: greedy, then youngest). */
static unsigned pick_warp(struct sim *s, unsigned scheduler, double now)
{
    const double *ready = s->ready[scheduler], *ages = s->age[scheduler];
    double youngest[PLACES_ABREAST] = {0}, age;

    if (ready[s->greedy[scheduler]] <= now)
        return s->greedy[scheduler] * s->nr_schedulers + scheduler;
    for (unsigned i = 0; i < s->nr_places; i += PLACES_ABREAST)
        for (unsigned k = 0; k < PLACES_ABREAST; k++)
            youngest[k] = later(youngest[k], (double)(ready[i + k] <= now) * ages[i + k]);
    age = later(later(youngest[0], youngest[1]), later(youngest[2], youngest[3]));
    if (age <= 0)
        return MAX_WARPS;
    s->greedy[scheduler] = (unsigned)((uint64_t)age % MAX_WARPS);
    return s->greedy[scheduler] * s->nr_schedulers + scheduler;
}

/* Lets all warps go on: only some reach the barrier, or traces were cut at different places. */
static bool unlock(struct sim *s, double now)
{
    bool any = false;

    for (unsigned i = 0; i < s->nr_slots; i++) {
        if (s->blocks[i].nr_waiting > 0) {
            release_barrier(s, &s->blocks[i], now);
            any = true;
        }
    }
    for (unsigned i = 0; i < MAX_WARPS; i++) {
        struct sim_warp *w = &s->warps[i];

        if (w->block == NULL || w->waits_for == 0)
            continue;
        w->block->phases[w->waits_for - 1] = (struct sim_phase){.at = now, .asked = true};
        release_phase(s, w->block, w->waits_for - 1);
        any = true;
    }
    return any;
}

/* Until all blocks are done; after an interrupt, of which nothing counts, within some microseconds.
 */
static void run(struct sim *s)
{
    double now = 0;

    for (unsigned n = 1; n % TURNS_PER_LOOK != 0 || !launch_interrupted(); n++) {
        unsigned scheduler = 0, warp;

        for (unsigned i = 1; i < s->nr_schedulers; i++)
            if (s->next[i] < s->next[scheduler])
                scheduler = i;
        if (s->next[scheduler] == INFINITY) {
            if (!unlock(s, now))
                return;
            continue;
        }
        now = s->next[scheduler];
        warp = pick_warp(s, scheduler, now);
        if (warp < MAX_WARPS)
            issue(s, warp, now);
        update_next(s, scheduler);
    }
}

/* --- the whole --- */

static void plan_blocks(struct sim *s)
{
    const struct sim_input *in = s->in;
    double kept, events = time_traces_mean(in->traces, in->nr_traces, &kept), nr;

    if (events < 1)
        events = 1;
    s->cut = 1;
    /* Small blocks meet in ever other ways: more sets of them have a steadier rate. */
    nr = later(3, sooner(MOST_SETS / in->turnover,
                      floor(sooner(in->most_events, small_events) / (events * s->nr_slots))));
    nr = sooner((double)in->nr_blocks, nr * s->nr_slots);
    /* Blocks end together, and a set that is not full would run faster, each block for itself. */
    if (events * nr > in->most_events)
        nr = s->nr_slots * later(1, floor(in->most_events / events / s->nr_slots));
    nr = sooner(nr, (double)in->nr_blocks);
    if (events * nr > in->most_events)
        s->cut = in->most_events / (events * nr);
    s->nr_blocks = (uint64_t)nr;
    s->cut = s->cut < 1e-3 ? 1e-3 : s->cut;
}

/* Scales from the simulated blocks to all blocks of the SM: the others end at the rate at which
 * blocks ended once the first set was through. */
static double all_cycles(const struct sim *s, double kept)
{
    double last = s->ends[s->nr_done - 1], rest, rate;

    if (s->nr_done > s->nr_slots)
        rate = (last - s->ends[s->nr_slots - 1]) / (double)(s->nr_done - s->nr_slots);
    else
        rate = last / (double)s->nr_done;
    if (rate < last / (double)s->nr_done * 0.5)
        rate = last / (double)s->nr_done;
    s->out->per_block = last / (double)s->nr_done / kept;
    rest = (double)s->in->nr_blocks - (double)s->nr_done;
    /* The launch waits until L2 has what was written, and for the ends of the last blocks. */
    last = later(last, later(s->stored, s->told));
    return (last + (rest > 0 ? rest * rate : 0)) / kept;
}

static void sim_finish(struct sim *s)
{
    for (unsigned i = 0; i < MAX_WARPS; i++) {
        free(s->warps[i].reg);
        free(s->warps[i].reason);
    }
    for (unsigned i = 0; i < s->nr_slots; i++)
        free(s->blocks[i].phases);
    free(s->blocks);
    sim_memory_finish(&s->memory);
    sim_code_finish(&s->code);
    free(s->ends);
}

static void sim_init(struct sim *s)
{
    unsigned nr_warps;
    size_t nr_phases = 0;

    s->program = s->in->run->program;
    s->chip = s->in->run->chip;
    s->nr_schedulers =
        s->chip->schedulers_per_sm < MAX_SCHEDULERS ? s->chip->schedulers_per_sm : MAX_SCHEDULERS;
    s->warps_per_block = s->in->run->nr_warps;
    s->nr_slots = s->in->resident > 0 ? s->in->resident : 1;
    while (s->nr_slots > 1 && s->nr_slots * s->warps_per_block > MAX_WARPS)
        s->nr_slots--;
    nr_warps = s->nr_slots * s->warps_per_block;
    s->nr_places = (nr_warps + s->nr_schedulers - 1) / s->nr_schedulers;
    s->nr_places = (s->nr_places + PLACES_ABREAST - 1) / PLACES_ABREAST * PLACES_ABREAST;
    s->blocks = xcalloc(s->nr_slots, sizeof(*s->blocks));
    for (unsigned i = 0; i < s->in->nr_traces; i++)
        nr_phases =
            nr_phases < s->in->traces[i]->nr_phases ? s->in->traces[i]->nr_phases : nr_phases;
    for (unsigned i = 0; i < s->nr_slots; i++)
        s->blocks[i].phases = xcalloc(nr_phases + 1, sizeof(*s->blocks[i].phases));
    sim_memory_init(&s->memory, s->in, s->out);
    sim_code_init(&s->code, s->in);
    for (unsigned i = 0; i < MAX_WARPS; i++) {
        s->warps[i].scheduler = i % s->nr_schedulers;
        s->warps[i].place = i / s->nr_schedulers;
        *ready_of(s, &s->warps[i]) = INFINITY;
        if (i < nr_warps) {
            s->warps[i].reg = xcalloc(s->program->nr_regs + 1, sizeof(double));
            s->warps[i].reason = xcalloc(s->program->nr_regs + 1, 1);
        }
    }
    for (unsigned i = 0; i < s->nr_schedulers; i++)
        s->next[i] = INFINITY;
    plan_blocks(s);
    s->ends = xcalloc(s->nr_blocks + 1, sizeof(*s->ends));
}

void time_simulate(const struct sim_input *in, struct sim_output *out)
{
    struct sim s = {.in = in, .out = out};
    double kept;

    memset(out, 0, sizeof(*out));
    out->stall_pc = xcalloc(in->run->program->nr_insts + 1, sizeof(*out->stall_pc));
    time_traces_mean(in->traces, in->nr_traces, &kept);
    sim_init(&s);
    kept *= s.cut;
    s.code.latency *= kept; /* code comes once, and is not to be scaled with the rest */
    for (unsigned slot = 0; slot < s.nr_slots && s.nr_started < s.nr_blocks; slot++)
        start_block(&s, slot, 0);
    run(&s);
    if (s.nr_done > 0) {
        out->cycles = all_cycles(&s, kept);
        out->simulated_blocks = (double)s.nr_done * kept;
        out->resident_warps = out->warp_cycles / later(1, s.ends[s.nr_done - 1]);
    }
    sim_finish(&s);
}
