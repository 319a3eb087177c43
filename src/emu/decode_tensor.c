/* Owns what matrix instructions become: see tensor.h. Shapes and types that the emulator lacks are
 * unsupported: sparse, sub-byte, f64 beyond m8n8k4, wgmma. */
#include "emu/decode.h"

#include "emu/sem.h"
#include "emu/tensor.h"

#include <string.h>

enum { MOST_ROWS = 64 };

struct tensor_parts {
    uint32_t words[TENSOR_ROWS + MOST_ROWS];
    unsigned nr;
};

static bool add_rows(struct decoder *d, struct tensor_parts *t, const struct ptx_operand *o,
    bool dest, unsigned bytes, enum tensor_header count)
{
    unsigned nr = o->kind == PTX_OPERAND_VECTOR ? o->nr : 1;
    if (t->nr + nr > MOST_ROWS)
        return decode_fail(d, "so many registers");
    for (unsigned i = 0; i < nr; i++) {
        const struct ptx_operand *e = o->kind == PTX_OPERAND_VECTOR ? &o->vec[i] : o;
        if (e->kind == PTX_OPERAND_REG && e->reg >= 0 && decode_reg_bytes(d, e) != bytes)
            return decode_fail(d, "a register of another width");
        bool sink = e->kind == PTX_OPERAND_SINK || (e->kind == PTX_OPERAND_REG && e->reg < 0);
        t->words[TENSOR_ROWS + t->nr++] = sink && dest ? NO_ROW
                                          : dest       ? decode_dest(d, e, bytes, false)
                                                       : decode_source(d, e, bytes);
    }
    t->words[count] = nr;
    return true;
}

static bool is_type(enum ptx_type type, const enum ptx_type *list, unsigned nr)
{
    for (unsigned i = 0; i < nr; i++) {
        if (list[i] == type)
            return true;
    }
    return false;
}

static bool known_product(const struct ptx_inst *p, enum ptx_type a, enum ptx_type b, bool wmma)
{
    static const enum ptx_type floats[] = {PTX_F16, PTX_F32};
    bool same = a == b;
    unsigned k = p->k;
    bool out_float = is_type(p->type, floats, 2);
    if (wmma) {
        bool shape =
            (p->m == 16 && p->n == 16) || (p->m == 32 && p->n == 8) || (p->m == 8 && p->n == 32);
        return shape && same &&
               ((a == PTX_F16 && k == 16 && out_float) ||
                   (a == PTX_BF16 && k == 16 && p->type == PTX_F32) ||
                   (a == PTX_TF32 && k == 8 && p->m == 16 && p->type == PTX_F32) ||
                   ((a == PTX_S8 || a == PTX_U8) && k == 16 && p->type == PTX_S32));
    }
    if (p->m == 8 && p->n == 8 && k == 4)
        return p->type == PTX_F64;
    if (p->m != 16 || p->n != 8)
        return false;
    if (a == PTX_F16)
        return same && (k == 8 || k == 16) && out_float;
    if (a == PTX_BF16)
        return same && (k == 8 || k == 16) && p->type == PTX_F32;
    if (a == PTX_TF32)
        return same && (k == 4 || k == 8) && p->type == PTX_F32;
    return (a == PTX_S8 || a == PTX_U8) && (b == PTX_S8 || b == PTX_U8) && (k == 16 || k == 32) &&
           p->type == PTX_S32;
}

static void product_info(struct decoder *d, unsigned flops)
{
    struct inst_info *info = decode_info(d);
    info->class = PTX_CLASS_TENSOR;
    info->unit = UNIT_TENSOR;
    info->latency = LATENCY_ALU;
    info->flops = (uint16_t)flops;
}

static bool product(struct decoder *d, bool wmma)
{
    const struct ptx_inst *p = d->ptx;
    struct tensor_parts t = {.nr = 0};
    /* wmma with f16 inputs names only d and c */
    bool two = p->type3 == PTX_NONE;
    enum ptx_type a = two ? PTX_F16 : p->type2, b = two ? PTX_F16 : p->type3;
    enum ptx_type c = two ? p->type2 : p->type4;
    bool row_col = p->layout_a == PTX_ROW && p->layout_b == PTX_COL;
    if (strstr(p->mods, ".sp") || p->boolop || (!wmma && (two || !row_col)) ||
        !known_product(p, a, b, wmma) || c == PTX_NONE)
        return decode_fail(d, "not known to the emulator");
    unsigned bytes = p->type == PTX_F64 ? 8 : 4;
    if (!add_rows(d, &t, &p->operand[0], true, bytes, TENSOR_ND) ||
        !add_rows(d, &t, &p->operand[1], false, bytes, TENSOR_NA) ||
        !add_rows(d, &t, &p->operand[2], false, bytes, TENSOR_NB) ||
        !add_rows(d, &t, &p->operand[3], false, bytes, TENSOR_NC))
        return false;
    uint32_t *h = t.words;
    h[TENSOR_M] = p->m, h[TENSOR_N] = p->n, h[TENSOR_K] = p->k;
    h[TENSOR_TD] = p->type, h[TENSOR_TA] = a, h[TENSOR_TB] = b, h[TENSOR_TC] = c;
    h[TENSOR_WHAT] = wmma ? TENSOR_WMMA : TENSOR_MMA;
    h[TENSOR_FLAGS] = p->satfinite ? TENSOR_SATURATE : 0;
    uint32_t all = decode_const(d, ~0u, 4);
    struct inst *in = decode_emit(d, false);
    in->kind = INST_COLLECTIVE;
    in->e = all;
    in->rows = decode_copy(d, h, (TENSOR_ROWS + t.nr) * sizeof(*h));
    in->run = sem_find(p, in);
    product_info(d, 2u * p->m * p->n * p->k / WARP_LANES);
    return true;
}

static bool movmatrix(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    struct tensor_parts t = {.nr = 0};
    if (p->m != 8 || p->n != 8 || !p->trans ||
        !add_rows(d, &t, &p->operand[0], true, 4, TENSOR_ND) ||
        !add_rows(d, &t, &p->operand[1], false, 4, TENSOR_NA))
        return decode_fail(d, "not known to the emulator");
    t.words[TENSOR_WHAT] = TENSOR_MOVE;
    uint32_t all = decode_const(d, ~0u, 4);
    struct inst *in = decode_emit(d, false);
    in->kind = INST_COLLECTIVE;
    in->e = all;
    in->rows = decode_copy(d, t.words, (TENSOR_ROWS + t.nr) * sizeof(*t.words));
    in->run = sem_find(p, in);
    decode_info(d)->class = PTX_CLASS_SHUFFLE;
    decode_info(d)->unit = UNIT_LSU;
    decode_info(d)->latency = LATENCY_SHUFFLE;
    return true;
}

static void memory_info(struct decoder *d, const struct inst *in, bool store)
{
    struct inst_info *info = decode_info(d);
    info->class = PTX_CLASS_MEMORY;
    info->unit = UNIT_LSU;
    info->space = (enum ptx_space)in->space;
    info->latency = info->space == PTX_SHARED ? LATENCY_SHARED : LATENCY_GLOBAL;
    info->is_memory = true;
    info->is_load = !store;
    info->is_store = store;
    info->access_bytes = 16;
}

static bool matrix_memory(struct decoder *d, struct tensor_parts *t, const struct ptx_operand *at,
    const struct ptx_operand *stride, unsigned elem_bytes, bool store)
{
    uint32_t row, by = stride ? decode_source(d, stride, 4) : NO_ROW;
    bool is32;
    int64_t imm;
    if (!decode_address(d, at, &row, &is32, &imm))
        return false;
    struct inst *in = decode_emit(d, false);
    in->kind = INST_MATRIX;
    in->a = row, in->b = by;
    in->address32 = is32;
    in->imm = imm;
    in->elem_bytes = (uint8_t)elem_bytes;
    in->space = (uint8_t)d->ptx->space;
    in->rows = decode_copy(d, t->words, (TENSOR_ROWS + t->nr) * sizeof(*t->words));
    memory_info(d, in, store);
    return true;
}

static bool ldmatrix(struct decoder *d, bool store)
{
    const struct ptx_inst *p = d->ptx;
    struct tensor_parts t = {.nr = 0};
    if (p->m != 8 || p->n != 8 || p->type != PTX_B16 ||
        !add_rows(d, &t, &p->operand[store ? 1 : 0], !store, 4, TENSOR_ND))
        return decode_fail(d, "not known to the emulator");
    t.words[TENSOR_WHAT] = store ? TENSOR_STMATRIX : TENSOR_LDMATRIX;
    t.words[TENSOR_FLAGS] = p->trans ? TENSOR_TRANSPOSED : 0;
    return matrix_memory(d, &t, &p->operand[store ? 0 : 1], NULL, 2, store);
}

static bool wmma_memory(struct decoder *d, bool store)
{
    const struct ptx_inst *p = d->ptx;
    struct tensor_parts t = {.nr = 0};
    enum ptx_type type = p->type == PTX_TF32 ? PTX_B32 : p->type;
    unsigned bytes = ptx_type_bytes(type);
    if (bytes > 4 || type == PTX_B1 || type == PTX_U4 || type == PTX_S4)
        return decode_fail(d, "not known to the emulator");
    if (!add_rows(d, &t, &p->operand[store ? 1 : 0], !store, 4, TENSOR_ND))
        return false;
    char frag = store ? 'd' : p->frag;
    t.words[TENSOR_M] = frag == 'b' ? p->k : p->m;
    t.words[TENSOR_N] = frag == 'a' ? p->k : p->n;
    t.words[TENSOR_WHAT] = store ? TENSOR_WMMA_STORE : TENSOR_WMMA_LOAD;
    t.words[TENSOR_FLAGS] = p->layout_a == PTX_COL ? TENSOR_TRANSPOSED : 0;
    return matrix_memory(d, &t, &p->operand[store ? 0 : 1],
        p->nr_operands > 2 ? &p->operand[2] : NULL, bytes, store);
}

bool decode_tensor(struct decoder *d)
{
    switch (d->ptx->op) {
    case PTX_OP_MMA:
        return product(d, false);
    case PTX_OP_MOVMATRIX:
        return movmatrix(d);
    case PTX_OP_LDMATRIX:
        return ldmatrix(d, false);
    case PTX_OP_STMATRIX:
        return ldmatrix(d, true);
    default:
        break;
    }
    switch (d->ptx->sub) {
    case PTX_SUB_MMA:
        return product(d, true);
    case PTX_SUB_LOAD:
        return wmma_memory(d, false);
    case PTX_SUB_STORE:
        return wmma_memory(d, true);
    default:
        return decode_fail(d, "not known to the emulator");
    }
}
