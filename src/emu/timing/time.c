/* Owns the model of a launch's time: what the caches behind the SM hold, the simulation of the
 * busiest SM, lower bounds from the exact counts, and the modelled metrics. */
#include "emu/timing/time.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a launch of one empty block takes beyond that block: the first of a run, and each further
 * one. Between two events on an H100, less what the events take alone, a graph of 1, 2, 4 and 8
 * such launches takes 1.8, 2.8, 4.8 and 7.7 us (bench/card/events.cu). */
static double ramp_ns(const struct emu_run *run)
{
    return run->launch->warm ? run->chip->launch_overhead_ns : 1800;
}

/* Events that one simulation may cost; more work is cut short and scaled. */
static const double most_events = 1.2e6;
/* Unloaded answers to streaming loads come earlier than to a pointer chase, which misses the TLB
 * and every open DRAM page (data/h100/gpu-stream, one warp per SM: 544 cycles). */
static const double stream_latency_share = 0.85;

/* The half of L2 that is not an SM's own answers later by the share l2_far; data is on the near
 * side while all of it fits there (gpu-latency: on an H100 265 cycles to 22 MB, 475 from 35 MB on;
 * on an A100 211 to 18 MB, 424 from 32 MB on), and once somebody on this side has asked for it: see
 * buffer_traffic.far_half. */
static double l2_latency(const struct time_model *m)
{
    double share = m->traffic.unique * 32 / (double)m->chip->l2_bytes;
    double far = fmin(1, fmax(0, (share - 0.44) / (0.7 - 0.44)));

    return m->chip->lat_l2 * (1 + m->chip->l2_far * far);
}

/* --- simulation --- */

/* Shared memory is carved out of L1 in steps (CUDA programming guide: those of compute capability
 * 9.0; 8.0 and 8.9 have the same, up to what their SMs have). */
static double l1_left(const struct time_model *m)
{
    static const unsigned steps_kb[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
    unsigned used = m->resident * (m->run->shared_bytes + m->chip->smem_reserved_bytes);
    unsigned kb = m->chip->smem_per_sm_bytes / 1024;

    for (size_t i = sizeof(steps_kb) / sizeof(steps_kb[0]); i-- > 0;)
        if (used <= steps_kb[i] * 1024 && steps_kb[i] < kb)
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

/* Bytes. */
static double dram_per_clk(const struct chip *chip)
{
    return chip->dram_bytes_per_s * chip->dram_achievable / chip->clock_hz;
}

static void order_traces(struct time_model *m)
{
    struct inst_order order = time_schedule(m->run->program, m->costs);

    m->nr_places = time_place(m->run->program, &order, m->costs);
    time_traces_reorder(m->listener, m->costs, &order);
    order_finish(&order);
}

static void simulate(struct time_model *m)
{
    const struct chip *chip = m->chip;
    const double share =
        (m->rough_blocks > 0 ? m->rough_blocks : (double)m->blocks_sm) / (double)m->blocks;
    struct sim_input in = {
        .run = m->run,
        .costs = m->costs,
        .traces = m->listener->traces,
        .nr_traces = m->listener->nr_traces,
        .resident = m->resident,
        .nr_blocks = m->blocks_sm > m->resident ? m->blocks_sm : m->resident,
        .l2_bytes_per_clk = fmin(chip->l2_bytes_per_s / chip->clock_hz * share, SM_PORT_BYTES),
        .dram_bytes_per_clk = fmin(dram_per_clk(chip) * share, SM_PORT_BYTES),
        .l1_bytes = l1_left(m),
        .lat_l2 = l2_latency(m),
        .lat_dram = chip->lat_dram * stream_latency_share,
        .far_l2 = chip->l2_far,
        .traffic = &m->traffic,
        .nr_places = m->nr_places,
        .spill_rate = m->cured & SPARED(LOCAL) ? 0 : spill_rate(m),
        .most_events = m->most_events,
        .turnover = m->turnover,
        .cured = m->cured,
    };

    time_simulate(&in, &m->sim);
    if (m->rough_blocks > 0)
        m->sim.cycles = m->sim.per_block * m->rough_blocks;
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
            traced += (double)(m->listener->traces[i]->warps[w].nr_all -
                               m->listener->traces[i]->warps[w].nr_skipped);
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
        const double warps = (double)count->warps / (cost->once ? UNROLLED : 1);
        slots += warps * cost->slots;
        if (cost->alt == PIPE_NONE && cost->pipe != PIPE_NONE)
            pipes[cost->pipe] += warps * cost->pipe_cycles;
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

/* The part of a buffer's atomics that the busiest slice of L2 gets when all of what the grid
 * touches is used alike. Chunks seem to lie in slices at random: on an H100 64 of them are 20 times
 * as fast as one (atomics_same_16, _4096 of bench/card), as in 80 slices of which one has three of
 * the 64; the formula is the expected maximum of so many draws. Four chunks are 4.1 times as fast
 * in one program (atomics_same_256, atomics_random_256), and half as fast as that in two others
 * (atomics_float_256, kernels/histogram): where memory lies decides, and the model takes the
 * middle.
 */
static double busiest_slice(const struct buffer_traffic *of)
{
    static const double slices = 80, meeting = 1.41;
    const double nr_chunks = fmax(1, of->all * 32 / ATOMIC_CHUNK);

    return fmin(
        1, fmax(meeting / nr_chunks, 1 / slices + sqrt(2 * log(slices) / slices / nr_chunks)));
}

/* The part of the blocks that use a chunk which a traced block uses: all, where a block touches
 * much of the buffer. Blocks of a sample may meet in a chunk only because they lie a power of two
 * apart.
 */
static double users(const struct buffer_traffic *of, const struct block_trace *trace,
    const struct atomic_chunk *chunk)
{
    double own = 0;

    for (unsigned at = 0; at < ATOMIC_CHUNK; at += 32)
        own += sector_set_has(&trace->touched, (chunk->address + at) / 32);
    return own > 0 && of->all > 0 ? fmin(1, ATOMIC_CHUNK / 32 / own * of->one / of->all) : 1;
}

/* The chunk of a block that takes longest. */
static double longest_chunk(const struct time_model *m, const struct block_trace *trace)
{
    double most = 0;

    for (unsigned i = 0; trace->chunks != NULL && i < ATOMIC_CHUNKS; i++) {
        const struct atomic_chunk *c = &trace->chunks[i];
        const struct buffer_traffic *of = time_traffic_at(&m->traffic, c->address / 32);

        if (c->cycles > most && of != NULL)
            most = fmax(most, c->cycles * users(of, trace, c));
    }
    return most;
}

/* Atomics queue up at the slices of L2. */
static double atomic_cycles(const struct time_model *m)
{
    double most = 0, slice = 0;

    for (unsigned i = 0; i < m->listener->nr_traces; i++) {
        const struct block_trace *trace = m->listener->traces[i];

        most = fmax(most, longest_chunk(m, trace));
        for (size_t k = 0; k < trace->nr_accesses; k++) {
            const struct trace_access *a = &trace->accesses[k];

            if (a->slice_cycles > 0 && a->traffic > 0)
                slice += (double)a->slice_cycles * busiest_slice(&m->traffic.of[a->traffic - 1]);
        }
    }
    return fmax(most, slice / m->listener->nr_traces) * (double)m->blocks;
}

static double grid_scale(const struct time_model *m)
{
    return m->sim.simulated_blocks > 0 ? (double)m->blocks / m->sim.simulated_blocks : 0;
}

/* The share of what DRAM moves, at most, that holds what blocks ask for. Several may ask for parts
 * of one sector: what all blocks need together counts. */
static double needed_share(const struct time_model *m)
{
    const double moved = m->traffic.reads + m->traffic.writes;
    double needed = 0;

    for (unsigned i = 0; i < m->listener->nr_traces; i++) {
        const struct block_trace *trace = m->listener->traces[i];

        for (size_t a = 0; a < trace->nr_accesses; a++)
            if (trace->accesses[a].space == PTX_GLOBAL)
                needed += trace->accesses[a].ideal;
    }
    needed *= (double)m->blocks / fmax(1, m->listener->nr_traces);
    return moved > 0 ? fmin(1, needed / moved) : 1;
}

/* The least time for what DRAM and L2 move, in cycles. */
static double traffic_cycles(const struct time_model *m)
{
    const double l2_clk = m->chip->l2_bytes_per_s / m->chip->clock_hz;
    const double needed = m->cured & SPARED(SCATTER) ? needed_share(m) : 1;
    const double reads = m->traffic.reads, writes = m->traffic.writes;
    const double simulated = m->sim.dram_sectors * grid_scale(m);
    const double more = fmax(needed, simulated / fmax(1, reads + writes));
    const double dram = chip_dram_cost(m->chip, reads * more, writes * more);

    return fmax(m->cured & SPARED(DRAM) ? 0 : dram * 32 / dram_per_clk(m->chip),
        m->sim.l2_sectors * grid_scale(m) * 32 / l2_clk);
}

/* Where nothing was traced, the time is what the widths allow, and a generous share of waiting. */
static double untraced_cycles(const struct time_model *m)
{
    const double sectors = (double)m->counts->unique_sectors * m->counts->scale;

    return 1.5 * fmax(bound_cycles(m), sectors * 32 / dram_per_clk(m->chip)) + m->chip->lat_dram;
}

/* The exact counts know of no cure. */
static void settle_cycles(struct time_model *m)
{
    const double atomics = m->cured & SPARED(ATOMICS) ? 0 : atomic_cycles(m);

    m->cycles = m->rough_blocks > 0 ? 0 : bound_cycles(m);
    m->cycles = fmax(m->cycles, m->sim.cycles * work_ratio(m));
    m->cycles = fmax(m->cycles, traffic_cycles(m));
    /* At a grid's barrier all blocks wait until the last one has arrived. */
    if (m->run->program->cooperative)
        m->cycles += atomics;
    m->cycles = fmax(m->cycles, atomics);
    if (!(m->cycles >= m->chip->lat_l1))
        m->cycles = m->chip->lat_l1;
}

void time_run(struct time_model *m)
{
    simulate(m);
    settle_cycles(m);
}

/* A simulation of so many events is enough for one block. */
static const double block_events = 1.5e5;

/* Cycles of one block alone on the chip. */
static double one_block_cycles(const struct time_model *m)
{
    struct time_model one = *m;

    one.blocks = one.blocks_sm = one.resident = 1;
    one.rough_blocks = 1;
    one.most_events = block_events;
    simulate(&one);
    free(one.sim.stall_pc);
    return fmax(one.sim.cycles * work_ratio(m), m->chip->lat_l1);
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

/* How busy a unit was, as a share of what it can do in the launch's time. */
static double busy_share(const struct time_model *m, enum metric unit)
{
    const struct sim_output *sim = &m->sim;
    const double scale = grid_scale(m), seconds = m->cycles / m->chip->clock_hz;
    const double per_sm = scale / m->chip->nr_sms / m->cycles;
    const double per_pipe = per_sm / m->chip->schedulers_per_sm;

    switch (unit) {
    case METRIC_DRAM_PCT:
        return sim->dram_sectors * 32 * scale / seconds / m->chip->dram_bytes_per_s;
    case METRIC_L2_PCT:
        return sim->l2_sectors * 32 * scale / seconds / m->chip->l2_bytes_per_s;
    case METRIC_LSU_PCT:
        return sim->lsu_busy * per_sm;
    case METRIC_FMA_PCT:
        return fmax(sim->pipe_busy[PIPE_FMA], sim->pipe_busy[PIPE_IMUL]) * per_pipe;
    case METRIC_ALU_PCT:
        return sim->pipe_busy[PIPE_ALU] * per_pipe;
    case METRIC_FP64_PCT:
        return sim->pipe_busy[PIPE_FP64] * per_pipe;
    case METRIC_XU_PCT:
        return sim->pipe_busy[PIPE_XU] * per_pipe;
    case METRIC_TENSOR_PCT:
        return sim->pipe_busy[PIPE_TENSOR] * per_pipe;
    case METRIC_ISSUE_PCT:
        return sim->issued * per_pipe;
    default:
        return 0;
    }
}

static const enum metric units[] = {METRIC_DRAM_PCT, METRIC_L2_PCT, METRIC_LSU_PCT, METRIC_FMA_PCT,
    METRIC_ALU_PCT, METRIC_FP64_PCT, METRIC_XU_PCT, METRIC_TENSOR_PCT, METRIC_ISSUE_PCT};

static void fill_memory(const struct time_model *m, struct counters *c)
{
    const struct sim_output *sim = &m->sim;
    double scale = grid_scale(m);

    if (sim->l1_lookups > 0)
        set_pct(c, METRIC_L1_HIT_PCT, sim->l1_hits / sim->l1_lookups);
    set_modelled(c, METRIC_L2_SECTORS, sim->l2_read_sectors * scale);
    if (sim->l2_sectors > 0)
        set_pct(c, METRIC_L2_HIT_PCT, 1 - sim->dram_sectors / sim->l2_sectors);
    set_modelled(c, METRIC_DRAM_BYTES, sim->dram_sectors * 32 * scale);
}

static void fill_units(const struct time_model *m, struct counters *c)
{
    for (size_t i = 0; i < ARRAY_SIZE(units); i++)
        set_pct(c, units[i], busy_share(m, units[i]));
    set_pct(c, METRIC_OCCUPANCY_ACHIEVED_PCT,
        m->sim.resident_warps / m->chip->max_warps_per_sm * (double)m->blocks /
            ((double)m->blocks_sm * m->chip->nr_sms));
}

static const enum metric stalls[NR_STALLS] = {
    [STALL_LONG] = METRIC_STALL_LONG_PCT,
    [STALL_SHORT] = METRIC_STALL_SHORT_PCT,
    [STALL_BARRIER] = METRIC_STALL_BARRIER_PCT,
    [STALL_WAIT] = METRIC_STALL_WAIT_PCT,
    [STALL_MIO] = METRIC_STALL_MIO_PCT,
    [STALL_MATH] = METRIC_STALL_MATH_PCT,
    [STALL_OTHER] = METRIC_STALL_OTHER_PCT,
};

/* Shares of the time that warps were resident. */
static void fill_stalls(const struct time_model *m, struct counters *c)
{
    for (unsigned i = 0; i < NR_STALLS && m->sim.warp_cycles > 0; i++)
        set_pct(c, stalls[i], m->sim.stall[i] / m->sim.warp_cycles);
}

struct limit time_limit(const struct time_model *m)
{
    struct limit limit = {.unit = METRIC_TIME_NS, .wait = METRIC_TIME_NS};

    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        const double pct = 100 * fmin(1, busy_share(m, units[i]));

        if (pct > limit.unit_pct) {
            limit.unit = units[i];
            limit.unit_pct = (float)pct;
        }
    }
    for (unsigned i = 0; i < NR_STALLS && m->sim.warp_cycles > 0; i++) {
        const double pct = 100 * fmin(1, m->sim.stall[i] / m->sim.warp_cycles);

        if (pct > limit.wait_pct) {
            limit.wait = stalls[i];
            limit.wait_pct = (float)pct;
        }
    }
    return limit;
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
    set_modelled(c, METRIC_CYCLES, m->cycles + ramp_ns(m->run) * 1e-9 * m->chip->clock_hz);
    set_modelled(c, METRIC_TIME_NS, m->cycles / m->chip->clock_hz * 1e9 + ramp_ns(m->run));
    fill_launch(m, c);
    if (m->listener == NULL || m->sim.simulated_blocks <= 0)
        return;
    fill_memory(m, c);
    fill_units(m, c);
    fill_stalls(m, c);
    fill_lines(m, c);
    if (!m->run->launch->keep_model)
        time_cures(m, ramp_ns(m->run), UINT32_MAX, c);
    if (!m->run->launch->quick_cures)
        set_modelled(c, METRIC_ONE_BLOCK_NS,
            ramp_ns(m->run) + one_block_cycles(m) / m->chip->clock_hz * 1e9);
}

/* --- cures, later --- */

/* What the model has of a launch points into this, where it would not outlive the launch. */
struct emu_model {
    struct emu_run run;
    struct emu_launch launch;
    struct emu_counts counts;
    struct pc_count *pc;
    struct time_model m;
};

static struct emu_model *keep(const struct time_model *m)
{
    struct emu_model *kept = xcalloc(1, sizeof(*kept));
    const size_t bytes = m->run->program->nr_insts * sizeof(*kept->pc);

    *kept = (struct emu_model){.run = *m->run,
        .launch = *m->run->launch,
        .counts = *m->counts,
        .pc = xmalloc(bytes + 1),
        .m = *m};
    memcpy(kept->pc, m->counts->pc, bytes);
    kept->counts.pc = kept->pc;
    kept->run.launch = &kept->launch;
    kept->run.order = NULL;
    kept->m.run = kept->m.listener->run = &kept->run;
    kept->m.counts = &kept->counts;
    return kept;
}

void emu_cures(const struct emu_model *model, uint32_t cures, struct counters *counters)
{
    time_cures(&model->m, ramp_ns(&model->run), cures, counters);
}

static void model_finish(const struct time_model *m)
{
    free(m->traffic.of);
    free(m->costs);
}

void emu_model_destroy(struct emu_model *model)
{
    if (!model)
        return;
    model_finish(&model->m);
    emu_time_class()->destroy(&model->m.listener->base);
    free(model->pc);
    free(model);
}

/* SMs that blocks in clusters can use: clusters of more than two blocks do not fit everywhere into
 * GPCs, some of which have an odd number of pairs. 33 clusters of 4 take twice as long on the 132
 * SMs of an H100 as 66 clusters of 2 (bench/card, neighbour_4, neighbour_2), so that some must
 * wait; taken to be those that do not fit into eight GPCs of 16. */
static unsigned cluster_sms(const struct emu_run *run)
{
    const unsigned of_gpc = 16, nr = run->chip->nr_sms;

    return run->cluster_blocks > 2 && nr > of_gpc ? nr / of_gpc * of_gpc : nr;
}

struct emu_model *emu_time_model(const struct emu_run *run, const struct emu_counts *counts,
    struct emu_listener *listener, struct counters *counters)
{
    struct time_model m = {
        .run = run,
        .counts = counts,
        .chip = run->chip,
        .listener = (struct time_listener *)listener,
        .blocks = run->nr_blocks > 0 ? run->nr_blocks : 1,
        .most_events = most_events,
        .turnover = 1,
    };
    unsigned registers = run->launch->registers != 0 ? run->launch->registers : 32;

    m.occ = chip_occupancy(run->chip, run->nr_threads, registers, run->shared_bytes);
    const unsigned nr_sms = cluster_sms(run);
    m.blocks_sm = (m.blocks + nr_sms - 1) / nr_sms;
    m.resident = m.occ.blocks > 0 ? m.occ.blocks : 1;
    if (m.resident > m.blocks_sm)
        m.resident = (unsigned)m.blocks_sm;
    if (m.listener != NULL &&
        (m.listener->nr_traces == 0 || m.listener->nr_traces < run->cluster_blocks))
        m.listener = NULL;
    m.costs = time_costs(run->program, run->chip, m.listener);
    if (m.listener != NULL) {
        time_traces_sort(m.listener);
        m.traffic = time_traffic(m.listener, (double)counts->blocks_run, m.resident);
        time_traces_share(m.listener, &m.traffic);
        order_traces(&m);
        time_run(&m);
        time_leave_in_l2(&m.traffic, run);
    } else {
        m.cycles = untraced_cycles(&m);
    }
    fill(&m, counters);
    free(m.sim.stall_pc);
    m.sim.stall_pc = NULL;
    if (run->launch->keep_model && m.sim.simulated_blocks > 0)
        return keep(&m);
    model_finish(&m);
    return NULL;
}
