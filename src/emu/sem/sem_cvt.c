/* Owns cvt, between all integer and floating types. Integers clamp with .sat, and always when they
 * come from a float; .ftz flushes f32 subnormals on either side.
 *
 * imm: source type | rounding << 8; type: destination type; reg_bytes: the destination register's,
 * as narrow integers are extended to it. */
#include "emu/sem/half.h"

/* What sub says of a result. */
enum { CVT_RELU = 8, CVT_SATFINITE = 16 };

static inline enum ptx_type source_type(const struct inst *in)
{
    return (enum ptx_type)(in->imm & 0xff);
}

/* imm bits 16-23: shift that leaves the source's bits at the top, 24-31: the destination's;
 * reg_bytes 2 cuts the result to 16 bits. */
#define SHIFT_IN ((unsigned)(in->imm >> 16 & 0xff))
#define SHIFT_OUT ((unsigned)(in->imm >> 24 & 0xff))
#define NARROW_OP(name, C1, C2)                                                                    \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        uint32_t *d = (uint32_t *)(file + in->d), cut = in->reg_bytes == 2 ? 0xffffu : ~0u;        \
        const uint32_t *a = (const uint32_t *)(file + in->a);                                      \
        unsigned shift_in = SHIFT_IN, shift_out = SHIFT_OUT;                                       \
        IVDEP for (unsigned l = 0; l < 32; l++)                                                    \
        {                                                                                          \
            uint32_t v = (uint32_t)((C1)(a[l] << shift_in) >> shift_in);                           \
            uint32_t r = (uint32_t)((C2)(v << shift_out) >> shift_out) & cut;                      \
            d[l] = (mask >> l & 1) ? r : d[l];                                                     \
        }                                                                                          \
    }
NARROW_OP(narrow_uu, uint32_t, uint32_t)
NARROW_OP(narrow_us, uint32_t, int32_t)
NARROW_OP(narrow_su, int32_t, uint32_t)
NARROW_OP(narrow_ss, int32_t, int32_t)

LANE_OP1(widen_u, uint64_t, uint64_t, uint32_t, uint32_t, x << SHIFT_IN >> SHIFT_IN)
LANE_OP1(widen_s, uint64_t, uint64_t, uint32_t, uint32_t,
    (int64_t)((int32_t)(x << SHIFT_IN) >> SHIFT_IN))
LANE_OP1(low_u, uint32_t, uint32_t, uint64_t, uint64_t, x)
LANE_OP1(same64, uint64_t, uint64_t, uint64_t, uint64_t, x)

LANE_OP1(f32_s32, uint32_t, uint32_t, uint32_t, int32_t, lanes_bits((float)x))
LANE_OP1(f32_u32, uint32_t, uint32_t, uint32_t, uint32_t, lanes_bits((float)x))
LANE_OP1(f64_s32, uint64_t, uint64_t, uint32_t, int32_t, lanes_bits64((double)x))
LANE_OP1(f64_u32, uint64_t, uint64_t, uint32_t, uint32_t, lanes_bits64((double)x))
LANE_OP1(f64_f32, uint64_t, uint64_t, uint32_t, uint32_t,
    lanes_bits64((double)lanes_f32(in->flags &INST_FTZ ? lanes_ftz(x) : x)))
LANE_OP1(f32_f16, uint32_t, uint32_t, uint32_t, uint32_t, lanes_nan32(half_f32(x)))
LANE_OP1(f32_bf16, uint32_t, uint32_t, uint32_t, uint32_t, x << 16) /* NaNs as they are */
LANE_OP1(same32, uint32_t, uint32_t, uint32_t, uint32_t, x)
LANE_OP1(f16_f32, uint32_t, uint16_t, uint32_t, uint32_t, half_from_f32(lanes_f32(x)))
LANE_OP1(bf16_f32_rn, uint32_t, uint16_t, uint32_t, uint32_t, bf16_from_f32(lanes_f32(x)))
/* The wider source first; the selects keep conversions in range. */
LANE_OP1(s32_f32_rz, uint32_t, uint32_t, uint32_t, uint32_t,
    lanes_f32(x) >= 0x1p31f    ? 0x7fffffffu
    : lanes_f32(x) > -0x1p31f  ? (uint32_t)(int32_t)lanes_f32(x)
    : lanes_f32(x) <= -0x1p31f ? 0x80000000u
                               : 0)
LANE_OP1(u32_f32_rz, uint32_t, uint32_t, uint32_t, uint32_t,
    lanes_f32(x) >= 0x1p32f ? 0xffffffffu
    : lanes_f32(x) > 0      ? (uint32_t)(int64_t)lanes_f32(x)
                            : 0)
/* Ties go away from zero: half a unit is added to the magnitude, which carries into the exponent.
 */
LANE_OP1(tf32_f32_rna, uint32_t, uint32_t, uint32_t, uint32_t,
    ((x << 1 > 0xff000000u ? x : x + 0x1000u) & 0xffffe000u))
LANE_OP2(f16x2_f32, uint32_t, uint32_t, uint32_t, uint32_t,
    half_from_f32(lanes_f32(x)) << 16 | half_from_f32(lanes_f32(y)))
LANE_OP2(bf16x2_f32, uint32_t, uint32_t, uint32_t, uint32_t,
    bf16_from_f32(lanes_f32(x)) << 16 | bf16_from_f32(lanes_f32(y)))

static inline float saturated(float x)
{
    return x > 0 ? (x < 1 ? x : 1) : 0;
}
LANE_OP1(f32_f32_sat, uint32_t, uint32_t, uint32_t, uint32_t, lanes_bits(saturated(lanes_f32(x))))
LANE_OP1(f32_f32_rni, uint32_t, uint32_t, uint32_t, uint32_t, lanes_nan32(rintf(lanes_f32(x))))
LANE_OP1(f32_f32_rmi, uint32_t, uint32_t, uint32_t, uint32_t, lanes_nan32(floorf(lanes_f32(x))))
LANE_OP1(f32_f32_rpi, uint32_t, uint32_t, uint32_t, uint32_t, lanes_nan32(ceilf(lanes_f32(x))))
LANE_OP1(f32_f32_rzi, uint32_t, uint32_t, uint32_t, uint32_t, lanes_nan32(truncf(lanes_f32(x))))

/* --- the general case, one lane at a time --- */

struct cvt_value {
    bool is_float, is_signed;
    double f;
    int64_t s;
    uint64_t u;
};

static struct cvt_value load(enum ptx_type type, uint64_t bits, bool ftz)
{
    struct cvt_value v = {.is_float = true};
    switch (type) {
    case PTX_F32:
        v.f = lanes_f32(ftz ? lanes_ftz((uint32_t)bits) : (uint32_t)bits);
        return v;
    case PTX_F64:
        v.f = lanes_f64(bits);
        return v;
    case PTX_F16:
        v.f = half_f32((uint32_t)bits & 0xffffu);
        return v;
    case PTX_BF16:
        v.f = bf16_f32((uint32_t)bits & 0xffffu);
        return v;
    default:
        break;
    }
    unsigned shift = 64 - 8 * ptx_type_bytes(type);
    v.is_float = false;
    v.is_signed = ptx_type_is_signed(type);
    v.s = (int64_t)(bits << shift) >> shift;
    v.u = bits << shift >> shift;
    return v;
}

static double to_integral(double v, enum ptx_round round)
{
    switch (round) {
    case PTX_RZI:
    case PTX_RZ:
        return trunc(v);
    case PTX_RMI:
    case PTX_RM:
        return floor(v);
    case PTX_RPI:
    case PTX_RP:
        return ceil(v);
    default:
        return rint(v);
    }
}

/* A NaN that the chip hands on with its sign and the upper bits of its fraction: from f64 to
 * shorter types, and by .rna to tf32, where .satfinite takes the unit 2^13 off what has the highest
 * exponent, be it infinity or NaN. */
static uint64_t kept_nan(const struct inst *in, uint64_t bits)
{
    const uint32_t sign = (uint32_t)(bits >> 32 & 0x80000000u);
    const uint32_t single = sign | 0x7fc00000u | (uint32_t)(bits >> 29 & 0x3fffffu);
    if (in->type == PTX_F16)
        return sign >> 16 | 0x7e00u | (uint32_t)(bits >> 42 & 0x1ffu);
    if (in->type == PTX_BF16)
        return single >> 16;
    if (in->type == PTX_F32)
        return single;
    return ((uint32_t)bits & 0xffffe000u) - (in->sub & CVT_SATFINITE ? 0x2000u : 0);
}

static bool keeps_nan(const struct inst *in, enum ptx_round round)
{
    if (in->flags & INST_SAT || in->sub & CVT_RELU)
        return false;
    return in->type == PTX_TF32
               ? round == PTX_RNA
               : source_type(in) == PTX_F64 &&
                     (in->type == PTX_F16 || in->type == PTX_BF16 || in->type == PTX_F32);
}

/* NaN: PTX ISA 9.0, 9.7.9.21: zero when neither an f64 nor an integer of 64 bits takes part, else
 * the top bit alone. */
static uint64_t clamp_float(double v, enum ptx_type type, enum ptx_type from)
{
    unsigned bits = 8 * ptx_type_bytes(type);
    if (v != v)
        return from == PTX_F64 || bits == 64 ? (uint64_t)1 << (bits - 1) : 0;
    if (ptx_type_is_signed(type)) {
        double end = ldexp(1, (int)bits - 1);
        int64_t top = (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
        return (uint64_t)(v >= end ? top : v <= -end ? -top - 1 : (int64_t)v);
    }
    double end = ldexp(1, (int)bits);
    uint64_t top = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
    return v >= end ? top : v <= 0 ? 0 : (uint64_t)v;
}

static uint64_t clamp_int(const struct cvt_value *v, enum ptx_type type)
{
    unsigned bits = 8 * ptx_type_bytes(type);
    bool negative = v->is_signed && v->s < 0;
    if (ptx_type_is_signed(type)) {
        int64_t top = (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
        if (negative)
            return (uint64_t)(v->s < -top - 1 ? -top - 1 : v->s);
        return v->u > (uint64_t)top ? (uint64_t)top : v->u;
    }
    uint64_t top = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
    return negative ? 0 : v->u > top ? top : v->u;
}

/* v to `fraction` bits after the leading one, exponents from `least`, in any rounding. */
static double round_format(double v, int fraction, int least, enum ptx_round round)
{
    if (v == 0 || !isfinite(v))
        return v;
    int exponent;
    frexp(v, &exponent); /* |v| in [2^(exponent-1), 2^exponent) */
    int unit = (exponent - 1 < least ? least : exponent - 1) - fraction;
    double scaled = ldexp(v, -unit);
    double r =
        round == PTX_RNA ? copysign(floor(fabs(scaled) + 0.5), v) : to_integral(scaled, round);
    return ldexp(r, unit);
}

static double limit(const struct inst *in, double v, double largest, enum ptx_round round)
{
    bool to_inf = round == PTX_RP ? v > 0 : round == PTX_RM ? v < 0 : round != PTX_RZ;
    if (in->sub & CVT_RELU && v <= 0)
        return 0;
    if (in->sub & CVT_SATFINITE && fabs(v) > largest)
        return copysign(largest, v);
    if (fabs(v) <= largest || v != v || isinf(v))
        return v;
    return copysign(to_inf ? INFINITY : largest, v);
}

static uint32_t f32_rounded(double v, enum ptx_round round)
{
    volatile double from = v;
    fesetround(lanes_rounding(round));
    volatile float f = (float)from;
    fesetround(FE_TONEAREST);
    return lanes_nan32(f);
}

/* Zero is left out: some compilers convert by a difference of two constants, which is -0 when
 * rounding is downward. */
#define FLOAT_OF_INT(name, U, F, bits_of)                                                          \
    static U name(const struct cvt_value *v, enum ptx_round round)                                 \
    {                                                                                              \
        if (v->u == 0)                                                                             \
            return 0;                                                                              \
        volatile int64_t s = v->s;                                                                 \
        volatile uint64_t u = v->u;                                                                \
        fesetround(lanes_rounding(round));                                                         \
        volatile F f = v->is_signed ? (F)s : (F)u;                                                 \
        fesetround(FE_TONEAREST);                                                                  \
        return bits_of(f);                                                                         \
    }
FLOAT_OF_INT(f32_of_int, uint32_t, float, lanes_bits)
FLOAT_OF_INT(f64_of_int, uint64_t, double, lanes_bits64)

/* A 64-bit integer as a double that keeps the lost bits as an odd last bit. */
static double int_odd(const struct cvt_value *v)
{
    bool negative = v->is_signed && v->s < 0;
    uint64_t m = negative ? 0 - (uint64_t)v->s : v->u;
    if (m >> 53)
        m = (m & ~(uint64_t)0xfff) | (m & 0xfff ? 0x1000 : 0);
    return negative ? -(double)m : (double)m;
}

static uint64_t store_float(const struct inst *in, const struct cvt_value *v, enum ptx_round round)
{
    enum ptx_type type = (enum ptx_type)in->type;
    bool integral = round >= PTX_RNI;
    double f = v->is_float ? (integral ? to_integral(v->f, round) : v->f) : 0;
    const bool above = v->is_signed ? v->s > 0 : v->u > 0;
    const struct cvt_value unit = {.is_float = false, .s = above, .u = above};
    if (in->flags & INST_SAT && v->is_float)
        f = f > 0 ? (f < 1 ? f : 1) : 0;
    else if (in->flags & INST_SAT)
        v = &unit;
    switch (type) {
    case PTX_F64:
        return v->is_float ? lanes_bits64(f) : f64_of_int(v, round);
    case PTX_F32: {
        uint32_t bits =
            v->is_float ? f32_rounded(f, integral ? PTX_RN : round) : f32_of_int(v, round);
        return in->flags & INST_FTZ ? lanes_ftz(bits) : bits;
    }
    case PTX_F16: {
        f = v->is_float ? f : int_odd(v);
        f = limit(in, round_format(f, 10, -14, round), 65504, round);
        return half_from_f32((float)f);
    }
    case PTX_BF16: {
        f = v->is_float ? f : int_odd(v);
        f = limit(in, round_format(f, 7, -126, round), 0x1.fep127, round);
        return bf16_from_f32((float)f);
    }
    case PTX_TF32: {
        f = limit(in, round_format(f, 10, -126, round), 0x1.ffcp127, round);
        return f != f ? 0x7fffe000u : lanes_nan32((float)f);
    }
    default:
        return 0;
    }
}

static bool is_float_type(enum ptx_type type)
{
    return type == PTX_F16 || type == PTX_BF16 || type == PTX_F32 || type == PTX_F64 ||
           type == PTX_TF32;
}

static uint64_t convert(const struct inst *in, uint64_t bits)
{
    enum ptx_round round = (enum ptx_round)(in->imm >> 8 & 0xff);
    enum ptx_type type = (enum ptx_type)in->type;
    /* to f16, subnormals of f32 are rounded, not flushed */
    struct cvt_value v = load(source_type(in), bits, in->flags & INST_FTZ && type != PTX_F16);
    if (v.is_float && v.f != v.f && keeps_nan(in, round))
        return kept_nan(in, bits);
    if (is_float_type(type))
        return store_float(in, &v, round);
    uint64_t r;
    if (v.is_float)
        r = clamp_float(to_integral(v.f, round), type, source_type(in));
    else if (in->flags & INST_SAT)
        r = clamp_int(&v, type);
    else
        r = v.is_signed ? (uint64_t)v.s : v.u;
    unsigned shift = 64 - 8 * ptx_type_bytes(type);
    r = ptx_type_is_signed(type) ? (uint64_t)((int64_t)(r << shift) >> shift) : r << shift >> shift;
    return in->reg_bytes == 2 ? r & 0xffff : r;
}

static void convert_general(uint8_t *file, const struct inst *in, uint32_t mask)
{
    bool from_wide = ptx_type_bytes(source_type(in)) == 8;
    bool to_wide = ptx_type_bytes((enum ptx_type)in->type) == 8;
    for (unsigned l = 0; l < 32; l++) {
        if (!(mask >> l & 1))
            continue;
        uint64_t bits = from_wide ? ((const uint64_t *)(file + in->a))[l]
                                  : ((const uint32_t *)(file + in->a))[l];
        uint64_t r = convert(in, bits);
        if (to_wide)
            ((uint64_t *)(file + in->d))[l] = r;
        else
            ((uint32_t *)(file + in->d))[l] = (uint32_t)r;
    }
}

/* cvt.rnd{.relu}.f16x2.f32 d, a, b in roundings other than plain .rn; also with .relu. */
static void convert_pair(uint8_t *file, const struct inst *in, uint32_t mask)
{
    struct inst one = *in;
    one.type = in->type == PTX_F16X2 ? PTX_F16 : PTX_BF16;
    one.imm = PTX_F32 | (in->imm & 0xff00);
    for (unsigned l = 0; l < 32; l++) {
        uint64_t hi = convert(&one, ((const uint32_t *)(file + in->a))[l]);
        uint64_t lo = convert(&one, ((const uint32_t *)(file + in->b))[l]);
        if (mask >> l & 1)
            ((uint32_t *)(file + in->d))[l] = (uint32_t)(hi << 16 | lo);
    }
}

static sem_fn *pick_int(const struct ptx_inst *p)
{
    bool from_signed = ptx_type_is_signed(p->type2), to_signed = ptx_type_is_signed(p->type);
    bool from_wide = ptx_type_bytes(p->type2) == 8, to_wide = ptx_type_bytes(p->type) == 8;
    if (p->sat)
        return convert_general;
    if (from_wide && to_wide)
        return same64;
    if (to_wide)
        return from_signed ? widen_s : widen_u;
    if (from_wide)
        return ptx_type_bytes(p->type) == 4 ? low_u : convert_general;
    if (from_signed)
        return to_signed ? narrow_ss : narrow_su;
    return to_signed ? narrow_us : narrow_uu;
}

#define ROUND(round) (1u << PTX_##round)
#define NEAREST (ROUND(RN) | ROUND(RND_NONE))

/* The conversions that have a loop of their own. They take no .relu and no .satfinite. */
static const struct fast {
    enum ptx_type to, from;
    unsigned rounds; /* the roundings, ROUND() of each */
    bool sat, ftz;   /* whether .sat must be given; whether .ftz may be */
    sem_fn *run;
} fast[] = {
    {PTX_F32, PTX_F32, ROUND(RND_NONE), false, false, same32},
    {PTX_F32, PTX_F32, NEAREST, true, false, f32_f32_sat},
    {PTX_F32, PTX_F32, ROUND(RNI), false, false, f32_f32_rni},
    {PTX_F32, PTX_F32, ROUND(RMI), false, false, f32_f32_rmi},
    {PTX_F32, PTX_F32, ROUND(RPI), false, false, f32_f32_rpi},
    {PTX_F32, PTX_F32, ROUND(RZI), false, false, f32_f32_rzi},
    {PTX_F64, PTX_F32, ~0u, false, true, f64_f32},
    {PTX_F64, PTX_S32, NEAREST, false, true, f64_s32},
    {PTX_F64, PTX_U32, NEAREST, false, true, f64_u32},
    {PTX_F32, PTX_S32, NEAREST, false, false, f32_s32},
    {PTX_F32, PTX_U32, NEAREST, false, false, f32_u32},
    {PTX_F32, PTX_F16, NEAREST, false, false, f32_f16},
    {PTX_F32, PTX_BF16, ~0u, false, false, f32_bf16},
    {PTX_F16, PTX_F32, ROUND(RN), false, false, f16_f32},
    {PTX_BF16, PTX_F32, ROUND(RN), false, false, bf16_f32_rn},
    {PTX_TF32, PTX_F32, ROUND(RNA), false, false, tf32_f32_rna},
    {PTX_S32, PTX_F32, ROUND(RZI), false, false, s32_f32_rz},
    {PTX_U32, PTX_F32, ROUND(RZI), false, false, u32_f32_rz},
};

static sem_fn *pick_fast(const struct ptx_inst *p)
{
    if (p->relu || p->satfinite)
        return NULL;
    for (size_t i = 0; i < sizeof(fast) / sizeof(*fast); i++) {
        const struct fast *f = &fast[i];
        if (f->to == p->type && f->from == p->type2 && f->rounds >> p->round & 1 &&
            f->sat == p->sat && (f->ftz || !p->ftz))
            return f->run;
    }
    return NULL;
}

static bool known(enum ptx_type type)
{
    return is_float_type(type) || (type >= PTX_U8 && type <= PTX_S64) ||
           (type >= PTX_B8 && type <= PTX_B64);
}

sem_fn *LANES(sem_cvt)(const struct ptx_inst *p, struct inst *in)
{
    if (p->sub == PTX_SUB_PACK)
        return LANES(sem_pack)(p, in);
    in->type = (uint8_t)p->type;
    in->imm = (int64_t)p->type2 | (int64_t)p->round << 8;
    in->sub = (uint8_t)((p->relu ? CVT_RELU : 0) | (p->satfinite ? CVT_SATFINITE : 0));
    if ((p->type == PTX_F16X2 || p->type == PTX_BF16X2) && p->type2 == PTX_F32) {
        if (p->round == PTX_RN && !in->sub)
            return p->type == PTX_F16X2 ? f16x2_f32 : bf16x2_f32;
        return convert_pair;
    }
    if (!known(p->type) || !known(p->type2) || p->type2 == PTX_TF32)
        return LANES(sem_fp8)(p, in);
    if (is_float_type(p->type) || is_float_type(p->type2)) {
        sem_fn *run = pick_fast(p);
        return run ? run : convert_general;
    }
    unsigned in_bytes = ptx_type_bytes(p->type2), out_bytes = ptx_type_bytes(p->type);
    if (in_bytes <= 4)
        in->imm |= (int64_t)(32 - 8 * in_bytes) << 16;
    if (out_bytes <= 4)
        in->imm |= (int64_t)(32 - 8 * out_bytes) << 24;
    return pick_int(p);
}
