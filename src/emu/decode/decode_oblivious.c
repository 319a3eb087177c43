/* Owns the question whether a kernel is data-oblivious: what it touches, and which way its threads
 * go, follows from sizes and indices alone, never from what it reads from memory. Sanitizers then
 * find the same on all inputs of a size, and a launch that only counts need not compute the data.
 *
 * Registers that may hold data are followed through the program, without regard to the order of
 * instructions. A guess in doubt is no: calls and instructions with rules of their own may depend
 * on data as soon as one of their sources does. */
#include "emu/decode/decode.h"
#include "emu/state/tensor.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static bool any_of(const uint8_t *data, const struct inst_info *info)
{
    for (unsigned i = 0; i < info->nr_sources; i++)
        if (data[info->source[i]])
            return true;
    return false;
}

/* The register of the address that a store or an atomic has, and its guard. */
static bool is_place_data(const uint8_t *data, const struct inst_info *info)
{
    const struct ptx_inst *ptx = info->ptx;
    const struct ptx_operand *address = &ptx->operand[ptx->nr_dests];

    if (address->kind != PTX_OPERAND_ADDRESS || address->vec || ptx->async_)
        return any_of(data, info);
    return (address->reg >= 0 && data[info->source[0]]) ||
           (ptx->guard >= 0 && data[info->source[info->nr_sources - 1]]);
}

/* The lanes that take part: a register of them is the last operand, and the guard decides, too. */
static bool is_meeting_data(const uint8_t *data, const struct inst_info *info)
{
    const struct ptx_inst *ptx = info->ptx;
    const bool guarded = ptx->guard >= 0;

    if (guarded && data[info->source[info->nr_sources - 1]])
        return true;
    return ptx->operand[ptx->nr_operands - 1].kind == PTX_OPERAND_REG &&
           data[info->source[info->nr_sources - 1 - guarded]];
}

/* The descriptors, which follow A's registers if A is in registers, and what comes after them. */
static bool is_product_place_data(
    const uint8_t *data, const struct inst *in, const struct inst_info *info)
{
    for (unsigned i = in->wgmma->a_in_regs ? 4 : 0; i < info->nr_sources; i++)
        if (data[info->source[i]])
            return true;
    return false;
}

/* Does data decide what the instruction touches, or where the threads go on? */
static bool obeys_data(const uint8_t *data, const struct inst *in, const struct inst_info *info)
{
    switch (in->kind) {
    case INST_ALU:
    case INST_CLOCK:
        return false;
    case INST_COLLECTIVE:
        return is_meeting_data(data, info);
    case INST_STORE:
    case INST_ATOM:
        return is_place_data(data, info);
    case INST_MATRIX:
        return info->is_memory && is_place_data(data, info);
    case INST_WGMMA:
        return is_product_place_data(data, in, info);
    default:
        return any_of(data, info);
    }
}

static bool gives_data(const uint8_t *data, const struct inst *in, const struct inst_info *info)
{
    return in->kind == INST_LOAD || in->kind == INST_ATOM || in->kind == INST_CLOCK ||
           in->kind == INST_TEXTURE || in->kind == INST_WGMMA ||
           (in->kind == INST_MATRIX && info->is_memory) || any_of(data, info);
}

static bool may_follow(const struct inst *in, const struct inst_info *info)
{
    return in->kind != INST_CALL && in->kind != INST_STRAY_CALL && in->kind != INST_COPY_FRAME &&
           info->nr_sources < INST_MAX_REGS && info->nr_dests < INST_MAX_REGS;
}

/* Marks the registers that may hold data. False: the program is not oblivious. */
static bool follow(const struct program *program, uint8_t *data)
{
    bool oblivious = !program->learns, more = true;

    while (more && oblivious) {
        more = false;
        for (uint32_t pc = 0; pc < program->nr_insts && oblivious; pc++) {
            const struct inst *in = &program->insts[pc];
            const struct inst_info *info = &program->info[pc];

            oblivious = may_follow(in, info) && (!info->ptx || !obeys_data(data, in, info));
            if (!oblivious || !info->ptx || !gives_data(data, in, info))
                continue;
            for (unsigned i = 0; i < info->nr_dests; i++) {
                more |= !data[info->dest[i]];
                data[info->dest[i]] = 1;
            }
        }
    }
    return oblivious;
}

bool decode_oblivious(const struct program *program)
{
    uint8_t *data = xcalloc((size_t)program->nr_regs + 1, 1);
    const bool oblivious = follow(program, data);

    free(data);
    return oblivious;
}

static void compute_nothing(uint8_t *file, const struct inst *in, uint32_t mask)
{
    (void)file;
    (void)in;
    (void)mask;
}

/* Does the instruction do nothing but move data, or compute data from data? Bulk copies read
 * descriptors of tensors that stores may have made. */
static bool is_idle(
    const uint8_t *data, const struct inst *in, const struct inst_info *info, bool has_bulk)
{
    switch (in->kind) {
    case INST_ALU:
    case INST_COLLECTIVE:
    case INST_MATRIX:
        return gives_data(data, in, info);
    case INST_WGMMA:
        return true;
    case INST_LOAD:
    case INST_STORE:
    case INST_CP_ASYNC:
        return !has_bulk;
    default:
        return false;
    }
}

const struct program *decode_idle(const struct program *program, struct arena *arena)
{
    struct program *idle = arena_alloc(arena, sizeof(*idle));
    uint8_t *data = xcalloc((size_t)program->nr_regs + 1, 1);
    bool has_bulk = false;

    follow(program, data);
    *idle = *program;
    idle->insts = arena_array(arena, program->nr_insts + 1, sizeof(*idle->insts));
    memcpy(idle->insts, program->insts, program->nr_insts * sizeof(*idle->insts));
    for (uint32_t pc = 0; pc < program->nr_insts; pc++)
        has_bulk |= program->insts[pc].kind == INST_BULK_COPY;
    for (uint32_t pc = 0; pc < program->nr_insts; pc++) {
        struct inst *in = &idle->insts[pc];

        if (!program->info[pc].ptx || !is_idle(data, in, &program->info[pc], has_bulk))
            continue;
        in->flags |= INST_IDLE;
        if (in->kind == INST_ALU || in->kind == INST_COLLECTIVE || in->kind == INST_MATRIX)
            in->run = compute_nothing;
    }
    free(data);
    return idle;
}
