/* Owns the search for registers that are read before anything was written to them.
 *
 * Hardly any program can do so, and the control flow shows which can: only registers that some path
 * leaves unwritten before a read are watched, and most kernels have none. Watched registers are
 * followed lane by lane. A mov passes on whether its source was written, and so does selp:
 * compilers merge values that way which are never used. Registers of functions that may call
 * themselves are not watched, since each call has its own. */
#include "emu/watch/reports.h"
#include "emu/watch/where.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct registers {
    struct emu_listener base;
    const struct emu_run *run;
    uint64_t block;
    uint8_t *watched_pc;     /* reads or writes a watched register */
    uint8_t *watched;        /* by register */
    uint32_t *written;       /* lanes, by warp and register */
    struct emu_fault *found; /* by pc; verdict VERDICT_OK: nothing */
    uint32_t nr_regs;
};

/* --- which registers to watch --- */

static void set_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= UINT64_C(1) << i % 64;
}

static bool has_bit(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

/* For each instruction, the registers that every path to it has written: the greatest solution,
 * from "all" downward. Functions begin with none of their own. */
struct paths {
    const struct program *program;
    uint64_t *in; /* words per pc */
    size_t words;
    uint32_t *work;
    uint8_t *waiting;
    size_t nr_work;
};

static void flow_to(struct paths *p, uint32_t to, const uint64_t *out)
{
    uint64_t *in = p->in + to * p->words, changed = 0;

    for (size_t i = 0; i < p->words; i++) {
        changed |= in[i] & ~out[i];
        in[i] &= out[i];
    }
    if (changed && !p->waiting[to]) {
        p->waiting[to] = 1;
        p->work[p->nr_work++] = to;
    }
}

static void add_start(struct paths *p, uint32_t pc)
{
    memset(p->in + pc * p->words, 0, p->words * sizeof(*p->in));
    if (!p->waiting[pc]) {
        p->waiting[pc] = 1;
        p->work[p->nr_work++] = pc;
    }
}

static bool passes_on(const struct inst_info *info)
{
    return info->ptx && (info->ptx->op == PTX_OP_MOV || info->ptx->op == PTX_OP_SELP);
}

/* A mov from a register that may be unwritten leaves its destination unwritten too. The sets only
 * lose bits, so the search still ends. */
static bool gives_values(const struct paths *p, uint32_t pc)
{
    const struct inst_info *info = &p->program->info[pc];

    for (unsigned i = 0; passes_on(info) && i < info->nr_sources; i++) {
        if (!has_bit(p->in + pc * p->words, info->source[i]))
            return false;
    }
    return true;
}

static void flow_from(struct paths *p, uint32_t pc, uint64_t *out)
{
    const struct inst *in = &p->program->insts[pc];
    const struct inst_info *info = &p->program->info[pc];
    const bool always = in->flags & INST_UNGUARDED;

    const bool gives = gives_values(p, pc);

    memcpy(out, p->in + pc * p->words, p->words * sizeof(*out));
    for (unsigned i = 0; always && i < info->nr_dests; i++) {
        out[info->dest[i] / 64] &= ~(UINT64_C(1) << info->dest[i] % 64);
        if (gives)
            set_bit(out, info->dest[i]);
    }
    if (in->kind == INST_BRANCH)
        flow_to(p, in->target, out);
    for (int64_t t = 0; in->kind == INST_BRANCH_INDEXED && t < in->imm; t++)
        flow_to(p, in->rows[t], out);
    if (always && (in->kind == INST_BRANCH || in->kind == INST_BRANCH_INDEXED ||
                      in->kind == INST_EXIT || in->kind == INST_RET || in->kind == INST_TRAP))
        return;
    if (pc + 1 < p->program->nr_insts)
        flow_to(p, pc + 1, out);
}

static bool find_watched(struct registers *r)
{
    const struct program *program = r->run->program;
    struct paths p = {.program = program, .words = program->nr_regs / 64 + 1};
    uint64_t *out = xmalloc(p.words * sizeof(*out));
    bool any = false;

    p.in = xmalloc(program->nr_insts * p.words * sizeof(*p.in));
    memset(p.in, 0xff, program->nr_insts * p.words * sizeof(*p.in));
    p.work = xcalloc(program->nr_insts, sizeof(*p.work));
    p.waiting = xcalloc(program->nr_insts, 1);
    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        if (program->insts[pc].kind == INST_CALL)
            add_start(&p, program->insts[pc].target);
    }
    add_start(&p, program->entry);
    while (p.nr_work) {
        const uint32_t pc = p.work[--p.nr_work];
        p.waiting[pc] = 0;
        flow_from(&p, pc, out);
    }
    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct inst_info *info = &program->info[pc];
        for (unsigned i = 0; i < info->nr_sources; i++) {
            if (info->recursive || has_bit(p.in + pc * p.words, info->source[i]))
                continue;
            r->watched[info->source[i]] = 1;
            any = true;
        }
    }
    free(p.in);
    free(p.work);
    free(p.waiting);
    free(out);
    return any;
}

/* --- the listener --- */

static struct emu_listener *create(const struct emu_run *run)
{
    struct registers *r = xcalloc(1, sizeof(*r));
    const struct program *program = run->program;

    r->run = run;
    r->nr_regs = program->nr_regs + 1;
    r->watched = xcalloc(r->nr_regs, 1);
    r->watched_pc = xcalloc(program->nr_insts, 1);
    if (!find_watched(r))
        return &r->base;
    r->written = xcalloc((size_t)run->nr_warps * r->nr_regs, sizeof(*r->written));
    r->found = xcalloc(program->nr_insts, sizeof(*r->found));
    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct inst_info *info = &program->info[pc];
        for (unsigned i = 0; i < info->nr_sources; i++)
            r->watched_pc[pc] |= r->watched[info->source[i]];
        for (unsigned i = 0; i < info->nr_dests; i++)
            r->watched_pc[pc] |= r->watched[info->dest[i]];
    }
    return &r->base;
}

static void destroy(struct emu_listener *listener)
{
    struct registers *r = (struct registers *)listener;

    free(r->watched);
    free(r->watched_pc);
    free(r->written);
    free(r->found);
    free(r);
}

static void block_begin(struct emu_listener *listener, const struct emu_block *block)
{
    struct registers *r = (struct registers *)listener;

    if (!r->written)
        return;
    r->base.wants_insts = true;
    r->block = block->index;
    memset(r->written, 0, (size_t)r->run->nr_warps * r->nr_regs * sizeof(*r->written));
}

static void report(struct registers *r, unsigned warp, uint32_t pc, uint32_t missing)
{
    struct emu_fault *f = &r->found[pc];
    const struct inst_info *info = &r->run->program->info[pc];
    char who[WHERE_BYTES], line[WHERE_BYTES];

    if (f->verdict != VERDICT_OK && f->block <= r->block)
        return;
    where_thread(r->run, r->block, warp * WARP_LANES + (unsigned)__builtin_ctz(missing), who);
    *f = (struct emu_fault){
        .verdict = VERDICT_FAULT, .block = r->block, .pc = pc, .line = info->near};
    snprintf(f->text, sizeof(f->text),
        "uninitialised: a register that %s reads has no value yet, by %s%s",
        ptx_op_name(info->ptx->op), who, where_line(r->run, pc, line));
}

static void on_inst(struct emu_listener *listener, unsigned warp, uint32_t pc, uint32_t mask)
{
    struct registers *r = (struct registers *)listener;
    const struct inst_info *info = &r->run->program->info[pc];
    uint32_t *written = r->written + (size_t)warp * r->nr_regs, missing = 0;

    if (!r->watched_pc[pc])
        return;
    for (unsigned i = 0; i < info->nr_sources; i++) {
        if (r->watched[info->source[i]])
            missing |= mask & ~written[info->source[i]];
    }
    const bool only_passed_on = passes_on(info);
    if (missing && !only_passed_on)
        report(r, warp, pc, missing);
    for (unsigned i = 0; i < info->nr_dests; i++) {
        uint32_t *d = &written[info->dest[i]];
        *d = only_passed_on ? (*d & ~mask) | (mask & ~missing) : *d | mask;
    }
}

static void merge(struct emu_listener *into, struct emu_listener *from)
{
    struct registers *a = (struct registers *)into;
    const struct registers *b = (struct registers *)from;

    reports_lowest(a->found, b->found, a->found ? a->run->program->nr_insts : 0);
}

static void finish(struct emu_listener *listener, struct emu_result *result)
{
    struct registers *r = (struct registers *)listener;

    reports_found(r->base.reports, EMU_CHECK_INIT, r->found,
        r->found ? r->run->program->nr_insts : 0, result);
}

const struct emu_listener_class *emu_registers_class(void)
{
    static const struct emu_listener_class class = {.name = "registers",
        .check = EMU_CHECK_INIT,
        .create = create,
        .destroy = destroy,
        .merge = merge,
        .block_begin = block_begin,
        .inst = on_inst,
        .finish = finish};
    return &class;
}
