/* Owns what bulk and tensor copies become: cp.async.bulk, cp.reduce.async.bulk, with .tensor or
 * without, and their groups. Hints for the caches are left out. */
#include "emu/decode/decode.h"

#include "core/tensor_map.h"
#include "emu/state/tensor.h"

#include <string.h>

static bool has(const struct ptx_inst *p, const char *word)
{
    return strstr(p->mods, word) != NULL;
}

/* The operation of a reduction, and whether it has the type. Tensor copies have their map's type.
 * PTX ISA 9.0, 9.7.9.25. */
static bool reduction(struct decoder *d, struct bulk *b)
{
    const struct ptx_inst *p = d->ptx;
    const enum ptx_type t = p->type;
    const bool logic = p->atom == PTX_ATOM_AND || p->atom == PTX_ATOM_OR || p->atom == PTX_ATOM_XOR,
               wraps = p->atom == PTX_ATOM_INC || p->atom == PTX_ATOM_DEC,
               bits = t == PTX_B32 || t == PTX_B64, halves = t == PTX_F16 || t == PTX_BF16,
               whole = t == PTX_U32 || t == PTX_S32 || t == PTX_U64 || t == PTX_S64;
    b->atom = p->atom;
    b->type = t;
    if (p->atom == PTX_ATOM_NONE || p->atom == PTX_ATOM_EXCH || p->atom == PTX_ATOM_CAS)
        return decode_fail(d, "no such reduction");
    if (p->tensor)
        return true;
    if (logic ? !bits
        : wraps
            ? t != PTX_U32
            : !(whole || ((halves || (p->atom == PTX_ATOM_ADD && (t == PTX_F32 || t == PTX_F64))) &&
                             b->to == PTX_GLOBAL)))
        return decode_fail(d, "a reduction of this type");
    d->p->float_atomics |= ptx_type_is_float(t) && p->atom == PTX_ATOM_ADD;
    return true;
}

/* The coordinates of [map, {..}]. */
static bool coordinates(struct decoder *d, struct bulk *b, const struct ptx_operand *o)
{
    static const uint8_t dims[] = {[PTX_GEOM_1D] = 1,
        [PTX_GEOM_2D] = 2,
        [PTX_GEOM_3D] = 3,
        [PTX_GEOM_4D] = 4,
        [PTX_GEOM_5D] = 5,
        [PTX_GEOM_ACUBE] = 0};
    b->nr_dims = dims[d->ptx->geom];
    if (b->nr_dims == 0 || o->nr != b->nr_dims)
        return decode_fail(d, "another number of coordinates than of dimensions");
    for (unsigned i = 0; i < b->nr_dims; i++)
        b->coordinate[i] = decode_source(d, &o->vec[i], 4);
    return !d->failed;
}

static bool finish(struct decoder *d, const struct bulk *b, const struct ptx_operand *to,
    const struct ptx_operand *from, const struct ptx_operand *size)
{
    uint32_t rows[2], bytes = NO_ROW;
    bool is32[2];
    int64_t imm[2];
    if (size)
        bytes = decode_source(d, size, 4);
    if (!decode_address(d, to, &rows[0], &is32[0], &imm[0]) ||
        !decode_address(d, from, &rows[1], &is32[1], &imm[1]))
        return false;
    if (imm[1] != (int32_t)imm[1])
        return decode_fail(d, "an offset of more than 32 bits");
    struct inst *in = decode_emit(d, false);
    in->kind = INST_BULK_COPY;
    in->a = rows[0], in->b = rows[1], in->c = bytes;
    in->address32 = is32[0];
    in->sub = is32[1];
    in->imm = imm[0];
    in->target = (uint32_t)(int32_t)imm[1];
    in->elem_bytes = 16;
    in->space = (uint8_t)b->from;
    in->bulk = decode_copy(d, b, sizeof(*b));
    decode_memory_info(d, in);
    decode_info(d)->access_bytes = 16;
    return !d->failed;
}

/* The operands behind the bytes or, of tensor copies, behind the source: the mbarrier, the mask of
 * ranks. */
static bool destinations(struct decoder *d, struct bulk *b, unsigned next)
{
    const struct ptx_inst *p = d->ptx;
    b->bar = b->mask = NO_ROW;
    b->multicast = p->multicast;
    if (b->to != PTX_SHARED)
        return true;
    if (p->nr_operands <= next)
        return decode_fail(d, "an mbarrier is needed");
    if (!decode_address(d, &p->operand[next], &b->bar, &b->bar32, &b->bar_imm))
        return false;
    if (!p->multicast)
        return true;
    const unsigned mask = next + 1 + b->im2col;
    if (p->nr_operands <= mask)
        return decode_fail(d, "a mask of blocks is needed");
    b->mask = decode_source(d, &p->operand[mask], 4);
    return !d->failed;
}

/* The offsets of an im2col load, behind its mbarrier: {w}, {w, h} or {w, h, d}. */
static bool offsets(struct decoder *d, struct bulk *b, const struct ptx_operand *o)
{
    if (b->nr_dims < 3 || o->kind != PTX_OPERAND_VECTOR || o->nr != b->nr_dims - 2u)
        return decode_fail(d, "another number of offsets than of dimensions of a pixel");
    for (unsigned i = 0; i < o->nr; i++)
        b->offset[i] = decode_source(d, &o->vec[i], 2);
    return !d->failed;
}

static bool tensor(struct decoder *d, struct bulk *b)
{
    const struct ptx_inst *p = d->ptx;
    const bool loads = b->to == PTX_SHARED;
    const struct ptx_operand *map = &p->operand[loads ? 1 : 0], *smem = &p->operand[loads ? 0 : 1];
    if (has(p, ".gather") || has(p, ".scatter"))
        return decode_fail(d, "not known to the emulator");
    b->im2col = has(p, ".im2col");
    b->offset[0] = b->offset[1] = b->offset[2] = NO_ROW;
    if (b->im2col && has(p, ".im2col_no_offs") == loads)
        return decode_fail(d, "im2col loads have offsets, stores have none");
    if (p->nr_operands < 2 || !coordinates(d, b, map) ||
        (b->im2col && loads && (p->nr_operands < 4 || !offsets(d, b, &p->operand[3]))) ||
        !destinations(d, b, 2))
        return decode_fail(d, "such operands");
    return loads ? finish(d, b, smem, map, NULL) : finish(d, b, map, smem, NULL);
}

bool decode_bulk(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    struct bulk b = {.from = p->space2, .to = p->space, .tensor = p->tensor};
    if (p->sub == PTX_SUB_COMMIT_GROUP || p->sub == PTX_SUB_WAIT_GROUP) {
        struct inst *in = decode_emit(d, false);
        in->kind = INST_BULK_GROUP;
        in->sub = (uint8_t)p->sub;
        in->imm = p->sub == PTX_SUB_WAIT_GROUP ? (int64_t)p->operand[0].imm : 0;
        return true;
    }
    if (p->sub == PTX_SUB_PREFETCH) {
        decode_emit(d, false)->kind = INST_NOP;
        return true;
    }
    const bool reduces = p->sub == PTX_SUB_REDUCE,
               known = (b.to == PTX_SHARED && b.from == PTX_GLOBAL && !reduces) ||
                       (b.to == PTX_GLOBAL && b.from == PTX_SHARED) ||
                       (b.to == PTX_SHARED && b.from == PTX_SHARED && !p->tensor);
    if (!known || (p->sub != PTX_SUB_NONE && !reduces) || (!reduces && p->atom != PTX_ATOM_NONE))
        return decode_unknown(d);
    if (reduces && !reduction(d, &b))
        return false;
    if (p->tensor)
        return tensor(d, &b);
    if (p->nr_operands < 3 || !destinations(d, &b, 3))
        return decode_fail(d, "such operands");
    return finish(d, &b, &p->operand[0], &p->operand[1], &p->operand[2]);
}

/* --- tensor maps --- */

static const struct {
    const char *word;
    enum tensor_map_field field;
    bool of_dimension;
    unsigned bytes;
} fields[] = {{".global_address", TENSOR_MAP_ADDRESS, false, 8},
    {".rank", TENSOR_MAP_RANK, false, 4}, {".box_dim", TENSOR_MAP_BOX, true, 4},
    {".global_dim", TENSOR_MAP_SIZE, true, 4}, {".global_stride", TENSOR_MAP_STRIDE, true, 8},
    {".element_stride", TENSOR_MAP_STEP, true, 4}, {".swizzle_mode", TENSOR_MAP_SWIZZLE, false, 4},
    {".fill_mode", TENSOR_MAP_FILL, false, 4}};

static bool emit_map(
    struct decoder *d, const struct ptx_operand *to, uint32_t b, uint32_t c, unsigned field)
{
    uint32_t row;
    bool is32;
    int64_t imm;
    if (!decode_address(d, to, &row, &is32, &imm))
        return false;
    struct inst *in = decode_emit(d, false);
    in->kind = INST_TENSOR_MAP;
    in->a = row, in->b = b, in->c = c;
    in->address32 = is32;
    in->imm = imm;
    in->space = (uint8_t)d->ptx->space;
    in->sub = (uint8_t)field;
    return !d->failed;
}

/* tensormap.replace, tensormap.cp_fenceproxy: PTX ISA 9.0, 9.7.9.26. */
bool decode_tensormap(struct decoder *d)
{
    const struct ptx_inst *p = d->ptx;
    if (p->sub == PTX_SUB_CP_FENCEPROXY && p->nr_operands == 3) {
        uint32_t from;
        bool is32;
        int64_t imm;
        if (!decode_address(d, &p->operand[1], &from, &is32, &imm))
            return false;
        if (imm != 0)
            return decode_fail(d, "an offset");
        return emit_map(d, &p->operand[0], from, decode_const(d, is32, 4), NR_TENSOR_MAP_FIELDS);
    }
    for (size_t i = 0; p->sub == PTX_SUB_REPLACE && i < sizeof(fields) / sizeof(*fields); i++) {
        const unsigned at = fields[i].of_dimension ? 2 : 1;
        if (!has(p, fields[i].word))
            continue;
        if (p->nr_operands != at + 1)
            return decode_fail(d, "this number of operands");
        const uint32_t b =
            fields[i].of_dimension ? decode_source(d, &p->operand[1], 4) : decode_const(d, 0, 4);
        uint32_t c = decode_source(d, &p->operand[at], fields[i].bytes);
        return emit_map(d, &p->operand[0], b, c, fields[i].field);
    }
    return decode_unknown(d);
}

/* ptxas leaves setmaxnreg out where nothing says how many registers a thread has at the entry. */
static bool has_bound(const struct ptx_func *kernel)
{
    return kernel->maxntid[0] || kernel->reqntid[0] || kernel->maxnreg;
}

bool decode_setmaxnreg(struct decoder *d)
{
    const uint64_t nr = d->ptx->operand[0].imm;
    if (nr < 24 || nr > 256 || nr % 8)
        return decode_fail(d, "a number of registers that is no multiple of 8 from 24 to 256");
    if (!has_bound(d->frames[0].func))
        return decode_nop(d);
    struct inst *in = decode_emit(d, false);
    in->kind = INST_SETMAXNREG;
    in->sub = (uint8_t)d->ptx->sub;
    in->imm = (int64_t)nr;
    return true;
}
