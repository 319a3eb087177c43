/* Owns launches: the chip's limits, worker threads and their blocks, merging of results. */
#include "emu/emu.h"

#include "base/mem.h"
#include "emu/exec/exec.h"
#include "emu/exec/launch.h"
#include "emu/state/windows.h"
#include "emu/watch/order.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(struct emu_result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes the launch fail with a verdict. Always true: false is for the environment. */
static bool refuse(struct emu_result *result, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(result->text, sizeof(result->text), format, ap);
    va_end(ap);
    result->verdict = VERDICT_LAUNCH_FAILED;
    return true;
}

/* Clusters of up to 16 blocks, of which a grid holds whole ones. More than 8 a kernel must allow on
 * the chip (cudaFuncAttributeNonPortableClusterSizeAllowed), which a launch does not tell. */
static bool clusters_fit(const struct chip *chip, const struct ptx_func *f,
    const struct emu_launch *l, struct emu_result *result)
{
    uint64_t blocks = 1;
    for (int i = 0; i < 3; i++) {
        const uint32_t said = l->cluster[i], own = f->reqnctapercluster[i];
        const uint32_t c = said ? said : own ? own : 1;
        if (said && f->reqnctapercluster[0] && said != (own ? own : 1))
            return !refuse(result,
                "clusters of (%u,%u,%u) blocks, but the kernel requires (%u,%u,%u)", l->cluster[0],
                l->cluster[1], l->cluster[2], f->reqnctapercluster[0], f->reqnctapercluster[1],
                f->reqnctapercluster[2]);
        if (l->grid[i] % c)
            return !refuse(result,
                "grid (%u,%u,%u): dimension %c is no multiple of the cluster's %u", l->grid[0],
                l->grid[1], l->grid[2], "xyz"[i], c);
        blocks *= c;
    }
    if (blocks > 1 && !chip_has_clusters(chip))
        return !refuse(result, "clusters of blocks need compute capability 9.0; %s has %u.%u",
            chip->name, chip_capability(chip) / 10, chip_capability(chip) % 10);
    return blocks <= MOST_CLUSTER_BLOCKS ||
           !refuse(result, "clusters of %" PRIu64 " blocks, the limit is %d", blocks,
               MOST_CLUSTER_BLOCKS);
}

/* The chip's limits (CUDA programming guide). */
static bool within_limits(const struct chip *chip, const struct program *program,
    const struct emu_launch *l, struct emu_result *result)
{
    static const uint32_t most_block[3] = {1024, 1024, 64};
    static const uint32_t most_grid[3] = {0x7fffffff, 65535, 65535};
    const struct ptx_func *f = program->func;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    for (int i = 0; i < 3; i++) {
        if (l->grid[i] == 0 || l->block[i] == 0)
            return !refuse(result, "grid (%u,%u,%u) of blocks (%u,%u,%u): a dimension is zero",
                l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2]);
        if (l->block[i] > most_block[i])
            return !refuse(result, "block (%u,%u,%u): dimension %c may be %u at most", l->block[0],
                l->block[1], l->block[2], "xyz"[i], most_block[i]);
        if (l->grid[i] > most_grid[i])
            return !refuse(result, "grid (%u,%u,%u): dimension %c may be %u at most", l->grid[0],
                l->grid[1], l->grid[2], "xyz"[i], most_grid[i]);
        if (f->reqntid[0] && l->block[i] != (f->reqntid[i] ? f->reqntid[i] : 1))
            return !refuse(result, "block (%u,%u,%u), but the kernel requires (%u,%u,%u)",
                l->block[0], l->block[1], l->block[2], f->reqntid[0], f->reqntid[1], f->reqntid[2]);
    }
    if (threads > chip->max_threads_per_block)
        return !refuse(result, "block of %" PRIu64 " threads, the limit is %u", threads,
            chip->max_threads_per_block);
    uint64_t most = f->maxntid[0];
    for (int i = 1; i < 3; i++)
        most *= f->maxntid[i] ? f->maxntid[i] : 1;
    if (most && threads > most)
        return !refuse(result,
            "block of %" PRIu64 " threads, but the kernel's __launch_bounds__ allows %" PRIu64,
            threads, most);
    const uint64_t smem = (uint64_t)program->shared_dynamic_offset + l->smem_bytes;
    if (program->shared_static_bytes > chip->smem_per_block_static_max_bytes)
        return !refuse(result, "%u bytes of static shared memory, the limit is %u",
            program->shared_static_bytes, chip->smem_per_block_static_max_bytes);
    if (smem > chip->smem_per_block_max_bytes)
        return !refuse(result,
            "%" PRIu64 " bytes of shared memory (%u static + %u dynamic), the limit is %u", smem,
            program->shared_dynamic_offset, l->smem_bytes, chip->smem_per_block_max_bytes);
    if (!clusters_fit(chip, f, l, result))
        return false;
    uint64_t warps = (threads + WARP_LANES - 1) / WARP_LANES;
    uint64_t unit = chip->register_alloc_unit ? chip->register_alloc_unit : 256;
    uint64_t per_warp = ((uint64_t)l->registers * WARP_LANES + unit - 1) / unit * unit;
    if (warps * per_warp > chip->registers_per_sm)
        return !refuse(result,
            "%u registers per thread x %" PRIu64 " threads: more than the %u of an SM",
            l->registers, threads, chip->registers_per_sm);
    if (f->param_bytes > LAUNCH_PARAM_BYTES)
        return !refuse(
            result, "%u bytes of parameters, the limit is %d", f->param_bytes, LAUNCH_PARAM_BYTES);
    if (l->params_bytes < f->param_bytes)
        return !refuse(
            result, "%u bytes of parameters, the kernel takes %u", l->params_bytes, f->param_bytes);
    return true;
}

/* Blocks that wait for each other must all be on the chip. */
static bool fits_at_once(const struct chip *chip, const struct program *program,
    const struct emu_launch *l, struct emu_result *result)
{
    const uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    const struct occupancy occ = chip_occupancy(chip, l->block[0] * l->block[1] * l->block[2],
        l->registers ? l->registers : 32, program->shared_static_bytes + l->smem_bytes);
    const uint64_t room = (uint64_t)occ.blocks * chip->nr_sms;
    return blocks <= room ||
           !refuse(result,
               "a cooperative grid of %" PRIu64 " blocks, of which the chip holds %" PRIu64
               " at once (%u on each of %u SMs)",
               blocks, room, occ.blocks, chip->nr_sms);
}

/* --- interruption --- */

static atomic_bool interrupted; /* lock-free, so that a signal handler may set it */

void launch_interrupt(void)
{
    atomic_store(&interrupted, true);
}

void launch_go_on(void)
{
    atomic_store(&interrupted, false);
}

bool launch_interrupted(void)
{
    return atomic_load_explicit(&interrupted, memory_order_relaxed);
}

/* --- a worker's rows and blocks --- */

static void fill32(uint8_t *file, uint32_t offset, uint32_t value)
{
    for (unsigned l = 0; l < WARP_LANES; l++)
        ((uint32_t *)(file + offset))[l] = value;
}

static void fill64(uint8_t *file, uint32_t offset, uint64_t value)
{
    for (unsigned l = 0; l < WARP_LANES; l++)
        ((uint64_t *)(file + offset))[l] = value;
}

static void fill_constants(const struct exec *x, uint8_t *file)
{
    const struct program *p = x->run.program;
    ((uint32_t *)file)[0] = ~0u;
    ((uint32_t *)file)[1] = 0;
    for (uint32_t i = 0; i < p->nr_consts; i++) {
        if (p->consts[i].bytes == 8)
            fill64(file, p->consts[i].offset, p->consts[i].value);
        else
            fill32(file, p->consts[i].offset, (uint32_t)p->consts[i].value);
    }
    for (uint32_t i = 0; i < p->nr_params; i++) {
        const struct param_row *r = &p->params[i];
        uint64_t v = 0;
        memcpy(&v, x->params + r->param_offset, r->bytes);
        unsigned shift = 64 - 8u * r->bytes;
        if (r->sign_extend)
            v = (uint64_t)((int64_t)(v << shift) >> shift);
        if (r->row_bytes == 8)
            fill64(file, r->offset, v);
        else
            fill32(file, r->offset, (uint32_t)v);
    }
}

static uint32_t lane_mask(enum ptx_special special, unsigned lane)
{
    uint32_t eq = 1u << lane, lt = eq - 1;
    switch (special) {
    case PTX_SR_LANEMASK_EQ:
        return eq;
    case PTX_SR_LANEMASK_LE:
        return lt | eq;
    case PTX_SR_LANEMASK_LT:
        return lt;
    case PTX_SR_LANEMASK_GE:
        return ~lt;
    default:
        return ~(lt | eq);
    }
}

/* Specials of three axes, each axis after the one before. NULL: the special is none of them. */
static const uint32_t *axis_value(const struct block_worker *k, enum ptx_special special)
{
    const struct emu_launch *l = k->exec->run.launch;
    const struct {
        enum ptx_special x;
        const uint32_t *value;
    } axes[] = {{PTX_SR_NTID_X, l->block}, {PTX_SR_CTAID_X, k->block.ctaid},
        {PTX_SR_NCTAID_X, l->grid}, {PTX_SR_CLUSTER_NCTAID_X, k->exec->run.cluster}};
    for (size_t i = 0; i < ARRAY_SIZE(axes); i++) {
        if (special >= axes[i].x && special < axes[i].x + 3)
            return &axes[i].value[special - axes[i].x];
    }
    return NULL;
}

/* Lanes differ only in tid, laneid and lane masks. */
static uint64_t special_value(
    const struct block_worker *k, enum ptx_special special, unsigned warp, unsigned lane)
{
    const struct emu_launch *l = k->exec->run.launch;
    const unsigned thread = warp * WARP_LANES + lane;
    const uint32_t *axis = axis_value(k, special), *c = k->exec->run.cluster;
    if (axis)
        return *axis;
    switch (special) {
    case PTX_SR_TID_X:
        return thread % l->block[0];
    case PTX_SR_TID_Y:
        return thread / l->block[0] % l->block[1];
    case PTX_SR_TID_Z:
        return thread / l->block[0] / l->block[1];
    case PTX_SR_CLUSTER_CTARANK:
        return k->rank;
    case PTX_SR_CLUSTER_NCTARANK:
        return k->exec->run.cluster_blocks;
    case PTX_SR_CLUSTERID_X:
    case PTX_SR_CLUSTERID_Y:
    case PTX_SR_CLUSTERID_Z:
        return k->block.ctaid[special - PTX_SR_CLUSTERID_X] / c[special - PTX_SR_CLUSTERID_X];
    case PTX_SR_NCLUSTERID_X:
    case PTX_SR_NCLUSTERID_Y:
    case PTX_SR_NCLUSTERID_Z:
        return l->grid[special - PTX_SR_NCLUSTERID_X] / c[special - PTX_SR_NCLUSTERID_X];
    case PTX_SR_CLUSTER_CTAID_X:
    case PTX_SR_CLUSTER_CTAID_Y:
    case PTX_SR_CLUSTER_CTAID_Z:
        return k->block.ctaid[special - PTX_SR_CLUSTER_CTAID_X] %
               c[special - PTX_SR_CLUSTER_CTAID_X];
    case PTX_SR_IS_EXPLICIT_CLUSTER: /* a predicate: a word of lanes */
        return k->exec->run.explicit_cluster ? UINT32_MAX : 0;
    case PTX_SR_LANEID:
        return lane;
    case PTX_SR_WARPID:
        return warp;
    case PTX_SR_NWARPID:
        return k->exec->run.chip->max_warps_per_sm;
    case PTX_SR_SMID:
        return k->block.index % k->exec->run.chip->nr_sms;
    case PTX_SR_NSMID:
        return k->exec->run.chip->nr_sms;
    case PTX_SR_DYNAMIC_SMEM_SIZE:
        return l->smem_bytes;
    case PTX_SR_RESERVED_SMEM:
    case PTX_SR_RESERVED_SMEM_BEGIN:
        return k->shared_bytes - RESERVED_SMEM_BYTES;
    case PTX_SR_RESERVED_SMEM_CAP:
        return RESERVED_SMEM_BYTES;
    case PTX_SR_RESERVED_SMEM_END:
    case PTX_SR_TOTAL_SMEM_SIZE:
    case PTX_SR_AGGR_SMEM_SIZE:
        return k->shared_bytes;
    case PTX_SR_ENVREG1:
        return k->exec->run.grid_barrier >> 32;
    case PTX_SR_ENVREG2:
        return k->exec->run.grid_barrier & 0xffffffffu;
    case PTX_SR_LANEMASK_EQ:
    case PTX_SR_LANEMASK_LE:
    case PTX_SR_LANEMASK_LT:
    case PTX_SR_LANEMASK_GE:
    case PTX_SR_LANEMASK_GT:
        return lane_mask(special, lane);
    default:
        return 0;
    }
}

static bool differs_by_lane(enum ptx_special special)
{
    return special <= PTX_SR_TID_Z || special == PTX_SR_LANEID ||
           (special >= PTX_SR_LANEMASK_EQ && special <= PTX_SR_LANEMASK_GT);
}

static void fill_specials(const struct block_worker *k, unsigned warp, bool first)
{
    const struct program *p = k->program;
    uint8_t *file = k->warps[warp].file;
    for (uint32_t i = 0; i < p->nr_specials; i++) {
        const struct special_row *r = &p->specials[i];
        const bool by_lane = differs_by_lane(r->special);
        const bool fixed = by_lane || r->special <= PTX_SR_NTID_Z;
        if (fixed && !first)
            continue;
        if (by_lane) {
            for (unsigned l = 0; l < WARP_LANES; l++)
                ((uint32_t *)(file + r->offset))[l] =
                    (uint32_t)special_value(k, r->special, warp, l);
        } else if (r->bytes == 8) {
            fill64(file, r->offset, special_value(k, r->special, warp, 0));
        } else {
            fill32(file, r->offset, (uint32_t)special_value(k, r->special, warp, 0));
        }
    }
}

static void make_listeners(const struct exec *x, struct block_worker *k)
{
    const struct emu_launch *l = x->run.launch;
    const struct emu_listener_class *classes[] = {l->find_races ? emu_races_class() : NULL,
        l->find_uninit ? emu_uninit_class() : NULL, l->find_uninit ? emu_registers_class() : NULL,
        l->find_sync && emu_copies_wanted(x->run.program) ? emu_copies_class() : NULL,
        l->find_sync && emu_async_wanted(x->run.program) ? emu_async_class() : NULL,
        l->find_sync && emu_barriers_wanted(x->run.program) ? emu_barriers_class() : NULL,
        x->counting && !l->untimed ? emu_time_class() : NULL};
    for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
        if (!classes[i])
            continue;
        struct emu_listener *made = classes[i]->create(&x->run);
        made->class = classes[i];
        made->reports = k->reports;
        k->listeners[k->nr_listeners++] = made;
    }
}

static void worker_init(struct block_worker *k, struct exec *x)
{
    const struct program *p = x->run.program;
    *k = (struct block_worker){.exec = x, .program = p, .memory = x->run.memory};
    k->nr_threads = x->run.nr_threads;
    k->nr_warps = x->run.nr_warps;
    k->shared_bytes = x->run.shared_bytes;
    k->counting = x->counting;
    k->alone = x->nr_workers == 1 || x->together;
    k->reports = x->run.launch->max_reports ? xcalloc(1, sizeof(*k->reports)) : NULL;
    k->warps = xcalloc(k->nr_warps, sizeof(*k->warps));
    k->files = aligned_alloc(256, (size_t)k->nr_warps * p->file_bytes);
    k->locals = xcalloc((size_t)k->nr_warps * WARP_LANES + 1, p->local_bytes ? p->local_bytes : 1);
    k->shared = aligned_alloc(256, ((size_t)k->shared_bytes + 511) / 256 * 256);
    k->counts = xcalloc(p->nr_insts, sizeof(*k->counts));
    k->flow = xcalloc(p->nr_insts + 1, sizeof(*k->flow));
    k->caches = xcalloc(p->nr_slots, sizeof(*k->caches));
    k->patterns = xcalloc(p->nr_slots, sizeof(*k->patterns));
    if (!k->files || !k->shared)
        mem_die((size_t)k->nr_warps * p->file_bytes);
    for (unsigned i = 0; i < k->nr_warps; i++) {
        k->warps[i].index = i;
        k->warps[i].file = k->files + (size_t)i * p->file_bytes;
        k->warps[i].local = k->locals + (size_t)i * WARP_LANES * p->local_bytes;
        fill_constants(x, k->warps[i].file);
        fill_specials(k, i, true);
    }
    stack_init(k);
    make_listeners(x, k);
}

static void worker_finish(struct block_worker *k)
{
    stack_finish(k);
    wait_finish(k);
    reach_finish(&k->own_cluster);
    for (unsigned i = 0; i < k->nr_warps; i++)
        free(k->warps[i].splits), flight_finish(&k->warps[i]);
    free(k->warps);
    free(k->files);
    free(k->locals);
    free(k->shared);
    free(k->counts);
    free(k->flow);
    free(k->caches);
    free(k->patterns);
    free(k->sums.memory);
    str_finish(&k->log.text);
    free(k->log.entries);
    if (k->reports)
        reports_destroy(k->reports);
    free(k->reports);
}

static void block_start(struct block_worker *k)
{
    const struct program *p = k->program;
    registers_start(k);
    k->live_threads = k->nr_threads;
    k->nr_done = k->idle_rounds = k->wait_rounds = k->nr_announced = 0;
    memset(k->barriers, 0, sizeof(k->barriers));
    const uint8_t poison = k->exec->run.launch->poison;
    memset(k->shared, poison ? poison : 0xAA, k->shared_bytes);
    if (p->uses_reserved)
        memset(k->shared + k->shared_bytes - RESERVED_SMEM_BYTES, 0, RESERVED_SMEM_BYTES);
    if (p->stack_row != NO_ROW)
        stack_start(k);
    else if (p->local_bytes)
        memset(k->locals, poison, (size_t)k->nr_warps * WARP_LANES * p->local_bytes);
    for (unsigned i = 0; i < k->nr_warps; i++) {
        unsigned first = i * WARP_LANES, nr = k->nr_threads - first;
        for (uint32_t z = 0; z < p->nr_zero; z++)
            memset(k->warps[i].file + p->zero[z].offset, poison, p->zero[z].bytes);
        fill_specials(k, i, false);
        warp_start(&k->warps[i], nr >= WARP_LANES ? ~0u : (1u << nr) - 1, p->entry);
    }
}

static void tell_begin(struct block_worker *k)
{
    k->wants_insts = k->wants_access = false;
    for (unsigned i = 0; i < k->nr_listeners; i++) {
        struct emu_listener *l = k->listeners[i];
        if (l->class->block_begin)
            l->class->block_begin(l, &k->block);
        k->wants_insts |= l->wants_insts && l->class->inst;
        l->wants_access = l->wants_access && l->class->access;
        k->wants_access |= l->wants_access;
    }
}

static void tell_end(struct block_worker *k)
{
    for (unsigned i = 0; i < k->nr_listeners; i++) {
        if (k->listeners[i]->class->block_end)
            k->listeners[i]->class->block_end(k->listeners[i]);
    }
}

static void begin_block(struct block_worker *k, uint64_t i)
{
    struct exec *x = k->exec;
    const uint32_t *grid = x->run.launch->grid;
    const uint64_t unit = seeded_unit(x, i);
    const uint64_t index = cluster_block(&x->run, unit, k->rank);
    k->block = (struct emu_block){.index = index,
        .ctaid = {(uint32_t)(index % grid[0]), (uint32_t)(index / grid[0] % grid[1]),
            (uint32_t)(index / grid[0] / grid[1])},
        .weight = (double)x->run.nr_blocks / (double)x->nr_run,
        .traced = launch_traced(x->choice, unit),
        .nearby = launch_nearby(x->choice, unit),
        .shared = k->shared};
    k->fault = (struct emu_fault){.verdict = VERDICT_OK};
    seeded_warps(k);
    tell_begin(k);
    block_start(k);
}

static void end_block(struct block_worker *k, uint64_t i, bool ok)
{
    struct exec *x = k->exec;
    k->block.ended = ok && k->fault.verdict == VERDICT_OK;
    tell_end(k);
    if (ok || k->fault.verdict == VERDICT_OK || exec_note(k)) /* the other blocks may go on */
        return;
    if (k->first.verdict == VERDICT_OK || i < k->first_at) {
        k->first = k->fault;
        k->first_at = i;
    }
    /* blocks below the lowest fault still run, so that the launch always reports the same fault */
    uint64_t lowest = atomic_load(&x->fault_block);
    while (i < lowest && !atomic_compare_exchange_weak(&x->fault_block, &lowest, i)) {
    }
    if (k->fault.verdict == VERDICT_TIMEOUT && !k->agrees) /* all of those in vain will say so */
        atomic_store(&x->stop, true);
}

static void run_block(struct block_worker *k, uint64_t i)
{
    cluster_start(k->cluster);
    begin_block(k, i);
    const bool ok = exec_block(k);
    sums_settle(k);
    end_block(k, i, ok);
}

static void join_cluster(struct block_worker *blocks, unsigned first, unsigned i, bool in_turns)
{
    struct block_worker *head = &blocks[first];
    head->own_cluster.blocks = head;
    head->own_cluster.nr = head->exec->run.cluster_blocks;
    blocks[i].cluster = &head->own_cluster;
    blocks[i].rank = i - first;
    blocks[i].one_round = in_turns;
}

/* Brings a worker's counts up to date. */
static void settle_counts(struct block_worker *k)
{
    struct flow sum = {0, 0};
    for (uint32_t pc = 0; pc < k->program->nr_insts; pc++) {
        struct pc_count *c = &k->counts[pc];
        c->warps += sum.warps += k->flow[pc].warps;
        c->lanes += sum.lanes += k->flow[pc].lanes;
        count_hits(c, pattern_of(k, pc));
    }
}

/* Runs blocks side by side: a cluster, or all of a grid that is cooperative or whose blocks speak
 * to each other, cluster after cluster. So here too the result does not depend on the number of
 * threads. */
static void run_side_by_side(struct block_worker *blocks, unsigned nr, uint64_t unit)
{
    struct exec *x = blocks->exec;
    struct cluster all = {.blocks = blocks, .nr = nr};

    for (unsigned i = 0; i < nr; i++) {
        if (blocks[i].rank == 0)
            cluster_start(blocks[i].cluster);
        begin_block(&blocks[i], unit + i / x->run.cluster_blocks);
    }
    const bool ok = cluster_run(&all);
    for (unsigned i = 0; i < nr; i++) {
        const bool ended = blocks[i].nr_done == blocks[i].nr_warps;
        end_block(&blocks[i], unit + i / x->run.cluster_blocks,
            (ok || ended) && blocks[i].fault.verdict == VERDICT_OK);
    }
}

static void run_grid(struct block_worker *blocks, unsigned nr, struct exec *x)
{
    for (unsigned i = 0; i < nr; i++)
        worker_init(&blocks[i], x);
    for (unsigned i = 0; i < nr; i++)
        join_cluster(blocks, i - i % x->run.cluster_blocks, i, true);
    run_side_by_side(blocks, nr, 0);
    wait_done(&blocks[0]);
    for (unsigned i = 0; i < nr; i++)
        settle_counts(&blocks[i]);
}

/* How many blocks a worker takes at once. Neighbours in the grid are mostly neighbours in memory,
 * which two threads had better not share, least of all the notes of touched sectors. Blocks are
 * taken one by one towards the end, and where blocks may wait for lower ones. */
static uint64_t blocks_at_once(const struct block_worker *k, uint64_t next)
{
    enum { MOST = 16, SHARES = 8 };
    const struct exec *x = k->exec;
    const uint64_t left = next < x->choice->nr ? x->choice->nr - next : 0,
                   share = left / (SHARES * x->nr_workers);
    return k->contacts || share < 1 ? 1 : share < MOST ? share : MOST;
}

static void run_blocks(struct block_worker *k)
{
    struct exec *x = k->exec;
    for (;;) {
        const uint64_t nr = blocks_at_once(k, atomic_load(&x->next_block)),
                       first = atomic_fetch_add(&x->next_block, nr);
        for (uint64_t i = first; i < first + nr; i++) {
            if (i >= x->choice->nr || i > atomic_load(&x->fault_block) || atomic_load(&x->stop))
                return;
            if (k->one_round)
                run_side_by_side(k, k->cluster->nr, i);
            else
                run_block(k, i);
        }
    }
}

/* Each worker makes its own state where it is used, and all workers do so at the same time. */
static void *worker_run(void *argument)
{
    struct block_worker *k = argument;
    struct exec *x = k->exec;
    const unsigned nr = x->run.cluster_blocks;
    for (unsigned i = 0; i < nr; i++)
        worker_init(&k[i], x);
    for (unsigned i = 0; i < nr; i++)
        join_cluster(k, 0, i, nr > 1);
    run_blocks(k);
    wait_done(k);
    for (unsigned i = 0; i < nr; i++)
        settle_counts(&k[i]);
    return NULL;
}

/* Starts a worker on the processor `steps` after this one; afterwards the worker may move. Without
 * this a guest's scheduler starts every thread beside its maker, where the thread stays for many
 * milliseconds: it takes a processor that the host has put to sleep for a busy one. */
static bool start_apart(pthread_t *thread, struct block_worker *k, unsigned steps)
{
    cpu_set_t allowed, one;
    int cpu = sched_getcpu();

    if (pthread_create(thread, NULL, worker_run, k) != 0)
        return false;
    if (cpu < 0 || sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
        return true;
    for (steps %= (unsigned)CPU_COUNT(&allowed); steps; steps--) {
        do
            cpu = (cpu + 1) % CPU_SETSIZE;
        while (!CPU_ISSET(cpu, &allowed));
    }
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(*thread, sizeof(one), &one);
    pthread_setaffinity_np(*thread, sizeof(allowed), &allowed);
    return true;
}

static void run_threads(struct block_worker *workers, unsigned nr, struct exec *x)
{
    pthread_t threads[256];
    bool started[256] = {false};
    const unsigned each = x->run.cluster_blocks;
    for (unsigned i = 0; i < nr * each; i++)
        workers[i].exec = x;
    for (unsigned i = 1; i < nr; i++)
        started[i] = start_apart(&threads[i], &workers[(size_t)i * each], i);
    worker_run(&workers[0]);
    for (unsigned i = 1; i < nr; i++) {
        if (started[i])
            pthread_join(threads[i], NULL);
        else
            worker_run(&workers[(size_t)i * each]); /* nothing is left to do */
    }
}

/* Device memory that nobody freed before the launch was over. */
static void find_leaks(struct exec *x, struct block_worker *k, struct emu_result *result)
{
    const struct emu_memory *memory = x->run.memory;
    for (size_t i = 0; i < memory->nr; i++) {
        struct mem_buffer *b = memory->buffers[i];
        if (!b->heap || !b->this_launch || b->freed)
            continue;
        b->this_launch = false;
        result->nr_leaked++;
        result->leaked_bytes += b->bytes;
        if (!x->run.launch->find_leaks || !k->reports)
            continue;
        struct emu_fault fault = {.verdict = VERDICT_OK, .block = b->block, .pc = b->pc};
        fault.line = k->program->info[b->pc].near;
        snprintf(fault.text, sizeof(fault.text),
            "leak: %" PRIu64 " bytes that block %" PRIu64 " got by malloc were not freed", b->bytes,
            b->block);
        reports_add(k->reports, EMU_CHECK_LEAK, &fault);
    }
    memory_sweep(x->run.memory, false);
}

static void add_counts(struct pc_count *into, const struct pc_count *from, uint32_t nr)
{
    /* the sum takes a pc_count as a row of uint64_t */
    uint64_t *a = (uint64_t *)into;
    const uint64_t *b = (const uint64_t *)from;
    for (size_t i = 0; i < nr * (sizeof(*into) / sizeof(*a)); i++)
        a[i] += b[i];
}

static void merge(struct block_worker *workers, unsigned nr, struct emu_result *result)
{
    struct block_worker *k = &workers[0];
    for (unsigned i = 1; i < nr; i++) {
        struct block_worker *o = &workers[i];
        add_counts(k->counts, o->counts, k->program->nr_insts);
        k->float_atomics |= o->float_atomics;
        if (k->reports)
            reports_merge(k->reports, o->reports);
        if (o->first.verdict != VERDICT_OK &&
            (k->first.verdict == VERDICT_OK || o->first_at < k->first_at)) {
            k->first = o->first;
            k->first_at = o->first_at;
        }
        for (unsigned j = 0; j < k->nr_listeners; j++) {
            if (k->listeners[j]->class->merge)
                k->listeners[j]->class->merge(k->listeners[j], o->listeners[j]);
            o->listeners[j]->class->destroy(o->listeners[j]);
        }
    }
    result->float_atomics = k->float_atomics;
    result->oblivious = k->program->oblivious;
    for (uint32_t pc = 0; pc < k->program->nr_insts; pc++)
        result->thread_insts += k->program->info[pc].ptx ? k->counts[pc].lanes : 0;
    if (k->first.verdict != VERDICT_OK) {
        result->verdict = k->first.verdict;
        result->line = k->first.line;
        memcpy(result->text, k->first.text, sizeof(result->text));
    }
}

static void report(
    struct exec *x, struct block_worker *k, struct arena *arena, struct emu_result *result)
{
    struct emu_listener *timed = NULL;
    const double scale = (double)x->run.nr_blocks / (double)x->nr_run;
    double loaded_bytes = 0;
    const uint64_t sectors =
        x->counting ? memory_count_touched(x->run.memory, scale, &loaded_bytes) : 0;
    for (unsigned j = 0; j < k->nr_listeners; j++)
        if (k->listeners[j]->class == emu_time_class())
            timed = k->listeners[j];
    if (x->counting && result->verdict == VERDICT_OK) {
        struct emu_counts counts = {.pc = k->counts,
            .blocks_run = x->nr_run,
            .blocks_all = x->run.nr_blocks,
            .scale = scale,
            .unique_sectors = sectors};
        count_fill(x, k->counts, scale, arena, result);
        counters_set(&result->counters, METRIC_GLOBAL_UNIQUE_BYTES,
            32.0 * (double)counts.unique_sectors,
            x->nr_run < x->run.nr_blocks ? PROV_SAMPLED : PROV_COUNTED);
        counters_set(&result->counters, METRIC_GLOBAL_LOADED_BYTES, loaded_bytes,
            x->nr_run < x->run.nr_blocks ? PROV_SAMPLED : PROV_COUNTED);
        if (!x->run.launch->untimed && !launch_interrupted())
            result->model = emu_time_model(&x->run, &counts, timed, &result->counters);
    }
    for (unsigned j = 0; j < k->nr_listeners; j++) {
        if (k->listeners[j]->class->finish)
            k->listeners[j]->class->finish(k->listeners[j], result);
        if (!result->model || k->listeners[j] != timed)
            k->listeners[j]->class->destroy(k->listeners[j]);
    }
}

/* Do the blocks run side by side on one thread? Those that speak to each other do, where the grid
 * is small, so that whatever a block finds in memory does not depend on the host. */
static bool run_together(const struct exec *x)
{
    const struct emu_run *run = &x->run;
    return run->program->cooperative ||
           (!x->counting && !run->launch->probe && !x->choice->list &&
               (run->launch->find_races || run->launch->seed) && order_wanted(run->program) &&
               run->nr_blocks * run->nr_warps <= ORDER_MOST_WARPS && !run->program->uses_heap &&
               !run->program->uses_wide);
}

void launch_run(
    const struct emu_run *run, unsigned nr_threads, struct arena *arena, struct emu_result *result)
{
    const struct emu_launch *l = run->launch;
    struct exec x = {.run = *run, .params = l->params};
    x.counting = l->count;
    x.listening = l->find_races || l->find_uninit || l->find_sync;
    x.find_sync = l->find_sync;
    x.step_limit = l->step_limit ? l->step_limit : UINT64_C(1) << 36;
    x.ends_ns = l->ends_ns;
    const struct block_choice choice = launch_choose(run);
    x.choice = &choice;
    x.nr_run = choice.nr * run->cluster_blocks;
    atomic_init(&x.fault_block, UINT64_MAX);
    memory_begin_launch(run->memory, x.counting, l->find_uninit);
    unsigned nr = nr_threads < choice.nr ? nr_threads : (unsigned)choice.nr;
    if (run->program->uses_heap || run->program->uses_wide)
        nr = 1; /* so that neither addresses nor who gets the last bytes depend on threads */
    if (run->program->learns && ((l->count && !l->untimed) || l->probe))
        nr = 1; /* blocks run in their order: counts and times do not depend on threads */
    if (l->find_races)
        nr = 1; /* what a store finds in memory must not depend on threads */
    const bool together = run_together(&x);
    if (together && l->find_races && run->nr_blocks * run->nr_warps <= ORDER_MOST_WARPS)
        x.run.order = order_create(&x.run);
    if (together)
        nr = 1;
    x.together = together;
    x.nr_workers = nr;
    x.council = (struct wait_council){.age = 1, .nr_workers = nr};
    pthread_mutex_init(&x.council.lock, NULL);
    sums_launch(run->program, run->memory);
    const unsigned nr_threads_used = nr;
    nr = together ? (unsigned)x.nr_run /* at most what fits_at_once allows */
                  : nr * run->cluster_blocks;
    struct block_worker *workers = xcalloc(nr, sizeof(*workers));
    if (together)
        run_grid(workers, nr, &x);
    else
        run_threads(workers, nr_threads_used, &x);
    service_printed(workers, nr, arena, result);
    merge(workers, nr, result);
    if (launch_interrupted()) /* nothing of it counts */
        result->verdict = VERDICT_TIMEOUT;
    report(&x, &workers[0], arena, result);
    find_leaks(&x, &workers[0], result);
    if (l->max_reports)
        reports_finish(workers[0].reports, l->max_reports, arena, result);
    for (unsigned i = 0; i < nr; i++)
        worker_finish(&workers[i]);
    pthread_mutex_destroy(&x.council.lock);
    order_destroy(x.run.order);
    free(workers);
    free(choice.list);
}

bool launch_check(const struct chip *chip, const struct program *program,
    const struct emu_launch *launch, struct emu_result *result)
{
    return within_limits(chip, program, launch, result) &&
           (!program->cooperative || fits_at_once(chip, program, launch, result));
}
