/* Owns the sums of a launch's counts: per metric and per source line. */
#include "emu/exec/exec.h"

#include <stdlib.h>
#include <string.h>

void count_some_hits(struct pc_count *c, struct access_pattern *p)
{
    const uint64_t nr = p->hits, asked = nr * p->bytes * (unsigned)__builtin_popcount(p->mask);
    p->hits = 0;
    c->requests += nr;
    c->bytes += asked;
    switch (p->space) {
    case PTX_SHARED:
        c->shared += nr;
        c->wavefronts += nr * p->shape.wavefronts;
        c->wavefronts_ideal += nr * p->shape.ideal;
        break;
    case PTX_LOCAL:
        c->local += nr;
        break;
    case PTX_CONST:
        break;
    default:
        c->global += nr;
        c->sectors += nr * p->shape.sectors;
        c->sectors_ideal += nr * p->shape.ideal;
        c->lines += nr * p->shape.lines;
        c->data_wavefronts += nr * p->shape.data;
        c->global_bytes += nr * p->shape.bytes;
    }
}

struct sums {
    double m[NR_METRICS];
};

static void add_class(struct sums *s, const struct inst_info *info, double warps, double lanes)
{
    s->m[METRIC_FLOPS] += lanes * info->flops;
    switch (info->class) {
    case PTX_CLASS_FP: /* special functions have a metric of their own, whatever their type */
        if (info->fp32)
            s->m[METRIC_INST_FP32] += lanes;
        if (info->fp64)
            s->m[METRIC_INST_FP64] += lanes;
        if (info->fp16)
            s->m[METRIC_INST_FP16] += lanes;
        break;
    case PTX_CLASS_INT:
        s->m[METRIC_INST_INTEGER] += lanes;
        break;
    case PTX_CLASS_CONVERT:
        s->m[METRIC_INST_CONVERSION] += lanes;
        break;
    case PTX_CLASS_SPECIAL:
        s->m[METRIC_INST_SPECIAL] += lanes;
        break;
    case PTX_CLASS_MEMORY:
    case PTX_CLASS_ATOMIC:
        s->m[METRIC_INST_MEMORY] += lanes;
        break;
    case PTX_CLASS_CONTROL:
    case PTX_CLASS_BARRIER:
        s->m[METRIC_INST_CONTROL] += lanes;
        break;
    case PTX_CLASS_SHUFFLE:
        s->m[METRIC_INST_SHUFFLE] += lanes;
        break;
    case PTX_CLASS_TENSOR:
        s->m[METRIC_INST_TENSOR] += warps;
        break;
    default:
        s->m[METRIC_INST_OTHER] += lanes;
    }
}

static void add_memory(
    struct sums *s, const struct inst_info *info, const struct pc_count *c, double by)
{
    bool store = info->is_store;
    if (info->is_atomic) {
        s->m[METRIC_GLOBAL_ATOMICS] += (double)c->global * by;
        s->m[METRIC_SHARED_ATOMICS] += (double)c->shared * by;
        return;
    }
    double extra = ((double)c->wavefronts - (double)c->wavefronts_ideal) * by;
    s->m[store ? METRIC_GLOBAL_ST_REQUESTS : METRIC_GLOBAL_LD_REQUESTS] += (double)c->global * by;
    s->m[store ? METRIC_GLOBAL_ST_SECTORS : METRIC_GLOBAL_LD_SECTORS] += (double)c->sectors * by;
    s->m[store ? METRIC_GLOBAL_ST_SECTORS_IDEAL : METRIC_GLOBAL_LD_SECTORS_IDEAL] +=
        (double)c->sectors_ideal * by;
    if (!store)
        s->m[METRIC_GLOBAL_LD_WAVEFRONTS] += (double)c->data_wavefronts * by;
    s->m[store ? METRIC_GLOBAL_ST_BYTES : METRIC_GLOBAL_LD_BYTES] += (double)c->global_bytes * by;
    bool shared_store = store != info->is_copy; /* the global side of a copy is the other one */
    s->m[shared_store ? METRIC_SHARED_ST_REQUESTS : METRIC_SHARED_LD_REQUESTS] +=
        (double)c->shared * by;
    s->m[shared_store ? METRIC_SHARED_ST_WAVEFRONTS : METRIC_SHARED_LD_WAVEFRONTS] +=
        (double)c->wavefronts * by;
    s->m[shared_store ? METRIC_SHARED_ST_CONFLICTS : METRIC_SHARED_LD_CONFLICTS] += extra;
    s->m[store ? METRIC_LOCAL_ST_REQUESTS : METRIC_LOCAL_LD_REQUESTS] += (double)c->local * by;
    if (c->local)
        s->m[METRIC_LOCAL_BYTES] +=
            (double)c->bytes * by * (double)c->local / (double)(c->requests ? c->requests : 1);
}

static void add_line(
    struct line_cost *line, const struct inst_info *info, const struct pc_count *c, double by)
{
    double warps = (double)c->warps * by, lanes = (double)c->lanes * by;
    line->warp_inst += warps;
    line->thread_inst += lanes;
    line->global_requests += (double)c->global * by;
    line->global_sectors += (double)c->sectors * by;
    line->global_sectors_ideal += (double)c->sectors_ideal * by;
    line->global_bytes += (double)c->global_bytes * by;
    if (c->global && info->access_bytes > line->access_bytes)
        line->access_bytes = info->access_bytes;
    line->shared_requests += (double)c->shared * by;
    line->shared_wavefronts += (double)c->wavefronts * by;
    line->shared_wavefronts_ideal += (double)c->wavefronts_ideal * by;
    line->local_requests += (double)c->local * by;
    line->atomics += info->is_atomic ? (double)c->requests * by : 0;
    line->barriers += info->is_barrier ? warps : 0;
    line->branches += info->is_branch ? warps : 0;
    line->branches_divergent += (double)c->divergent * by;
    line->fp64_inst += info->fp64 ? lanes : 0;
    line->special_inst += info->class == PTX_CLASS_SPECIAL ? lanes : 0;
    line->integer_inst += info->class == PTX_CLASS_INT ? lanes : 0;
    line->conversion_inst += info->class == PTX_CLASS_CONVERT ? lanes : 0;
}

static int by_number(const void *a, const void *b)
{
    unsigned x = ((const struct line_cost *)a)->line, y = ((const struct line_cost *)b)->line;
    return x < y ? -1 : x > y;
}

static struct line_cost *line_of(struct line_cost *lines, unsigned *nr, unsigned number)
{
    for (unsigned i = *nr; i-- > 0;) {
        if (lines[i].line == number)
            return &lines[i];
    }
    lines[*nr] = (struct line_cost){.line = number};
    return &lines[(*nr)++];
}

static void fill_launch(const struct exec *x, double warps, struct counters *c)
{
    const struct emu_launch *launch = x->run.launch;
    const struct chip *chip = x->run.chip;
    unsigned threads = x->run.nr_threads, regs = launch->registers ? launch->registers : 32;
    unsigned smem = x->run.shared_bytes;
    struct occupancy o = chip_occupancy(chip, threads, regs, smem);
    const struct {
        enum metric metric;
        double value;
    } values[] = {{METRIC_WARPS_LAUNCHED, warps}, {METRIC_REGISTERS, launch->registers},
        {METRIC_SMEM_STATIC, x->run.program->shared_static_bytes},
        {METRIC_SMEM_DYNAMIC, launch->smem_bytes}, {METRIC_SPILL_BYTES, launch->spill_bytes},
        {METRIC_BLOCK_THREADS, threads}, {METRIC_GRID_BLOCKS, (double)x->run.nr_blocks},
        {METRIC_OCC_LIMIT_BLOCKS, o.limit_blocks}, {METRIC_OCC_LIMIT_REGISTERS, o.limit_registers},
        {METRIC_OCC_LIMIT_SMEM, o.limit_smem}, {METRIC_OCC_LIMIT_WARPS, o.limit_warps},
        {METRIC_OCCUPANCY_PCT, 100.0 * o.blocks * o.warps_per_block / chip->max_warps_per_sm}};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        bool from_ptxas =
            values[i].metric == METRIC_REGISTERS || values[i].metric == METRIC_SPILL_BYTES;
        if (!from_ptxas || launch->registers)
            counters_set(c, values[i].metric, values[i].value, PROV_COUNTED);
    }
    if (o.blocks)
        counters_set(c, METRIC_WAVES, (double)x->run.nr_blocks / ((double)o.blocks * chip->nr_sms),
            PROV_COUNTED);
}

static const enum metric summed[] = {METRIC_WARP_INST, METRIC_THREAD_INST, METRIC_INST_FP32,
    METRIC_INST_FP64, METRIC_INST_FP16, METRIC_INST_INTEGER, METRIC_INST_CONVERSION,
    METRIC_INST_CONTROL, METRIC_INST_MEMORY, METRIC_INST_SPECIAL, METRIC_INST_SHUFFLE,
    METRIC_INST_OTHER, METRIC_INST_TENSOR, METRIC_FLOPS, METRIC_BRANCHES, METRIC_BRANCHES_DIVERGENT,
    METRIC_BARRIERS, METRIC_GLOBAL_LD_REQUESTS, METRIC_GLOBAL_ST_REQUESTS, METRIC_GLOBAL_LD_SECTORS,
    METRIC_GLOBAL_LD_WAVEFRONTS, METRIC_GLOBAL_ST_SECTORS, METRIC_GLOBAL_LD_SECTORS_IDEAL,
    METRIC_GLOBAL_ST_SECTORS_IDEAL, METRIC_GLOBAL_LD_BYTES, METRIC_GLOBAL_ST_BYTES,
    METRIC_GLOBAL_ATOMICS, METRIC_SHARED_LD_REQUESTS, METRIC_SHARED_ST_REQUESTS,
    METRIC_SHARED_LD_WAVEFRONTS, METRIC_SHARED_ST_WAVEFRONTS, METRIC_SHARED_LD_CONFLICTS,
    METRIC_SHARED_ST_CONFLICTS, METRIC_SHARED_ATOMICS, METRIC_LOCAL_LD_REQUESTS,
    METRIC_LOCAL_ST_REQUESTS, METRIC_LOCAL_BYTES};

bool count_fill(const struct exec *x, const struct pc_count *counts, double scale,
    struct arena *arena, struct emu_result *result)
{
    const struct program *p = x->run.program;
    struct counters *out = &result->counters;
    struct sums s = {{0}};
    struct line_cost *lines = arena_array(arena, p->nr_insts, sizeof(*lines));
    unsigned nr_lines = 0;
    for (uint32_t pc = 0; pc < p->nr_insts; pc++) {
        const struct inst_info *info = &p->info[pc];
        const struct pc_count *c = &counts[pc];
        if (!info->ptx || c->warps == 0)
            continue;
        double warps = (double)c->warps * scale, lanes = (double)c->lanes * scale;
        s.m[METRIC_WARP_INST] += warps;
        s.m[METRIC_THREAD_INST] += lanes;
        s.m[METRIC_BRANCHES] += info->is_branch ? warps : 0;
        s.m[METRIC_BRANCHES_DIVERGENT] += (double)c->divergent * scale;
        s.m[METRIC_BARRIERS] += info->is_barrier ? warps : 0;
        add_class(&s, info, warps, lanes);
        if (info->is_memory)
            add_memory(&s, info, c, scale);
        add_line(line_of(lines, &nr_lines, info->line), info, c, scale);
    }
    qsort(lines, nr_lines, sizeof(*lines), by_number);
    enum provenance from = x->nr_run < x->run.nr_blocks ? PROV_SAMPLED : PROV_COUNTED;
    for (size_t i = 0; i < sizeof(summed) / sizeof(*summed); i++)
        counters_set(out, summed[i], s.m[summed[i]], from);
    fill_launch(x, (double)x->run.nr_warps * (double)x->run.nr_blocks, out);
    out->lines = lines;
    out->nr_lines = nr_lines;
    out->blocks_run = x->nr_run;
    out->blocks_all = x->run.nr_blocks;
    return true;
}
