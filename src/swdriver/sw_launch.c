/* Owns launches: what is refused at once, how a launch runs, what a fault becomes, and the modelled
 * time. */
#include "swdriver/sw_state.h"

#include "base/mem.h"
#include "base/str.h"
#include "swdriver/sw_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A launch that the emulator could not end would run for ever on a card. So does this one. */
static void hang(void)
{
    for (;;)
        pause();
}

static CUresult code_of(const struct emu_result *result)
{
    if (result->verdict == VERDICT_LAUNCH_FAILED)
        return CUDA_ERROR_INVALID_VALUE;
    if (result->verdict == VERDICT_UNSUPPORTED)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (str_starts(result->text, "out of bounds"))
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (str_starts(result->text, "misaligned"))
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    if (str_starts(result->text, "assertion"))
        return CUDA_ERROR_ASSERT;
    return CUDA_ERROR_LAUNCH_FAILED;
}

static struct emu_launch launch_of(const struct sw_op *op)
{
    const struct CUfunc_st *f = op->function;

    return (struct emu_launch){
        .kernel = f->kernel.name,
        .grid = {op->grid[0], op->grid[1], op->grid[2]},
        .block = {op->block[0], op->block[1], op->block[2]},
        .cluster = {op->cluster[0], op->cluster[1], op->cluster[2]},
        .smem_bytes = op->smem_bytes,
        .params = op->params,
        .params_bytes = f->kernel.params_bytes,
        .registers = f->registers,
        .spill_bytes = f->spill_bytes,
        .machine_insts = f->machine_insts,
        .serial_products = f->serial_products,
        .step_limit = sw_step_limit(),
    };
}

/* --- time --- */

/* All memory that a kernel can write, as it was. */
struct snapshot {
    struct sw_alloc *ranges;
    uint8_t **bytes;
    size_t nr, cap, cap_bytes;
};

static void keep(CUcontext ctx, struct snapshot *s, uint64_t address, uint64_t nr)
{
    struct err err;

    s->ranges = grow(s->ranges, &s->cap, s->nr + 1, sizeof(*s->ranges));
    s->bytes = grow(s->bytes, &s->cap_bytes, s->nr + 1, sizeof(*s->bytes));
    s->ranges[s->nr] = (struct sw_alloc){.address = address, .bytes = nr};
    s->bytes[s->nr] = xmalloc(nr + 1);
    emu_read(ctx->emu, address, s->bytes[s->nr++], nr, &err);
}

static void take(CUcontext ctx, struct snapshot *s)
{
    struct emu_global global;

    for (size_t i = 0; i < ctx->nr_allocs; i++)
        keep(ctx, s, ctx->allocs[i].address, ctx->allocs[i].bytes);
    for (CUmodule m = ctx->modules; m != NULL; m = m->next)
        for (unsigned i = 0; emu_global(m->module, i, &global); i++)
            if (!global.constant)
                keep(ctx, s, global.address, global.bytes);
}

static void restore(CUcontext ctx, struct snapshot *s)
{
    struct err err;

    for (size_t i = 0; i < s->nr; i++) {
        emu_write(ctx->emu, s->ranges[i].address, s->bytes[i], s->ranges[i].bytes, &err);
        free(s->bytes[i]);
    }
    free(s->ranges);
    free(s->bytes);
}

/* The floor is a roofline's: the bytes that the kernel touches once each through DRAM, or its
 * operations as FMAs of f32 in all lanes, whichever takes longer. */
static void set_time(struct sw_time *time, const struct counters *counters)
{
    enum { LANES = 128, FLOPS_OF_FMA = 2 };
    const struct chip *chip = sw_chip();
    const double bytes_per_ns = chip->dram_bytes_per_s * chip->dram_achievable / 1e9;
    const double flops_per_ns = chip->nr_sms * chip->clock_hz * LANES * FLOPS_OF_FMA / 1e9;
    const double scale =
        counters->blocks_run > 0 ? (double)counters->blocks_all / (double)counters->blocks_run : 1;
    const double moving = counters_get(counters, METRIC_GLOBAL_UNIQUE_BYTES) * scale / bytes_per_ns;
    const double computing = counters_get(counters, METRIC_FLOPS) / flops_per_ns;

    time->time_ns = counters_get(counters, METRIC_TIME_NS);
    time->floor_ns = moving > computing ? moving : computing;
    if (time->floor_ns > time->time_ns)
        time->floor_ns = time->time_ns;
    time->moved_bytes = counters_get(counters, METRIC_DRAM_BYTES);
}

/* The modelled time of a launch, from a sample of its blocks: enough to meet in the caches where
 * that is affordable, as device_emu.c takes. Afterwards memory is as before. 0: the kernel fails.
 */
static void model(CUcontext ctx, const struct sw_op *op, struct sw_time *time)
{
    static const double budget = 60e6; /* thread instructions */
    enum { PROBE_BLOCKS = 4 };
    struct emu_launch launch = launch_of(op);
    struct arena *arena = arena_create();
    struct snapshot before = {0};
    struct emu_result ran = {0};
    double blocks = (double)op->grid[0] * op->grid[1] * op->grid[2], nr;
    struct err err;

    take(ctx, &before);
    launch.sample_blocks = PROBE_BLOCKS;
    if (emu_launch(ctx->emu, op->function->module->module, &launch, arena, &ran, &err) &&
        ran.verdict == VERDICT_OK) {
        nr = budget / ((double)ran.thread_insts / PROBE_BLOCKS + 1);
        launch.sample_blocks = nr >= blocks ? 0 : nr < PROBE_BLOCKS ? PROBE_BLOCKS : (uint64_t)nr;
        launch.count = true;
        ran = (struct emu_result){0};
        if (emu_launch(ctx->emu, op->function->module->module, &launch, arena, &ran, &err) &&
            ran.verdict == VERDICT_OK)
            set_time(time, &ran.counters);
    }
    restore(ctx, &before);
    arena_destroy(arena);
}

static bool same_launch(const struct sw_time *t, const struct sw_op *op)
{
    return t->function == op->function && t->smem_bytes == op->smem_bytes &&
           memcmp(t->grid, op->grid, sizeof(t->grid)) == 0 &&
           memcmp(t->block, op->block, sizeof(t->block)) == 0 &&
           memcmp(t->cluster, op->cluster, sizeof(t->cluster)) == 0;
}

/* The same kernel on the same grid takes the same time here, whatever its arguments. */
static const struct sw_time *time_of(CUcontext ctx, const struct sw_op *op)
{
    struct sw_time *t;

    for (size_t i = 0; i < ctx->nr_times; i++)
        if (same_launch(&ctx->times[i], op))
            return &ctx->times[i];
    ctx->times = grow(ctx->times, &ctx->cap_times, ctx->nr_times + 1, sizeof(*ctx->times));
    t = &ctx->times[ctx->nr_times++];
    *t = (struct sw_time){.function = op->function, .smem_bytes = op->smem_bytes};
    memcpy(t->grid, op->grid, sizeof(t->grid));
    memcpy(t->block, op->block, sizeof(t->block));
    memcpy(t->cluster, op->cluster, sizeof(t->cluster));
    model(ctx, op, t);
    return t;
}

/* For profilers, which hear of each kernel as it runs, with its place on the modelled clock. */
static void (*on_kernel)(const char *symbol, double start_ns, double end_ns);

void keet_software_driver_on_kernel(void (*told)(const char *symbol, double, double));
void keet_software_driver_on_kernel(void (*told)(const char *symbol, double, double))
{
    on_kernel = told;
}

CUresult sw_run_launch(CUcontext ctx, const struct sw_op *op)
{
    struct emu_launch launch = launch_of(op);
    struct arena *arena = arena_create();
    struct emu_result ran = {0};
    struct record_shot *shot = record_on() ? sw_record_begin(ctx, op) : NULL;
    const struct sw_time *time = NULL;
    struct err err;
    bool ok;

    if (record_is_dry()) {
        sw_record_end(ctx, op, shot, NULL, NULL);
        arena_destroy(arena);
        return CUDA_SUCCESS;
    }
    if (ctx->timed || on_kernel != NULL || record_on()) {
        const double start_ns = ctx->now_ns + sw_chip()->launch_overhead_ns;

        time = time_of(ctx, op);
        ctx->now_ns = start_ns + time->time_ns;
        if (on_kernel != NULL)
            on_kernel(op->function->kernel.name, start_ns, ctx->now_ns);
    }
    ok = emu_launch(ctx->emu, op->function->module->module, &launch, arena, &ran, &err);
    if (ok && ran.printed)
        fputs(ran.printed, stdout);
    if (record_on())
        sw_record_end(ctx, op, shot, time, ran.verdict != VERDICT_OK ? ran.text : NULL);
    arena_destroy(arena);
    if (!ok)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (ran.verdict != VERDICT_OK)
        sw_tell(op->function->kernel.name, ran.text);
    if (ran.verdict == VERDICT_TIMEOUT)
        hang();
    if (ran.verdict == VERDICT_OK)
        return CUDA_SUCCESS;
    if (ran.verdict == VERDICT_LAUNCH_FAILED || ran.verdict == VERDICT_UNSUPPORTED)
        return code_of(&ran);
    ctx->sticky = code_of(&ran);
    return CUDA_SUCCESS; /* on a card the launch is long over before the fault is known */
}

/* --- what the driver refuses --- */

static CUresult fits(CUfunction f, const CUlaunchConfig *c)
{
    const struct chip *chip = sw_chip();
    const uint64_t threads = (uint64_t)c->blockDimX * c->blockDimY * c->blockDimZ;
    const uint32_t most =
        f->kernel.max_threads > 0 ? f->kernel.max_threads : chip->max_threads_per_block;
    unsigned per_sm;

    if (threads == 0 || threads > most || c->blockDimZ > 64 ||
        c->blockDimX > chip->max_threads_per_block || c->blockDimY > chip->max_threads_per_block)
        return CUDA_ERROR_INVALID_VALUE;
    if (c->gridDimX == 0 || c->gridDimY == 0 || c->gridDimZ == 0 || c->gridDimX > INT32_MAX ||
        c->gridDimY > 65535 || c->gridDimZ > 65535)
        return CUDA_ERROR_INVALID_VALUE;
    if (c->sharedMemBytes > f->max_dynamic_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    per_sm = chip_occupancy(
        chip, (unsigned)threads, f->registers, f->kernel.smem_static_bytes + c->sharedMemBytes)
                 .blocks;
    if (per_sm == 0)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const CUlaunchAttribute *a = &c->attrs[i];
        const uint64_t grid = (uint64_t)c->gridDimX * c->gridDimY * c->gridDimZ;

        if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && a->value.cooperative &&
            grid > (uint64_t)per_sm * chip->nr_sms)
            return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return CUDA_SUCCESS;
}

/* A cluster by attribute, of which the grid must hold whole ones; of over 8 blocks where the
 * function allows it (CUDA programming guide, Thread Block Clusters). */
static CUresult set_cluster(struct sw_op *op, const CUlaunchConfig *c)
{
    uint64_t blocks = 1;

    for (unsigned i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            memcpy(op->cluster,
                (uint32_t[3]){c->attrs[i].value.clusterDim.x, c->attrs[i].value.clusterDim.y,
                    c->attrs[i].value.clusterDim.z},
                sizeof(op->cluster));
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t own = op->function->kernel.cluster[i], said = op->cluster[i];

        if (own && said && own != said)
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        blocks *= said ? said : own ? own : 1;
        if (op->grid[i] % (said ? said : own ? own : 1))
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
    return blocks > (op->function->large_clusters ? 16 : 8) ? CUDA_ERROR_INVALID_CLUSTER_SIZE
                                                            : CUDA_SUCCESS;
}

/* Parameters come as one pointer each, or packed, behind CU_LAUNCH_PARAM_BUFFER_POINTER. */
static CUresult pack(CUfunction f, void *const *params, void *const *extra, void *packed)
{
    const uint32_t *each, *offsets;
    const void *buffer = NULL;
    uint32_t total;
    size_t bytes = 0;
    unsigned nr;

    if (!emu_params(f->module->module, f->kernel.name, &nr, &each, &offsets, &total))
        return CUDA_ERROR_INVALID_HANDLE;
    for (; extra != NULL && extra[0] != CU_LAUNCH_PARAM_END; extra += 2) {
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = *(const size_t *)extra[1];
    }
    if (buffer != NULL) {
        memcpy(packed, buffer, bytes < total ? bytes : total);
        return CUDA_SUCCESS;
    }
    if (params == NULL && nr > 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < nr; i++)
        memcpy((uint8_t *)packed + offsets[i], params[i], each[i]);
    return CUDA_SUCCESS;
}

static CUresult launch(
    CUcontext ctx, const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
    struct sw_op op = {.kind = SW_LAUNCH, .function = f};
    CUresult code;

    if (f == NULL || f->module->ctx != ctx)
        return CUDA_ERROR_INVALID_HANDLE;
    code = fits(f, c);
    if (code != CUDA_SUCCESS)
        return code;
    memcpy(op.grid, (uint32_t[3]){c->gridDimX, c->gridDimY, c->gridDimZ}, sizeof(op.grid));
    memcpy(op.block, (uint32_t[3]){c->blockDimX, c->blockDimY, c->blockDimZ}, sizeof(op.block));
    op.smem_bytes = c->sharedMemBytes;
    code = set_cluster(&op, c);
    if (code != CUDA_SUCCESS)
        return code;
    op.params_bytes = f->kernel.params_bytes;
    op.params = xcalloc(1, op.params_bytes + 1);
    code = pack(f, params, extra, op.params);
    if (code != CUDA_SUCCESS) {
        free(op.params);
        return code;
    }
    op.stream = c->hStream;
    return sw_submit(ctx, c->hStream, &op);
}

CUresult CUDAAPI cuLaunchKernelEx(
    const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && config == NULL)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = launch(ctx, config, f, params, extra);
    return sw_end(code);
}

CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned smem_bytes, CUstream stream,
    void **params, void **extra)
{
    const CUlaunchConfig config = {
        .gridDimX = grid_x,
        .gridDimY = grid_y,
        .gridDimZ = grid_z,
        .blockDimX = block_x,
        .blockDimY = block_y,
        .blockDimZ = block_z,
        .sharedMemBytes = smem_bytes,
        .hStream = stream,
    };

    return cuLaunchKernelEx(&config, f, params, extra);
}

CUresult CUDAAPI cuLaunchCooperativeKernel(CUfunction f, unsigned grid_x, unsigned grid_y,
    unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned smem_bytes,
    CUstream stream, void **params)
{
    CUlaunchAttribute cooperative = {
        .id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {.cooperative = 1}};
    const CUlaunchConfig config = {
        .gridDimX = grid_x,
        .gridDimY = grid_y,
        .gridDimZ = grid_z,
        .blockDimX = block_x,
        .blockDimY = block_y,
        .blockDimZ = block_z,
        .sharedMemBytes = smem_bytes,
        .hStream = stream,
        .attrs = &cooperative,
        .numAttrs = 1,
    };

    return cuLaunchKernelEx(&config, f, params, NULL);
}
