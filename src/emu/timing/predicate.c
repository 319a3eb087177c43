/* Owns which branches become predicates: ptxas does not branch around a few instructions, but
 * issues them with the branch's predicate, so that they cost issue slots in warps that skip them,
 * and do not hinder the order of what stands around them. */
#include "emu/timing/time.h"

#include "base/mem.h"

#include <stdlib.h>

/* Issue slots that are predicated rather than skipped. Of the branches that skip something in the
 * machine code of 48 kernels for sm_90a (ptxas 13.0), 9 of 110 skip fewer than 8 instructions. */
enum { MOST_SLOTS = 7 };

static bool *branch_targets(const struct program *program)
{
    bool *targets = xcalloc(program->nr_insts + 2, sizeof(*targets));

    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        const struct inst *in = &program->insts[pc];

        if ((in->kind == INST_BRANCH || in->kind == INST_CALL) && in->target < program->nr_insts)
            targets[in->target] = true;
        for (int64_t t = 0; in->kind == INST_BRANCH_INDEXED && t < in->imm; t++)
            targets[in->rows[t]] = true;
    }
    return targets;
}

static bool can_predicate(const struct program *program, const struct pc_cost *costs,
    const bool *targets, uint32_t branch)
{
    const struct inst *in = &program->insts[branch];
    unsigned slots = 0;

    if (in->kind != INST_BRANCH || in->guard == 0 || program->info[branch].nr_sources == 0 ||
        in->target <= branch || in->target > program->nr_insts)
        return false;
    for (uint32_t pc = branch + 1; pc < in->target; pc++) {
        const enum inst_kind kind = (enum inst_kind)program->insts[pc].kind;

        if ((kind != INST_ALU && kind != INST_LOAD && kind != INST_STORE) || targets[pc] ||
            costs[pc].ends_block)
            return false;
        slots += costs[pc].free ? 0 : costs[pc].slots;
        if (slots > MOST_SLOTS)
            return false;
    }
    return true;
}

void time_predicate(const struct program *program, struct pc_cost *costs)
{
    bool *targets = branch_targets(program);

    for (uint32_t branch = 0; branch < program->nr_insts; branch++) {
        const uint32_t target = program->insts[branch].target;

        if (!can_predicate(program, costs, targets, branch))
            continue;
        costs[branch].free = true;
        costs[branch].skip_to = target;
        for (uint32_t pc = branch + 1; pc < target; pc++)
            costs[pc].guard = program->info[branch].source[0] + 1;
    }
    free(targets);
}
