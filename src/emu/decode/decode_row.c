/* Owns the rows of ptx/ops.def as the decoder reads them: who decodes an operation, how it is
 * counted, and on which unit it runs. */
#include "emu/decode/decode.h"

#define COSTS(floats, integers, flops, becomes) UNIT_##floats, UNIT_##integers, flops
#define RUNS(unit) COSTS(unit, unit, 0, ONE)

static const struct {
    decode_fn *decode;
    enum inst_unit floats, integers;
    uint8_t flops; /* of one element */
} rows[NR_PTX_OPS] = {
#define OP(id, name, class, takes, costs, decoder, meaning)                                        \
    [PTX_OP_##id] = {decode_##decoder, costs},
#include "ptx/ops.def"
#undef OP
};

static bool is_half(enum ptx_type t)
{
    return t == PTX_F16 || t == PTX_F16X2 || t == PTX_BF16 || t == PTX_BF16X2;
}

static bool is_fp(enum ptx_type t)
{
    return t == PTX_F32 || t == PTX_F64 || is_half(t);
}

static void describe_float(struct inst_info *info, enum ptx_type type, enum ptx_op op)
{
    const bool two = type == PTX_F16X2 || type == PTX_BF16X2;
    info->fp32 = type == PTX_F32;
    info->fp64 = type == PTX_F64;
    info->fp16 = is_half(type);
    info->flops = (uint16_t)(rows[op].flops << two);
    info->unit = info->fp64                                 ? UNIT_FP64
                 : info->fp16 && rows[op].floats != UNIT_XU ? UNIT_FP16
                                                            : rows[op].floats;
}

void decode_describe(struct inst_info *info, const struct ptx_inst *p)
{
    const enum ptx_type type = p->op == PTX_OP_SET ? p->type2 : p->type;
    info->class = ptx_op_class(p->op);
    info->unit = rows[p->op].integers;
    if (info->class == PTX_CLASS_FP && !is_fp(type))
        info->class = PTX_CLASS_INT;
    else if (info->class == PTX_CLASS_FP || info->class == PTX_CLASS_SPECIAL)
        describe_float(info, type, p->op);
    else if (info->class == PTX_CLASS_CONVERT && (is_fp(p->type) || is_fp(p->type2)))
        info->unit = rows[p->op].floats;
}

bool decode_inst(struct decoder *d)
{
    return rows[d->ptx->op].decode(d);
}

bool decode_unknown(struct decoder *d)
{
    return decode_fail(d, "not known to the emulator");
}
