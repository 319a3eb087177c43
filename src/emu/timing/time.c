/* Owns the model of a launch's time: what the caches behind the SM hold, the simulation of the
 * busiest SM, lower bounds from the exact counts, and the modelled metrics. */
#include "emu/timing/time.h"

#include "base/mem.h"
#include "emu/state/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From a kernel's start to its first block's first instruction and from its last one to the end as
 * a profiler sees it (data/h100/gpu-small-kernels: 2.5 us from launch to launch of the smallest
 * kernels, less the gap between launches and the latency of their own few loads). */
static const double ramp_ns = 1200;
/* What one SM can draw from L2, bytes per cycle: the width of its port. */
static const double port_bytes_per_clk = 64;
/* Unloaded answers to streaming loads come earlier than to a pointer chase, which misses the TLB
 * and every open DRAM page (data/h100/gpu-stream, one warp per SM: 544 cycles). */
static const double stream_latency_share = 0.85;

struct time_model {
    const struct emu_run *run;
    const struct emu_counts *counts;
    const struct chip *chip;
    struct time_listener *listener; /* with at least one trace, or NULL */
    struct pc_cost *costs;
    struct occupancy occ;
    unsigned resident;
    uint64_t blocks, blocks_sm; /* of the grid; of the busiest SM */
    /* 32-byte sectors, of the whole grid */
    double unique;       /* touched at all */
    double block_unique; /* sectors that one block touches, on average */
    double *of_buffer;   /* touched, by buffer */
    double warm;         /* share of what is touched that an earlier launch left in L2 */
    double dram_first, dram_again, dram_write;
    struct sim_output sim;
    double cycles;
};

/* --- footprint --- */

/* How many distinct sectors of a buffer a traced block touches, on average. */
static double traced_of(const struct time_listener *listener, const struct mem_buffer *buffer)
{
    uint64_t begin = buffer->base / 32, end = (buffer->base + buffer->bytes + 31) / 32;
    double nr = 0;

    for (unsigned i = 0; i < listener->nr_traces; i++) {
        const struct sector_set *set = &listener->traces[i]->touched;

        for (size_t k = 0; k < set->cap; k++)
            nr += set->keys[k] != 0 && set->keys[k] - 1 >= begin && set->keys[k] - 1 < end;
    }
    return nr / listener->nr_traces;
}

/* Blocks of a sample that share nothing touch n times as much as one; blocks that share all touch
 * no more than one. In between, touched(n) = touched(1) * n^a; two points give a, the buffer's size
 * is the limit. */
static double extrapolate(double one, double of_sample, double sample, double all, double limit)
{
    double power;

    if (one <= 0 || sample >= all || sample <= 1)
        return sample >= all ? of_sample : fmin(fmax(one, of_sample) * all, limit);
    if (of_sample < one)
        of_sample = one;
    power = log(of_sample / one) / log(sample);
    return fmin(one * pow(all, fmin(fmax(power, 0), 1)), limit);
}

static void footprint(struct time_model *m)
{
    const struct emu_memory *memory = m->run->memory;
    double sample = (double)m->counts->blocks_run, all = (double)m->blocks, warm = 0;

    m->of_buffer = xcalloc(memory != NULL ? memory->nr + 1 : 1, sizeof(*m->of_buffer));
    for (size_t i = 0; memory != NULL && i < memory->nr; i++) {
        const struct mem_buffer *buffer = memory->buffers[i];
        const double touched = (double)buffer->nr_touched;
        double one;

        if (touched == 0 || buffer->constant)
            continue;
        one = traced_of(m->listener, buffer);
        m->block_unique += one;
        m->of_buffer[i] =
            extrapolate(one, touched, sample, all, (double)((buffer->bytes + 31) / 32));
        m->unique += m->of_buffer[i];
        if (m->run->launch->warm)
            warm += m->of_buffer[i] * buffer->in_l2;
    }
    m->warm = m->unique > 0 ? fmin(1, warm / m->unique) : 0;
    m->unique = fmax(m->unique, m->block_unique);
}

/* How much of a working set that is gone through again and again L2 still serves. With replacement
 * at random, as hashed sets look like, a sector of n survives the misses of one turn in a cache of
 * c with the chance h = exp(-(1 - h) n / c). c is 0.64 of L2, what both halves need of far data
 * taken off (data/h100/gpu-l2-cache, H200: 9.7 TB/s at 28 MB, 6.5 at 53 MB, 4.2 at 70 MB: within
 * 12%). */
static double l2_keeps(const struct time_model *m, double sectors)
{
    const double turns = sectors * 32 / (0.64 * (double)m->chip->l2_bytes);
    double kept = 0;

    for (int i = 0; i < 100 && turns > 1; i++)
        kept = exp(-turns * (1 - kept));
    return turns > 1 ? kept : 1;
}

/* The half of L2 that is not an SM's own answers later; data is on the near side while all of it
 * fits there (data/h100/gpu-latency: 265 cycles to 22 MB, 475 from 35 MB on). */
static double l2_latency(const struct time_model *m)
{
    double share = m->unique * 32 / (double)m->chip->l2_bytes;
    double far = fmin(1, fmax(0, (share - 0.44) / (0.7 - 0.44)));

    return m->chip->lat_l2 * (1 + 0.8 * far);
}

/* Blocks side by side touch n^p times what one does; the least p of the pairs that ran at the same
 * time, and 0 when there are none. */
static double power_nearby(const struct time_model *m, double wave)
{
    const struct time_listener *t = m->listener;
    double least = t->nr_nearby > 0 ? 1 : 0;
    bool found = false;

    for (unsigned i = 0; i < t->nr_nearby; i++) {
        for (unsigned k = 0; k < t->nr_traces; k++) {
            const struct sector_set *set = &t->traces[k]->touched;
            const uint64_t a = t->traces[k]->block, b = t->nearby[i]->block;
            double both = 0;

            if (b <= a || (double)(b - a) >= wave || set->nr == 0)
                continue;
            found = true;
            for (size_t s = 0; s < set->cap; s++)
                both +=
                    set->keys[s] != 0 && sector_set_has(&t->nearby[i]->touched, set->keys[s] - 1);
            least = fmin(least, log(2 - both / (double)set->nr) / log(2));
        }
    }
    return found ? least : 0;
}

/* DRAM delivers what nobody touched before; what an earlier wave of blocks touched, when L2 could
 * not keep all; and what the running wave touches again, when L2 cannot keep even its part. */
static void share_with_dram(struct time_model *m)
{
    double wave = fmin((double)m->blocks, (double)m->resident * m->chip->nr_sms), waves, of_wave;
    double firsts = m->block_unique * (double)m->blocks;
    double power = m->blocks > 1 && m->block_unique > 0
                       ? log(fmax(1, m->unique / m->block_unique)) / log((double)m->blocks)
                       : 1;
    double nearby = power_nearby(m, wave), again;

    m->dram_first = m->dram_write = 1;
    if (firsts <= 0)
        return;
    of_wave = fmin(m->unique, m->block_unique * pow(wave, fmin(fmax(power, nearby), 1)));
    waves = (double)m->blocks / wave;
    /* where neighbours share nothing, only blocks far apart share, and these are far enough apart
     * that it makes no difference whether they are of one wave */
    again = nearby > 0.95 ? firsts : of_wave * waves;
    m->dram_first = m->unique + fmax(0, again - m->unique) * (1 - l2_keeps(m, m->unique));
    m->dram_write = fmin(1, m->dram_first / firsts);
    m->dram_first = m->dram_write * (1 - m->warm);
    m->dram_again = 1 - l2_keeps(m, of_wave);
}

/* What this launch leaves in L2 for the next: the sectors that it touched, as far as they fit; and
 * of other buffers what they do not push out. */
static void leave_in_l2(const struct time_model *m)
{
    const struct emu_memory *memory = m->run->memory;

    for (size_t i = 0; memory != NULL && i < memory->nr; i++) {
        struct mem_buffer *buffer = memory->buffers[i];
        double sectors = (double)((buffer->bytes + 31) / 32);

        if (!m->run->launch->warm)
            buffer->in_l2 = 0;
        if (sectors > 0)
            buffer->in_l2 = fmax(buffer->in_l2, fmin(1, m->of_buffer[i] / sectors));
        buffer->in_l2 *= l2_keeps(m, m->unique);
    }
}

/* --- simulation --- */

/* Shared memory is carved out of L1 in steps (CUDA programming guide, compute capability 9.0). */
static double l1_left(const struct time_model *m)
{
    static const unsigned steps_kb[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
    unsigned used = m->resident * (m->run->shared_bytes + m->chip->smem_reserved_bytes);
    unsigned kb = 228;

    for (size_t i = sizeof(steps_kb) / sizeof(steps_kb[0]); i-- > 0;)
        if (used <= steps_kb[i] * 1024)
            kb = steps_kb[i];
    if (m->run->shared_bytes == 0)
        kb = 0;
    /* Some of it holds other things, and replacement is not ideal: data/h100/gpu-latency leaves
     * the L1 plateau at 220 of 256 KB. */
    return (m->chip->l1_bytes - kb * 1024.0) * 0.86;
}

/* Spill accesses per executed instruction, from the static counts of ptxas. Where the spills stand
 * is unknown: the model takes them to execute as often as the average instruction. */
static double spill_rate(const struct time_model *m)
{
    unsigned nr = 0;

    for (uint32_t pc = 0; pc < m->run->program->nr_insts; pc++)
        nr += !m->costs[pc].free;
    return nr == 0 ? 0 : m->run->launch->spill_bytes / 4.0 / nr;
}

static void simulate(struct time_model *m)
{
    const struct chip *chip = m->chip;
    double share = (double)m->blocks_sm / (double)m->blocks;
    uint32_t *rank, *bb;
    struct sim_input in = {
        .run = m->run,
        .costs = m->costs,
        .traces = m->listener->traces,
        .nr_traces = m->listener->nr_traces,
        .resident = m->resident,
        .nr_blocks = m->blocks_sm,
        .l2_bytes_per_clk = fmin(chip->l2_bytes_per_s / chip->clock_hz * share, port_bytes_per_clk),
        .dram_bytes_per_clk =
            fmin(chip->dram_bytes_per_s * chip->dram_achievable / chip->clock_hz * share,
                port_bytes_per_clk),
        .l1_bytes = l1_left(m),
        .lat_l2 = l2_latency(m),
        .lat_dram = chip->lat_dram * stream_latency_share,
        .dram_first = m->dram_first,
        .dram_again = m->dram_again,
        .dram_write = m->dram_write,
        .spill_rate = spill_rate(m),
    };

    time_schedule(m->run->program, m->costs, &rank, &bb);
    in.rank = rank;
    in.bb = bb;
    time_simulate(&in, &m->sim);
    free(rank);
    free(bb);
}

/* --- bounds --- */

/* Warp instructions of the grid, and of the same number of traced blocks. */
static double work_ratio(const struct time_model *m)
{
    double all = 0, traced = 0;

    for (uint32_t pc = 0; pc < m->run->program->nr_insts; pc++)
        all += (double)m->counts->pc[pc].warps;
    for (unsigned i = 0; i < m->listener->nr_traces; i++)
        for (unsigned w = 0; w < m->listener->traces[i]->nr_warps; w++)
            traced += (double)m->listener->traces[i]->warps[w].nr_all;
    traced /= m->listener->nr_traces;
    all *= m->counts->scale / (double)m->blocks;
    return all > 0 && traced > 0 ? all / traced : 1;
}

/* No SM issues, computes or loads faster than this, in cycles: the exact counts against the widths
 * of issue, pipes and LSU, shared out evenly. */
static double bound_cycles(const struct time_model *m)
{
    double slots = 0, pipes[NR_PIPES] = {0}, lsu = 0, most, per_sm;

    for (uint32_t pc = 0; pc < m->run->program->nr_insts; pc++) {
        const struct pc_count *count = &m->counts->pc[pc];
        const struct pc_cost *cost = &m->costs[pc];

        if (cost->free)
            continue;
        slots += (double)count->warps * cost->slots;
        if (cost->alt == PIPE_NONE && cost->pipe != PIPE_NONE)
            pipes[cost->pipe] += (double)count->warps * cost->pipe_cycles;
        lsu += (double)(count->wavefronts > count->shared ? count->wavefronts : count->shared);
        lsu +=
            fmax((double)count->global, 0.55 * (double)count->global + 0.25 * (double)count->lines);
    }
    most = slots / m->chip->schedulers_per_sm;
    for (unsigned i = 0; i < NR_PIPES; i++)
        most = fmax(most, pipes[i] / m->chip->schedulers_per_sm);
    most = fmax(most, lsu);
    per_sm = (double)m->blocks_sm / (double)m->blocks;
    return most * m->counts->scale * per_sm;
}

static double hot_lanes(const struct block_trace *trace, uint64_t *address)
{
    double lanes = 0;

    for (unsigned i = 0; trace->hot != NULL && i < HOT_SLOTS; i++) {
        if ((double)trace->hot[i].lanes > lanes) {
            lanes = (double)trace->hot[i].lanes;
            *address = trace->hot[i].address;
        }
    }
    return lanes;
}

/* Atomics on one address are done one after another, about one lane's a cycle. On an address that
 * several blocks use, the atomics of the whole grid queue up. */
static double atomic_cycles(const struct time_model *m)
{
    double most = 0;

    for (unsigned i = 0; i < m->listener->nr_traces; i++) {
        uint64_t address = 0;
        double lanes = hot_lanes(m->listener->traces[i], &address);
        unsigned users = 0;

        for (unsigned k = 0; lanes > 0 && k < m->listener->nr_traces; k++)
            users += sector_set_has(&m->listener->traces[k]->touched, address / 32);
        most = fmax(most, users > 1 ? lanes * (double)m->blocks : lanes);
    }
    return most;
}

static double grid_scale(const struct time_model *m)
{
    return m->sim.simulated_blocks > 0 ? (double)m->blocks / m->sim.simulated_blocks : 0;
}

static void settle_cycles(struct time_model *m)
{
    double dram_clk = m->chip->dram_bytes_per_s * m->chip->dram_achievable / m->chip->clock_hz;
    double l2_clk = m->chip->l2_bytes_per_s / m->chip->clock_hz, bound = bound_cycles(m);

    m->cycles = bound;
    if (m->listener == NULL) {
        /* Nothing was traced: the time is what the widths allow, and a generous share of waiting.
         */
        double sectors = (double)m->counts->unique_sectors * m->counts->scale;

        m->cycles = 1.5 * fmax(bound, sectors * 32 / dram_clk) + m->chip->lat_dram;
        return;
    }
    m->cycles = fmax(m->cycles, m->sim.cycles * work_ratio(m));
    m->cycles = fmax(m->cycles, m->sim.dram_sectors * grid_scale(m) * 32 / dram_clk);
    m->cycles = fmax(m->cycles, m->sim.l2_sectors * grid_scale(m) * 32 / l2_clk);
    m->cycles = fmax(m->cycles, atomic_cycles(m));
    if (!(m->cycles >= m->chip->lat_l1))
        m->cycles = m->chip->lat_l1;
}

/* --- metrics --- */

static void set_modelled(struct counters *c, enum metric metric, double value)
{
    if (isfinite(value))
        counters_set(c, metric, value, PROV_MODELLED);
}

static void set_pct(struct counters *c, enum metric metric, double share)
{
    set_modelled(c, metric, 100 * fmin(1, fmax(0, share)));
}

static void set_known(struct counters *c, enum metric metric, double value)
{
    counters_set(c, metric, value, PROV_COUNTED);
}

static void fill_launch(const struct time_model *m, struct counters *c)
{
    double warps = (double)m->occ.blocks * m->occ.warps_per_block;

    set_known(c, METRIC_OCC_LIMIT_BLOCKS, m->occ.limit_blocks);
    set_known(c, METRIC_OCC_LIMIT_REGISTERS, m->occ.limit_registers);
    set_known(c, METRIC_OCC_LIMIT_SMEM, m->occ.limit_smem);
    set_known(c, METRIC_OCC_LIMIT_WARPS, m->occ.limit_warps);
    set_known(c, METRIC_OCCUPANCY_PCT, 100 * warps / m->chip->max_warps_per_sm);
    if (m->occ.blocks > 0)
        set_known(c, METRIC_WAVES, (double)m->blocks / m->occ.blocks / m->chip->nr_sms);
}

static void fill_memory(const struct time_model *m, struct counters *c)
{
    const struct sim_output *sim = &m->sim;
    double scale = grid_scale(m), dram_bytes = sim->dram_sectors * 32 * scale;
    double seconds = m->cycles / m->chip->clock_hz;

    if (sim->l1_lookups > 0)
        set_pct(c, METRIC_L1_HIT_PCT, sim->l1_hits / sim->l1_lookups);
    set_modelled(c, METRIC_L2_SECTORS, sim->l2_read_sectors * scale);
    if (sim->l2_sectors > 0)
        set_pct(c, METRIC_L2_HIT_PCT, 1 - sim->dram_sectors / sim->l2_sectors);
    set_modelled(c, METRIC_DRAM_BYTES, dram_bytes);
    set_pct(c, METRIC_DRAM_PCT, dram_bytes / seconds / m->chip->dram_bytes_per_s);
    set_pct(c, METRIC_L2_PCT, sim->l2_sectors * 32 * scale / seconds / m->chip->l2_bytes_per_s);
    set_pct(c, METRIC_LSU_PCT, sim->lsu_busy * scale / m->chip->nr_sms / m->cycles);
}

static void fill_pipes(const struct time_model *m, struct counters *c)
{
    double per_pipe = grid_scale(m) / m->chip->nr_sms / m->chip->schedulers_per_sm / m->cycles;
    const double *busy = m->sim.pipe_busy;

    set_pct(c, METRIC_FMA_PCT, fmax(busy[PIPE_FMA], busy[PIPE_IMUL]) * per_pipe);
    set_pct(c, METRIC_ALU_PCT, busy[PIPE_ALU] * per_pipe);
    set_pct(c, METRIC_FP64_PCT, busy[PIPE_FP64] * per_pipe);
    set_pct(c, METRIC_XU_PCT, busy[PIPE_XU] * per_pipe);
    set_pct(c, METRIC_TENSOR_PCT, busy[PIPE_TENSOR] * per_pipe);
    set_pct(c, METRIC_ISSUE_PCT, m->sim.issued * per_pipe);
    set_pct(c, METRIC_OCCUPANCY_ACHIEVED_PCT,
        m->sim.resident_warps / m->chip->max_warps_per_sm * (double)m->blocks /
            ((double)m->blocks_sm * m->chip->nr_sms));
}

/* Shares of the time that warps were resident. */
static void fill_stalls(const struct time_model *m, struct counters *c)
{
    static const enum metric metrics[NR_STALLS] = {
        [STALL_LONG] = METRIC_STALL_LONG_PCT,
        [STALL_SHORT] = METRIC_STALL_SHORT_PCT,
        [STALL_BARRIER] = METRIC_STALL_BARRIER_PCT,
        [STALL_WAIT] = METRIC_STALL_WAIT_PCT,
        [STALL_MIO] = METRIC_STALL_MIO_PCT,
        [STALL_MATH] = METRIC_STALL_MATH_PCT,
        [STALL_OTHER] = METRIC_STALL_OTHER_PCT,
    };

    for (unsigned i = 0; i < NR_STALLS && m->sim.warp_cycles > 0; i++)
        set_pct(c, metrics[i], m->sim.stall[i] / m->sim.warp_cycles);
}

static void fill_lines(const struct time_model *m, struct counters *c)
{
    for (uint32_t pc = 0; pc < m->run->program->nr_insts; pc++) {
        uint32_t line = m->run->program->info[pc].line;
        unsigned lo = 0, hi = c->nr_lines;

        if (m->sim.stall_pc[pc] <= 0)
            continue;
        while (lo < hi) {
            unsigned mid = (lo + hi) / 2;

            if (c->lines[mid].line < line)
                lo = mid + 1;
            else
                hi = mid;
        }
        if (lo < c->nr_lines && c->lines[lo].line == line)
            c->lines[lo].stall_cycles += m->sim.stall_pc[pc] * grid_scale(m);
    }
}

static void fill(const struct time_model *m, struct counters *c)
{
    set_modelled(c, METRIC_CYCLES, m->cycles + ramp_ns * 1e-9 * m->chip->clock_hz);
    set_modelled(c, METRIC_TIME_NS, m->cycles / m->chip->clock_hz * 1e9 + ramp_ns);
    fill_launch(m, c);
    if (m->listener == NULL || m->sim.simulated_blocks <= 0)
        return;
    fill_memory(m, c);
    fill_pipes(m, c);
    fill_stalls(m, c);
    fill_lines(m, c);
}

void emu_time_model(const struct emu_run *run, const struct emu_counts *counts,
    struct emu_listener *listener, struct counters *counters)
{
    struct time_model m = {
        .run = run,
        .counts = counts,
        .chip = run->chip,
        .listener = (struct time_listener *)listener,
        .blocks = run->nr_blocks > 0 ? run->nr_blocks : 1,
    };
    unsigned registers = run->launch->registers != 0 ? run->launch->registers : 32;

    m.occ = chip_occupancy(run->chip, run->nr_threads, registers, run->shared_bytes);
    m.blocks_sm = (m.blocks + run->chip->nr_sms - 1) / run->chip->nr_sms;
    m.resident = m.occ.blocks > 0 ? m.occ.blocks : 1;
    if (m.resident > m.blocks_sm)
        m.resident = (unsigned)m.blocks_sm;
    if (m.listener != NULL && m.listener->nr_traces == 0)
        m.listener = NULL;
    m.costs = time_costs(run->program, run->chip, m.listener);
    if (m.listener != NULL) {
        time_traces_finish(m.listener);
        footprint(&m);
        share_with_dram(&m);
        simulate(&m);
        leave_in_l2(&m);
    }
    settle_cycles(&m);
    fill(&m, counters);
    free(m.of_buffer);
    free(m.sim.stall_pc);
    free(m.costs);
}
