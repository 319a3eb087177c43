/* Owns which loops ptxas unrolls, and what of their bodies is left then. The PTX has the loops as
 * NVVM left them. */
#include "emu/timing/time.h"

#include "base/mem.h"

#include <stdlib.h>

/* In the machine code of 22 kernels of kernels/ (ptxas 13.0, sm_90a) every loop of at most 24
 * instructions whose body is one basic block without stores is there four times over, but for those
 * that .pragma "nounroll" keeps and one whose counter is not what is compared; no loop of 38
 * or more is. */
enum { MOST_INSTS = 31 };

/* An addition of a constant to a register: counters, and places that move on. */
static bool moves_on(const struct inst_info *info)
{
    return info->ptx != NULL && info->ptx->op == PTX_OP_ADD && info->nr_dests == 1 &&
           info->nr_sources == 1 && info->source[0] == info->dest[0];
}

static bool writes(const struct inst_info *info, uint32_t reg)
{
    for (unsigned i = 0; i < info->nr_dests; i++)
        if (info->dest[i] == reg)
            return true;
    return false;
}

/* The instruction of the body that writes a register; the body's end: none, or several. */
static uint32_t writer(const struct program *program, uint32_t begin, uint32_t end, uint32_t reg)
{
    uint32_t found = end;

    for (uint32_t pc = begin; pc < end; pc++) {
        if (writes(&program->info[pc], reg) && found != end)
            return end;
        if (writes(&program->info[pc], reg))
            found = pc;
    }
    return found;
}

static bool is_short(
    const struct program *program, const bool *starts, uint32_t begin, uint32_t end)
{
    unsigned nr = 0;

    for (uint32_t pc = begin; pc < end; pc++) {
        const enum inst_kind kind = (enum inst_kind)program->insts[pc].kind;
        const struct ptx_inst *ptx = program->info[pc].ptx;

        if ((kind != INST_ALU && kind != INST_LOAD) || (pc > begin && starts[pc]) ||
            (ptx != NULL && ptx->rolled))
            return false;
        nr += ptx != NULL && (program->insts[pc].flags & INST_HIDDEN) == 0;
    }
    return nr < MOST_INSTS;
}

/* Does the branch at `end` lead back to `begin` as long as a counter in the body says so? */
static bool is_counted(const struct program *program, uint32_t begin, uint32_t end)
{
    const struct inst_info *branch = &program->info[end], *compare;
    uint32_t at;

    if (program->insts[end].guard == 0 || branch->nr_sources == 0)
        return false;
    at = writer(program, begin, end, branch->source[0]);
    if (at == end || program->info[at].ptx == NULL || program->info[at].ptx->op != PTX_OP_SETP)
        return false;
    compare = &program->info[at];
    for (unsigned i = 0; i < compare->nr_sources; i++) {
        const uint32_t step = writer(program, begin, end, compare->source[i]);

        if (step != end && moves_on(&program->info[step]))
            return true;
    }
    return false;
}

void time_unroll(const struct program *program, const bool *starts, struct pc_cost *costs)
{
    for (uint32_t end = 0; end < program->nr_insts; end++) {
        const struct inst *in = &program->insts[end];
        const uint32_t begin = in->target;

        if (in->kind != INST_BRANCH || begin >= end || !starts[begin] ||
            !is_short(program, starts, begin, end) || !is_counted(program, begin, end))
            continue;
        costs[begin].body_end = end;
        costs[end].once = true;
        for (uint32_t pc = begin; pc < end; pc++)
            costs[pc].once = moves_on(&program->info[pc]) ||
                             writes(&program->info[pc], program->info[end].source[0]);
    }
}

/* Where the turns of the loop end in the trace; false: there are not so many. */
static bool has_turns(
    const struct warp_trace *w, size_t at, uint32_t begin, uint32_t branch, size_t ends[UNROLLED])
{
    for (unsigned turn = 0; turn < UNROLLED; turn++) {
        uint32_t last = begin;

        if (at >= w->nr || w->events[at].pc != begin)
            return false;
        while (at < w->nr && w->events[at].pc >= last && w->events[at].pc < branch)
            last = w->events[at++].pc;
        if (at >= w->nr || w->events[at].pc != branch)
            return false;
        ends[turn] = ++at;
    }
    return true;
}

size_t time_unrolled(const struct pc_cost *costs, const uint32_t *unrolled, struct warp_trace *w,
    size_t at, size_t *to, struct trace_event *scratch)
{
    const uint32_t begin = w->events[at].pc, branch = costs[begin].body_end;
    size_t ends[UNROLLED], i = at;
    struct trace_event last;
    uint32_t most = 0;

    if (branch == 0 || !has_turns(w, at, begin, branch, ends))
        return at;
    for (unsigned turn = 0; turn < UNROLLED; turn++) {
        for (; i + 1 < ends[turn]; i++) {
            const uint32_t pc = w->events[i].pc, rank = unrolled[UNROLLED * pc + turn];

            if (costs[pc].once && turn + 1 < UNROLLED)
                continue;
            scratch[rank] = w->events[i];
            scratch[rank].pc++; /* 0: nothing here */
            most = rank > most ? rank : most;
        }
        last = w->events[i++];
    }
    w->nr_dropped += i - at;
    at = *to;
    for (uint32_t rank = 0; rank <= most; rank++) {
        if (scratch[rank].pc == 0)
            continue;
        w->events[*to] = scratch[rank];
        w->events[(*to)++].pc--;
        scratch[rank].pc = 0;
    }
    w->events[(*to)++] = last;
    w->nr_dropped -= *to - at;
    return i;
}

uint32_t time_place(
    const struct program *program, const struct inst_order *order, struct pc_cost *costs)
{
    uint32_t *at = xcalloc((size_t)program->nr_insts + 1, sizeof(*at)); /* by rank: pc */
    uint32_t place = 0;

    for (uint32_t begin = 0, end; begin < program->nr_insts; begin = end) {
        for (end = begin; end < program->nr_insts && order->block[end] == order->block[begin];
             end++)
            at[order->rank[end]] = end;
        for (uint32_t rank = 0; rank < end - begin; rank++) {
            costs[at[rank]].place = place;
            place += costs[at[rank]].free ? 0 : costs[at[rank]].slots;
        }
    }
    free(at);
    return place;
}

void order_finish(struct inst_order *order)
{
    free(order->rank);
    free(order->block);
    free(order->unrolled);
}
