/* Owns operations on parts of a 32-bit register: packed integers and 8-bit floats.
 *
 * 8-bit floats (OCP FP8): e4m3 has no infinity and one NaN, e5m2 is a short f16; conversions to
 * them saturate to the largest finite number. */
#include "emu/sem/half.h"

static inline int32_t part(uint32_t v, unsigned i, unsigned bits, bool is_signed)
{
    uint32_t field = v >> (i * bits) & ((1u << bits) - 1);
    return is_signed ? (int32_t)(field << (32 - bits)) >> (32 - bits) : (int32_t)field;
}

static inline uint32_t merge16(int32_t lo, int32_t hi)
{
    return ((uint32_t)lo & 0xffffu) | (uint32_t)hi << 16;
}

static inline int32_t lesser(int32_t x, int32_t y)
{
    return x < y ? x : y;
}

static inline int32_t greater(int32_t x, int32_t y)
{
    return x > y ? x : y;
}

#define PAIR_OP(name, is_signed, fn)                                                               \
    LANE_OP2(name, uint32_t, uint32_t, uint32_t, uint32_t,                                         \
        merge16(fn(part(x, 0, 16, is_signed), part(y, 0, 16, is_signed)),                          \
            fn(part(x, 1, 16, is_signed), part(y, 1, 16, is_signed))))
#define SUM(x, y) ((x) + (y))
#define LESSER_RELU(x, y) greater(lesser(x, y), 0)
#define GREATER_RELU(x, y) greater(greater(x, y), 0)
PAIR_OP(add_u16x2, false, SUM)
PAIR_OP(min_u16x2, false, lesser)
PAIR_OP(max_u16x2, false, greater)
PAIR_OP(min_s16x2, true, lesser)
PAIR_OP(max_s16x2, true, greater)
PAIR_OP(min_relu_s16x2, true, LESSER_RELU)
PAIR_OP(max_relu_s16x2, true, GREATER_RELU)
#define add_s16x2 add_u16x2 /* a sum that wraps has no sign ... */
#define add_relu_s16x2 NULL /* ... and no .relu */

/* The word of ops.def for u16x2 and s16x2: a loop for each, and one for .relu. */
#define PAIRS(name)                                                                                \
    {                                                                                              \
        name##_u16x2, name##_s16x2, name##_relu_s16x2                                              \
    }
#define BY_TYPE(integers, floats, halves, pairs) pairs

sem_fn *LANES(sem_pairs)(const struct ptx_inst *p, struct inst *in)
{
    static const struct {
        sem_fn *u, *s, *s_relu;
    } meanings[NR_PTX_OPS] = {
#define OP(id, name, class, takes, costs, decoder, meaning) [PTX_OP_##id] = meaning,
#include "ptx/ops.def"
#undef OP
    };
    const bool is_signed = p->type == PTX_S16X2;
    if (p->sat)
        return NULL;
    if (p->relu)
        return is_signed ? meanings[p->op].s_relu : NULL;
    return is_signed ? meanings[p->op].s : meanings[p->op].u;
}

/* --- 8-bit floats --- */

static double fp8_value(uint32_t bits, bool e5)
{
    unsigned fraction = e5 ? 2 : 3, bias = e5 ? 15 : 7, ones = e5 ? 31 : 15;
    int exponent = (int)(bits >> fraction & ones), m = (int)(bits & ((1u << fraction) - 1));
    double v = exponent ? ldexp(m + (1 << fraction), exponent - (int)bias - (int)fraction)
                        : ldexp(m, 1 - (int)bias - (int)fraction);
    if (e5 && exponent == 31)
        v = m ? NAN : INFINITY;
    if (!e5 && exponent == 15 && m == 7)
        v = NAN;
    return bits & 0x80 ? -v : v;
}

static uint32_t fp8_bits(double v, bool e5, bool relu)
{
    unsigned fraction = e5 ? 2 : 3, bias = e5 ? 15 : 7;
    double top = e5 ? 57344 : 448;
    if (v != v)
        return 0x7f;
    if (relu && v <= 0)
        return 0;
    uint32_t sign = signbit(v) ? 0x80 : 0;
    v = fabs(v);
    if (v >= top)
        return sign | (e5 ? 0x7bu : 0x7eu);
    int exponent;
    frexp(v, &exponent);
    exponent = exponent - 1 < 1 - (int)bias || v == 0 ? 1 - (int)bias : exponent - 1;
    double units = rint(ldexp(v, (int)fraction - exponent)); /* ties to even */
    /* units up to 2^(fraction+1): the carry into the exponent is the right one */
    uint32_t r = (uint32_t)((exponent + (int)bias - 1) << fraction) + (uint32_t)units;
    uint32_t most = e5 ? 0x7bu : 0x7eu;
    return sign | (r > most ? most : r);
}

/* imm bit 0: e5m2, bit 1: relu */
#define E5 (in->imm & 1)
#define RELU (in->imm & 2)
LANE_OP2(fp8_of_f32, uint32_t, uint16_t, uint32_t, uint32_t,
    fp8_bits((double)lanes_f32(x), E5, RELU) << 8 | fp8_bits((double)lanes_f32(y), E5, RELU))
LANE_OP1(fp8_of_f16, uint32_t, uint16_t, uint32_t, uint32_t,
    fp8_bits((double)half_f32(x >> 16), E5, RELU) << 8 |
        fp8_bits((double)half_f32(x & 0xffffu), E5, RELU))
static uint32_t fp8_half(uint32_t bits, bool e5, bool relu)
{
    const double v = fp8_value(bits & 0xff, e5);
    return half_from_f32((float)(relu && v <= 0 ? 0 : v));
}
LANE_OP1(f16_of_fp8, uint32_t, uint32_t, uint32_t, uint32_t,
    fp8_half(x >> 8, E5, RELU) << 16 | fp8_half(x, E5, RELU))

sem_fn *LANES(sem_fp8)(const struct ptx_inst *p, struct inst *in)
{
    bool to = p->type == PTX_E4M3X2 || p->type == PTX_E5M2X2;
    bool from = p->type2 == PTX_E4M3X2 || p->type2 == PTX_E5M2X2;
    in->imm = (p->type == PTX_E5M2X2 || p->type2 == PTX_E5M2X2 ? 1 : 0) | (p->relu ? 2 : 0);
    if (to && p->type2 == PTX_F32)
        return fp8_of_f32;
    if (to && p->type2 == PTX_F16X2)
        return fp8_of_f16;
    return from && p->type == PTX_F16X2 ? f16_of_fp8 : NULL;
}

/* --- cvt.pack --- */

/* imm: the bits of each; sub: signed */
static uint32_t cut(uint32_t v, unsigned bits, bool is_signed)
{
    const int32_t top = (int32_t)(1u << (bits - is_signed)) - 1, bottom = is_signed ? -top - 1 : 0,
                  x = (int32_t)v;
    return (uint32_t)(x > top ? top : x < bottom ? bottom : x) & ((1u << bits) - 1);
}
LANE_OP3(pack_cut, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
    (uint64_t)z << 2 * in->imm | cut(x, (unsigned)in->imm, in->sub) << in->imm |
        cut(y, (unsigned)in->imm, in->sub))

sem_fn *LANES(sem_pack)(const struct ptx_inst *p, struct inst *in)
{
    static const struct {
        enum ptx_type type;
        uint8_t bits;
        bool more; /* a third source */
    } types[] = {{PTX_U16, 16, false}, {PTX_S16, 16, false}, {PTX_U8, 8, true}, {PTX_S8, 8, true},
        {PTX_U4, 4, true}, {PTX_S4, 4, true}, {PTX_U2, 2, true}, {PTX_S2, 2, true}};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        if (types[i].type != p->type || p->type2 != PTX_S32 || !p->sat ||
            (p->type3 == PTX_B32) != types[i].more)
            continue;
        in->imm = types[i].bits;
        in->sub = ptx_type_is_signed(p->type);
        return pack_cut;
    }
    return NULL;
}
