/* Owns lane patterns: %tid.x and the lane number, followed through the arithmetic of a kernel. */
#include "explain/lane_pattern.h"

/* A register whose pattern still changes after so many passes is LANE_FREE. */
enum { PASSES = 12 };

static const struct lane_pattern same = {.form = LANE_SAME};

static struct lane_pattern with(struct lane_pattern value, bool loaded)
{
    value.loaded = loaded;
    return value;
}

static struct lane_pattern linear(int64_t step)
{
    return step == 0 ? same : (struct lane_pattern){.form = LANE_LINEAR, .step = step};
}

static struct lane_pattern unknown(void)
{
    return (struct lane_pattern){.form = LANE_FREE};
}

struct lane_pattern lane_pattern_of(
    const struct lane_pattern *regs, const struct ptx_operand *operand)
{
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        return operand->reg >= 0 ? regs[operand->reg] : same;
    case PTX_OPERAND_ADDRESS:
        return operand->reg >= 0 ? regs[operand->reg] : same;
    case PTX_OPERAND_SPECIAL:
        return operand->special == PTX_SR_TID_X || operand->special == PTX_SR_LANEID ? linear(1)
               : operand->special >= PTX_SR_LANEMASK_EQ && operand->special <= PTX_SR_LANEMASK_GT
                   ? unknown()
                   : same;
    default:
        return same;
    }
}

static struct lane_pattern added(struct lane_pattern a, struct lane_pattern b, int sign)
{
    bool loaded = a.loaded || b.loaded;

    if (a.form == LANE_UNSET || b.form == LANE_UNSET) {
        return (struct lane_pattern){0};
    }
    if (a.form == LANE_FREE || b.form == LANE_FREE) {
        return with(unknown(), loaded);
    }
    if (a.form == LANE_SCALED || b.form == LANE_SCALED) {
        return (struct lane_pattern){.form = LANE_SCALED, .loaded = loaded};
    }
    return with(linear((int64_t)((uint64_t)a.step + (uint64_t)(sign * b.step))), loaded);
}

static struct lane_pattern scaled(
    struct lane_pattern a, const struct ptx_operand *by, struct lane_pattern b, bool shift)
{
    bool loaded = a.loaded || b.loaded;

    if (a.form == LANE_UNSET || b.form == LANE_UNSET) {
        return (struct lane_pattern){0};
    }
    if (a.form == LANE_SAME && b.form == LANE_SAME) {
        return with(same, loaded);
    }
    if (by->kind == PTX_OPERAND_IMM && a.form == LANE_LINEAR) {
        uint64_t factor = shift ? (by->imm < 63 ? 1ull << by->imm : 0) : by->imm;

        return with(linear((int64_t)((uint64_t)a.step * factor)), loaded);
    }
    if (a.form == LANE_FREE || b.form == LANE_FREE ||
        (a.form != LANE_SAME && b.form != LANE_SAME)) {
        return with(unknown(), loaded);
    }
    return (struct lane_pattern){.form = LANE_SCALED, .loaded = loaded};
}

/* Any other operation: the result is the same in all lanes where all its operands are. */
static struct lane_pattern mixed(const struct lane_pattern *regs, const struct ptx_inst *inst)
{
    struct lane_pattern out = same;

    for (unsigned i = inst->nr_dests; i < inst->nr_operands; i++) {
        const struct ptx_operand *o = &inst->operand[i];

        for (unsigned v = 0; v < (o->kind == PTX_OPERAND_VECTOR ? o->nr : 1); v++) {
            struct lane_pattern x =
                lane_pattern_of(regs, o->kind == PTX_OPERAND_VECTOR ? &o->vec[v] : o);

            if (x.form == LANE_UNSET) {
                return (struct lane_pattern){0};
            }
            out.loaded = out.loaded || x.loaded;
            out.form = x.form == LANE_SAME ? out.form : LANE_FREE;
        }
    }
    return out;
}

static struct lane_pattern loaded_value(
    const struct lane_pattern *regs, const struct ptx_inst *inst)
{
    struct lane_pattern address = lane_pattern_of(regs, &inst->operand[inst->nr_dests]);

    if (address.form == LANE_UNSET) {
        return address;
    }
    return (struct lane_pattern){.form = address.form == LANE_SAME ? LANE_SAME : LANE_FREE,
        .loaded = inst->space == PTX_GLOBAL || inst->space == PTX_GENERIC};
}

static struct lane_pattern result(const struct lane_pattern *regs, const struct ptx_inst *inst)
{
    const struct ptx_operand *o = inst->operand;
    struct lane_pattern a = lane_pattern_of(regs, &o[1]), b = lane_pattern_of(regs, &o[2]);

    switch (inst->op) {
    case PTX_OP_MOV:
    case PTX_OP_CVTA:
        return o[1].kind == PTX_OPERAND_VECTOR ? mixed(regs, inst) : a;
    case PTX_OP_CVT:
        return ptx_type_is_float(inst->type) || ptx_type_is_float(inst->type2) ? mixed(regs, inst)
                                                                               : a;
    case PTX_OP_ADD:
        return ptx_type_is_float(inst->type) ? mixed(regs, inst) : added(a, b, 1);
    case PTX_OP_SUB:
        return ptx_type_is_float(inst->type) ? mixed(regs, inst) : added(a, b, -1);
    case PTX_OP_AND: /* tid & 31: warps begin at multiples of 32 */
        return o[2].kind == PTX_OPERAND_IMM && a.form == LANE_LINEAR && a.step == 1 &&
                       o[2].imm >= 31 && (o[2].imm & (o[2].imm + 1)) == 0
                   ? a
                   : mixed(regs, inst);
    case PTX_OP_SHR: /* tid >> 5 */
        return o[2].kind == PTX_OPERAND_IMM && a.form == LANE_LINEAR && a.step == 1 && o[2].imm >= 5
                   ? with(same, a.loaded)
                   : mixed(regs, inst);
    case PTX_OP_SHL:
        return scaled(a, &o[2], b, true);
    case PTX_OP_MUL:
        return ptx_type_is_float(inst->type) || inst->mul == PTX_MUL_HI
                   ? mixed(regs, inst)
                   : (o[1].kind == PTX_OPERAND_IMM ? scaled(b, &o[1], a, false)
                                                   : scaled(a, &o[2], b, false));
    case PTX_OP_MAD:
        return ptx_type_is_float(inst->type) || inst->mul == PTX_MUL_HI
                   ? mixed(regs, inst)
                   : added(scaled(a, &o[2], b, false), lane_pattern_of(regs, &o[3]), 1);
    case PTX_OP_LD:
        return inst->space == PTX_PARAM || inst->space == PTX_CONST ? mixed(regs, inst)
                                                                    : loaded_value(regs, inst);
    default:
        break;
    }
    switch (ptx_op_class(inst->op)) {
    case PTX_CLASS_ATOMIC:
    case PTX_CLASS_SHUFFLE:
    case PTX_CLASS_TENSOR:
    case PTX_CLASS_CONTROL:
        return unknown();
    default:
        return mixed(regs, inst);
    }
}

/* The pattern of a register that is written in two places. */
static struct lane_pattern merged(struct lane_pattern a, struct lane_pattern b)
{
    if (a.form == LANE_UNSET) {
        return b;
    }
    if (b.form == LANE_UNSET) {
        return a;
    }
    if (a.form == b.form && a.step == b.step) {
        return with(a, a.loaded || b.loaded);
    }
    return with(unknown(), a.loaded || b.loaded);
}

static bool set(
    struct lane_pattern *regs, const struct ptx_operand *dest, struct lane_pattern value)
{
    struct lane_pattern was, now;

    if (dest->kind != PTX_OPERAND_REG || dest->reg < 0) {
        return false;
    }
    was = regs[dest->reg];
    now = merged(was, value);
    regs[dest->reg] = now;
    return now.form != was.form || now.step != was.step || now.loaded != was.loaded;
}

static bool follow(struct lane_pattern *regs, const struct ptx_inst *inst)
{
    struct lane_pattern value = result(regs, inst);
    bool changed = false;

    if (inst->guard >= 0 && regs[inst->guard].form > LANE_SAME && value.form != LANE_UNSET) {
        value.form = LANE_FREE; /* only some lanes get the value */
        value.step = 0;
    }
    for (unsigned d = 0; d < inst->nr_dests; d++) {
        const struct ptx_operand *o = &inst->operand[d];

        if (o->kind != PTX_OPERAND_VECTOR) {
            changed = set(regs, o, value) || changed;
            continue;
        }
        for (unsigned v = 0; v < o->nr; v++) {
            changed = set(regs, &o->vec[v], value) || changed;
        }
    }
    return changed;
}

struct lane_pattern *lane_patterns(const struct ptx_func *func, struct arena *arena)
{
    struct lane_pattern *regs = arena_array(arena, func->nr_regs + 1u, sizeof(*regs));
    bool changed = true;

    for (unsigned pass = 0; changed && pass < PASSES; pass++) {
        changed = false;
        for (unsigned i = 0; i < func->nr_insts; i++) {
            changed = follow(regs, &func->insts[i]) || changed;
        }
    }
    for (unsigned r = 0; changed && r < func->nr_regs; r++) {
        regs[r].form = LANE_FREE; /* its pattern does not settle */
    }
    return regs;
}
