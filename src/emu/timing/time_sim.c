/* Owns the simulation of one SM: warps that issue in order, pipes, the LSU, L1, and the SM's share
 * of what lies behind it. Time is in cycles since the first block started. */
#include "emu/timing/time.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WARPS = 64, MAX_SCHEDULERS = 4, MAX_GROUPS = 8 };
/* Events that one simulation may cost; more work is cut short and scaled. */
static const double max_events = 1.2e6;
/* Sets of resident blocks that are simulated beyond three while they cost no more than so many. */
static const double small_events = 1.5e5;
enum { MOST_SETS = 12 };
/* Figures that no vendor states, of the size that microbenchmarks find from Volta to Hopper: */
enum {
    BARRIER_CYCLES = 12, /* from a barrier's last arrival to the next issue */
    JUMP_CYCLES = 4,     /* to refill a warp's instructions after a jump back */
    LSU_QUEUE = 32,      /* cycles of work in the LSU's queue before warps stall */
    STORE_QUEUE = 800    /* cycles of stores queued towards L2 before the LSU stalls */
};
/* Fitted. Global loads that L1 holds at a time: to what tiling in shared memory gains over the
 * naive f32 matrix product (1.5 times, siboehm's SGEMM tutorial on GA102). Cycles from a block's
 * end to the first instruction of its successor: to a sum of 2^30 integers on H100 by blocks of 512
 * threads with an element each (bench/time, vector_sum_one_pass), where the chip takes 4.7 cycles a
 * block, a third more than the block's own instructions, barriers and wait for DRAM explain; from
 * 800 on, element-wise kernels of 128 threads a block no longer stream as was measured. */
enum { L1_QUEUE = 512, BLOCK_GAP = 600, BLOCK_DISPATCH = 20 };

/* fmax and fmin without their care for NaN, which takes most of their time. */
static inline double later(double a, double b)
{
    return a > b ? a : b;
}

static inline double sooner(double a, double b)
{
    return a < b ? a : b;
}

/* Fractions of a sector that the accesses to a buffer owe to DRAM. */
struct debt {
    double first, late, again, write;
};

struct sim_block {
    const struct block_trace *trace;
    uint64_t space; /* added to sectors that only this copy of the trace touches */
    unsigned nr_live, nr_waiting;
    double end;
};

struct sim_warp {
    struct sim_block *block; /* NULL: none */
    const struct trace_event *events;
    size_t nr, at;
    double *reg;             /* when each register is ready */
    uint8_t *reason;         /* why one waits for it */
    double ready;            /* of the next event; INFINITY: at a barrier or none */
    double depends, held[2]; /* when operands were ready; then held by LSU, pipe */
    enum stall why;
    double last, begin;              /* last cycle used, first cycle */
    double copies[MAX_GROUPS], copy; /* when groups of async copies are done; the open group */
    unsigned nr_groups;
    uint64_t age; /* warps that started before it */
    double spills;
    bool queued; /* waits for the LSU and has been given a time */
};

struct sim {
    const struct sim_input *in;
    struct sim_output *out;
    const struct program *program;
    const struct chip *chip;
    struct sim_warp warps[MAX_WARPS]; /* warp i is scheduler i % nr_schedulers' */
    /* By scheduler and place (i / nr_schedulers): when the next event can issue; INFINITY at a
     * barrier and where there is no warp. */
    double ready[MAX_SCHEDULERS][MAX_WARPS];
    unsigned nr_places;
    struct sim_block *blocks; /* resident slots */
    unsigned nr_slots, warps_per_block, nr_schedulers;
    double issue_free[MAX_SCHEDULERS], next[MAX_SCHEDULERS];
    double pipe_free[MAX_SCHEDULERS][NR_PIPES];
    double lsu_free, lsu_line, l2_free, dram_free, dram_busy;
    double dram_read, dram_written;     /* sectors */
    double answers[L1_QUEUE], answered; /* when loads under way are answered; the last of them */
    uint64_t nr_answers;
    struct l1 l1;
    struct debt *debts; /* by buffer */
    double cut;         /* share of each trace that is played */
    uint64_t nr_started, nr_done, nr_blocks;
    double *ends; /* of blocks, in the order in which they ended */
    double next_dispatch;
    unsigned greedy[MAX_SCHEDULERS]; /* the place that issued last */
    uint64_t nr_warps;               /* started */
};

/* --- memory --- */

/* Loaded DRAM answers later: queues form before its bandwidth is used up, and longer ones when
 * writes are among the reads (fitted to data/h100/gpu-stream, columns `read` and `scale`: 1.4 times
 * the unloaded latency at 70% of what reading reaches). */
static double dram_latency(const struct sim *s, double now)
{
    double share = now > 2000 ? sooner(1, s->dram_busy / now) : 0;
    double all = s->dram_read + s->dram_written, writes = all > 0 ? s->dram_written / all : 0;

    return s->in->lat_dram * (1 + 0.8 * share * share + 0.6 * share * writes);
}

/* Occupies DRAM for a sector. Writes among reads cost more, as the bus turns round: triad ends at
 * 0.91 of what reading or writing alone reaches (data/h100/gpu-stream). */
static void use_dram(struct sim *s, double now, double cost)
{
    double cycles = cost * 32 / s->in->dram_bytes_per_clk;

    s->dram_free = later(s->dram_free, now) + cycles;
    s->dram_busy += cycles;
    s->out->dram_sectors++;
}

/* How L2 answers: from its own, from DRAM, or when another block's sector has come from there. */
enum answer { FROM_L2, FROM_DRAM, WITH_ANOTHER };

/* Asks L2 for one sector; gives the time of the answer. */
static double ask_l2(struct sim *s, double now, enum answer answer)
{
    double done;

    s->l2_free = later(s->l2_free, now) + 32 / s->in->l2_bytes_per_clk;
    s->out->l2_sectors++;
    done = s->l2_free + s->in->lat_l2;
    if (answer == FROM_L2)
        return done;
    if (answer == FROM_DRAM) {
        s->dram_read++;
        use_dram(s, now, 1);
    }
    return later(done, later(s->dram_free, now) + dram_latency(s, now));
}

/* Sectors of a line travel together, so the first of them decides for all. What first reads owe is
 * owed when L1 has the sector, too: then the others pay. */
static enum answer decide(struct debt *debt, bool first)
{
    if (!first)
        return debt->again >= 1 ? FROM_DRAM : FROM_L2;
    return debt->first >= 1 ? FROM_DRAM : debt->late >= 1 ? WITH_ANOTHER : FROM_L2;
}

static void settle_debt(struct debt *debt, bool first, enum answer answer)
{
    if (answer == FROM_DRAM && !first)
        debt->again--;
    else if (answer == FROM_DRAM)
        debt->first--;
    else if (answer == WITH_ANOTHER)
        debt->late--;
}

static double load_global(
    struct sim *s, const struct sim_block *block, const struct trace_access *a, double now)
{
    const struct buffer_traffic none = {0},
                                *of = a->traffic ? &s->in->traffic->of[a->traffic - 1] : &none;
    struct debt *debt = &s->debts[a->traffic];
    double done = now + s->chip->lat_l1;
    uint64_t line = UINT64_MAX;
    enum answer answer = FROM_L2;

    for (unsigned i = 0; i < a->nr_sectors; i++) {
        uint64_t entry = block->trace->sectors[a->first + i], sector = TRACE_SECTOR(entry);
        bool hit = false, first = (entry & TRACE_FIRST) != 0;
        double own, *ready = &own;

        if ((entry & TRACE_SHARED) == 0)
            sector += block->space;
        if (!a->past_l1)
            ready = l1_sector(&s->l1, sector, now, &hit);
        s->out->l1_lookups++;
        debt->first += first ? of->first : 0;
        if (hit) {
            s->out->l1_hits++;
        } else {
            debt->again += first || a->space == PTX_LOCAL
                               ? 0
                               : s->in->traffic->again[TRACE_DISTANCE_OF(entry)];
            debt->late += first ? of->late - of->first : 0;
            if (sector / 4 != line)
                answer = decide(debt, first);
            line = sector / 4;
            settle_debt(debt, first, answer);
            *ready = ask_l2(s, now, answer);
            s->out->l2_read_sectors++;
        }
        done = later(done, *ready);
    }
    return done;
}

static void write_dram(struct sim *s, struct debt *debt, double share, double now)
{
    debt->write += share;
    if (debt->write < 1)
        return;
    debt->write--;
    s->dram_written++;
    use_dram(s, now, 1 + 0.2 * sooner(1, s->dram_read / s->dram_written));
}

static void store_global(
    struct sim *s, const struct sim_block *block, const struct trace_access *a, double now)
{
    const double share = a->traffic ? s->in->traffic->of[a->traffic - 1].write : 0;

    for (unsigned i = 0; i < a->nr_sectors; i++) {
        const uint64_t *sectors = &block->trace->sectors[a->first];
        uint64_t entry = sectors[i], pair = TRACE_SECTOR(entry) ^ 1;
        bool hit, paired = (i > 0 && TRACE_SECTOR(sectors[i - 1]) == pair) ||
                           (i + 1 < a->nr_sectors && TRACE_SECTOR(sectors[i + 1]) == pair);

        /* L2 takes 64 bytes at a time, so a lone sector uses the place of two. */
        s->l2_free = later(s->l2_free, now) + (paired ? 1 : 2) * 32 / s->in->l2_bytes_per_clk;
        s->out->l2_sectors++;
        if (a->space == PTX_LOCAL) /* written back only when evicted: stays in L1 */
            *l1_sector(&s->l1, TRACE_SECTOR(entry) + block->space, now, &hit) = now;
        else if ((entry & TRACE_FIRST) != 0)
            write_dram(s, &s->debts[a->traffic], share, now);
    }
    /* Stores wait in queues, not in warps. When the queues are full, later accesses wait. */
    s->lsu_free = later(s->lsu_free, later(s->l2_free, s->dram_free) - STORE_QUEUE);
}

static double atomic_global(
    struct sim *s, const struct sim_block *block, const struct trace_access *a, double now)
{
    const struct buffer_traffic none = {0},
                                *of = a->traffic ? &s->in->traffic->of[a->traffic - 1] : &none;
    struct debt *debt = &s->debts[a->traffic];
    double done = now;

    /* An atomic occupies its sector twice: to read and to write. */
    for (unsigned i = 0; i < a->nr_sectors; i++) {
        const bool first = (block->trace->sectors[a->first + i] & TRACE_FIRST) != 0;
        enum answer answer;

        debt->first += first ? of->first : 0;
        answer = first && debt->first >= 1 ? FROM_DRAM : FROM_L2;
        settle_debt(debt, true, answer);
        done = ask_l2(s, now, answer) - s->in->lat_l2;
        s->l2_free += 32 / s->in->l2_bytes_per_clk;
        s->out->l2_sectors++;
        if (first)
            write_dram(s, debt, of->write, now);
    }
    s->lsu_free = later(s->lsu_free, s->l2_free - STORE_QUEUE);
    return done + s->chip->lat_atomic;
}

/* The LSU takes the larger of two stages: data wavefronts, and tags at 0.55 + 0.25 per 128-byte
 * line, 0.45 more when the lines are apart. Fitted to gpu-strides on H200 (te42kyfo/gpu-benches);
 * executed, all 46 rows are within 10% (tests/unit/emu/strides.c). */
static double lsu_cycles(const struct trace_access *a)
{
    double data = a->wavefronts;

    if (a->wide > 0)
        return a->wide;
    if (a->space == PTX_SHARED)
        return a->is_atomic ? later(data, 2.0 * a->same_address) : data;
    return later(later(data, 1), (a->apart ? 1.0 : 0.55) + 0.25 * a->lines);
}

static double lsu_enter(struct sim *s, double now, double cycles)
{
    double start = later(s->lsu_free, now);

    s->lsu_free = start + cycles;
    s->out->lsu_busy += cycles;
    return start + cycles - 1;
}

/* L1 holds L1_QUEUE global loads that wait, and gives their places free in the order in which they
 * came. Answers come as soon as they are there: hits pass misses (as in Accel-Sim, whose L1 was
 * validated on Volta: Khairy et al., ISCA 2020). */
static double hold_place(struct sim *s, double done)
{
    double *oldest = &s->answers[s->nr_answers++ % L1_QUEUE];

    s->answered = later(s->answered, done);
    /* The load that had this place before must have left it. */
    s->lsu_free = later(s->lsu_free, *oldest);
    *oldest = s->answered;
    return done;
}

/* Makes one access; returns the time when its value is there. */
static double access_memory(struct sim *s, const struct sim_block *block,
    const struct trace_access *a, double now, uint8_t *reason)
{
    double start;

    if (a->space == PTX_CONST || a->space == PTX_PARAM)
        return now + 8; /* the constant cache, hit */
    start = lsu_enter(s, now, lsu_cycles(a));
    if (a->space == PTX_SHARED) {
        *reason = STALL_SHORT;
        return start + s->chip->lat_shared;
    }
    *reason = STALL_LONG;
    if (a->is_atomic)
        return atomic_global(s, block, a, start);
    if (a->is_write) {
        store_global(s, block, a, start);
        return start;
    }
    return hold_place(s, load_global(s, block, a, start));
}

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

static double *ready_of(struct sim *s, const struct sim_warp *w)
{
    unsigned i = (unsigned)(w - s->warps);

    return &s->ready[i % s->nr_schedulers][i / s->nr_schedulers];
}

static void update_next(struct sim *s, unsigned scheduler)
{
    const double *ready = s->ready[scheduler];
    double earliest = ready[0];

    for (unsigned i = 1; i < s->nr_places; i++)
        earliest = sooner(earliest, ready[i]);
    s->next[scheduler] = later(earliest, s->issue_free[scheduler]);
}

static void release_barrier(struct sim *s, struct sim_block *block, double now)
{
    for (unsigned i = 0; i < MAX_WARPS; i++) {
        struct sim_warp *w = &s->warps[i];

        if (w->block != block || *ready_of(s, w) < INFINITY)
            continue;
        *ready_of(s, w) = w->depends = later(w->depends, now + BARRIER_CYCLES);
        w->why = STALL_BARRIER;
        update_next(s, i % s->nr_schedulers);
    }
    block->nr_waiting = 0;
}

static void start_block(struct sim *s, unsigned slot, double now);

static void end_warp(struct sim *s, struct sim_warp *w)
{
    struct sim_block *block = w->block;

    s->out->warp_cycles += w->last + 1 - w->begin;
    block->end = later(block->end, w->last + 1);
    w->block = NULL;
    *ready_of(s, w) = INFINITY;
    block->nr_live--;
    if (block->nr_live > 0) {
        if (block->nr_waiting == block->nr_live)
            release_barrier(s, block, w->last);
        return;
    }
    s->ends[s->nr_done++] = block->end;
    if (s->nr_started < s->nr_blocks)
        start_block(s, (unsigned)(block - s->blocks), block->end + BLOCK_GAP);
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
    for (unsigned i = 0; i < info->nr_sources; i++) {
        if (w->reg[info->source[i]] > w->depends) {
            w->depends = w->reg[info->source[i]];
            w->why = (enum stall)w->reason[info->source[i]];
        }
    }
    if (cost->async_wait && w->nr_groups > cost->async_left) {
        double done = w->copies[w->nr_groups - cost->async_left - 1];

        if (done > w->depends) {
            w->depends = done;
            w->why = STALL_LONG;
        }
    }
    if (cost->release > 0) {
        w->depends += cost->release * s->in->lat_l2;
        w->why = STALL_OTHER;
    }
    if (cost->guard != 0 && w->reg[cost->guard - 1] + GUARD_CYCLES > w->depends) {
        w->depends = w->reg[cost->guard - 1] + GUARD_CYCLES;
        w->why = (enum stall)w->reason[cost->guard - 1];
    }
    if (w->at > 0 && w->events[w->at].pc < w->events[w->at - 1].pc &&
        s->program->info[w->events[w->at - 1].pc].is_branch)
        w->depends = later(w->depends, w->last + 1 + JUMP_CYCLES);
    *ready_of(s, w) = w->depends;
}

static void start_warp(
    struct sim *s, struct sim_warp *w, struct sim_block *block, unsigned number, double now)
{
    const struct warp_trace *trace = &block->trace->warps[number];
    double *reg = w->reg;
    uint8_t *reason = w->reason;

    memset(w, 0, sizeof(*w));
    w->reg = reg;
    w->reason = reason;
    memset(reg, 0, (s->program->nr_regs + 1) * sizeof(*reg));
    memset(reason, 0, s->program->nr_regs + 1);
    w->block = block;
    w->age = s->nr_warps++;
    w->events = trace->events;
    w->nr = (size_t)((double)trace->nr * s->cut);
    if (w->nr == 0)
        w->nr = trace->nr;
    w->begin = now;
    w->last = now - 1;
}

static void start_block(struct sim *s, unsigned slot, double now)
{
    uint64_t nr = s->nr_started++;
    struct sim_block *block = &s->blocks[slot];
    unsigned first = slot * s->warps_per_block;

    now = later(now, s->next_dispatch);
    s->next_dispatch = now + BLOCK_DISPATCH;
    block->trace = s->in->traces[nr % s->in->nr_traces];
    block->space = (nr / s->in->nr_traces & 0x3f) << 57;
    block->nr_live = block->trace->nr_warps;
    block->nr_waiting = 0;
    block->end = now;
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
        memmove(&w->copies[0], &w->copies[1], (MAX_GROUPS - 1) * sizeof(w->copies[0]));
        w->nr_groups--;
    }
    /* Groups complete in order. */
    if (w->nr_groups > 0)
        w->copy = later(w->copy, w->copies[w->nr_groups - 1]);
    w->copies[w->nr_groups++] = w->copy;
    w->copy = 0;
}

/* Sets in motion everything that an issued instruction does. */
static void execute(struct sim *s, struct sim_warp *w, const struct trace_event *event, double now)
{
    const struct pc_cost *cost = &s->in->costs[event->pc];
    const struct inst_info *info = &s->program->info[event->pc];
    double done = now + cost->latency;
    uint8_t reason = cost->reason;

    if (info->is_memory && event->nr_accesses == 0) /* predicated off */
        done = now + s->chip->lat_alu;
    if (cost->lsu)
        done = lsu_enter(s, now, 1) + cost->latency;
    for (unsigned i = 0; i < event->nr_accesses; i++) {
        double at =
            access_memory(s, w->block, &w->block->trace->accesses[event->access + i], now, &reason);

        if (cost->async_copy)
            w->copy = later(w->copy, at);
        else
            done = i == 0 ? at : later(done, at);
    }
    if (cost->async_commit)
        commit_copies(w);
    for (unsigned i = 0; i < info->nr_dests; i++) {
        w->reg[info->dest[i]] = done;
        w->reason[info->dest[i]] = reason;
    }
    /* The PTX does not show spills: charge them as L1 hits, evenly over the instructions. */
    w->spills += s->in->spill_rate;
    while (w->spills >= 1) {
        w->spills -= 1;
        lsu_enter(s, now, 1);
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
    double room = s->lsu_free - LSU_QUEUE, at;

    if (!w->queued && s->lsu_line > room)
        room = s->lsu_line;
    if (room <= now)
        return false;
    at = room;
    if (!w->queued) {
        s->lsu_line = room;
        for (unsigned i = 0; i < event->nr_accesses; i++)
            s->lsu_line += lsu_cycles(&w->block->trace->accesses[event->access + i]);
        w->queued = true;
    }
    w->held[0] += at - now;
    *ready_of(s, w) = at;
    return true;
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
    if (*pipe != PIPE_NONE && free_at[*pipe] > now) {
        w->held[1] += free_at[*pipe] - now;
        *ready_of(s, w) = free_at[*pipe];
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

static void issue(struct sim *s, unsigned number, double now)
{
    struct sim_warp *w = &s->warps[number];
    unsigned scheduler = number % s->nr_schedulers, pipe;
    const struct trace_event *event = &w->events[w->at];
    const struct pc_cost *cost = &s->in->costs[event->pc];

    if (held_up(s, w, scheduler, event, &pipe, now))
        return;
    account(s, w, event->pc, now);
    s->out->issued += cost->slots;
    s->issue_free[scheduler] = now + cost->slots;
    s->pipe_free[scheduler][pipe] = now + cost->pipe_cycles;
    s->out->pipe_busy[pipe] += cost->pipe_cycles;
    w->last = now + cost->slots - 1;
    execute(s, w, event, now);
    w->at++;
    look_ahead(s, w);
    if (cost->barrier && w->block != NULL)
        arrive(s, w, now);
}

/* Picks the warp that issued last while it can go on, else the youngest that can (Huerta et al.,
 * "Analyzing Modern NVIDIA GPU cores", arXiv 2503.20481, section 5.1.2: greedy, then youngest). */
static unsigned pick_warp(struct sim *s, unsigned scheduler, double now)
{
    const double *ready = s->ready[scheduler];
    unsigned best = MAX_WARPS;
    uint64_t age = 0;

    if (ready[s->greedy[scheduler]] <= now)
        return s->greedy[scheduler] * s->nr_schedulers + scheduler;
    for (unsigned i = 0; i < s->nr_places; i++) {
        if (ready[i] <= now && s->warps[i * s->nr_schedulers + scheduler].age >= age) {
            best = i;
            age = s->warps[i * s->nr_schedulers + scheduler].age;
        }
    }
    if (best == MAX_WARPS)
        return MAX_WARPS;
    s->greedy[scheduler] = best;
    return best * s->nr_schedulers + scheduler;
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
    return any;
}

static void run(struct sim *s)
{
    double now = 0;

    for (;;) {
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
    nr = later(3, sooner(MOST_SETS, floor(small_events / (events * s->nr_slots))));
    nr = sooner((double)in->nr_blocks, nr * s->nr_slots);
    /* Blocks end together, and a set that is not full would run faster, each block for itself. */
    if (events * nr > max_events)
        nr = s->nr_slots * later(1, floor(max_events / events / s->nr_slots));
    nr = sooner(nr, (double)in->nr_blocks);
    if (events * nr > max_events)
        s->cut = max_events / (events * nr);
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
    rest = (double)s->in->nr_blocks - (double)s->nr_done;
    return (last + (rest > 0 ? rest * rate : 0)) / kept;
}

static void sim_finish(struct sim *s)
{
    for (unsigned i = 0; i < MAX_WARPS; i++) {
        free(s->warps[i].reg);
        free(s->warps[i].reason);
    }
    free(s->blocks);
    l1_finish(&s->l1);
    free(s->debts);
    free(s->ends);
}

static void sim_init(struct sim *s)
{
    unsigned nr_warps;

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
    s->blocks = xcalloc(s->nr_slots, sizeof(*s->blocks));
    s->debts = xcalloc(s->in->traffic->nr + 1, sizeof(*s->debts));
    l1_init(&s->l1, s->in->l1_bytes);
    for (unsigned i = 0; i < MAX_WARPS; i++) {
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
    time_traces_reorder(in);
    time_traces_mean(in->traces, in->nr_traces, &kept);
    sim_init(&s);
    kept *= s.cut;
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
