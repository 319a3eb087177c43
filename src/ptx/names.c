/* Owns the names and properties of types and opcodes. */
#include "ptx/ptx.h"

static const struct {
    const char *name;
    uint8_t bytes;
} types[NR_PTX_TYPES] = {
    [PTX_NONE] = {"", 0},
    [PTX_PRED] = {"pred", 1},
    [PTX_B8] = {"b8", 1},
    [PTX_B16] = {"b16", 2},
    [PTX_B32] = {"b32", 4},
    [PTX_B64] = {"b64", 8},
    [PTX_B128] = {"b128", 16},
    [PTX_U8] = {"u8", 1},
    [PTX_U16] = {"u16", 2},
    [PTX_U32] = {"u32", 4},
    [PTX_U64] = {"u64", 8},
    [PTX_S8] = {"s8", 1},
    [PTX_S16] = {"s16", 2},
    [PTX_S32] = {"s32", 4},
    [PTX_S64] = {"s64", 8},
    [PTX_F16] = {"f16", 2},
    [PTX_F16X2] = {"f16x2", 4},
    [PTX_BF16] = {"bf16", 2},
    [PTX_BF16X2] = {"bf16x2", 4},
    [PTX_F32] = {"f32", 4},
    [PTX_F64] = {"f64", 8},
    [PTX_TF32] = {"tf32", 4},
    [PTX_E4M3X2] = {"e4m3x2", 2},
    [PTX_E5M2X2] = {"e5m2x2", 2},
    [PTX_E4M3] = {"e4m3", 1},
    [PTX_E5M2] = {"e5m2", 1},
    [PTX_F32X2] = {"f32x2", 8},
    [PTX_B1] = {"b1", 1},
    [PTX_U2] = {"u2", 1},
    [PTX_S2] = {"s2", 1},
    [PTX_U4] = {"u4", 1},
    [PTX_S4] = {"s4", 1},
    [PTX_U16X2] = {"u16x2", 4},
    [PTX_S16X2] = {"s16x2", 4},
    [PTX_TEXREF] = {"texref", 8},
    [PTX_SAMPLERREF] = {"samplerref", 8},
    [PTX_SURFREF] = {"surfref", 8},
};

static const char *const op_names[NR_PTX_OPS] = {
#define OP(id, name, ...) name,
#include "ptx/ops.def"
#undef OP
};

static const uint8_t op_classes[NR_PTX_OPS] = {
#define OP(id, name, class, ...) PTX_CLASS_##class,
#include "ptx/ops.def"
#undef OP
};

unsigned ptx_type_bytes(enum ptx_type type)
{
    return types[type].bytes;
}

const char *ptx_type_name(enum ptx_type type)
{
    return types[type].name;
}

bool ptx_type_is_float(enum ptx_type type)
{
    return type >= PTX_F16 && type <= PTX_F32X2;
}

bool ptx_type_is_signed(enum ptx_type type)
{
    return (type >= PTX_S8 && type <= PTX_S64) || type == PTX_S4 || type == PTX_S2;
}

const char *ptx_op_name(enum ptx_op op)
{
    return op_names[op];
}

enum ptx_class ptx_op_class(enum ptx_op op)
{
    return (enum ptx_class)op_classes[op];
}
