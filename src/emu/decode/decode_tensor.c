/* Owns which matrix shapes and types there are, and how their fragments lie in registers. */
#include "emu/decode/decode.h"

#include "emu/state/tensor.h"

#include <string.h>

static unsigned element_bits(enum ptx_type type)
{
    switch (type) {
    case PTX_B1:
        return 1;
    case PTX_U4:
    case PTX_S4:
        return 4;
    case PTX_TF32:
        return 32;
    case PTX_E4M3:
    case PTX_E5M2:
        return 8;
    default:
        return 8 * ptx_type_bytes(type);
    }
}

/* --- layout: tiles of m16n8 (or m8n8), PTX ISA, "Matrix Fragments for mma" --- */

static unsigned place_element(const struct fragment *f, char which, unsigned i, unsigned lane)
{
    const unsigned group = lane / 4, quad = lane % 4, per = f->per_reg;
    const unsigned reg = i / per, e = i % per;
    unsigned row, col;
    if (which == 'a') { /* registers go down a tile's 8-row parts, then along k */
        unsigned parts = f->rows == 8 ? 1 : 2, tile_regs = parts * f->cols / (4 * per);
        unsigned in_tile = reg % tile_regs;
        row = reg / tile_regs * 16 + in_tile % parts * 8 + group;
        col = in_tile / parts * 4 * per + quad * per + e;
    } else if (which == 'b') { /* along k, then to the next 8 columns */
        unsigned tile_regs = f->rows / (4 * per);
        row = reg % tile_regs * 4 * per + quad * per + e;
        col = reg / tile_regs * 8 + group;
    } else { /* pairs in a row, down the parts, next 8 columns, next 16 rows */
        unsigned parts = f->rows == 8 ? 1 : 2, pair = i / 2, tiles = f->cols / 8;
        unsigned tile = pair / parts;
        row = tile / tiles * 16 + pair % parts * 8 + group;
        col = tile % tiles * 8 + quad * 2 + i % 2;
    }
    return row * f->cols + col;
}

/* How many registers hold the matrix once; 0: the type does not fit the shape. */
static unsigned distinct_regs(const struct fragment *f)
{
    unsigned bits = (unsigned)f->rows * f->cols * f->bits, reg = WARP_LANES * 8u * f->reg_bytes;
    return bits % reg ? 0 : bits / reg;
}

static bool lay_out(struct decoder *d, struct fragment *f, char which, enum ptx_type type,
    unsigned rows, unsigned cols)
{
    f->type = type;
    f->bits = (uint8_t)element_bits(type);
    f->reg_bytes = type == PTX_F64 ? 8 : 4;
    f->per_reg = (uint8_t)(f->reg_bytes * 8 / f->bits);
    f->rows = (uint16_t)rows;
    f->cols = (uint16_t)cols;
    f->by_columns = which == 'b';
    unsigned nr = distinct_regs(f);
    if (nr == 0 || f->nr_regs < nr || f->nr_regs > TENSOR_MAX_REGS || f->nr_regs % nr)
        return decode_fail(d, "this number of registers for the shape");
    uint16_t at[TENSOR_MAX_REGS * 32 * WARP_LANES];
    for (unsigned i = 0; i < (unsigned)f->nr_regs * f->per_reg; i++) {
        for (unsigned l = 0; l < WARP_LANES; l++)
            at[i * WARP_LANES + l] = (uint16_t)place_element(f, which, i % (nr * f->per_reg), l);
    }
    f->at = decode_copy(d, at, (size_t)f->nr_regs * f->per_reg * WARP_LANES * sizeof(*at));
    return true;
}

/* The registers of an operand: a vector, or a plain register where one is enough. */
static bool registers(
    struct decoder *d, struct fragment *f, const struct ptx_operand *o, unsigned bytes, bool dest)
{
    uint32_t row[TENSOR_MAX_REGS];
    unsigned nr = o->kind == PTX_OPERAND_VECTOR ? o->nr : 1;
    if (nr > TENSOR_MAX_REGS)
        return decode_fail(d, "this number of registers");
    for (unsigned i = 0; i < nr; i++) {
        const struct ptx_operand *e = o->kind == PTX_OPERAND_VECTOR ? &o->vec[i] : o;
        unsigned have = decode_reg_bytes(d, e);
        if (have && have != bytes)
            return decode_fail(d, "registers of this width");
        row[i] = dest ? decode_dest(d, e, bytes, false) : decode_source(d, e, bytes);
    }
    f->nr_regs = (uint8_t)nr;
    f->row = decode_copy(d, row, nr * sizeof(*row));
    return !d->failed;
}

static unsigned type_bytes(enum ptx_type type)
{
    return type == PTX_F64 ? 8 : 4;
}

static struct inst *emit(struct decoder *d, const struct tensor *t)
{
    struct inst *in = decode_emit(d, false);
    in->kind = INST_MATRIX;
    in->tensor = decode_copy(d, t, sizeof(*t));
    return in;
}

/* --- products --- */

enum family { NO_FAMILY, FLOATS, TF32S, EIGHTS, F64S, INTS, NIBBLES, BITS };

static enum family family_of(enum ptx_type type)
{
    switch (type) {
    case PTX_F16:
    case PTX_BF16:
        return FLOATS;
    case PTX_TF32:
        return TF32S;
    case PTX_E4M3:
    case PTX_E5M2:
        return EIGHTS;
    case PTX_F64:
        return F64S;
    case PTX_U8:
    case PTX_S8:
        return INTS;
    case PTX_U4:
    case PTX_S4:
        return NIBBLES;
    case PTX_B1:
        return BITS;
    default:
        return NO_FAMILY;
    }
}

static const struct mma_shape {
    enum family family;
    bool wmma;
    uint16_t m, n, k;
} shapes[] = {{FLOATS, false, 16, 8, 8}, {FLOATS, false, 16, 8, 16}, {TF32S, false, 16, 8, 4},
    {TF32S, false, 16, 8, 8}, {EIGHTS, false, 16, 8, 16}, {EIGHTS, false, 16, 8, 32},
    {F64S, false, 8, 8, 4}, {F64S, false, 16, 8, 4}, {F64S, false, 16, 8, 8},
    {F64S, false, 16, 8, 16}, {INTS, false, 8, 8, 16}, {INTS, false, 16, 8, 16},
    {INTS, false, 16, 8, 32}, {NIBBLES, false, 8, 8, 32}, {NIBBLES, false, 16, 8, 32},
    {NIBBLES, false, 16, 8, 64}, {BITS, false, 8, 8, 128}, {BITS, false, 16, 8, 128},
    {BITS, false, 16, 8, 256}, {FLOATS, true, 16, 16, 16}, {FLOATS, true, 32, 8, 16},
    {FLOATS, true, 8, 32, 16}, {INTS, true, 16, 16, 16}, {INTS, true, 32, 8, 16},
    {INTS, true, 8, 32, 16}, {TF32S, true, 16, 16, 8}, {F64S, true, 8, 8, 4}};

static bool shape_exists(const struct ptx_inst *p, enum ptx_type type)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        const struct mma_shape *s = &shapes[i];
        if (s->family == family_of(type) && s->wmma == (p->op == PTX_OP_WMMA) && s->m == p->m &&
            s->n == p->n && s->k == p->k)
            return true;
    }
    return false;
}

/* Of the sums, d and c. */
static bool sum_exists(enum ptx_type type, enum ptx_type sum)
{
    switch (family_of(type)) {
    case FLOATS:
        return sum == PTX_F32 || (sum == PTX_F16 && type == PTX_F16);
    case EIGHTS:
        return sum == PTX_F32 || sum == PTX_F16;
    case TF32S:
        return sum == PTX_F32;
    case F64S:
        return sum == PTX_F64;
    default:
        return sum == PTX_S32;
    }
}

bool decode_product(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    /* wmma.mma of f16 names only the types of d and c */
    bool two = p->type3 == PTX_NONE;
    enum ptx_type a = two ? PTX_F16 : p->type2, b = two ? PTX_F16 : p->type3,
                  c = two ? p->type2 : p->type4;
    struct tensor t = {.kind = TENSOR_MMA, .m = p->m, .n = p->n, .k = p->k};
    bool mixed =
        a != b && family_of(a) != INTS && family_of(a) != NIBBLES && family_of(a) != EIGHTS;
    if (p->nr_operands != 4 || !shape_exists(p, a) || family_of(a) != family_of(b) || mixed ||
        !sum_exists(a, p->type) || !sum_exists(a, c) || p->sub == PTX_SUB_OTHER)
        return decode_fail(d, "not a shape known to the emulator");
    if (p->op == PTX_OP_MMA && (p->layout_a == PTX_COL || p->layout_b == PTX_ROW))
        return decode_fail(d, "not a layout of this shape");
    t.step = p->op == PTX_OP_WMMA && a == PTX_TF32 ? 4 : p->k; /* ptxas makes HMMA.1684 of it */
    t.satfinite = p->satfinite;
    t.xor_bits = family_of(a) == BITS && (p->boolop == PTX_BOOL_XOR || p->atom == PTX_ATOM_XOR);
    if (!registers(d, &t.a, &p->operand[1], type_bytes(a), false) ||
        !registers(d, &t.b, &p->operand[2], type_bytes(b), false) ||
        !registers(d, &t.c, &p->operand[3], type_bytes(c), false) ||
        !registers(d, &t.d, &p->operand[0], type_bytes(p->type), true))
        return false;
    if (!lay_out(d, &t.a, 'a', a, t.m, t.k) || !lay_out(d, &t.b, 'b', b, t.k, t.n) ||
        !lay_out(d, &t.c, 'c', c, t.m, t.n) || !lay_out(d, &t.d, 'd', p->type, t.m, t.n))
        return false;
    struct inst *in = emit(d, &t);
    if (t.d.type != PTX_S32)
        decode_info(d)->flops = (uint16_t)(2u * t.m * t.n * t.k / WARP_LANES);
    return decode_run(d, in, p);
}

bool decode_movmatrix(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    struct tensor t = {.kind = TENSOR_MOVE, .m = 8, .n = 8};
    if (p->m != 8 || p->n != 8 || !p->trans || p->type != PTX_B16)
        return decode_fail(d, "not a shape known to the emulator");
    if (!registers(d, &t.a, &p->operand[1], 4, false) ||
        !registers(d, &t.d, &p->operand[0], 4, true))
        return false;
    struct inst *in = emit(d, &t);
    decode_info(d)->class = PTX_CLASS_SHUFFLE;
    return decode_run(d, in, p);
}

/* --- memory --- */

static bool finish_memory(
    struct decoder *d, const struct tensor *t, const struct ptx_operand *at, unsigned bytes)
{
    const bool store = t->kind == TENSOR_MATRIX_STORE || t->kind == TENSOR_STORE;
    uint32_t row;
    bool is32;
    int64_t imm;
    if (!decode_address(d, at, &row, &is32, &imm))
        return false;
    struct inst *in = emit(d, t);
    in->a = row;
    in->address32 = is32;
    in->imm = imm;
    in->elem_bytes = 16; /* vec is 0: there are no element rows */
    in->space = (uint8_t)d->ptx->space;
    struct inst_info *info = decode_info(d);
    info->class = PTX_CLASS_MEMORY;
    info->unit = UNIT_LSU;
    info->space = d->ptx->op == PTX_OP_WMMA ? d->ptx->space : PTX_SHARED;
    info->is_memory = true;
    info->is_load = !store;
    info->is_store = store;
    info->access_bytes = bytes;
    return true;
}

bool decode_matrix_access(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    const bool store = p->op == PTX_OP_STMATRIX;
    struct tensor t = {.kind = store ? TENSOR_MATRIX_STORE : TENSOR_MATRIX_LOAD,
        .m = 8,
        .n = 8,
        .trans = p->trans};
    if (p->m != 8 || p->n != 8 || p->k || p->type != PTX_B16)
        return decode_fail(d, "not a shape known to the emulator");
    if (!registers(d, &t.d, &p->operand[store ? 1 : 0], 4, !store))
        return false;
    if (t.d.nr_regs != p->vec)
        return decode_fail(d, "another number of registers than of matrices");
    return finish_memory(d, &t, &p->operand[store ? 0 : 1], 16);
}

static bool fragment_access(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    const bool store = p->sub == PTX_SUB_STORE;
    const char which = p->frag;
    const bool sum = which == 'c' || which == 'd';
    struct tensor t = {.kind = store ? TENSOR_STORE : TENSOR_LOAD, .m = p->m, .n = p->n, .k = p->k};
    bool known = false;
    static const enum ptx_type operands[] = {PTX_F16, PTX_BF16, PTX_TF32, PTX_F64, PTX_S8, PTX_U8};
    for (unsigned i = 0; i < sizeof(operands) / sizeof(*operands); i++)
        known |= shape_exists(p, operands[i]) &&
                 (sum ? sum_exists(operands[i], p->type) : operands[i] == p->type);
    if (!known || (which != 'a' && which != 'b' && !sum) || p->layout_a == PTX_LAYOUT_NONE)
        return decode_fail(d, "not a shape known to the emulator");
    if (!registers(d, &t.d, &p->operand[store ? 1 : 0], type_bytes(p->type), !store))
        return false;
    unsigned rows = which == 'b' ? p->k : p->m, cols = which == 'a' ? p->k : p->n;
    if (!lay_out(d, &t.d, which, p->type, rows, cols))
        return false;
    t.row_is_strided = p->layout_a == PTX_ROW;
    t.nr_distinct = distinct_regs(&t.d);
    /* two elements that are neighbours in a row (of b: in a column) are neighbours in memory only
     * in this layout */
    bool along = t.row_is_strided == (which != 'b');
    t.by_8x8 = !sum && t.d.bits == 16;
    t.run = (uint8_t)(!along ? 1 : sum ? 2 : t.d.per_reg);
    t.stride_row = p->nr_operands > 2 ? decode_source(d, &p->operand[2], 4)
                                      : decode_const(d, t.row_is_strided ? cols : rows, 4);
    return finish_memory(d, &t, &p->operand[store ? 0 : 1], t.run * t.d.bits / 8u);
}

bool decode_wmma(struct decoder *d)
{
    return d->ptx->sub == PTX_SUB_MMA ? decode_product(d) : fragment_access(d);
}
