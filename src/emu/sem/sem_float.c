/* Owns f32 and f64: arithmetic, comparison-free selection (min, max, abs, neg, copysign), division,
 * roots and the approximate functions.
 *
 * .rn add, sub, mul, fma, div, rcp, sqrt are the host's IEEE operations and bit-exact; other
 * roundings go through fesetround. .ftz flushes subnormal inputs and results to zeros of their
 * sign; .sat clamps to [0, 1] with NaN to 0; NaN results of f32 are 0x7fffffff. Approximations are
 * computed to better than the tolerances of the PTX manual. */
#include "emu/sem/approx.h"
#include "emu/sem/lanes.h"

static inline uint32_t in32(const struct inst *in, uint32_t bits)
{
    return in->flags & INST_FTZ ? lanes_ftz(bits) : bits;
}

static inline uint32_t out32(const struct inst *in, float r)
{
    if (in->flags & INST_SAT)
        r = r > 0 ? (r < 1 ? r : 1) : 0;
    uint32_t bits = lanes_nan32(r);
    return in->flags & INST_FTZ ? lanes_ftz(bits) : bits;
}

/* A plain version of each, and one that looks at the flags. */
#define F(x) lanes_f32(x)
#define G(x) lanes_f32(in32(in, x))
#define F32_OP1(name, expr, flagged)                                                               \
    LANE_OP1(name, uint32_t, uint32_t, uint32_t, uint32_t, lanes_nan32(expr))                      \
    LANE_OP1(name##_flags, uint32_t, uint32_t, uint32_t, uint32_t, out32(in, flagged))
#define F32_OP2(name, expr, flagged)                                                               \
    LANE_OP2(name, uint32_t, uint32_t, uint32_t, uint32_t, lanes_nan32(expr))                      \
    LANE_OP2(name##_flags, uint32_t, uint32_t, uint32_t, uint32_t, out32(in, flagged))
#define F64_OP2(name, expr)                                                                        \
    LANE_OP2(name, uint64_t, uint64_t, uint64_t, uint64_t, lanes_bits64(expr))
#define F64_OP1(name, expr)                                                                        \
    LANE_OP1(name, uint64_t, uint64_t, uint64_t, uint64_t, lanes_bits64(expr))
#define D(x) lanes_f64(x)

F32_OP2(add_f32, F(x) + F(y), G(x) + G(y))
F32_OP2(sub_f32, F(x) - F(y), G(x) - G(y))
F32_OP2(mul_f32, F(x) * F(y), G(x) * G(y))
F32_OP2(div_f32, F(x) / F(y), G(x) / G(y))
LANE_OP3(
    fma_f32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, lanes_nan32(fmaf(F(x), F(y), F(z))))
LANE_OP3(fma_f32_flags, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
    out32(in, fmaf(G(x), G(y), G(z))))

F64_OP2(add_f64, D(x) + D(y))
F64_OP2(sub_f64, D(x) - D(y))
F64_OP2(mul_f64, D(x) * D(y))
F64_OP2(div_f64, D(x) / D(y))
LANE_OP3(
    fma_f64, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, lanes_bits64(fma(D(x), D(y), D(z))))

/* div.approx: the quotient, except that divisors beyond 2^126 give zero (NaN for infinite
 * dividends), as the manual says of a * (1 / b). */
static inline float div_approx(float x, float y)
{
    float big = fabsf(y);
    float q = x / y;
    bool beyond = big > 0x1p126f && big < INFINITY;
    float odd = fabsf(x) == INFINITY ? NAN : copysignf(0.0f, q);
    return beyond ? odd : q;
}
F32_OP2(div_approx_f32, div_approx(F(x), F(y)), div_approx(G(x), G(y)))

/* min and max: a NaN loses against a number; -0 is below +0. */
static inline uint32_t min32(uint32_t x, uint32_t y)
{
    float a = lanes_f32(x), b = lanes_f32(y);
    uint32_t r = a < b || b != b ? x : y;
    r = a == b ? x | y : r;
    return a != a && b != b ? 0x7fffffffu : r;
}

static inline uint32_t max32(uint32_t x, uint32_t y)
{
    float a = lanes_f32(x), b = lanes_f32(y);
    uint32_t r = a > b || b != b ? x : y;
    r = a == b ? x & y : r;
    return a != a && b != b ? 0x7fffffffu : r;
}
LANE_OP2(min_f32, uint32_t, uint32_t, uint32_t, uint32_t, min32(x, y))
LANE_OP2(max_f32, uint32_t, uint32_t, uint32_t, uint32_t, max32(x, y))
LANE_OP2(min_f32_ftz, uint32_t, uint32_t, uint32_t, uint32_t, min32(lanes_ftz(x), lanes_ftz(y)))
LANE_OP2(max_f32_ftz, uint32_t, uint32_t, uint32_t, uint32_t, max32(lanes_ftz(x), lanes_ftz(y)))

/* sub: bit 0 max, bit 1 .nan, bit 2 .xorsign.abs */
static inline uint32_t minmax_odd(const struct inst *in, uint32_t x, uint32_t y)
{
    uint32_t sign = in->sub & 4 ? (x ^ y) & 0x80000000u : 0;
    x = in32(in, in->sub & 4 ? x & 0x7fffffffu : x);
    y = in32(in, in->sub & 4 ? y & 0x7fffffffu : y);
    if (in->sub & 2 && (F(x) != F(x) || F(y) != F(y)))
        return 0x7fffffffu;
    uint32_t r = in->sub & 1 ? max32(x, y) : min32(x, y);
    return F(r) != F(r) ? r : r | sign; /* a NaN stays what it is */
}
LANE_OP2(minmax_f32_odd, uint32_t, uint32_t, uint32_t, uint32_t, minmax_odd(in, x, y))

static inline uint64_t min64(uint64_t x, uint64_t y)
{
    double a = D(x), b = D(y);
    uint64_t r = a < b || b != b ? x : y;
    return a == b ? x | y : r;
}

static inline uint64_t max64(uint64_t x, uint64_t y)
{
    double a = D(x), b = D(y);
    uint64_t r = a > b || b != b ? x : y;
    return a == b ? x & y : r;
}
LANE_OP2(min_f64, uint64_t, uint64_t, uint64_t, uint64_t, min64(x, y))
LANE_OP2(max_f64, uint64_t, uint64_t, uint64_t, uint64_t, max64(x, y))

/* Of a NaN the chip makes the canonical one in single precision; in double it stays as it is. */
#define IS_NAN64(x) (((x) & ~((uint64_t)1 << 63)) > UINT64_C(0x7ff0000000000000))
LANE_OP1(neg_f32, uint32_t, uint32_t, uint32_t, uint32_t,
    (x & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : in32(in, x) ^ 0x80000000u)
LANE_OP1(abs_f32, uint32_t, uint32_t, uint32_t, uint32_t,
    (x & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : in32(in, x) & 0x7fffffffu)
LANE_OP1(neg_f64, uint64_t, uint64_t, uint64_t, uint64_t, IS_NAN64(x) ? x : x ^ (uint64_t)1 << 63)
LANE_OP1(
    abs_f64, uint64_t, uint64_t, uint64_t, uint64_t, IS_NAN64(x) ? x : x & ~((uint64_t)1 << 63))
LANE_OP2(
    copysign_f32, uint32_t, uint32_t, uint32_t, uint32_t, (x & 0x80000000u) | (y & 0x7fffffffu))
LANE_OP2(copysign_f64, uint64_t, uint64_t, uint64_t, uint64_t,
    (x & (uint64_t)1 << 63) | (y & ~((uint64_t)1 << 63)))

F32_OP1(rcp_f32, 1.0f / F(x), 1.0f / G(x))
F32_OP1(sqrt_f32, sqrtf(F(x)), sqrtf(G(x)))
F32_OP1(rsqrt_f32, (float)(1.0 / sqrt((double)F(x))), (float)(1.0 / sqrt((double)G(x))))
F32_OP1(ex2_f32, approx_exp2(F(x)), approx_exp2(G(x)))
F32_OP1(lg2_f32, log2f(F(x)), log2f(G(x)))
F32_OP1(tanh_f32, tanhf(F(x)), tanhf(G(x)))
F64_OP1(rcp_f64, 1.0 / D(x))
F64_OP1(sqrt_f64, sqrt(D(x)))

LANE_OP1(sin_f32, uint32_t, uint32_t, uint32_t, uint32_t, out32(in, approx_sin(G(x), 0)))
LANE_OP1(cos_f32, uint32_t, uint32_t, uint32_t, uint32_t, out32(in, approx_sin(G(x), 1)))

/* rcp.approx.ftz.f64, rsqrt.approx{.ftz}.f64 work on the upper word: the lower is zero. */
static inline double upper(double v)
{
    return lanes_f64(lanes_bits64(v) & 0xffffffff00000000u);
}

static inline double ftz64(uint64_t x)
{
    double v = lanes_f64(x);
    return fabs(v) < 0x1p-1022 ? copysign(0.0, v) : v;
}
F64_OP1(rcp_approx_f64, upper(1.0 / ftz64(x)))
F64_OP1(rsqrt_f64, 1.0 / sqrt(D(x)))
F64_OP1(rsqrt_ftz_f64, upper(1.0 / sqrt(ftz64(x))))

/* Roundings other than to nearest: one lane at a time under fesetround. The volatile variables keep
 * the operation between the two changes of mode. */
enum { ROUND_ADD = 1, ROUND_SUB, ROUND_MUL, ROUND_DIV, ROUND_FMA, ROUND_RCP, ROUND_SQRT };

#define ROUNDED_OP(name, T, fma_of, sqrt_of)                                                       \
    static T name(int op, T x, T y, T z)                                                           \
    {                                                                                              \
        volatile T a = x, b = y, c = z, r = 0;                                                     \
        switch (op) {                                                                              \
        case ROUND_ADD:                                                                            \
            r = a + b;                                                                             \
            break;                                                                                 \
        case ROUND_SUB:                                                                            \
            r = a - b;                                                                             \
            break;                                                                                 \
        case ROUND_MUL:                                                                            \
            r = a * b;                                                                             \
            break;                                                                                 \
        case ROUND_DIV:                                                                            \
            r = a / b;                                                                             \
            break;                                                                                 \
        case ROUND_FMA:                                                                            \
            r = fma_of(a, b, c);                                                                   \
            break;                                                                                 \
        case ROUND_RCP:                                                                            \
            r = 1 / a;                                                                             \
            break;                                                                                 \
        default:                                                                                   \
            r = sqrt_of(a);                                                                        \
        }                                                                                          \
        return r;                                                                                  \
    }
ROUNDED_OP(rounded32, float, fmaf, sqrtf)
ROUNDED_OP(rounded64, double, fma, sqrt)

/* sub: ROUND_*, imm: enum ptx_round */
#define DIRECTED_OP(name, U, result)                                                               \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        U *d = (U *)(file + in->d);                                                                \
        const U *a = (const U *)(file + in->a);                                                    \
        const U *b = in->b == NO_ROW ? a : (const U *)(file + in->b);                              \
        const U *c = in->c == NO_ROW ? a : (const U *)(file + in->c);                              \
        fesetround(lanes_rounding((enum ptx_round)in->imm));                                       \
        for (unsigned l = 0; l < 32; l++) {                                                        \
            if (mask >> l & 1)                                                                     \
                d[l] = result;                                                                     \
        }                                                                                          \
        fesetround(FE_TONEAREST);                                                                  \
    }
DIRECTED_OP(directed_f32, uint32_t, out32(in, rounded32(in->sub, G(a[l]), G(b[l]), G(c[l]))))
DIRECTED_OP(directed_f64, uint64_t, lanes_bits64(rounded64(in->sub, D(a[l]), D(b[l]), D(c[l]))))

/* f32 sums, products and fma in these roundings: the f64 result and what it lost say in which
 * direction to go. a + b is 1 * a + b; a * b is a * b with nothing added. */
static inline uint32_t directed_fma(
    const struct inst *in, float x, float y, float z, enum ptx_round round, bool sum)
{
    const double p = (double)x * (double)y, c = (double)z, s = sum ? p + c : p, bb = s - p;
    const double lost = sum ? (p - (s - bb)) + (c - bb) : 0;
    const float f = (float)s;
    const bool high = (double)f > s || ((double)f == s && lost < 0);
    const bool low = (double)f < s || ((double)f == s && lost > 0);
    const bool down = round == PTX_RM || (round == PTX_RZ && s > 0);
    const bool up = round == PTX_RP || (round == PTX_RZ && s < 0);
    const uint32_t bits = lanes_bits(f);
    /* numbers in rising order */
    const int32_t order = (int32_t)bits < 0 ? INT32_MIN - (int32_t)bits : (int32_t)bits;
    const int32_t next = order + ((up && low) - (down && high));
    uint32_t r = next < 0 ? (uint32_t)(INT32_MIN - next) : (uint32_t)next;
    r = next == 0 && s < 0 ? 0x80000000u : r;
    r = next == order ? bits : r;
    /* what cancels is -0 when rounding down */
    const bool minus = lanes_bits64(p) >> 63 || lanes_bits64(c) >> 63;
    r = sum && s == 0 && round == PTX_RM ? (uint32_t)minus << 31 : r;
    return out32(in, lanes_f32(r));
}

#define DIRECTED(name, sum, x, y, z)                                                               \
    static inline void name##_in(                                                                  \
        uint8_t *file, const struct inst *in, uint32_t mask, enum ptx_round round)                 \
    {                                                                                              \
        uint32_t *d = (uint32_t *)(file + in->d);                                                  \
        const uint32_t *a = (const uint32_t *)(file + in->a);                                      \
        const uint32_t *b = (const uint32_t *)(file + in->b);                                      \
        const uint32_t *c = in->c == NO_ROW ? a : (const uint32_t *)(file + in->c);                \
        IVDEP for (unsigned l = 0; l < 32; l++)                                                    \
        {                                                                                          \
            const float A = G(a[l]), B = G(b[l]), C = G(c[l]);                                     \
            (void)A, (void)B, (void)C;                                                             \
            const uint32_t r = directed_fma(in, x, y, z, round, sum);                              \
            d[l] = (mask >> l & 1) ? r : d[l];                                                     \
        }                                                                                          \
    }                                                                                              \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        if (in->imm == PTX_RM)                                                                     \
            name##_in(file, in, mask, PTX_RM);                                                     \
        else if (in->imm == PTX_RP)                                                                \
            name##_in(file, in, mask, PTX_RP);                                                     \
        else                                                                                       \
            name##_in(file, in, mask, PTX_RZ);                                                     \
    }
DIRECTED(directed_add_f32, true, 1, A, B)
DIRECTED(directed_sub_f32, true, 1, A, -B)
DIRECTED(directed_mul_f32, false, A, B, 0)
DIRECTED(directed_fma_f32, true, A, B, C)

static sem_fn *directed(const struct ptx_inst *p, struct inst *in, int op)
{
    in->sub = (uint8_t)op;
    in->imm = p->round;
    if (p->type == PTX_F32 && op == ROUND_ADD)
        return directed_add_f32;
    if (p->type == PTX_F32 && op == ROUND_SUB)
        return directed_sub_f32;
    if (p->type == PTX_F32 && op == ROUND_MUL)
        return directed_mul_f32;
    if (p->type == PTX_F32 && op == ROUND_FMA)
        return directed_fma_f32;
    return p->type == PTX_F64 ? directed_f64 : directed_f32;
}

/* testp: sub: enum ptx_sub; d: predicate word */
static bool test32(enum ptx_sub test, uint32_t x)
{
    uint32_t exponent = x >> 23 & 0xff, fraction = x & 0x7fffffu;
    switch (test) {
    case PTX_SUB_FINITE:
        return exponent != 255;
    case PTX_SUB_INFINITE:
        return exponent == 255 && !fraction;
    case PTX_SUB_NUMBER:
        return exponent != 255 || !fraction;
    case PTX_SUB_NOTANUMBER:
        return exponent == 255 && fraction;
    case PTX_SUB_NORMAL:
        return exponent != 255 && (exponent != 0 || !fraction); /* zeros count as normal */
    default:
        return exponent == 0 && fraction;
    }
}

static bool test64(enum ptx_sub test, uint64_t x)
{
    uint64_t exponent = x >> 52 & 0x7ff, fraction = x << 12;
    uint32_t as32 = (uint32_t)(exponent == 0x7ff ? 255
                               : exponent        ? 1
                                                 : 0)
                        << 23 |
                    (fraction ? 1 : 0);
    return test32(test, as32);
}

static void testp(uint8_t *file, const struct inst *in, uint32_t mask)
{
    uint32_t *d = (uint32_t *)(file + in->d), r = 0;
    for (unsigned l = 0; l < 32; l++) {
        bool yes = in->type == PTX_F64
                       ? test64((enum ptx_sub)in->sub, ((const uint64_t *)(file + in->a))[l])
                       : test32((enum ptx_sub)in->sub, ((const uint32_t *)(file + in->a))[l]);
        r |= (uint32_t)yes << l;
    }
    *d = (*d & ~mask) | (r & mask);
}

/* --- which loop --- */

static sem_fn *pick_testp(const struct ptx_inst *p, struct inst *in)
{
    in->sub = (uint8_t)p->sub;
    return testp;
}

static sem_fn *pick_minmax(const struct ptx_inst *p, struct inst *in)
{
    const bool max = p->op == PTX_OP_MAX;
    if (p->type == PTX_F64)
        return max ? max_f64 : min_f64;
    if (p->nan || p->xorsign) {
        in->sub = (uint8_t)(max | (p->nan ? 2 : 0) | (p->xorsign ? 4 : 0));
        return minmax_f32_odd;
    }
    if (max)
        return p->ftz ? max_f32_ftz : max_f32;
    return p->ftz ? min_f32_ftz : min_f32;
}

static sem_fn *pick_div(const struct ptx_inst *p, struct inst *in)
{
    if (p->type == PTX_F64)
        return div_f64;
    if (p->approx)
        return p->ftz ? div_approx_f32_flags : div_approx_f32;
    return p->ftz ? div_f32_flags : div_f32;
}

static sem_fn *pick_rcp(const struct ptx_inst *p, struct inst *in)
{
    if (p->type == PTX_F64)
        return p->approx ? rcp_approx_f64 : rcp_f64;
    return p->ftz ? rcp_f32_flags : rcp_f32;
}

static sem_fn *pick_rsqrt(const struct ptx_inst *p, struct inst *in)
{
    if (p->type == PTX_F64)
        return p->ftz ? rsqrt_ftz_f64 : rsqrt_f64;
    return p->ftz ? rsqrt_f32_flags : rsqrt_f32;
}

/* The words of ops.def for f32 and f64. PICK(name): pick_name() chooses the loop.
 * PICK_ROUNDED(name, OP): pick_name() chooses when the rounding is to nearest, else ROUND_OP is
 * done. ROUNDED(name, OP): loops of f32 without and with flags and of f64, else ROUND_OP. SINGLES:
 * f32 without and with flags. SINGLE: one loop of f32. BITS: f32 and f64, whatever the flags. */
#define PICK(name)                                                                                 \
    {                                                                                              \
        .pick = pick_##name                                                                        \
    }
#define PICK_ROUNDED(name, op)                                                                     \
    {                                                                                              \
        .pick = pick_##name, .directed = ROUND_##op                                                \
    }
#define ROUNDED(name, op)                                                                          \
    {                                                                                              \
        .f32 = name##_f32, .f32_flags = name##_f32_flags, .f64 = name##_f64,                       \
        .directed = ROUND_##op                                                                     \
    }
#define SINGLES(name)                                                                              \
    {                                                                                              \
        .f32 = name##_f32, .f32_flags = name##_f32_flags                                           \
    }
#define SINGLE(name)                                                                               \
    {                                                                                              \
        .f32 = name##_f32, .f32_flags = name##_f32                                                 \
    }
#define BITS(name)                                                                                 \
    {                                                                                              \
        .f32 = name##_f32, .f32_flags = name##_f32, .f64 = name##_f64                              \
    }
#define BY_TYPE(integers, floats, halves, pairs) floats

sem_fn *LANES(sem_float)(const struct ptx_inst *p, struct inst *in)
{
    static const struct {
        sem_pick *pick;
        sem_fn *f32, *f32_flags, *f64;
        int directed; /* ROUND_*; 0: never rounded in another direction */
    } meanings[NR_PTX_OPS] = {
#define OP(id, name, class, takes, costs, decoder, meaning) [PTX_OP_##id] = meaning,
#include "ptx/ops.def"
#undef OP
    };
    if (p->round == PTX_RZ || p->round == PTX_RM || p->round == PTX_RP)
        return meanings[p->op].directed ? directed(p, in, meanings[p->op].directed) : NULL;
    if (meanings[p->op].pick)
        return meanings[p->op].pick(p, in);
    if (p->type == PTX_F64)
        return meanings[p->op].f64;
    return p->ftz || p->sat ? meanings[p->op].f32_flags : meanings[p->op].f32;
}
