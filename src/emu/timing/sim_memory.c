/* Owns the memory path of the simulated SM. */
#include "emu/timing/sim_memory.h"

#include "base/mem.h"

#include <stdlib.h>

/* Cycles of stores queued towards L2 before the LSU stalls: of the size that microbenchmarks find.
 */
enum { STORE_QUEUE = 800 };
enum { NET_CYCLES = 2, PORT_CYCLES = 1 }; /* a sector: from an SM, into one */

/* Loaded DRAM answers later: queues form before its bandwidth is used up, and longer ones when
 * writes are among the reads (fitted to data/h100/gpu-stream, columns `read` and `scale`: 1.4 times
 * the unloaded latency at 70% of what reading reaches). */
static double dram_latency(const struct sim_memory *s, double now)
{
    double share = now > 2000 ? sooner(1, s->dram_busy / now) : 0;
    double all = s->dram_read + s->dram_written, writes = all > 0 ? s->dram_written / all : 0;

    return s->in->lat_dram * (1 + 0.8 * share * share + 0.9 * share * writes);
}

/* Of a sector, among those that were read and written so far. */
static double write_cost(const struct sim_memory *s)
{
    return 1 + s->chip->dram_turn_cost * sooner(1, s->dram_read / later(1, s->dram_written));
}

/* Occupies DRAM for a sector. */
static void use_dram(struct sim_memory *s, double now, double cost)
{
    double cycles = cost * 32 / s->in->dram_bytes_per_clk;

    s->dram_free = later(s->dram_free, now) + cycles;
    s->dram_busy += cycles;
}

/* How L2 answers: from its own, from DRAM, or when another block's sector has come from there. */
enum answer { FROM_L2, FROM_DRAM, WITH_ANOTHER };

/* A sector from DRAM comes later when what it takes the place of must first be written: reading 1
 * MiB takes 0.48 us longer on an H100 when L2 is full of such lines, of which what DRAM writes
 * explains 0.14 (bench/card/events.cu). Where DRAM is busy this wait is no longer than its queues:
 * reading 64 MiB takes no longer than the writes explain. Blocks that share what they read wait for
 * it together, in a few bursts; here their fetches are spread over the launch, and count the less
 * the more share. What a launch writes itself makes its first loads wait only: a copy by blocks
 * that wait for every load is as fast as without (bench/card, copy_1_64M). A load that comes alone
 * does not wait for it, and opens a page of DRAM: a chain of loads takes 706 cycles each on a full
 * L2 (bench/card, chain_32M). */
enum { EVICTION_CYCLES = 700, ALONE_CYCLES = 500, FIRST_CYCLES = 3000 };

struct l2_request {
    enum answer answer;
    double later_by; /* cycles, where L2 has it */
    double sectors;  /* of its line, that the access has */
    unsigned blocks; /* that get it: each has its part in what L2 sends once */
    bool lone;       /* the access has not the other half of its 64 bytes */
    bool odd;        /* nor has any other of the block */
};

/* What DRAM's 64 bytes with a sector cost, of which the block wants no other, in sectors: on an
 * H100 four million sectors at random places of 256 MiB take 136 us, half a million 25 us, and of
 * 16 MiB 12 us (bench/card, gather_1_256M, gather_8_256M, gather_8_16M). Where the grid touches
 * most of the buffer, another block wants the other half. */
static double odd_cost(const struct buffer_traffic *of)
{
    const double share = of->all / later(1, (double)(of->end - of->begin));

    return 3 - 2 * share * share;
}

/* Asks L2 for one sector; gives the time of the answer. L2 serves 64 bytes at a time: a million
 * threads that load four words at random take 29.8 us from L2 on an H100, twice as long as the
 * sectors alone would (bench/card, gather_1_1M). */
static double ask_l2(
    struct sim_memory *s, const struct buffer_traffic *of, double now, struct l2_request r)
{
    const bool alone = now - s->dram_asked > ALONE_CYCLES;
    double done, wait = 0;

    s->l2_free =
        later(s->l2_free, now) +
        later(32.0 / SM_PORT_BYTES, (r.lone ? 2 : 1) * 32 / s->in->l2_bytes_per_clk / r.blocks);
    s->out->l2_sectors += 1.0 / r.blocks;
    done = s->l2_free + s->in->lat_l2;
    if (r.answer == FROM_L2)
        return done + r.later_by;
    if (s->in->cured & SPARED(DRAM))
        return later(done, now + s->in->lat_dram);
    if (r.answer == FROM_DRAM) {
        s->dram_read++;
        s->out->dram_sectors++;
        use_dram(s, now,
            (r.odd ? odd_cost(of) : 1) * s->chip->dram_read_cost + of->evict * write_cost(s));
        s->evicting += (now < FIRST_CYCLES ? of->dirty : of->evict) * of->first / r.sectors;
        if (s->evicting >= 1) {
            s->evicting--;
            wait = alone ? 0 : EVICTION_CYCLES;
        }
        s->dram_asked = now;
    }
    done = later(done, now + wait + (alone && r.odd ? s->chip->lat_dram : s->in->lat_dram));
    return later(done, later(s->dram_free, now) + dram_latency(s, now));
}

/* Is the other half of the 64 bytes of an access's sector in the access, too? */
static bool is_paired(const struct sim_block *block, const struct trace_access *a, unsigned i)
{
    const uint64_t *sectors = &block->trace->sectors[a->first];
    const uint64_t pair = TRACE_SECTOR(sectors[i]) ^ 1;

    return (i > 0 && TRACE_SECTOR(sectors[i - 1]) == pair) ||
           (i + 1 < a->nr_sectors && TRACE_SECTOR(sectors[i + 1]) == pair);
}

/* Sectors of a line travel together, so the first of them decides for all. What first reads owe is
 * owed when L1 has the sector, too: then the others pay. */
static enum answer decide(struct debt *debt, bool first)
{
    if (!first)
        return debt->again >= 1 ? FROM_DRAM : debt->again_late >= 1 ? WITH_ANOTHER : FROM_L2;
    return debt->first >= 1 ? FROM_DRAM : debt->late >= 1 ? WITH_ANOTHER : FROM_L2;
}

static void settle_debt(struct debt *debt, bool first, enum answer answer)
{
    if (answer == FROM_DRAM && !first)
        debt->again--;
    else if (answer == FROM_DRAM)
        debt->first--;
    else if (answer == WITH_ANOTHER)
        (*(first ? &debt->late : &debt->again_late))--;
}

/* The sectors of an access that the model looks at: all, or under SCATTER the first of them. */
static unsigned sectors_needed(const struct sim_memory *s, const struct trace_access *a)
{
    return s->in->cured & SPARED(SCATTER) && a->ideal > 0 && a->ideal < a->nr_sectors
               ? a->ideal
               : a->nr_sectors;
}

/* Under SCATTER: sectors that an access would have been the first to touch, and does not. Accesses
 * to the rest of the same sectors touch others then: what is used at all still comes from memory
 * once. Where the chip is full as well, there are more warps, whose waits overlap: then DRAM's
 * bandwidth alone counts (traffic_cycles in time.c). */
static uint32_t firsts_left(
    const struct sim_memory *s, const struct sim_block *block, const struct trace_access *a)
{
    const unsigned end = s->in->cured & SPARED(IDLE) ? 0 : a->nr_sectors;
    uint32_t left = 0;

    for (unsigned i = sectors_needed(s, a); i < end; i++)
        left += (block->trace->sectors[a->first + i] & TRACE_FIRST) != 0;
    return left;
}

/* Is it the first touch of a sector, of its own or of one that an earlier access left? */
static bool takes_first(uint64_t entry, uint32_t *left, bool *other)
{
    *other = (entry & TRACE_FIRST) == 0 && *left > 0;
    *left -= *other;
    return *other || (entry & TRACE_FIRST) != 0;
}

/* What L2's other half adds to a first read, where the latency does not have it already. */
static double far_half(const struct sim_memory *s, const struct buffer_traffic *of)
{
    return later(0, s->chip->lat_l2 * (1 + s->in->far_l2 * of->far_half) - s->in->lat_l2);
}

/* Fitted. The first access of an SM to a buffer waits for its translation: to copies of 1 to 16
 * MiB, which take 1.0 to 1.4 us longer on an H100 than without, and reading 4 MiB 0.7 us
 * (bench/card, copy_16_1M and so on, read_4M); each timed run has other buffers. Further pages are
 * cheap: 128 of 2 MiB take 2.7 us longer than 16 (chain_256M, chain_32M). */
enum { TRANSLATION_CYCLES = 800 };

static double translated(struct sim_memory *s, const struct trace_access *a, double now)
{
    double *there = &s->debts[a->traffic].translated;

    if (a->traffic == 0 || s->in->run->launch->warm)
        return now;
    if (*there == 0)
        *there = now + TRANSLATION_CYCLES;
    return later(now, *there);
}

static double load_global(struct sim_memory *s, const struct sim_block *block,
    const struct trace_access *a, bool spared, double now)
{
    const struct buffer_traffic none = {.alone = 1},
                                *of = a->traffic ? &s->in->traffic->of[a->traffic - 1] : &none;
    struct debt *debt = &s->debts[a->traffic];
    double done = now + s->chip->lat_l1;
    const double per_line = a->nr_sectors / later(1, a->lines);
    uint64_t line = UINT64_MAX;
    enum answer answer = FROM_L2;

    now = translated(s, a, now);
    for (unsigned i = 0; i < sectors_needed(s, a); i++) {
        uint64_t entry = block->trace->sectors[a->first + i], sector = TRACE_SECTOR(entry);
        bool hit = false, other, first = takes_first(entry, &debt->unread, &other);
        double own, *ready = &own;

        if (spared && !first && s->in->cured & SPARED(REPEATS))
            continue;
        if ((entry & TRACE_SHARED) == 0)
            sector += block->space;
        if (!a->past_l1 && !other)
            ready = l1_sector(&s->l1, sector, now, &hit);
        hit = hit || (s->in->cured & SPARED(MISSES) && !first);
        s->out->l1_lookups++;
        debt->first += first ? of->first : 0;
        if (hit) {
            s->out->l1_hits++;
        } else {
            if (!first && a->space != PTX_LOCAL) {
                const double lost = s->in->traffic->again[TRACE_DISTANCE_OF(entry)];

                debt->again += lost * of->alone;
                debt->again_late += lost * (1 - of->alone);
            }
            debt->late += first ? of->late - of->first : 0;
            if (sector / 4 != line)
                answer = decide(debt, first);
            line = sector / 4;
            settle_debt(debt, first, answer);
            *ready = ask_l2(s, of, now,
                (struct l2_request){.answer = answer,
                    .later_by = first ? far_half(s, of) : 0,
                    .sectors = per_line,
                    .blocks = a->blocks,
                    .lone = !(s->in->cured & SPARED(SCATTER)) && !is_paired(block, a, i),
                    .odd = !(s->in->cured & SPARED(SCATTER)) && TRACE_IS_ODD(entry)});
            s->out->l2_read_sectors += 1.0 / a->blocks;
        }
        done = later(done, *ready);
    }
    debt->unread += firsts_left(s, block, a);
    return done;
}

static void write_dram(struct sim_memory *s, struct debt *debt, double share, double now)
{
    debt->write += share;
    if (debt->write < 1)
        return;
    debt->write--;
    s->dram_written++;
    if (s->in->cured & SPARED(DRAM))
        return;
    s->out->dram_sectors++;
    use_dram(s, now, write_cost(s));
}

/* L2 takes 64 bytes at a time, so a lone sector uses the place of two; and of more where only a
 * part of it is written: on an H100 4.2 million lone sectors of which 4 bytes are written take 70.5
 * us, 2.1 million with 8 bytes 25.4 us (bench/card, columns_store_32x8 and _16x16). */
static double lone_store(const struct trace_access *a)
{
    const double left = 1 - (double)a->ideal / later(1, a->nr_sectors);

    return a->ideal > 0 && left > 0 ? 2 + 4.5 * left * left * left : 2;
}

static void store_global(
    struct sim_memory *s, const struct sim_block *block, const struct trace_access *a, double now)
{
    struct debt *debt = &s->debts[a->traffic];
    const double share = a->traffic ? s->in->traffic->of[a->traffic - 1].write : 0;

    for (unsigned i = 0; i < sectors_needed(s, a); i++) {
        const uint64_t *sectors = &block->trace->sectors[a->first];
        uint64_t entry = sectors[i];
        bool other, first = takes_first(entry, &debt->unwritten, &other);

        if (!first && a->space != PTX_LOCAL && s->in->cured & SPARED(REWRITES))
            continue;
        bool hit, paired = is_paired(block, a, i) || sectors_needed(s, a) < a->nr_sectors;

        s->l2_free =
            later(s->l2_free, now) + (paired ? 1 : lone_store(a)) * 32 / s->in->l2_bytes_per_clk;
        s->out->l2_sectors++;
        if (a->space == PTX_LOCAL) /* written back only when evicted: stays in L1 */
            *l1_sector(&s->l1, TRACE_SECTOR(entry) + block->space, now, &hit) = now;
        else if (first)
            write_dram(s, debt, share, now);
    }
    debt->unwritten += firsts_left(s, block, a);
    /* Stores wait in queues, not in warps. When the queues are full, later accesses wait. */
    s->lsu_free = later(s->lsu_free, later(s->l2_free, s->dram_free) - STORE_QUEUE);
}

static double atomic_global(
    struct sim_memory *s, const struct sim_block *block, const struct trace_access *a, double now)
{
    const struct buffer_traffic none = {0},
                                *of = a->traffic ? &s->in->traffic->of[a->traffic - 1] : &none;
    struct debt *debt = &s->debts[a->traffic];
    double done = now;

    now = translated(s, a, now);
    /* An atomic occupies its sector twice: to read and to write. */
    for (unsigned i = 0; i < a->nr_sectors; i++) {
        const bool first = (block->trace->sectors[a->first + i] & TRACE_FIRST) != 0;
        const bool lone = !is_paired(block, a, i);
        enum answer answer;

        debt->first += first ? of->first : 0;
        answer = first && debt->first >= 1 ? FROM_DRAM : FROM_L2;
        settle_debt(debt, true, answer);
        done = ask_l2(s, of, now,
                   (struct l2_request){.answer = answer, .sectors = 1, .blocks = 1, .lone = lone}) -
               s->in->lat_l2;
        s->l2_free += (lone ? 2 : 1) * 32 / s->in->l2_bytes_per_clk;
        s->out->l2_sectors++;
        if (first)
            write_dram(s, debt, of->write, now);
    }
    s->lsu_free = later(s->lsu_free, s->l2_free - STORE_QUEUE);
    return done + s->chip->lat_atomic;
}

/* --- cures --- */

bool sim_is_gone(const struct sim_memory *s, const struct trace_access *a)
{
    const unsigned cured = s->in->cured;

    return (a->space == PTX_LOCAL && cured & SPARED(LOCAL)) ||
           (a->space == PTX_SHARED && cured & SPARED(SHARED)) ||
           (a->is_atomic && cured & SPARED(ATOMICS));
}

/* The wavefronts of the data stage; `now`: without a cure. */
static double data_wavefronts(const struct sim_memory *s, const struct trace_access *a, double now)
{
    const unsigned cured = s->in->cured;

    if (a->space == PTX_SHARED && cured & SPARED(CONFLICTS) && a->ideal < a->wavefronts)
        return now * a->ideal / a->wavefronts;
    if (a->space == PTX_GLOBAL && cured & SPARED(SCATTER) && 4 * now > a->ideal)
        return later(1, a->ideal / 4.0);
    return now;
}

struct stages {
    double tags, data; /* cycles */
};

/* What an access costs the two stages of the LSU: tags take 0.55 + 0.25 per 128-byte line, 0.45
 * more when the lines are apart. Fitted to gpu-strides on H200 (te42kyfo/gpu-benches); executed,
 * all 46 rows are within 10% (tests/unit/emu/strides.c). */
static struct stages stages_of(const struct sim_memory *s, const struct trace_access *a)
{
    const unsigned cured = s->in->cured;
    double data = a->wide > 0 ? a->wide : a->wavefronts, lines = a->lines;
    bool apart = a->apart;

    if (a->bulk)
        return (struct stages){0, 0};
    if (a->away)
        return (struct stages){0, lines};
    if (cured) {
        if (cured & SPARED(SCATTER) && a->space == PTX_GLOBAL && 4 * lines > a->ideal) {
            lines = (a->ideal + 3) / 4;
            apart = false;
        }
        data = data_wavefronts(s, a, data);
    }
    if (a->wide > 0)
        return (struct stages){0, data};
    if (a->space == PTX_SHARED)
        return (struct stages){0, a->is_atomic ? later(data, a->same_address) : data};
    return (struct stages){later(1, (apart ? 1.0 : 0.55) + 0.25 * lines), data};
}

double sim_lsu_cycles(const struct sim_memory *s, const struct trace_access *a)
{
    const struct stages stages = stages_of(s, a);

    return later(stages.tags, stages.data);
}

double sim_lsu_enter(struct sim_memory *s, double now, double cycles)
{
    double start = later(s->lsu_free, now);

    s->lsu_free = start + cycles;
    s->out->lsu_busy += cycles;
    return start + cycles - 1;
}

/* L1 holds L1_QUEUE global loads that wait, and gives their places free in the order in which they
 * came. Answers come as soon as they are there: hits pass misses (as in Accel-Sim, whose L1 was
 * validated on Volta: Khairy et al., ISCA 2020). */
static double hold_place(struct sim_memory *s, double done)
{
    double *oldest = &s->answers[s->nr_answers++ % L1_QUEUE];

    s->answered = later(s->answered, done);
    /* The load that had this place before must have left it. */
    s->lsu_free = later(s->lsu_free, *oldest);
    *oldest = s->answered;
    return done;
}

/* Takes so many cycles of the data stage from `from` on; gives the last one. Loads come for it in
 * any order of time. */
static double through_data_stage(struct sim_memory *s, double from, double cycles)
{
    double done = from;

    for (uint64_t nr = (uint64_t)from / DATA_PERIOD; cycles > 0; nr++) {
        struct data_period *p = &s->data[nr % DATA_PERIODS];
        double taken;

        if (p->nr != nr)
            *p = (struct data_period){.nr = nr};
        taken = sooner(cycles, DATA_PERIOD - p->taken);
        if (taken <= 0)
            continue;
        p->taken += taken;
        cycles -= taken;
        done = later(done + taken, (double)nr * DATA_PERIOD + p->taken);
    }
    return done;
}

/* A load that L1 has goes through both stages at once. Where data must come first, the load goes
 * through the data stage when it is there: a warp that walks 32 rows takes 1800 cycles for sixteen
 * loads on an H100 with a second one beside it, which no latency explains (bench/time/variants,
 * sum.5). */
static double load_in_stages(
    struct sim_memory *s, const struct sim_block *block, const struct trace_access *a, double now)
{
    const struct stages stages = stages_of(s, a);
    const double start = later(s->lsu_free, now);
    const double there = load_global(s, block, a, false, start + stages.tags - 1);
    double cycles = later(stages.tags, stages.data);

    s->out->lsu_busy += cycles;
    if (there <= start + stages.tags + s->chip->lat_l1) {
        s->lsu_free = start + cycles;
        return hold_place(s, later(there, start + cycles - 1 + s->chip->lat_l1));
    }
    s->lsu_free = start + stages.tags;
    return hold_place(s, through_data_stage(s, there, stages.data) - 1);
}

/* Shared memory of another SM. An SM sends 16 bytes a cycle: 3.3 TB/s on an H100 with 114 SMs at
 * 1.755 GHz (Luo et al., arXiv 2402.13499, SM-to-SM network; as quoted elsewhere). It takes a
 * sector a cycle, and those who send to it at a time wait for each other: fitted to kernels of
 * bench/time/found.txt, half `fit`, whose blocks all write to the first block of the cluster, then
 * all to the second. */
static double access_away(struct sim_memory *s, const struct trace_access *a, double now)
{
    const double start = a->bulk ? now : sim_lsu_enter(s, now, sim_lsu_cycles(s, a));
    double done;

    if (a->bulk && a->lines == 0) /* L2 sends it to several blocks */
        return now;
    s->net_free = later(s->net_free, start) + a->lines * later(NET_CYCLES, PORT_CYCLES * s->rivals);
    done = s->net_free + NET_LATENCY;
    s->performed = done;
    if (a->bulk)
        return done;
    s->lsu_free = later(s->lsu_free, s->net_free - STORE_QUEUE);
    return a->is_write && !a->is_atomic ? start : done;
}

static double access_one(struct sim_memory *s, const struct sim_block *block,
    const struct trace_access *a, bool spared, double now, uint8_t *reason)
{
    double start;

    if (a->space == PTX_CONST || a->space == PTX_PARAM)
        return now + 8; /* the constant cache, hit */
    if (a->bulk && a->space == PTX_SHARED && !a->away)
        return now;
    if (a->bulk && !a->is_write && !a->is_atomic)
        return load_global(s, block, a, spared, now);
    if (a->away) {
        *reason = STALL_LONG;
        return spared ? now : access_away(s, a, now);
    }
    *reason = a->space == PTX_SHARED ? STALL_SHORT : STALL_LONG;
    if (spared && a->space != PTX_SHARED && !a->is_atomic && !a->is_write) {
        load_global(s, block, a, true, now); /* the value came with an earlier access */
        return now + 1;
    }
    if (a->space != PTX_SHARED && !a->is_atomic && !a->is_write) {
        start = later(s->lsu_free, now);
        now = load_in_stages(s, block, a, now);
        return s->in->cured & SPARED(LATENCY) && a->space != PTX_LOCAL ? start + s->chip->lat_l1
                                                                       : now;
    }
    start = spared ? now : sim_lsu_enter(s, now, sim_lsu_cycles(s, a));
    if (a->space == PTX_SHARED)
        return start + (s->in->cured & SPARED(SHORT) ? 1 : s->chip->lat_shared);
    if (a->is_atomic)
        return atomic_global(s, block, a, start);
    store_global(s, block, a, start);
    s->performed = later(translated(s, a, start), s->l2_free) + s->in->lat_l2;
    return start;
}

double sim_access(struct sim_memory *s, const struct sim_block *block, const struct trace_access *a,
    bool spared, double now, uint8_t *reason)
{
    double done;

    s->performed = now;
    done = access_one(s, block, a, spared, now, reason);
    s->performed = later(s->performed, done);
    return done;
}

void sim_memory_init(struct sim_memory *s, const struct sim_input *in, struct sim_output *out)
{
    *s = (struct sim_memory){.in = in, .chip = in->run->chip, .out = out};
    s->debts = xcalloc(in->traffic->nr + 1, sizeof(*s->debts));
    l1_init(&s->l1, in->l1_bytes);
}

void sim_memory_finish(struct sim_memory *s)
{
    l1_finish(&s->l1);
    free(s->debts);
}
