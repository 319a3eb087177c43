/* Owns what the model of time says of cures: how long a launch would take if something cost
 * nothing. Each cure is a shorter simulation of the same traces, held against one without a cure
 * that is as short. A cure takes away more than any change of the code could: its time is what is
 * left to the next limiter when the one cause is gone altogether and nothing else changes. A cure
 * of what a launch hardly has is not simulated. */
#include "emu/timing/time.h"

#include "base/mem.h"
#include "emu/exec/launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Events of one simulation; of a quick one. Against long ones, the 26 figures of quick ones were
 * off by 0.5% to 4% of the launch's time on average, and by 26% at most (softmax, matmul, their
 * variants). */
static const double cure_events = 1.5e5, quick_cure_events = 3e4;
/* What is a smaller share of the launch than this is not worth a simulation. */
static const double least_share = 0.02;

/* Accesses to global memory of an instruction, in sectors. */
struct pc_sectors {
    double accesses, all, first, ideal;
};

/* Beside SPARED bits: the addresses of accesses to shared memory. */
enum { SHARED_ADDRESSES = 1 << NR_CURES };

/* What a launch does, in shares of its instructions, accesses and waiting. */
struct doings {
    double slots; /* of issue, all */
    double special, fp64, conversions, overhead, branches, barriers, shared, global, narrow, local;
    double idle_lanes;
    double conflicts, scattered, rereads, rewrites; /* shares of wavefronts, sectors, sectors */
    double width; /* of 16 bytes: what a lane's narrow access has, on average */
    bool atomics;
    struct pc_sectors *sectors; /* by pc */
    bool *loops;                /* by pc: see loop_control */
};

static void add_sectors(
    struct pc_sectors *of, const struct block_trace *trace, const struct trace_access *a)
{
    if (a->space != PTX_GLOBAL || a->is_atomic)
        return;
    of->accesses++;
    of->all += a->nr_sectors;
    of->ideal += a->ideal;
    for (unsigned i = 0; i < a->nr_sectors; i++)
        of->first += (trace->sectors[a->first + i] & TRACE_FIRST) != 0;
}

static bool is_special(const struct pc_cost *cost, const struct inst_info *info)
{
    return cost->pipe == PIPE_XU && info->class != PTX_CLASS_CONVERT &&
           info->class != PTX_CLASS_INT;
}

/* A conversion from or to f64. */
static bool is_wide(const struct inst_info *info)
{
    return info->ptx != NULL && (info->ptx->type == PTX_F64 || info->ptx->type2 == PTX_F64);
}

static bool is_overhead(const struct inst_info *info)
{
    return info->class == PTX_CLASS_INT || info->class == PTX_CLASS_MOVE ||
           info->class == PTX_CLASS_CONTROL;
}

/* Neighbouring lanes that access neighbouring words can do so in 16 bytes each. */
static double part_of_width(const struct doings *d, const struct inst_info *info, uint32_t pc)
{
    const struct pc_sectors *of = &d->sectors[pc];
    const double wanted = info->access_bytes * (double)WARP_LANES / 32;

    return info->access_bytes < 16 && of->all > 0 && of->all < 1.3 * of->ideal &&
                   of->ideal >= 0.9 * wanted * of->accesses
               ? info->access_bytes / 16.0
               : 1;
}

/* A block needs each of its sectors once. */
static double part_of_repeats(const struct doings *d, uint32_t pc)
{
    const struct pc_sectors *of = &d->sectors[pc];

    return of->all > 0 ? of->first / of->all : 1;
}

/* The instruction of [begin, end) that wrote the register last; end: none. */
static uint32_t writer(const struct program *program, uint32_t begin, uint32_t end, uint32_t reg)
{
    for (uint32_t pc = end; pc-- > begin;)
        for (unsigned i = 0; i < program->info[pc].nr_dests; i++)
            if (program->info[pc].dest[i] == reg)
                return pc;
    return end;
}

static bool reads(const struct inst_info *info, uint32_t reg)
{
    for (unsigned i = 0; i < info->nr_sources; i++)
        if (info->source[i] == reg)
            return true;
    return false;
}

/* What a loop is made of beside its body: the branch back, the comparison before it, and what
 * counts the rounds. By pc; heap memory. */
static bool *loop_control(const struct program *program)
{
    bool *control = xcalloc(program->nr_insts + 1, sizeof(*control));

    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct inst *in = &program->insts[pc];
        const struct inst_info *branch = &program->info[pc];
        uint32_t test;

        control[pc] = control[pc] || branch->class == PTX_CLASS_CONTROL;
        if (in->kind != INST_BRANCH || in->target > pc || in->guard == 0 || branch->nr_sources == 0)
            continue;
        test = writer(program, in->target, pc, branch->source[branch->nr_sources - 1]);
        control[test] = true;
        for (unsigned i = 0; test < pc && i < program->info[test].nr_sources; i++) {
            const uint32_t counter = program->info[test].source[i];
            const uint32_t step = writer(program, in->target, pc, counter);

            if (step < pc && reads(&program->info[step], counter))
                control[step] = true;
        }
    }
    return control;
}

static void count_instructions(const struct time_model *m, struct doings *d)
{
    double widths = 0;

    for (uint32_t pc = 0; pc < m->run->program->nr_insts; pc++) {
        const struct inst_info *info = &m->run->program->info[pc];
        const struct pc_cost *cost = &m->costs[pc];
        const struct pc_count *count = &m->counts->pc[pc];
        const double warps = (double)count->warps, slots = warps * cost->slots;

        if (cost->free || warps <= 0)
            continue;
        d->slots += slots;
        d->special += is_special(cost, info) ? slots : 0;
        d->fp64 += cost->pipe == PIPE_FP64 ? slots : 0;
        d->conversions += info->class == PTX_CLASS_CONVERT ? slots : 0;
        d->overhead += is_overhead(info) ? slots : 0;
        d->branches += d->loops[pc] ? slots : 0;
        d->barriers += cost->barrier ? warps : 0;
        d->shared += (double)count->shared;
        d->local += (double)count->local;
        d->global += (double)count->global;
        if (part_of_width(d, info, pc) < 1) {
            d->narrow += (double)count->global;
            widths += (double)count->global * part_of_width(d, info, pc);
        }
        d->idle_lanes += slots * (1 - (double)count->lanes / (WARP_LANES * warps));
        d->atomics = d->atomics || (info->is_atomic && count->requests > 0);
    }
    d->width = d->narrow > 0 ? widths / d->narrow : 1;
}

/* By pc; heap memory. */
static struct pc_sectors *count_sectors(const struct time_model *m)
{
    struct pc_sectors *of = xcalloc(m->run->program->nr_insts + 1, sizeof(*of));

    for (unsigned i = 0; i < m->listener->nr_traces; i++) {
        const struct block_trace *trace = m->listener->traces[i];

        for (unsigned w = 0; w < trace->nr_warps; w++) {
            for (size_t e = 0; e < trace->warps[w].nr; e++) {
                const struct trace_event *event = &trace->warps[w].events[e];

                for (unsigned k = 0; k < event->nr_accesses; k++)
                    add_sectors(&of[event->pc], trace, &trace->accesses[event->access + k]);
            }
        }
    }
    return of;
}

static void count_accesses(const struct time_model *m, struct doings *d)
{
    double wavefronts = 0, conflicts = 0, sectors = 0, scattered = 0, repeats[2] = {0};

    for (unsigned i = 0; i < m->listener->nr_traces; i++) {
        const struct block_trace *trace = m->listener->traces[i];

        for (size_t k = 0; k < trace->nr_accesses; k++) {
            const struct trace_access *a = &trace->accesses[k];

            if (a->space == PTX_SHARED) {
                wavefronts += a->wavefronts;
                conflicts += a->wavefronts > a->ideal ? a->wavefronts - a->ideal : 0;
            }
        }
    }
    for (uint32_t pc = 0; pc < m->run->program->nr_insts; pc++) {
        const struct pc_sectors *of = &d->sectors[pc];

        sectors += of->all;
        scattered += fmax(of->all - of->ideal, 0);
        repeats[!m->run->program->info[pc].is_load] += of->all - of->first;
    }
    d->conflicts = wavefronts > 0 ? conflicts / wavefronts : 0;
    d->scattered = sectors > 0 ? scattered / sectors : 0;
    d->rereads = sectors > 0 ? repeats[0] / sectors : 0;
    d->rewrites = sectors > 0 ? repeats[1] / sectors : 0;
}

static struct doings doings_of(const struct time_model *m)
{
    struct doings d = {
        .sectors = count_sectors(m), .loops = loop_control(m->run->program), .width = 1};

    count_instructions(m, &d);
    count_accesses(m, &d);
    return d;
}

static double waits(const struct time_model *m, enum stall why)
{
    return m->sim.warp_cycles > 0 ? m->sim.stall[why] / m->sim.warp_cycles : 0;
}

/* Does the last wave of blocks leave SMs idle, or the grid all the time? */
static double idle_share(const struct time_model *m)
{
    const double most = (double)m->blocks_sm * m->chip->nr_sms;

    return 1 - (double)m->blocks / most;
}

static bool matters(const struct time_model *m, const struct doings *d, enum cure cure)
{
    const double least = least_share * d->slots;

    switch (cure) {
    case CURE_CONFLICTS:
        return d->conflicts > least_share;
    case CURE_SCATTER:
        return d->scattered > least_share;
    case CURE_REPEATS:
    case CURE_MISSES:
    case CURE_TILED:
        return d->rereads > least_share;
    case CURE_HELD:
        return d->rereads > least_share || d->rewrites > least_share;
    case CURE_REWRITES:
        return d->rewrites > least_share;
    case CURE_LOCAL:
        return d->local > 0 || m->run->launch->spill_bytes > 0;
    case CURE_BARRIERS:
        return d->barriers > 0 && waits(m, STALL_BARRIER) > least_share;
    case CURE_SPECIAL:
        return d->special > least;
    case CURE_FP64:
        return d->fp64 > 0;
    case CURE_CONVERSIONS:
        return d->conversions > least;
    case CURE_OVERHEAD:
        return d->overhead > least;
    case CURE_LOOPS:
        return d->branches > least;
    case CURE_LATENCY:
        return waits(m, STALL_LONG) > least_share;
    case CURE_STAGING:
        return waits(m, STALL_LONG) > least_share && d->barriers > 0;
    case CURE_SHORT:
        return waits(m, STALL_SHORT) > least_share;
    case CURE_LIMITS:
        return m->occ.blocks * m->occ.warps_per_block <= m->chip->max_warps_per_sm / 2 &&
               m->blocks_sm > m->resident;
    case CURE_TAIL:
        return m->blocks > (uint64_t)m->chip->nr_sms && idle_share(m) > least_share;
    case CURE_IDLE:
    case CURE_ROWS:
        return m->blocks_sm <= 4 * (uint64_t)m->occ.blocks;
    case CURE_DIVERGENCE:
        return d->idle_lanes > least;
    case CURE_NARROW:
        return d->narrow > 0.7 * d->global && d->narrow > least;
    case CURE_SHARED:
        return d->shared > least;
    case CURE_ATOMICS:
        return d->atomics;
    case CURE_DRAM:
        return m->sim.dram_sectors > 0.1 * m->sim.l2_sectors;
    case NR_CURES:
        break;
    }
    return false;
}

/* What is not accessed needs no address, for which a multiplication and an addition are enough. */
static double part_of_overhead(const struct doings *d, unsigned cured)
{
    const double accesses = d->local + d->shared + d->global;
    const double each = accesses > 0 && d->overhead > 0 ? fmin(1 / accesses, 2 / d->overhead) : 0;

    if (cured & SPARED(TILED))
        return 1 - d->rereads * d->global * each;
    if (cured & SPARED(NARROW))
        return d->width;
    if (cured & SHARED_ADDRESSES)
        return 1 - d->shared * each;
    return cured & SPARED(LOCAL) && accesses > 0 ? 1 - d->local / accesses : 1;
}

/* By pc; heap memory. */
struct specials {
    bool *functions, *chain, *bare;
};

static struct specials specials_of(const struct time_model *m)
{
    const struct program *program = m->run->program;
    const size_t nr = program->nr_insts + 1;
    struct specials s = {.functions = xcalloc(nr, sizeof(*s.functions)),
        .chain = xcalloc(nr, sizeof(*s.chain)),
        .bare = xcalloc(nr, sizeof(*s.bare))};

    for (uint32_t pc = 0; pc < program->nr_insts; pc++)
        s.chain[pc] = s.functions[pc] = is_special(&m->costs[pc], &program->info[pc]);
    special_chain(program, s.chain);
    special_bare(program, s.functions, s.chain, s.bare);
    return s;
}

/* A function with all that makes it exact becomes one multiply-add. One that is approximate already
 * becomes six: two bring the argument into range, three are a polynomial, one scales; or two make a
 * first guess of a root, and four two steps of Newton's. */
static void spare_special(
    const struct time_model *m, const struct specials *s, uint32_t pc, struct pc_cost *cost)
{
    const uint16_t insts = s->bare[pc] ? 6 : 1;

    if (!s->functions[pc]) {
        cost->free = cost->free || s->chain[pc];
        return;
    }
    *cost = (struct pc_cost){.pipe = PIPE_FMA,
        .pipe_cycles = insts,
        .slots = insts,
        .part = 1,
        .latency = (uint16_t)(insts * m->chip->lat_alu),
        .reason = STALL_WAIT,
        .head = cost->head,
        .guard = cost->guard};
}

/* What the instructions cost under a cure. */
static struct pc_cost *cured_costs(
    const struct time_model *m, const struct doings *d, unsigned cured)
{
    const uint32_t nr = m->run->program->nr_insts;
    struct pc_cost *costs = xmalloc((nr + 1) * sizeof(*costs));
    const struct pc_cost as_fma = {.pipe = PIPE_FMA,
        .pipe_cycles = 1,
        .slots = 1,
        .part = 1,
        .latency = (uint16_t)m->chip->lat_alu,
        .reason = STALL_WAIT};

    struct specials specials = {0};

    memcpy(costs, m->costs, nr * sizeof(*costs));
    if (cured & SPARED(SPECIAL))
        specials = specials_of(m);
    for (uint32_t pc = 0; pc < nr; pc++) {
        const struct inst_info *info = &m->run->program->info[pc];
        struct pc_cost *cost = &costs[pc];
        const struct pc_cost before = *cost;

        if (cost->free)
            continue;
        if (cured & SPARED(FP64) && cost->pipe == PIPE_FP64) {
            *cost = as_fma;
            cost->head = before.head;
            cost->guard = before.guard;
        }
        cost->free = (cured & SPARED(CONVERSIONS) && info->class == PTX_CLASS_CONVERT) ||
                     (cured & SPARED(FP64) && info->class == PTX_CLASS_CONVERT && is_wide(info)) ||
                     (cured & SPARED(OVERHEAD) && is_overhead(info)) ||
                     (cured & SPARED(LOOPS) && d->loops[pc]);
        if (cured & SPARED(SPECIAL))
            spare_special(m, &specials, pc, cost);
        if (cured & SPARED(SHORT) && (cost->lsu || cost->pipe == PIPE_XU))
            cost->latency = (uint16_t)m->chip->lat_alu;
        if (cured & (info->is_load ? SPARED(REPEATS) : SPARED(REWRITES)))
            cost->part = (float)part_of_repeats(d, pc);
        if (is_overhead(info))
            cost->part = (float)part_of_overhead(d, cured);
        if (cured & SPARED(NARROW))
            cost->part *= (float)part_of_width(d, info, pc);
    }
    free(specials.functions);
    free(specials.chain);
    free(specials.bare);
    return costs;
}

/* The launch's cycles under cures; by a simulation as short as that of every cure. */
static double cured_cycles(
    const struct time_model *m, const struct doings *d, unsigned cured, struct limit *limit)
{
    struct time_model cure = *m;
    cure.cured = cured;
    cure.most_events = m->run->launch->quick_cures ? quick_cure_events : cure_events;
    cure.rough_blocks = (double)m->blocks_sm;
    cure.costs = cured_costs(m, d, cured);
    if (cured & SPARED(NARROW))
        cure.turnover = d->width;
    if (cured & SPARED(LIMITS)) {
        cure.resident = m->chip->max_warps_per_sm / m->occ.warps_per_block;
        cure.resident = cure.resident > m->blocks_sm ? (unsigned)m->blocks_sm : cure.resident;
    }
    if (cured & SPARED(IDLE))
        cure.resident = m->occ.blocks > 0 ? m->occ.blocks : 1;
    if (cured & (SPARED(IDLE) | SPARED(TAIL)))
        cure.rough_blocks = (double)m->blocks / m->chip->nr_sms;
    time_run(&cure);
    *limit = time_limit(&cure);
    free(cure.costs);
    free(cure.sim.stall_pc);
    return cure.cycles;
}

static unsigned taken_away(enum cure cure)
{
    switch (cure) {
    case CURE_ROWS:
        return SPARED(SCATTER) | SPARED(IDLE);
    case CURE_STAGING:
        return SPARED(LATENCY) | SPARED(BARRIERS);
    case CURE_TILED:
        return SPARED(TILED) | SPARED(SCATTER) | SPARED(REPEATS) | SPARED(LATENCY);
    case CURE_HELD:
        return SPARED(REPEATS) | SPARED(REWRITES) | SPARED(LATENCY);
    default:
        return 1u << cure;
    }
}

/* The same under a cure. Warps that need less may get in each other's way: of shared memory, with
 * its addresses and without them, the better counts. */
static double cycles_without(
    const struct time_model *m, const struct doings *d, enum cure cure, struct limit *limit)
{
    const double cycles = cured_cycles(m, d, taken_away(cure), limit);
    struct limit other;

    if (cure != CURE_SHARED)
        return cycles;
    const double more = cured_cycles(m, d, SPARED(SHARED) | SHARED_ADDRESSES, &other);

    if (more < cycles)
        *limit = other;
    return fmin(cycles, more);
}

void time_cures(
    const struct time_model *m, double ramp_ns, uint32_t cures, struct counters *counters)
{
    const struct doings d = doings_of(m);
    const double now = m->cycles / m->chip->clock_hz * 1e9;
    double before = 0;

    for (int c = 0; c < NR_CURES && !launch_interrupted(); c++) {
        double share = 1;

        if ((cures >> c & 1) == 0)
            continue;
        if (matters(m, &d, (enum cure)c)) {
            struct limit *left = &counters->left[c];

            before = before > 0 ? before : cured_cycles(m, &d, 0, left);
            share = fmin(1, cycles_without(m, &d, (enum cure)c, left) / before);
        }
        counters_set(counters, cure_metric((enum cure)c), ramp_ns + share * now, PROV_MODELLED);
    }
    free(d.sectors);
    free(d.loops);
}
