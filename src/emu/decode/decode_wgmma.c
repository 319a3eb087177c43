/* Owns which shapes and types wgmma.mma_async has, and how its operands are read. */
#include "emu/decode/decode.h"

#include "emu/state/tensor.h"

/* By the types of the operands: the depth k, and the step in which n goes. PTX ISA 9.0, 9.7.15.2.
 */
static bool shape_of(const struct ptx_inst *p, unsigned *k, bool *ok_n)
{
    const unsigned n = p->n;
    const bool eights = n % 8 == 0 && n >= 8 && n <= 256,
               sixteens = n == 8 || n == 24 || (n % 16 == 0 && n >= 16 && n <= 256);
    *ok_n = eights;
    switch (p->type2) {
    case PTX_F16:
    case PTX_BF16:
        *k = 16;
        return p->type2 == p->type3 &&
               (p->type == PTX_F32 || (p->type == PTX_F16 && p->type2 == PTX_F16));
    case PTX_TF32:
        *k = 8;
        return p->type3 == PTX_TF32 && p->type == PTX_F32;
    case PTX_E4M3:
    case PTX_E5M2:
        *k = 32;
        return (p->type3 == PTX_E4M3 || p->type3 == PTX_E5M2) &&
               (p->type == PTX_F32 || p->type == PTX_F16);
    case PTX_S8:
    case PTX_U8:
        *k = 32;
        *ok_n = sixteens;
        return (p->type3 == PTX_S8 || p->type3 == PTX_U8) && p->type == PTX_S32;
    case PTX_B1:
        *k = 256;
        *ok_n = sixteens;
        return p->type3 == PTX_B1 && p->type == PTX_S32 && p->boolop == PTX_BOOL_AND &&
               p->atom == PTX_ATOM_POPC;
    default:
        return false;
    }
}

static unsigned bits_of(enum ptx_type type)
{
    return type == PTX_B1 ? 1 : type == PTX_TF32 ? 32 : 8 * ptx_type_bytes(type);
}

/* The rows of nr registers of 32 bits. */
static bool registers(
    struct decoder *d, const struct ptx_operand *o, uint32_t *row, unsigned nr, bool dest)
{
    if (o->kind != PTX_OPERAND_VECTOR || o->nr != nr)
        return decode_fail(d, "this number of registers for the shape");
    for (unsigned i = 0; i < nr; i++) {
        if (decode_reg_bytes(d, &o->vec[i]) != 4 && !(dest && decode_is_sink(&o->vec[i])))
            return decode_fail(d, "registers of this width");
        row[i] = dest ? decode_dest(d, &o->vec[i], 4, false) : decode_source(d, &o->vec[i], 4);
    }
    return !d->failed;
}

/* imm-scale-a, imm-scale-b, and of 16-bit operands in shared memory imm-trans-a, imm-trans-b. */
static bool immediates(struct decoder *d, struct wgmma *g, unsigned first)
{
    const struct ptx_inst *p = d->ptx;
    const bool floats = p->type != PTX_S32, halves = g->bits == 16;
    const unsigned nr = !floats ? 0 : !halves ? 2 : g->a_in_regs ? 3 : 4;
    int64_t value[4];
    if (p->nr_operands != first + nr)
        return decode_fail(d, "this number of operands");
    for (unsigned i = 0; i < nr; i++) {
        if (p->operand[first + i].kind != PTX_OPERAND_IMM)
            return decode_fail(d, "a scale or transposition that is no constant");
        value[i] = (int32_t)p->operand[first + i].imm;
        if (i < 2 ? value[i] != 1 && value[i] != -1 : value[i] != 0 && value[i] != 1)
            return decode_fail(d, "such a scale or transposition");
    }
    g->negate_a = nr && value[0] < 0;
    g->negate_b = nr && value[1] < 0;
    g->trans_a = nr == 4 && value[2];
    g->trans_b = nr > 2 && value[nr - 1];
    return true;
}

/* The metadata of a sparse A. All lanes have some where elements have eight bits. */
static bool metadata(struct decoder *d, struct wgmma *g)
{
    const struct ptx_inst *p = d->ptx;
    const uint64_t selector = p->operand[4].imm;
    if (g->bits == 1)
        return decode_fail(d, "sparse of one bit");
    if (selector > (g->bits == 8 ? 0 : 1))
        return decode_fail(d, "such a selector of sparsity");
    g->selector = (uint8_t)selector;
    g->meta = decode_source(d, &p->operand[3], 4);
    return !d->failed;
}

static bool product(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    const unsigned at = p->sparse ? 5 : 3; /* the operand scale-d */
    const struct ptx_operand *keeps = &p->operand[at];
    struct wgmma g = {.n = p->n,
        .d = p->type,
        .a = p->type2,
        .b = p->type3,
        .satfinite = p->satfinite,
        .sparse = p->sparse,
        .keeps_negated = keeps->negated};
    uint32_t rows[128];
    unsigned k = 0;
    bool ok_n = false;
    if (!shape_of(p, &k, &ok_n) || !ok_n || p->m != 64 || p->k != k << p->sparse ||
        p->nr_operands <= at)
        return decode_fail(d, "not a shape known to the emulator");
    g.k = p->k;
    g.depth = (uint16_t)k;
    g.bits = (uint8_t)bits_of(g.a);
    g.nr_d = (uint8_t)(p->type == PTX_F16 ? p->n / 4 : p->n / 2);
    g.a_in_regs = p->operand[1].kind == PTX_OPERAND_VECTOR;
    if (!immediates(d, &g, at + 1) || (g.sparse && !metadata(d, &g)) ||
        !registers(d, &p->operand[0], rows, g.nr_d, true) ||
        (g.a_in_regs && !registers(d, &p->operand[1], g.a_row, 4, false)))
        return false;
    g.d_row = decode_copy(d, rows, g.nr_d * sizeof(*rows));
    g.a_desc = g.a_in_regs ? NO_ROW : decode_source(d, &p->operand[1], 8);
    g.b_desc = decode_source(d, &p->operand[2], 8);
    g.keeps = decode_pred(d, keeps);
    struct inst *in = decode_emit(d, false);
    in->kind = INST_WGMMA;
    in->wgmma = decode_copy(d, &g, sizeof(g));
    if (p->type != PTX_S32)
        decode_info(d)->flops = (uint16_t)(g.n * g.depth);
    return !d->failed;
}

bool decode_wgmma(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    if (!p->sync || !p->aligned)
        return decode_fail(d, "without .sync.aligned");
    if (p->sub == PTX_SUB_MMA_ASYNC)
        return product(d);
    if (p->sub != PTX_SUB_FENCE && p->sub != PTX_SUB_COMMIT_GROUP && p->sub != PTX_SUB_WAIT_GROUP)
        return decode_unknown(d);
    struct inst *in = decode_emit(d, false);
    in->kind = INST_WGMMA_GROUP;
    in->sub = (uint8_t)p->sub;
    in->imm = p->sub == PTX_SUB_WAIT_GROUP ? (int64_t)p->operand[0].imm : 0;
    return true;
}
