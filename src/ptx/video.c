/* Owns the check of video instructions: which parts of registers may be named, and what goes with
 * what. Source: PTX ISA 9.0, scalar and SIMD video instructions; where that says nothing, what
 * ptxas accepts. */
#include "ptx/parse.h"

#include <string.h>

static bool is_shift(enum ptx_op op)
{
    return op == PTX_OP_VSHL || op == PTX_OP_VSHR;
}

static bool compares(enum ptx_op op)
{
    return op == PTX_OP_VSET || op == PTX_OP_VSET2 || op == PTX_OP_VSET4;
}

/* 1: scalar; 0: not a video instruction. */
static unsigned nr_parts(enum ptx_op op)
{
    if (op < PTX_OP_VABSDIFF || op > PTX_OP_VSET4)
        return 0;
    const char *name = ptx_op_name(op), last = name[strlen(name) - 1];
    return last == '2' ? 2 : last == '4' ? 4 : 1;
}

static bool right_part(const struct ptx_part *part, unsigned parts, bool is_dest)
{
    const unsigned top = parts == 1 ? (part->unit == 'h' ? 2 : 4) : is_dest ? parts : 2 * parts;
    if (!part->unit)
        return true;
    if (parts > 1 && part->unit != (parts == 2 ? 'h' : 'b'))
        return false;
    if (parts == 1 ? part->nr != 1 : is_dest ? part->nr > parts : part->nr != parts)
        return false;
    for (unsigned i = 0; i < part->nr; i++) {
        if (part->digit[i] >= top || (is_dest && i && part->digit[i] >= part->digit[i - 1]))
            return false;
    }
    return true;
}

static bool check_parts(struct ptx_parser *p, const struct ptx_inst *inst, unsigned parts)
{
    for (unsigned i = 0; i < inst->nr_operands; i++) {
        const struct ptx_part *part = &inst->operand[i].part;
        const bool none = i == 3 || (i == 0 && inst->op == PTX_OP_VMAD);
        if (part->unit && (none || !right_part(part, parts, i == 0)))
            return parser_fail(
                p, "%s: a part of a register that does not belong here", ptx_op_name(inst->op));
    }
    return true;
}

static bool check_types(struct ptx_parser *p, const struct ptx_inst *inst)
{
    const enum ptx_type types[] = {inst->type, inst->type2, inst->type3};
    for (unsigned i = 0; i < (compares(inst->op) ? 2u : 3u); i++) {
        if (types[i] != PTX_U32 && (types[i] != PTX_S32 || (i == 2 && is_shift(inst->op))))
            return parser_fail(
                p, "%s: not for .%s", ptx_op_name(inst->op), ptx_type_name(types[i]));
    }
    return true;
}

bool verify_video(struct ptx_parser *p, const struct ptx_inst *inst)
{
    const unsigned parts = nr_parts(inst->op);
    const char *name = ptx_op_name(inst->op);
    const bool negated =
        inst->operand[1].negated || inst->operand[2].negated || inst->operand[3].negated;

    if (!parts)
        return true;
    if (inst->nr_operands < 3 ||
        (inst->nr_operands < 4 && (parts > 1 || inst->atom || inst->operand[0].part.unit)))
        return parser_fail(p, "%s: a third source is needed", name);
    if (inst->atom && inst->atom != PTX_ATOM_ADD &&
        (parts > 1 || (inst->atom != PTX_ATOM_MIN && inst->atom != PTX_ATOM_MAX)))
        return parser_fail(p, "%s: no such second operation", name);
    if (parts == 1 && inst->atom && inst->operand[0].part.unit)
        return parser_fail(p, "%s: either a part is written or there is a second operation", name);
    if (parts > 1 && inst->atom && inst->sat)
        return parser_fail(p, "%s: a sum does not saturate", name);
    if (compares(inst->op) && inst->cmp > PTX_GE)
        return parser_fail(p, "%s: no such comparison of integers", name);
    if (is_shift(inst->op) && inst->clamp == inst->wrap)
        return parser_fail(p, "%s: either .clamp or .wrap is needed", name);
    if (inst->po && negated)
        return parser_fail(p, "%s: nothing is negated with .po", name);
    if (inst->operand[3].negated && inst->operand[1].negated != inst->operand[2].negated)
        return parser_fail(p, "%s: the product and what is added are both negated", name);
    if (inst->shr7 && inst->shr15)
        return parser_fail(p, "%s: one scale at most", name);
    return check_types(p, inst) && check_parts(p, inst, parts);
}
