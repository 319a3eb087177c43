/* Owns the search for mistakes with Hopper's asynchronous units. The emulator carries out a product
 * or a copy at once, so results would not show them:
 *
 *   - a register of a wgmma's result is used before wgmma.wait_group, or one of its operands was
 *     written after the last wgmma.fence;
 *   - shared memory is overwritten while a wgmma, or a bulk copy out of it, may still read it;
 *   - memory that ordinary stores wrote, shared or (of the same block) global, is read by a wgmma
 * or a bulk copy, and neither the writer nor the one who starts the read made a fence.proxy.async
 *     for that memory since;
 *   - a thread waits at an mbarrier twice, at one place, for the same phase.
 *
 * Reads of shared memory in flight are also told to the other listeners once more when they are
 * waited for (exec/flight.c), so that the search for races sees who lets a buffer go too early.
 * Source: PTX ISA 9.0, 9.7.15 (wgmma), 9.7.9.25 (bulk copies), 8.3 (proxies). */
#include "emu/state/tensor.h"
#include "emu/watch/reports.h"
#include "emu/watch/where.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_SHIFT = 4, MAX_WARPS = 32 };

struct async_cell {                /* 16 bytes of shared memory */
    uint32_t wgmma_nr, wgmma_pc;   /* the last read by a wgmma: the warp's how-manieth ... */
    uint32_t bulk_group, bulk_pc;  /* by a bulk copy */
    uint32_t write_turn, write_pc; /* the last ordinary store; 0: none */
    uint8_t wgmma_warp, bulk_warp, write_warp;
};

struct groups { /* of a warp: the number of the one being formed; of the first not done */
    uint32_t open, done;
};

/* The wgmmas of a warp, and those that had been issued when its latest groups were committed. A
 * wgmma is done for a warpgroup when one of its warps has waited for it. */
enum { COMMITS = 32 };
struct products {
    uint32_t nr, upto[COMMITS];
};

struct passed { /* a warp's last wait for an mbarrier at one place that was over */
    uint64_t address;
    uint32_t pc, lanes, phase, arrivals, turn;
    unsigned warp;
};

struct arrivals { /* of an mbarrier; the last one of them */
    uint32_t phase, nr, pc;
};

/* The last ordinary store of the block to a cell of global memory, by open addressing. */
enum { MOST_STORED = 1 << 20 }; /* cells; later ones are not looked at */
struct stored {
    uint64_t cell; /* plus 1; 0: an empty slot */
    uint32_t turn, pc;
    uint8_t warp;
};

struct async {
    struct emu_listener base;
    const struct emu_run *run;
    uint64_t block;
    struct async_cell *cells;
    size_t nr_cells, nr_regs;
    uint32_t *reg_group, *reg_pc; /* by warp and register: group + 1 of the wgmma that writes it */
    uint32_t *reg_turn;           /* when an ordinary instruction wrote it last */
    struct groups wgmma[MAX_WARPS], bulk[MAX_WARPS];
    struct products products[MAX_WARPS];
    uint32_t products_done[MAX_WARPS / 4]; /* by warpgroup */
    uint32_t fence_turn[MAX_WARPS], turn;
    uint32_t proxy_turn[2][MAX_WARPS];        /* fences for shared, for global memory */
    uint32_t pc[MAX_WARPS], lanes[MAX_WARPS]; /* what the warp is doing */
    struct emu_fault *found;                  /* by pc */
    struct passed *passed;
    size_t nr_passed, cap_passed;
    struct arrivals *at; /* mbarriers, by 8 bytes */
    struct stored *stored;
    size_t nr_stored, cap_stored;
};

bool emu_async_wanted(const struct program *program)
{
    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        if (program->insts[pc].kind == INST_WGMMA || program->insts[pc].kind == INST_BULK_COPY)
            return true;
    }
    return false;
}

static struct emu_listener *create(const struct emu_run *run)
{
    struct async *a = xcalloc(1, sizeof(*a));

    a->run = run;
    a->nr_regs = run->program->nr_regs + 1;
    a->nr_cells = (run->shared_bytes >> CELL_SHIFT) + 1;
    a->cells = xcalloc(a->nr_cells, sizeof(*a->cells));
    a->at = xcalloc(2 * a->nr_cells, sizeof(*a->at));
    a->found = xcalloc(run->program->nr_insts, sizeof(*a->found));
    a->reg_group = xcalloc(3 * a->nr_regs * run->nr_warps, sizeof(*a->reg_group));
    a->reg_pc = a->reg_group + a->nr_regs * run->nr_warps;
    a->reg_turn = a->reg_pc + a->nr_regs * run->nr_warps;
    return &a->base;
}

static void destroy(struct emu_listener *listener)
{
    struct async *a = (struct async *)listener;

    free(a->cells);
    free(a->at);
    free(a->found);
    free(a->reg_group);
    free(a->passed);
    free(a->stored);
    free(a);
}

static void block_begin(struct emu_listener *listener, const struct emu_block *block)
{
    struct async *a = (struct async *)listener;

    a->base.wants_access = a->base.wants_insts = true;
    a->block = block->index;
    memset(a->cells, 0, a->nr_cells * sizeof(*a->cells));
    memset(a->at, 0, 2 * a->nr_cells * sizeof(*a->at));
    memset(a->reg_group, 0, 3 * a->nr_regs * a->run->nr_warps * sizeof(*a->reg_group));
    memset(a->wgmma, 0, sizeof(a->wgmma));
    memset(a->bulk, 0, sizeof(a->bulk));
    memset(a->products, 0, sizeof(a->products));
    memset(a->products_done, 0, sizeof(a->products_done));
    memset(a->fence_turn, 0, sizeof(a->fence_turn));
    memset(a->proxy_turn, 0, sizeof(a->proxy_turn));
    a->turn = 1;
    a->nr_passed = 0;
    if (a->nr_stored > 0)
        memset(a->stored, 0, a->cap_stored * sizeof(*a->stored));
    a->nr_stored = 0;
}

static bool in_flight(const struct groups *g, uint32_t group)
{
    return group > g->done;
}

/* Both lines: that of pc, and that of `other`. */
static void report(struct async *a, struct emu_fault *fault, unsigned warp, uint32_t pc,
    uint32_t other, const char *what, const char *of, const char *then)
{
    char who[WHERE_BYTES], line[WHERE_BYTES], other_line[WHERE_BYTES];

    where_thread(a->run, a->block, warp * WARP_LANES, who);
    *fault = (struct emu_fault){.verdict = VERDICT_RACE,
        .block = a->block,
        .check = EMU_CHECK_SYNC,
        .pc = pc,
        .line = a->run->program->info[pc].near,
        .other = other};
    snprintf(fault->text, sizeof(fault->text), "%s%s by the warp of %s %s%s%s", what,
        where_line(a->run, pc, line), who, of, where_line(a->run, other, other_line), then);
}

/* The same as a finding of the pc, for what is seen between accesses. */
static void keep(struct async *a, unsigned warp, uint32_t pc, uint32_t other, const char *what,
    const char *of, const char *then)
{
    struct emu_fault *f = &a->found[pc];

    if (f->verdict == VERDICT_OK || f->block > a->block)
        report(a, f, warp, pc, other, what, of, then);
}

/* ---- registers ---- */

static bool is_copy_of_register(const struct inst_info *info)
{
    return info->ptx && info->ptx->op == PTX_OP_MOV && info->nr_sources == 1 &&
           info->ptx->operand[1].kind == PTX_OPERAND_REG;
}

static void start_wgmma(struct async *a, unsigned warp, uint32_t pc, const struct inst_info *info)
{
    uint32_t *group = a->reg_group + warp * a->nr_regs, *at = a->reg_pc + warp * a->nr_regs;
    const uint32_t *turn = a->reg_turn + warp * a->nr_regs;

    for (unsigned i = 0; i < 4 && a->run->program->insts[pc].wgmma->a_in_regs; i++) {
        const uint32_t r = info->source[i];
        if (turn[r] > a->fence_turn[warp])
            keep(a, warp, pc, at[r], "a wgmma", "has an operand register",
                " that was written after the last wgmma.fence");
    }
    for (unsigned i = 0; i < info->nr_dests; i++) {
        const uint32_t r = info->dest[i];
        if (turn[r] > a->fence_turn[warp])
            keep(a, warp, pc, at[r], "a wgmma", "has a result register",
                " that was written after the last wgmma.fence");
        group[r] = a->wgmma[warp].open + 1;
        at[r] = pc;
    }
}

/* Registers in flight that an instruction reads. A mov passes on what it copies: ptxas gives both
 * names one register. */
static void use_registers(struct async *a, unsigned warp, uint32_t pc, const struct inst_info *info)
{
    uint32_t *group = a->reg_group + warp * a->nr_regs, *at = a->reg_pc + warp * a->nr_regs;
    uint32_t *turn = a->reg_turn + warp * a->nr_regs;
    uint32_t passed = 0, from = 0;

    for (unsigned i = 0; i < info->nr_sources; i++) {
        const uint32_t r = info->source[i];
        if (!group[r] || !in_flight(&a->wgmma[warp], group[r]))
            continue;
        if (is_copy_of_register(info)) {
            passed = group[r];
            from = at[r];
        } else {
            keep(a, warp, pc, at[r], "read of a register", "that the wgmma",
                " writes, before wgmma.wait_group waited for it");
        }
    }
    for (unsigned i = 0; i < info->nr_dests; i++) {
        const uint32_t r = info->dest[i];
        if (group[r] && in_flight(&a->wgmma[warp], group[r]) && !is_copy_of_register(info))
            keep(a, warp, pc, at[r], "write of a register", "that the wgmma",
                " writes too, before wgmma.wait_group waited for it");
        group[r] = passed;
        at[r] = passed ? from : pc;
        turn[r] = is_copy_of_register(info) ? turn[info->source[0]] : a->turn;
    }
}

/* ---- what a warp does ---- */

static void step_groups(struct groups *g, const struct inst *in)
{
    if (in->sub == PTX_SUB_COMMIT_GROUP)
        g->open++;
    else if (in->sub == PTX_SUB_WAIT_GROUP && g->open > in->imm &&
             g->open - (uint32_t)in->imm > g->done)
        g->done = g->open - (uint32_t)in->imm;
}

/* Before step_groups. */
static void note_products(struct async *a, unsigned warp, const struct inst *in)
{
    struct products *p = &a->products[warp];
    uint32_t *done = &a->products_done[warp / 4];
    const uint32_t open = a->wgmma[warp].open;

    if (in->sub == PTX_SUB_COMMIT_GROUP)
        p->upto[open % COMMITS] = p->nr;
    if (in->sub != PTX_SUB_WAIT_GROUP || open <= in->imm || in->imm >= COMMITS)
        return;
    const uint32_t upto = p->upto[(open - (uint32_t)in->imm - 1) % COMMITS];
    *done = upto > *done ? upto : *done;
}

static void on_inst(struct emu_listener *listener, unsigned warp, uint32_t pc, uint32_t mask)
{
    struct async *a = (struct async *)listener;
    const struct inst *in = &a->run->program->insts[pc];
    const struct inst_info *info = &a->run->program->info[pc];
    const struct ptx_inst *ptx = info->ptx;

    if (!mask)
        return;
    a->turn++;
    a->pc[warp] = pc;
    a->lanes[warp] = mask;
    if (in->kind == INST_WGMMA) {
        a->products[warp].nr++;
        start_wgmma(a, warp, pc, info);
        return;
    }
    if (in->kind == INST_WGMMA_GROUP) {
        if (in->sub == PTX_SUB_FENCE)
            a->fence_turn[warp] = a->turn;
        note_products(a, warp, in);
        step_groups(&a->wgmma[warp], in);
        return;
    }
    if (in->kind == INST_BULK_GROUP)
        step_groups(&a->bulk[warp], in);
    if (ptx && ptx->op == PTX_OP_FENCE && ptx->sub == PTX_SUB_PROXY && ptx->async_) {
        if (ptx->space != PTX_GLOBAL)
            a->proxy_turn[0][warp] = a->turn;
        if (ptx->space == PTX_GLOBAL || ptx->space == PTX_GENERIC)
            a->proxy_turn[1][warp] = a->turn;
    }
    use_registers(a, warp, pc, info);
}

/* ---- shared memory ---- */

static bool overwrites(struct async *a, const struct emu_access *access, const struct async_cell *c,
    struct emu_fault *fault)
{
    if (c->wgmma_nr > a->products_done[c->wgmma_warp / 4]) {
        report(a, fault, access->warp, access->pc, c->wgmma_pc, "write of shared memory",
            "that a wgmma", " may still read: wgmma.wait_group has not waited for it");
        return true;
    }
    if (c->bulk_group && in_flight(&a->bulk[c->bulk_warp], c->bulk_group)) {
        report(a, fault, access->warp, access->pc, c->bulk_pc, "write of shared memory",
            "that a bulk copy", " may still read: cp.async.bulk.wait_group has not waited for it");
        return true;
    }
    return false;
}

/* An asynchronous unit reads what a warp's ordinary store at `pc` wrote in that turn; 0: none did.
 */
static bool reads_past_proxy(struct async *a, const struct emu_access *access, unsigned writer,
    uint32_t turn, uint32_t pc, struct emu_fault *fault)
{
    const bool global = access->space == PTX_GLOBAL;
    const uint32_t *fences = a->proxy_turn[global];

    if (!turn || fences[writer] > turn || fences[access->warp] > turn)
        return false;
    report(a, fault, access->warp, access->pc, pc,
        global ? "read of global memory by an asynchronous unit"
               : "read of shared memory by an asynchronous unit",
        "that an ordinary store", " wrote: fence.proxy.async must stand between");
    return true;
}

/* One cell of an access; true: a fault. */
static bool touch(
    struct async *a, const struct emu_access *access, size_t i, struct emu_fault *fault)
{
    const enum inst_kind kind = (enum inst_kind)a->run->program->insts[access->pc].kind;
    const bool unit = kind == INST_WGMMA || kind == INST_BULK_COPY;
    struct async_cell *c = &a->cells[i];

    if (access->is_write) {
        const bool bad = overwrites(a, access, c, fault);
        *c = (struct async_cell){0};
        if (!unit) {
            c->write_turn = a->turn;
            c->write_pc = access->pc;
            c->write_warp = (uint8_t)access->warp;
        }
        return bad;
    }
    if (!unit)
        return false;
    const bool bad = reads_past_proxy(a, access, c->write_warp, c->write_turn, c->write_pc, fault);
    c->write_turn = 0;
    if (kind == INST_WGMMA) {
        c->wgmma_nr = a->products[access->warp].nr;
        c->wgmma_pc = access->pc;
        c->wgmma_warp = (uint8_t)access->warp;
    } else if (a->run->program->insts[access->pc].space == PTX_SHARED) {
        c->bulk_group = a->bulk[access->warp].open + 1;
        c->bulk_pc = access->pc;
        c->bulk_warp = (uint8_t)access->warp;
    }
    return bad;
}

/* ---- global memory ---- */

/* The slot of a cell, or the empty one where it would be. */
static struct stored *stored_at(const struct async *a, uint64_t cell)
{
    size_t i = (size_t)(cell * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (a->cap_stored - 1);

    while (a->stored[i].cell != 0 && a->stored[i].cell != cell + 1)
        i = (i + 1) & (a->cap_stored - 1);
    return &a->stored[i];
}

static void make_room(struct async *a)
{
    struct stored *old = a->stored;
    const size_t cap = a->cap_stored;

    if (2 * a->nr_stored < cap)
        return;
    a->cap_stored = cap > 0 ? 2 * cap : 1024;
    a->stored = xcalloc(a->cap_stored, sizeof(*a->stored));
    for (size_t i = 0; i < cap; i++)
        if (old[i].cell != 0)
            *stored_at(a, old[i].cell - 1) = old[i];
    free(old);
}

/* One cell of an access; true: a fault. */
static bool touch_global(
    struct async *a, const struct emu_access *access, uint64_t cell, struct emu_fault *fault)
{
    const bool unit = a->run->program->insts[access->pc].kind == INST_BULK_COPY;
    struct stored *s;

    if (unit && a->nr_stored == 0)
        return false;
    if (!unit && (!access->is_write || a->nr_stored >= MOST_STORED))
        return false;
    make_room(a);
    s = stored_at(a, cell);
    if (!unit) {
        a->nr_stored += s->cell == 0;
        *s = (struct stored){cell + 1, a->turn, access->pc, (uint8_t)access->warp};
        return false;
    }
    const bool bad =
        !access->is_write && reads_past_proxy(a, access, s->warp, s->turn, s->pc, fault);
    s->turn = 0;
    return bad;
}

static bool on_access(
    struct emu_listener *listener, const struct emu_access *access, struct emu_fault *fault)
{
    struct async *a = (struct async *)listener;
    const bool global = access->space == PTX_GLOBAL;
    bool clean = true;

    if ((access->space != PTX_SHARED && !global) || access->again)
        return clean;
    for (uint32_t m = access->mask; m; m &= m - 1) {
        const uint64_t at = access->address[__builtin_ctz(m)];
        for (uint64_t i = at >> CELL_SHIFT; i <= (at + access->bytes - 1) >> CELL_SHIFT; i++) {
            struct emu_fault found, *said = clean ? fault : &found;
            if (global ? touch_global(a, access, i, said) : touch(a, access, i, said))
                clean = false;
        }
        if (access->kind == ACCESS_UNIFORM)
            break;
    }
    return clean;
}

/* ---- mbarriers ---- */

static struct passed *passed_at(struct async *a, unsigned warp, uint64_t address)
{
    const uint32_t pc = a->pc[warp];

    for (size_t i = 0; i < a->nr_passed; i++) {
        struct passed *p = &a->passed[i];
        if (p->warp == warp && p->address == address && p->pc == pc)
            return p;
    }
    a->passed = grow(a->passed, &a->cap_passed, a->nr_passed + 1, sizeof(*a->passed));
    a->passed[a->nr_passed] =
        (struct passed){.address = address, .pc = pc, .warp = warp, .phase = UINT32_MAX};
    return &a->passed[a->nr_passed++];
}

/* To wait for one phase again is a mistake where arrivals for the next one have come meanwhile. */
static void pass(struct async *a, unsigned warp, uint64_t address, const struct arrivals *at)
{
    struct passed *p = passed_at(a, warp, address);

    if (p->turn == a->turn) /* another lane */
        return;
    if (p->phase == at->phase && p->lanes & a->lanes[warp] && p->arrivals != at->nr)
        keep(a, warp, p->pc, at->pc, "wait for a phase of an mbarrier",
            "waited for that phase before as well, and an arrival",
            " for the next phase has come since");
    p->lanes = a->lanes[warp];
    p->phase = at->phase;
    p->arrivals = at->nr;
    p->turn = a->turn;
}

static void mbarrier(
    struct emu_listener *listener, unsigned warp, uint64_t address, enum emu_mbarrier what)
{
    struct async *a = (struct async *)listener;

    if (address / 8 >= 2 * a->nr_cells) /* the cluster's barrier */
        return;
    struct arrivals *at = &a->at[address / 8];
    if (what == MBARRIER_ARRIVE) {
        at->nr++;
        at->pc = a->pc[warp];
    } else if (what == MBARRIER_COMPLETE) {
        *at = (struct arrivals){.phase = at->phase + 1};
    } else if (what == MBARRIER_PASS) {
        pass(a, warp, address, at);
    }
}

/* ---- after it ---- */

static void merge(struct emu_listener *into, struct emu_listener *from)
{
    struct async *a = (struct async *)into;

    reports_lowest(a->found, ((struct async *)from)->found, a->run->program->nr_insts);
}

static void finish(struct emu_listener *listener, struct emu_result *result)
{
    struct async *a = (struct async *)listener;

    reports_found(a->base.reports, EMU_CHECK_SYNC, a->found, a->run->program->nr_insts, result);
}

const struct emu_listener_class *emu_async_class(void)
{
    static const struct emu_listener_class class = {.name = "async",
        .check = EMU_CHECK_SYNC,
        .create = create,
        .destroy = destroy,
        .merge = merge,
        .block_begin = block_begin,
        .inst = on_inst,
        .access = on_access,
        .mbarrier = mbarrier,
        .finish = finish};
    return &class;
}
