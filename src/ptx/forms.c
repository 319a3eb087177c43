/* Owns what each opcode takes, operands, types and modifiers: the column TAKES of ops.def. Source:
 * the syntax lines of the PTX ISA 9.0 manual, chapter 9.7. */
#include "ptx/words.h"

#include <string.h>

/* ---- operands that depend on the second word ---- */

static const char *mbarrier_operands(const struct ptx_inst *inst)
{
    switch (inst->sub) {
    case PTX_SUB_INIT:
    case PTX_SUB_EXPECT_TX:
    case PTX_SUB_COMPLETE_TX:
        return "=au";
    case PTX_SUB_INVAL:
        return "=a";
    case PTX_SUB_ARRIVE:
    case PTX_SUB_ARRIVE_DROP:
        return "x=a?u";
    case PTX_SUB_TEST_WAIT:
        return "p=ax";
    case PTX_SUB_TRY_WAIT:
        return "p=ax?u";
    case PTX_SUB_PENDING_COUNT:
        return "u=q";
    default:
        return "*";
    }
}

static const char *barrier_operands(const struct ptx_inst *inst)
{
    if (inst->scope == PTX_SCOPE_CLUSTER)
        return "=";
    if (inst->sub == PTX_SUB_RED)
        return inst->atom == PTX_ATOM_POPC ? (inst->nr_operands == 4 ? "u=uup" : "u=up")
                                           : (inst->nr_operands == 4 ? "p=uup" : "p=up");
    if (inst->sub == PTX_SUB_ARRIVE)
        return "=uu";
    return inst->sub == PTX_SUB_WARP ? "=u" : "=u?u";
}

static const char *wgmma_operands(const struct ptx_inst *inst)
{
    if (inst->sub == PTX_SUB_MMA_ASYNC)
        return inst->sparse ? "x=xqunp*" : "x=xqp*";
    return inst->sub == PTX_SUB_WAIT_GROUP ? "=n" : "=";
}

static const char *wmma_operands(const struct ptx_inst *inst)
{
    if (inst->sub == PTX_SUB_LOAD)
        return "x=a?u";
    return inst->sub == PTX_SUB_STORE ? "=ax?u" : "x=xxx";
}

static const char *atom_operands(const struct ptx_inst *inst)
{
    return inst->atom == PTX_ATOM_CAS ? "v=avv" : "v=av";
}

static const char *cvt_operands(const struct ptx_inst *inst)
{
    if (inst->sub == PTX_SUB_PACK)
        return inst->type3 ? "u=22u" : "u=22";
    /* two floats into one packed register: d = {a, b}, a in the upper half */
    if (inst->type2 == PTX_F32 && ptx_type_bytes(inst->type) > 1 &&
        (inst->type == PTX_F16X2 || inst->type == PTX_BF16X2 || inst->type == PTX_E4M3X2 ||
            inst->type == PTX_E5M2X2))
        return inst->round == PTX_RS ? "t=22u" : "t=22";
    return "t=2";
}

static const char *store_operands(const struct ptx_inst *inst)
{
    return inst->async_ ? "=ava" : "=av";
}

static const char *vote_operands(const struct ptx_inst *inst)
{
    return inst->vote == PTX_VOTE_BALLOT ? "u=p?u" : "p=p?u";
}

static const char *match_operands(const struct ptx_inst *inst)
{
    return inst->vote == PTX_VOTE_ALL ? "u|p=tu" : "u=tu";
}

/* ---- the rows of ops.def ---- */

_Static_assert(NR_FIELDS <= 64, "a set of fields is one word");

/* ON(a, b, ...): the set of the fields a, b, ..., 16 at most. */
#define BIT(field) UINT64_C(1) << FIELD_##field
#define ON_1(a) BIT(a)
#define ON_2(a, ...) BIT(a) | ON_1(__VA_ARGS__)
#define ON_3(a, ...) BIT(a) | ON_2(__VA_ARGS__)
#define ON_4(a, ...) BIT(a) | ON_3(__VA_ARGS__)
#define ON_5(a, ...) BIT(a) | ON_4(__VA_ARGS__)
#define ON_6(a, ...) BIT(a) | ON_5(__VA_ARGS__)
#define ON_7(a, ...) BIT(a) | ON_6(__VA_ARGS__)
#define ON_8(a, ...) BIT(a) | ON_7(__VA_ARGS__)
#define ON_9(a, ...) BIT(a) | ON_8(__VA_ARGS__)
#define ON_10(a, ...) BIT(a) | ON_9(__VA_ARGS__)
#define ON_11(a, ...) BIT(a) | ON_10(__VA_ARGS__)
#define ON_12(a, ...) BIT(a) | ON_11(__VA_ARGS__)
#define ON_13(a, ...) BIT(a) | ON_12(__VA_ARGS__)
#define ON_14(a, ...) BIT(a) | ON_13(__VA_ARGS__)
#define ON_15(a, ...) BIT(a) | ON_14(__VA_ARGS__)
#define ON_16(a, ...) BIT(a) | ON_15(__VA_ARGS__)
#define ON_NR(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, nr, ...) ON_##nr
#define ON(...)                                                                                    \
    ON_NR(__VA_ARGS__, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)(__VA_ARGS__)

/* An operation that names a type has the field TYPE, which no row repeats. */
#define FORM(operands, by_word, types, least, most, may, must)                                     \
    {                                                                                              \
        operands, by_word, types, least, most, (may) | (must) | ((most) ? ON(TYPE) : 0), must      \
    }
#define TAKES(operands, ...) FORM(operands, NULL, __VA_ARGS__)
#define VARIES(name, ...) FORM(NULL, name##_operands, __VA_ARGS__)

static const struct op_form forms[NR_PTX_OPS] = {
#define OP(id, name, class, takes, costs, decoder, meaning) [PTX_OP_##id] = takes,
#include "ptx/ops.def"
#undef OP
};

const struct op_form *form_of(enum ptx_op op)
{
    return &forms[op];
}

const char *form_operands(const struct ptx_inst *inst)
{
    const struct op_form *form = &forms[inst->op];

    return form->operands ? form->operands : form->operands_by_word(inst);
}

/* ---- types ---- */

enum ptx_type form_widened(enum ptx_type type)
{
    switch (type) {
    case PTX_U16:
        return PTX_U32;
    case PTX_S16:
        return PTX_S32;
    case PTX_U32:
        return PTX_U64;
    case PTX_S32:
        return PTX_S64;
    default:
        return type;
    }
}

unsigned ptx_operand_bytes(const struct ptx_inst *inst, unsigned operand)
{
    const char *letter = form_operands(inst);

    if (operand >= inst->nr_dests) {
        letter = strchr(letter, '=') + 1;
        operand -= inst->nr_dests;
    }
    for (letter += *letter == '?'; operand > 0 && *letter; operand--)
        letter += letter[1] == '?' ? 2 : 1;
    switch (*letter) {
    case 'u':
        return 4;
    case 'q':
        return 8;
    case '2':
        return ptx_type_bytes(inst->type2);
    case 'w':
        return ptx_type_bytes(inst->mul == PTX_MUL_WIDE ? form_widened(inst->type) : inst->type);
    default:
        return ptx_type_bytes(inst->type);
    }
}

/* The letters of a form's types that stand for this one, beside others. */
static const char *letters_of(enum ptx_type type)
{
    switch (type) {
    case PTX_PRED:
        return "p";
    case PTX_B8:
    case PTX_U8:
    case PTX_S8:
        return "8";
    case PTX_B16:
        return "b";
    case PTX_B32:
        return "bBW";
    case PTX_B64:
        return "bW";
    case PTX_U32:
        return "iIu";
    case PTX_S32:
        return "iIus";
    case PTX_U16:
        return "i";
    case PTX_S16:
        return "is";
    case PTX_U64:
        return "iI";
    case PTX_S64:
        return "iIs";
    case PTX_F32:
        return "fF";
    case PTX_F64:
        return "f";
    case PTX_F16:
    case PTX_F16X2:
    case PTX_BF16:
    case PTX_BF16X2:
        return "hH";
    case PTX_F32X2:
    case PTX_U16X2:
    case PTX_S16X2:
        return "h";
    case PTX_B128:
        return "q";
    default:
        return "";
    }
}

bool form_allows_type(const struct op_form *form, enum ptx_type type)
{
    return !form->types || strpbrk(form->types, letters_of(type)) != NULL;
}
