/* Owns the check of an instruction's operands against its opcode's form.
 *
 * A form is a string of letters, destinations before '=':
 *   t 2   a value of the first, second type        w   the first type, twice as wide for .wide
 *   v     t, or as many of them as .v2 .v4 say     u q a 32-, 64-bit integer
 *   p     a predicate                              a   an address
 *   n     a constant                               x   anything
 *   L     a label                                  *   anything, any number of times
 * "|" before the second destination: it may be left out; "?": what follows may be left out. */
#include "ptx/parse.h"

#include <string.h>

static const char *reg_name(const struct ptx_parser *p, int32_t reg)
{
    return p->body.regs[reg].name;
}

static bool same_kind(enum ptx_type reg, enum ptx_type type)
{
    const bool reg_float = reg == PTX_F32 || reg == PTX_F64;
    const bool type_bits = type >= PTX_B8 && type <= PTX_B128;
    const bool type_float = type == PTX_F32 || type == PTX_F64;

    if (reg == PTX_PRED || type == PTX_PRED)
        return reg == type;
    if (type_bits)
        return true;
    if (reg_float)
        return reg == type;
    /* a value of type .f32 may stand in a .f32 or a .b32 register, not in an integer register */
    return !type_float || (reg >= PTX_B8 && reg <= PTX_B128);
}

/* ld, st and cvt may use a register wider than the type. */
static bool may_be_wider(enum ptx_op op)
{
    return op == PTX_OP_LD || op == PTX_OP_LDU || op == PTX_OP_ST || op == PTX_OP_CVT;
}

static bool check_reg(
    struct ptx_parser *p, const struct ptx_inst *inst, int32_t reg, enum ptx_type type, bool wider)
{
    const enum ptx_type have = p->body.regs[reg].type;
    const unsigned bytes = ptx_type_bytes(type);

    if (same_kind(have, type) &&
        (ptx_type_bytes(have) == bytes || (wider && ptx_type_bytes(have) > bytes)))
        return true;
    return parser_fail(p, "%s: register %s is .%s, where .%s is needed", ptx_op_name(inst->op),
        reg_name(p, reg), ptx_type_name(have), ptx_type_name(type));
}

/* While an instruction is read, an IMM's nr holds the kind of literal that it was written as. */
static bool settle_imm(struct ptx_parser *p, const struct ptx_inst *inst,
    struct ptx_operand *operand, enum ptx_type type)
{
    const enum literal literal = (enum literal)operand->nr;

    if (!literal)
        return true;
    if (!literal_at_type(operand->imm, literal, type, &operand->imm))
        return parser_fail(p, "%s: a constant that cannot stand for a .%s", ptx_op_name(inst->op),
            ptx_type_name(type));
    operand->nr = 0;
    return true;
}

static bool check_value(struct ptx_parser *p, const struct ptx_inst *inst,
    struct ptx_operand *operand, enum ptx_type type, bool is_dest)
{
    if (operand->negated && (inst->op != PTX_OP_VMAD || is_dest))
        return parser_fail(p, "%s: an operand cannot be negated", ptx_op_name(inst->op));
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        return check_reg(p, inst, operand->reg, type, may_be_wider(inst->op));
    case PTX_OPERAND_IMM:
        if (is_dest)
            break;
        return settle_imm(p, inst, operand, type);
    case PTX_OPERAND_SINK:
        if (is_dest)
            return true;
        break;
    case PTX_OPERAND_SYMBOL:
    case PTX_OPERAND_FUNC:
        if (!is_dest && ptx_type_bytes(type) >= 4 && !ptx_type_is_float(type) &&
            (inst->op == PTX_OP_MOV || inst->op == PTX_OP_CVTA))
            return true;
        break;
    case PTX_OPERAND_SPECIAL:
        if (!is_dest && inst->op == PTX_OP_MOV)
            return true;
        break;
    default:
        break;
    }
    return parser_fail(p, "%s: an operand of the wrong kind, where a .%s is needed",
        ptx_op_name(inst->op), ptx_type_name(type));
}

static bool check_vector(struct ptx_parser *p, const struct ptx_inst *inst,
    struct ptx_operand *operand, enum ptx_type type, bool is_dest)
{
    struct ptx_operand *elements = (struct ptx_operand *)operand->vec;

    if (operand->kind != PTX_OPERAND_VECTOR || operand->nr != inst->vec)
        return parser_fail(p, "%s: a vector of %u is needed", ptx_op_name(inst->op), inst->vec);
    for (uint32_t i = 0; i < operand->nr; i++) {
        if (!check_value(p, inst, &elements[i], type, is_dest))
            return false;
    }
    return true;
}

static bool check_pred(
    struct ptx_parser *p, const struct ptx_inst *inst, struct ptx_operand *operand, bool is_dest)
{
    if (operand->kind == PTX_OPERAND_REG && !(is_dest && operand->negated))
        return check_reg(p, inst, operand->reg, PTX_PRED, false);
    if (operand->kind == PTX_OPERAND_SINK && is_dest)
        return true;
    if (operand->kind == PTX_OPERAND_SPECIAL && operand->special == PTX_SR_IS_EXPLICIT_CLUSTER &&
        inst->op == PTX_OP_MOV && !is_dest)
        return true;
    if (operand->kind == PTX_OPERAND_IMM && !is_dest)
        return settle_imm(p, inst, operand, PTX_PRED);
    return parser_fail(p, "%s: a predicate is needed", ptx_op_name(inst->op));
}

static bool check_address(struct ptx_parser *p, struct ptx_inst *inst, struct ptx_operand *operand)
{
    const bool narrow = inst->space == PTX_SHARED || inst->space == PTX_LOCAL ||
                        inst->space == PTX_CONST || inst->space == PTX_PARAM ||
                        inst->op == PTX_OP_CP || inst->op == PTX_OP_MBARRIER;

    if (operand->kind != PTX_OPERAND_ADDRESS)
        return parser_fail(p, "%s: an address in [] is needed", ptx_op_name(inst->op));
    if (operand->reg >= 0) {
        const enum ptx_type have = p->body.regs[operand->reg].type;
        const unsigned bytes = ptx_type_bytes(have);
        if (have == PTX_PRED || have == PTX_F32 || have == PTX_F64 ||
            (bytes != 8 && !(narrow && bytes == 4)))
            return parser_fail(p, "%s: register %s (.%s) cannot hold this address",
                ptx_op_name(inst->op), reg_name(p, operand->reg), ptx_type_name(have));
        return true;
    }
    if (!operand->symbol)
        return true;
    if (inst->space == PTX_PARAM)
        inst->param_of_call = operand->symbol->role == PTX_ROLE_CALL;
    if (inst->space == operand->symbol->space || inst->op == PTX_OP_CP ||
        (inst->space == PTX_GENERIC && operand->symbol->space == PTX_GLOBAL))
        return true;
    return parser_fail(
        p, "%s: %s is in another state space", ptx_op_name(inst->op), operand->symbol->name);
}

/* The letter x: registers and symbols of any type. Constants keep the bits as they are written. */
static bool check_anything(
    struct ptx_parser *p, const struct ptx_inst *inst, struct ptx_operand *operand)
{
    struct ptx_operand *elements = (struct ptx_operand *)operand->vec;

    if (operand->kind == PTX_OPERAND_IMM) {
        operand->nr = 0;
        return true;
    }
    for (uint32_t i = 0; elements && i < operand->nr; i++) {
        if (elements[i].kind == PTX_OPERAND_IMM)
            elements[i].nr = 0;
    }
    return true;
}

static bool check_letter(struct ptx_parser *p, struct ptx_inst *inst, struct ptx_operand *operand,
    char letter, bool is_dest)
{
    switch (letter) {
    case 't':
        return inst->type == PTX_PRED ? check_pred(p, inst, operand, is_dest)
                                      : check_value(p, inst, operand, inst->type, is_dest);
    case '2':
        return check_value(p, inst, operand, inst->type2, is_dest);
    case 'w':
        return check_value(p, inst, operand,
            inst->mul == PTX_MUL_WIDE ? form_widened(inst->type) : inst->type, is_dest);
    case 'v':
        /* A vector of one, as Triton writes it, is its element. */
        if (inst->vec == 1 && operand->kind == PTX_OPERAND_VECTOR && operand->nr == 1) {
            const struct ptx_operand element = operand->vec[0];
            *operand = element;
        }
        return inst->vec > 1 ? check_vector(p, inst, operand, inst->type, is_dest)
                             : check_value(p, inst, operand, inst->type, is_dest);
    case 'u':
        return check_value(p, inst, operand, PTX_B32, is_dest);
    case 'q':
        return check_value(p, inst, operand, PTX_B64, is_dest);
    case 'p':
        return check_pred(p, inst, operand, is_dest);
    case 'a':
        return check_address(p, inst, operand);
    case 'n':
        if (operand->kind != PTX_OPERAND_IMM)
            return parser_fail(p, "%s: a constant is needed", ptx_op_name(inst->op));
        return settle_imm(p, inst, operand, PTX_U64);
    case 'L':
        if (operand->kind != PTX_OPERAND_LABEL)
            return parser_fail(p, "%s: a label is needed", ptx_op_name(inst->op));
        return true;
    default:
        return check_anything(p, inst, operand);
    }
}

static bool check_mov_vector(struct ptx_parser *p, struct ptx_inst *inst,
    struct ptx_operand *vector, struct ptx_operand *scalar, bool pack)
{
    static const enum ptx_type by_bytes[] = {
        [1] = PTX_B8, [2] = PTX_B16, [4] = PTX_B32, [8] = PTX_B64, [16] = PTX_B128};
    const unsigned bytes = ptx_type_bytes(inst->type);
    struct ptx_operand *elements = (struct ptx_operand *)vector->vec;
    enum ptx_type each;

    if ((vector->nr != 2 && vector->nr != 4) || bytes < vector->nr || bytes % vector->nr)
        return parser_fail(p, "mov: a vector of 2 or 4 is needed");
    each = by_bytes[bytes / vector->nr];
    if (!check_value(p, inst, scalar, inst->type, pack))
        return false;
    for (uint32_t i = 0; i < vector->nr; i++) {
        if (!check_value(p, inst, &elements[i], each, !pack))
            return false;
    }
    return true;
}

static bool special_is_64(enum ptx_special special)
{
    return special == PTX_SR_CLOCK64 || special == PTX_SR_GLOBALTIMER ||
           special == PTX_SR_CURRENT_GRAPH_EXEC || special == PTX_SR_GRIDID;
}

static bool check_mov(struct ptx_parser *p, struct ptx_inst *inst)
{
    struct ptx_operand *to = &inst->operand[0], *from = &inst->operand[1];

    if (inst->nr_operands != 2)
        return parser_fail(p, "mov: two operands are needed");
    inst->nr_dests = 1;
    if (to->kind == PTX_OPERAND_VECTOR)
        return check_mov_vector(p, inst, to, from, false);
    if (from->kind == PTX_OPERAND_VECTOR)
        return check_mov_vector(p, inst, from, to, true);
    if (from->kind == PTX_OPERAND_SPECIAL && from->special != PTX_SR_GRIDID &&
        special_is_64(from->special) != (ptx_type_bytes(inst->type) == 8))
        return parser_fail(p, "mov: a special register of another width");
    if (inst->type == PTX_PRED)
        return check_pred(p, inst, to, true) && check_pred(p, inst, from, false);
    return check_value(p, inst, to, inst->type, true) &&
           check_value(p, inst, from, inst->type, false);
}

static bool check_form(struct ptx_parser *p, struct ptx_inst *inst, bool second_dest)
{
    const char *form = form_operands(inst);
    bool is_dest = strchr(form, '=') != NULL, optional = false;
    unsigned i = 0;

    for (; *form; form++) {
        if (*form == '=') {
            is_dest = false;
            inst->nr_dests = (uint8_t)i;
        } else if (*form == '?') {
            optional = true;
        } else if (*form == '|') {
            if (!second_dest)
                form++;
            second_dest = false;
        } else if (*form == '*') {
            while (i < inst->nr_operands) {
                if (!check_letter(p, inst, &inst->operand[i++], 'x', false))
                    return false;
            }
        } else {
            if (i == inst->nr_operands) {
                if (optional)
                    break;
                return parser_fail(p, "%s: too few operands", ptx_op_name(inst->op));
            }
            if (!check_letter(p, inst, &inst->operand[i++], *form, is_dest))
                return false;
        }
    }
    if (second_dest)
        return parser_fail(p, "%s: a second destination", ptx_op_name(inst->op));
    if (i < inst->nr_operands)
        return parser_fail(p, "%s: too many operands", ptx_op_name(inst->op));
    return true;
}

/* Does an integer type hold all values of another? */
static bool holds_all(enum ptx_type to, enum ptx_type from)
{
    const unsigned to_bytes = ptx_type_bytes(to), from_bytes = ptx_type_bytes(from);

    if (ptx_type_is_signed(to) == ptx_type_is_signed(from))
        return to_bytes >= from_bytes;
    return ptx_type_is_signed(to) && to_bytes > from_bytes;
}

/* The rules about modifiers that a set of required ones cannot express. NVIDIA's ptxas 13.0 has all
 * of them. */
static bool check_modifiers(struct ptx_parser *p, const struct ptx_inst *inst, bool second_dest)
{
    const bool is_float = ptx_type_is_float(inst->type);
    const char *name = ptx_op_name(inst->op);

    switch (inst->op) {
    case PTX_OP_MUL:
    case PTX_OP_MAD:
        if (is_float == (inst->mul != PTX_MUL_NONE))
            return parser_fail(
                p, "%s: .lo, .hi or .wide is %s", name, is_float ? "not for floats" : "needed");
        if (inst->mul == PTX_MUL_WIDE && ptx_type_bytes(inst->type) > 4)
            return parser_fail(p, "%s: .wide needs a 16- or 32-bit type", name);
        return inst->op == PTX_OP_MUL || !is_float || inst->round ||
               parser_fail(p, "%s: a rounding is needed", name);
    case PTX_OP_DIV:
    case PTX_OP_RCP:
    case PTX_OP_SQRT:
        return !is_float || inst->round || inst->approx || inst->full ||
               parser_fail(p, "%s: a rounding, .approx or .full is needed", name);
    case PTX_OP_SETP:
        return !second_dest || (inst->type != PTX_F16 && inst->type != PTX_BF16) ||
               parser_fail(p, "setp: a second predicate with one half");
    case PTX_OP_LOP3:
        return inst->boolop != PTX_BOOL_XOR || parser_fail(p, "lop3: .xor");
    case PTX_OP_CVT:
        return !inst->sat || is_float || ptx_type_is_float(inst->type2) ||
               inst->sub == PTX_SUB_PACK || !holds_all(inst->type, inst->type2) ||
               parser_fail(p, "cvt: .sat where every value fits");
    case PTX_OP_BRX:
        return (inst->nr_operands == 2 && inst->operand[1].kind == PTX_OPERAND_VECTOR &&
                   inst->operand[1].vec[0].kind == PTX_OPERAND_LABEL) ||
               parser_fail(p, "brx: a list of .branchtargets is needed");
    default:
        return true;
    }
}

bool verify_inst(struct ptx_parser *p, struct ptx_inst *inst, bool second_dest)
{
    if (!check_modifiers(p, inst, second_dest))
        return false;
    if (inst->op == PTX_OP_CALL)
        return true; /* checked as it is read */
    if (inst->op == PTX_OP_MOV)
        return second_dest ? parser_fail(p, "mov: a second destination") : check_mov(p, inst);
    return check_form(p, inst, second_dest) && verify_video(p, inst);
}
