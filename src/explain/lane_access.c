/* Owns the following of %tid.x through a kernel's arithmetic. */
#include "explain/lane_access.h"

/* Values that still change after so many passes are free. */
enum { PASSES = 12 };

static const struct lanes same = {.form = LANES_SAME};

static struct lanes with(struct lanes value, bool loaded)
{
    value.loaded = loaded;
    return value;
}

static struct lanes linear(int64_t step)
{
    return step == 0 ? same : (struct lanes){.form = LANES_LINEAR, .step = step};
}

static struct lanes lanes_free(void)
{
    return (struct lanes){.form = LANES_FREE};
}

struct lanes lanes_of_operand(const struct lanes *regs, const struct ptx_operand *operand)
{
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        return operand->reg >= 0 ? regs[operand->reg] : same;
    case PTX_OPERAND_ADDRESS:
        return operand->reg >= 0 ? regs[operand->reg] : same;
    case PTX_OPERAND_SPECIAL:
        return operand->special == PTX_SR_TID_X || operand->special == PTX_SR_LANEID ? linear(1)
               : operand->special >= PTX_SR_LANEMASK_EQ && operand->special <= PTX_SR_LANEMASK_GT
                   ? lanes_free()
                   : same;
    default:
        return same;
    }
}

static struct lanes added(struct lanes a, struct lanes b, int sign)
{
    bool loaded = a.loaded || b.loaded;

    if (a.form == LANES_UNSET || b.form == LANES_UNSET) {
        return (struct lanes){0};
    }
    if (a.form == LANES_FREE || b.form == LANES_FREE) {
        return with(lanes_free(), loaded);
    }
    if (a.form == LANES_SCALED || b.form == LANES_SCALED) {
        return (struct lanes){.form = LANES_SCALED, .loaded = loaded};
    }
    return with(linear((int64_t)((uint64_t)a.step + (uint64_t)(sign * b.step))), loaded);
}

static struct lanes scaled(struct lanes a, const struct ptx_operand *by, struct lanes b, bool shift)
{
    bool loaded = a.loaded || b.loaded;

    if (a.form == LANES_UNSET || b.form == LANES_UNSET) {
        return (struct lanes){0};
    }
    if (a.form == LANES_SAME && b.form == LANES_SAME) {
        return with(same, loaded);
    }
    if (by->kind == PTX_OPERAND_IMM && a.form == LANES_LINEAR) {
        uint64_t factor = shift ? (by->imm < 63 ? 1ull << by->imm : 0) : by->imm;

        return with(linear((int64_t)((uint64_t)a.step * factor)), loaded);
    }
    if (a.form == LANES_FREE || b.form == LANES_FREE ||
        (a.form != LANES_SAME && b.form != LANES_SAME)) {
        return with(lanes_free(), loaded);
    }
    return (struct lanes){.form = LANES_SCALED, .loaded = loaded};
}

/* Any other operation: the same of the same is the same. */
static struct lanes mixed(const struct lanes *regs, const struct ptx_inst *inst)
{
    struct lanes out = same;

    for (unsigned i = inst->nr_dests; i < inst->nr_operands; i++) {
        const struct ptx_operand *o = &inst->operand[i];

        for (unsigned v = 0; v < (o->kind == PTX_OPERAND_VECTOR ? o->nr : 1); v++) {
            struct lanes x = lanes_of_operand(regs, o->kind == PTX_OPERAND_VECTOR ? &o->vec[v] : o);

            if (x.form == LANES_UNSET) {
                return (struct lanes){0};
            }
            out.loaded = out.loaded || x.loaded;
            out.form = x.form == LANES_SAME ? out.form : LANES_FREE;
        }
    }
    return out;
}

static struct lanes loaded_value(const struct lanes *regs, const struct ptx_inst *inst)
{
    struct lanes address = lanes_of_operand(regs, &inst->operand[inst->nr_dests]);

    if (address.form == LANES_UNSET) {
        return address;
    }
    return (struct lanes){.form = address.form == LANES_SAME ? LANES_SAME : LANES_FREE,
        .loaded = inst->space == PTX_GLOBAL || inst->space == PTX_GENERIC};
}

static struct lanes result(const struct lanes *regs, const struct ptx_inst *inst)
{
    const struct ptx_operand *o = inst->operand;
    struct lanes a = lanes_of_operand(regs, &o[1]), b = lanes_of_operand(regs, &o[2]);

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
        return o[2].kind == PTX_OPERAND_IMM && a.form == LANES_LINEAR && a.step == 1 &&
                       o[2].imm >= 31 && (o[2].imm & (o[2].imm + 1)) == 0
                   ? a
                   : mixed(regs, inst);
    case PTX_OP_SHR: /* tid >> 5 */
        return o[2].kind == PTX_OPERAND_IMM && a.form == LANES_LINEAR && a.step == 1 &&
                       o[2].imm >= 5
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
                   : added(scaled(a, &o[2], b, false), lanes_of_operand(regs, &o[3]), 1);
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
        return lanes_free();
    default:
        return mixed(regs, inst);
    }
}

/* What a register holds on either of two ways there. */
static struct lanes merged(struct lanes a, struct lanes b)
{
    if (a.form == LANES_UNSET) {
        return b;
    }
    if (b.form == LANES_UNSET) {
        return a;
    }
    if (a.form == b.form && a.step == b.step) {
        return with(a, a.loaded || b.loaded);
    }
    return with(lanes_free(), a.loaded || b.loaded);
}

static bool set(struct lanes *regs, const struct ptx_operand *dest, struct lanes value)
{
    struct lanes was, now;

    if (dest->kind != PTX_OPERAND_REG || dest->reg < 0) {
        return false;
    }
    was = regs[dest->reg];
    now = merged(was, value);
    regs[dest->reg] = now;
    return now.form != was.form || now.step != was.step || now.loaded != was.loaded;
}

static bool follow(struct lanes *regs, const struct ptx_inst *inst)
{
    struct lanes value = result(regs, inst);
    bool changed = false;

    if (inst->guard >= 0 && regs[inst->guard].form > LANES_SAME && value.form != LANES_UNSET) {
        value.form = LANES_FREE; /* only some lanes get it */
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

struct lanes *lanes_of(const struct ptx_func *func, struct arena *arena)
{
    struct lanes *regs = arena_array(arena, func->nr_regs + 1u, sizeof(*regs));
    bool changed = true;

    for (unsigned pass = 0; changed && pass < PASSES; pass++) {
        changed = false;
        for (unsigned i = 0; i < func->nr_insts; i++) {
            changed = follow(regs, &func->insts[i]) || changed;
        }
    }
    for (unsigned r = 0; changed && r < func->nr_regs; r++) {
        regs[r].form = LANES_FREE; /* it does not settle */
    }
    return regs;
}
