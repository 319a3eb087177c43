/* Owns the search for barriers that some warps of a block wait at and others go past: a
 * __syncthreads() under a condition that differs from warp to warp.
 *
 * A barrier without a count asks for all threads that have not exited. A warp that leaves the
 * kernel early (a return before the barrier) is therefore no fault, and on the chip it holds nobody
 * up. A warp that goes round the barrier and on to what all warps execute after it is a fault, even
 * where the others are freed when that warp exits, or meet it at another barrier: CUDA programming
 * guide, Synchronization Functions.
 *
 * Control flow shows what to watch: barriers between a branch whose condition may differ between
 * warps and the place where the sides of the branch meet. Most kernels have none. In a block that
 * ran to its end, a warp went past a barrier when it met fewer barriers in all than another warp,
 * met this one less often, and was at the place where the sides meet. */
#include "emu/watch/reports.h"
#include "emu/watch/where.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WARPS = 32 };

struct way_round {
    uint32_t barrier, meet; /* pcs: of a barrier, and of where those are who go round it */
};

struct barriers {
    struct emu_listener base;
    const struct emu_run *run;
    const struct emu_block *block;
    struct way_round *rounds;
    size_t nr_rounds, cap_rounds;
    uint32_t *slot;   /* per pc: 0, or where its counts begin, in warps, plus one */
    uint32_t *counts; /* executions by slot and warp */
    size_t nr_slots;
    struct emu_fault *found; /* by pc */
};

/* ---- what the program shows ---- */

struct sight {
    const struct program *program;
    uint8_t *varies; /* by register: the value may differ between warps */
    uint8_t *marked; /* by pc: inside of the region at hand */
    uint32_t *work;
    uint8_t *seen; /* by pc: the branch's region was looked at */
};

static bool is_watched_barrier(const struct inst *in)
{
    return in->kind == INST_BARRIER && in->b == NO_ROW;
}

static bool differs_between_warps(enum ptx_special special)
{
    return (special >= PTX_SR_TID_X && special <= PTX_SR_TID_Z) || special == PTX_SR_WARPID ||
           (special >= PTX_SR_CLOCK && special <= PTX_SR_GLOBALTIMER) ||
           (special >= PTX_SR_CLOCK_HI && special <= PTX_SR_GLOBALTIMER_HI);
}

/* Does the instruction bring in a value that may differ? A load from an address that all warps
 * share does not. */
static bool is_source(const struct inst *in, const struct inst_info *info)
{
    const struct ptx_inst *ptx = info->ptx;

    if (in->kind == INST_ATOM || in->kind == INST_COLLECTIVE || in->kind == INST_COPY_FRAME ||
        in->kind == INST_MALLOC || in->kind == INST_MBARRIER || info->space == PTX_LOCAL)
        return true;
    for (unsigned i = ptx ? ptx->nr_dests : 0; ptx && i < ptx->nr_operands; i++) {
        if (ptx->operand[i].kind == PTX_OPERAND_SPECIAL &&
            differs_between_warps(ptx->operand[i].special))
            return true;
    }
    return false;
}

/* True when a register turned out to vary. */
static bool spread(struct sight *s, uint32_t pc, bool all)
{
    const struct inst_info *info = &s->program->info[pc];
    bool varies = all || is_source(&s->program->insts[pc], info), news = false;

    for (unsigned i = 0; i < info->nr_sources; i++)
        varies |= s->varies[info->source[i]];
    for (unsigned i = 0; varies && i < info->nr_dests; i++) {
        news |= !s->varies[info->dest[i]];
        s->varies[info->dest[i]] = 1;
    }
    return news;
}

static bool is_varying_branch(const struct sight *s, uint32_t pc)
{
    const struct inst *in = &s->program->insts[pc];
    const struct inst_info *info = &s->program->info[pc];

    if (in->kind != INST_BRANCH_INDEXED && (in->kind != INST_BRANCH || in->flags & INST_UNGUARDED))
        return false;
    for (unsigned i = 0; i < info->nr_sources; i++) {
        if (s->varies[info->source[i]])
            return true;
    }
    return in->kind == INST_BRANCH_INDEXED; /* the index is checked by the instruction before */
}

static void visit(struct sight *s, uint32_t pc, uint32_t meet, size_t *nr)
{
    if (pc == meet || pc >= s->program->nr_insts || s->marked[pc])
        return;
    s->marked[pc] = 1;
    s->work[(*nr)++] = pc;
}

static void visit_next(struct sight *s, uint32_t pc, uint32_t meet, size_t *nr)
{
    const struct inst *in = &s->program->insts[pc];
    const bool leaves = in->kind == INST_EXIT || in->kind == INST_RET || in->kind == INST_TRAP ||
                        in->kind == INST_BRANCH || in->kind == INST_BRANCH_INDEXED;

    if (in->kind == INST_BRANCH)
        visit(s, in->target, meet, nr);
    for (int64_t t = 0; in->kind == INST_BRANCH_INDEXED && t < in->imm; t++)
        visit(s, in->rows[t], meet, nr);
    if (!leaves || !(in->flags & INST_UNGUARDED))
        visit(s, pc + 1, meet, nr);
}

/* Puts the instructions between a branch and where its sides meet into s->work, and gives their
 * number. */
static size_t region(struct sight *s, uint32_t branch)
{
    const uint32_t meet = s->program->insts[branch].reconverge;
    size_t nr = 0;

    memset(s->marked, 0, s->program->nr_insts);
    visit_next(s, branch, meet, &nr);
    for (size_t i = 0; i < nr; i++)
        visit_next(s, s->work[i], meet, &nr);
    return nr;
}

/* Is the rest of the kernel from here on nothing but its end? */
static bool is_end(const struct program *p, uint32_t pc)
{
    for (unsigned steps = 0; steps < 16 && pc < p->nr_insts; steps++) {
        const struct inst *in = &p->insts[pc];
        if (in->kind == INST_EXIT)
            return true;
        if (in->kind == INST_BRANCH && in->flags & INST_UNGUARDED)
            pc = in->target;
        else if (in->flags & INST_HIDDEN && in->kind == INST_ALU)
            pc++;
        else
            return false;
    }
    return false;
}

static void add_round(struct barriers *b, uint32_t barrier, uint32_t meet)
{
    if (meet >= b->run->program->nr_insts || is_end(b->run->program, meet))
        return;
    b->rounds = grow(b->rounds, &b->cap_rounds, b->nr_rounds + 1, sizeof(*b->rounds));
    b->rounds[b->nr_rounds++] = (struct way_round){barrier, meet};
}

/* Which registers differ between warps: those that come from what differs, and those that are set
 * on one side of a branch whose condition differs. */
static void find_varying(struct sight *s)
{
    const struct program *p = s->program;
    bool news = true;

    while (news) {
        news = false;
        for (uint32_t pc = 0; pc < p->nr_insts; pc++) {
            news |= spread(s, pc, false);
            if (s->seen[pc] || !is_varying_branch(s, pc))
                continue;
            s->seen[pc] = 1;
            for (size_t i = 0, nr = region(s, pc); i < nr; i++)
                news |= spread(s, s->work[i], true);
        }
    }
}

static void find_rounds(struct barriers *b)
{
    const struct program *p = b->run->program;
    struct sight s = {.program = p,
        .varies = xcalloc((size_t)p->nr_regs + 1, 1),
        .marked = xcalloc(p->nr_insts, 1),
        .work = xcalloc((size_t)p->nr_insts + 1, sizeof(*s.work)),
        .seen = xcalloc(p->nr_insts, 1)};

    find_varying(&s);
    for (uint32_t pc = 0; pc < p->nr_insts; pc++) {
        const struct inst *in = &p->insts[pc];
        if (is_watched_barrier(in) && !(in->flags & INST_UNGUARDED))
            add_round(b, pc, pc + 1);
        if (!s.seen[pc])
            continue;
        for (size_t i = 0, nr = region(&s, pc); i < nr; i++) {
            if (is_watched_barrier(&p->insts[s.work[i]]))
                add_round(b, s.work[i], in->reconverge);
        }
    }
    free(s.varies);
    free(s.marked);
    free(s.work);
    free(s.seen);
}

bool emu_barriers_wanted(const struct program *program)
{
    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        if (is_watched_barrier(&program->insts[pc]))
            return true;
    }
    return false;
}

/* ---- the listener ---- */

static void give_slot(struct barriers *b, uint32_t pc)
{
    if (!b->slot[pc])
        b->slot[pc] = (uint32_t)(b->nr_slots++ * b->run->nr_warps + 1);
}

static struct emu_listener *create(const struct emu_run *run)
{
    struct barriers *b = xcalloc(1, sizeof(*b));
    const struct program *program = run->program;

    b->run = run;
    if (run->nr_warps < 2)
        return &b->base;
    find_rounds(b);
    if (!b->nr_rounds)
        return &b->base;
    b->slot = xcalloc(program->nr_insts, sizeof(*b->slot));
    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        if (is_watched_barrier(&program->insts[pc]))
            give_slot(b, pc);
    }
    for (size_t i = 0; i < b->nr_rounds; i++)
        give_slot(b, b->rounds[i].meet);
    b->counts = xcalloc(b->nr_slots * run->nr_warps, sizeof(*b->counts));
    b->found = xcalloc(program->nr_insts, sizeof(*b->found));
    return &b->base;
}

static void destroy(struct emu_listener *listener)
{
    struct barriers *b = (struct barriers *)listener;

    free(b->rounds);
    free(b->slot);
    free(b->counts);
    free(b->found);
    free(b);
}

static void block_begin(struct emu_listener *listener, const struct emu_block *block)
{
    struct barriers *b = (struct barriers *)listener;

    if (!b->nr_rounds)
        return;
    b->base.wants_insts = true;
    b->block = block;
    memset(b->counts, 0, b->nr_slots * b->run->nr_warps * sizeof(*b->counts));
}

static void on_inst(struct emu_listener *listener, unsigned warp, uint32_t pc, uint32_t mask)
{
    struct barriers *b = (struct barriers *)listener;
    /* who comes to a barrier whose predicate is off does not wait; at a meeting place all count */
    const bool waits = is_watched_barrier(&b->run->program->insts[pc]);

    if (b->slot[pc] && (mask || !waits))
        b->counts[b->slot[pc] - 1 + warp]++;
}

/* The warps that went past the barrier of a round, while the warp `most` was at it more often. */
static unsigned went_past(
    const struct barriers *b, const struct way_round *round, const uint32_t *all, unsigned *first)
{
    const uint32_t *at = b->counts + b->slot[round->barrier] - 1,
                   *met = b->counts + b->slot[round->meet] - 1;
    unsigned nr = 0, most = 0;

    for (unsigned w = 1; w < b->run->nr_warps; w++)
        most = at[w] > at[most] ? w : most;
    for (unsigned w = b->run->nr_warps; w-- > 0;) {
        if (at[w] < at[most] && all[w] < all[most] && met[w]) {
            *first = w;
            nr++;
        }
    }
    return nr;
}

static void report(
    struct barriers *b, const struct way_round *round, unsigned nr, unsigned first, unsigned waits)
{
    struct emu_fault *f = &b->found[round->barrier];
    char who[WHERE_BYTES], other[WHERE_BYTES];

    if (f->verdict != VERDICT_OK && f->block <= b->block->index)
        return;
    where_thread(b->run, b->block->index, first * WARP_LANES, who);
    where_thread(b->run, b->block->index, waits * WARP_LANES, other);
    *strstr(who, " of block") = '\0';
    *f = (struct emu_fault){.verdict = VERDICT_FAULT,
        .block = b->block->index,
        .pc = round->barrier,
        .line = b->run->program->info[round->barrier].near};
    snprintf(f->text, sizeof(f->text),
        "barrier in divergent code: %u of %u warps go past it, that of %s first; the warp of %s "
        "waits "
        "at it",
        nr, b->run->nr_warps, who, other);
}

static void block_end(struct emu_listener *listener)
{
    struct barriers *b = (struct barriers *)listener;
    const struct program *program = b->run->program;
    uint32_t all[MAX_WARPS] = {0};
    bool differ = false;

    if (!b->nr_rounds || !b->block->ended)
        return;
    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        for (unsigned w = 0; is_watched_barrier(&program->insts[pc]) && w < b->run->nr_warps; w++)
            all[w] += b->counts[b->slot[pc] - 1 + w];
    }
    for (unsigned w = 1; w < b->run->nr_warps; w++)
        differ |= all[w] != all[0];
    for (size_t i = 0; differ && i < b->nr_rounds; i++) {
        const uint32_t *at = b->counts + b->slot[b->rounds[i].barrier] - 1;
        unsigned first = 0, waits = 0;
        const unsigned nr = went_past(b, &b->rounds[i], all, &first);
        for (unsigned w = 1; w < b->run->nr_warps; w++)
            waits = at[w] > at[waits] ? w : waits;
        if (nr)
            report(b, &b->rounds[i], nr, first, waits);
    }
}

static void merge(struct emu_listener *into, struct emu_listener *from)
{
    struct barriers *a = (struct barriers *)into;
    const struct barriers *b = (const struct barriers *)from;

    reports_lowest(a->found, b->found, a->found ? a->run->program->nr_insts : 0);
}

static void finish(struct emu_listener *listener, struct emu_result *result)
{
    struct barriers *b = (struct barriers *)listener;

    reports_found(b->base.reports, EMU_CHECK_SYNC, b->found,
        b->found ? b->run->program->nr_insts : 0, result);
}

const struct emu_listener_class *emu_barriers_class(void)
{
    static const struct emu_listener_class class = {.name = "barriers",
        .check = EMU_CHECK_SYNC,
        .create = create,
        .destroy = destroy,
        .merge = merge,
        .block_begin = block_begin,
        .inst = on_inst,
        .block_end = block_end,
        .finish = finish};
    return &class;
}
