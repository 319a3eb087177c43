/* Floating-point operations: bit-exact ones against exact arithmetic rounded once by the test's own
 * code, approximations against double within the PTX manual's tolerance. */
#include "emu/sem/sem.h"
#include "emu_harness.h"

#include <math.h>

typedef uint64_t u64;
typedef uint32_t u32;

static float f32(u64 bits)
{
    u32 low = (u32)bits;
    float f;
    memcpy(&f, &low, 4);
    return f;
}

static double f64(u64 bits)
{
    double f;
    memcpy(&f, &bits, 8);
    return f;
}

static u64 bits32(float f)
{
    u32 b;
    memcpy(&b, &f, 4);
    return isnan(f) ? 0x7fffffff : b;
}

static u64 bits64(double f)
{
    u64 b;
    memcpy(&b, &f, 8);
    return b;
}

static float flush(float f)
{
    return fabsf(f) < 0x1p-126f ? copysignf(0, f) : f;
}

/* Formats: p bits of precision, exponents of the smallest normal and the largest number. */
struct format {
    int precision, least, most;
};
static const struct format half = {11, -14, 15}, bfloat = {8, -126, 127}, single = {24, -126, 127};

enum mode { NEAREST, ZERO, DOWN, UP };

/* v rounded once; v must be exact: a long double with 64 bits, and sticky says that more lay below.
 */
static long double round_once(long double v, int sticky, struct format f, enum mode mode)
{
    if (v == 0 || isnan(v) || isinf(v))
        return v;
    int e;
    long double m = frexpl(v, &e);
    if (sticky && fabsl(m) == 0.5L && (sticky > 0) != (v > 0))
        e--; /* just below a power of two: finer */
    e = e - 1 < f.least ? f.least : e - 1;
    long double unit = ldexpl(1, e - f.precision + 1), n = floorl(v / unit), rest = v / unit - n;
    if (sticky && (rest == 0 || rest == 0.5L))
        rest += sticky > 0 ? 0.25L : -0.25L;
    if (rest < 0) {
        rest += 1;
        n -= 1;
    }
    int up = rest > 0.5L || (rest == 0.5L && fmodl(n, 2) != 0);
    bool inexact = rest != 0;
    if (mode == ZERO)
        up = v < 0 && inexact;
    else if (mode == DOWN)
        up = 0;
    else if (mode == UP)
        up = inexact;
    long double r = (n + up) * unit, top = ldexpl(2 - ldexpl(1, 1 - f.precision), f.most);
    if (fabsl(r) > top) {
        bool keep = mode == ZERO || (mode == DOWN && v > 0) || (mode == UP && v < 0);
        return copysignl(keep ? top : INFINITY, v);
    }
    return r == 0 ? copysignl(0, v) : r;
}

static long double from_half(u64 h)
{
    int e = h >> 10 & 31, m = h & 1023;
    long double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpl(1024 + m, e - 25) : ldexpl(m, -24);
    return h & 0x8000 ? -v : v;
}

static u64 to_half(long double v)
{
    if (isnan(v))
        return 0x7fff;
    u64 sign = signbit(v) ? 0x8000 : 0;
    v = fabsl(v);
    if (isinf(v))
        return sign | 0x7c00;
    if (v < 0x1p-14L)
        return sign | (u64)ldexpl(v, 24);
    int e;
    frexpl(v, &e);
    return sign | (u64)(e - 1 + 15) << 10 | ((u64)ldexpl(v, 11 - e) & 1023);
}

static long double from_bf(u64 h)
{
    return f32((h & 0xffff) << 16);
}

static u64 to_bf(long double v)
{
    return isnan(v) ? 0x7fff : bits32((float)v) >> 16;
}

#define REF(name, expr)                                                                            \
    static u64 name(u64 a, u64 b, u64 c)                                                           \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return expr;                                                                               \
    }
#define FA f32(a)
#define FB f32(b)
#define FC f32(c)
#define DA f64(a)
#define DB f64(b)
#define DC f64(c)
REF(add, bits32(FA + FB))
REF(sub, bits32(FA - FB))
REF(mul, bits32(FA *FB))
REF(divide, bits32(FA / FB))
REF(add_ftz, bits32(flush(flush(FA) + flush(FB))))
REF(mul_ftz, bits32(flush(flush(FA) * flush(FB))))
REF(fma_rn, bits32(fmaf(FA, FB, FC)))
REF(fma_ftz, bits32(flush(fmaf(flush(FA), flush(FB), flush(FC)))))

static u64 clamp01(float v)
{
    return isnan(v) || v <= 0 ? 0 : v > 1 ? bits32(1) : bits32(v);
}
REF(add_sat, clamp01(FA + FB))
REF(fma_sat, clamp01(fmaf(FA, FB, FC)))

/* Sum of two floats exactly: the rounded sum and what it lost, as a sticky sign. */
static u64 add_mode(u64 a, u64 b, enum mode mode)
{
    float x = f32(a), y = f32(b);
    if (isnan(x + y) || isinf(x) || isinf(y))
        return bits32(x + y);
    long double s = (long double)x + y, bb = s - x, lost = ((long double)x - (s - bb)) + (y - bb);
    if (s == 0 && lost == 0) {
        bool both = signbit(x) && signbit(y), either = signbit(x) || signbit(y);
        return both || (either && mode == DOWN) || (x != 0 && mode == DOWN) ? 0x80000000u : 0;
    }
    return bits32((float)round_once(s, lost > 0 ? 1 : lost < 0 ? -1 : 0, single, mode));
}
REF(add_rz, add_mode(a, b, ZERO))
REF(add_rm, add_mode(a, b, DOWN))
REF(add_rp, add_mode(a, b, UP))

static u64 mul_mode(u64 a, u64 b, enum mode mode)
{
    long double p = (long double)f32(a) * f32(b); /* 48 bits: exact */
    return bits32((float)round_once(p, 0, single, mode));
}
REF(mul_rz, mul_mode(a, b, ZERO))
REF(mul_rp, mul_mode(a, b, UP))

static u64 min_max(u64 a, u64 b, bool max, bool nan)
{
    float x = f32(a), y = f32(b);
    if (isnan(x) && isnan(y))
        return 0x7fffffff;
    if (isnan(x) || isnan(y))
        return nan ? 0x7fffffff : isnan(x) ? b : a;
    if (x == y)
        return max ? a & b : a | b; /* only zeros differ: -0 < +0 */
    return (x < y) != max ? a : b;
}
REF(min_f, min_max(a, b, false, false))
REF(max_f, min_max(a, b, true, false))
REF(max_nan, min_max(a, b, true, true))
REF(neg, (a & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : a ^ 0x80000000u)
REF(absolute, (a & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : a & 0x7fffffffu)
REF(copysign_, (a & 0x80000000u) | (b & 0x7fffffffu))
REF(rcp, bits32(1 / FA))
REF(root, bits32(sqrtf(FA)))
REF(rsqrt, bits32((float)(1 / sqrt((double)FA))))
REF(ex2, bits32((float)exp2((double)FA)))
REF(lg2, bits32((float)log2((double)FA)))
REF(tanh_, bits32((float)tanh((double)FA)))
REF(ltu, !(FA >= FB))
REF(gt, FA > FB)
REF(ne, FA<FB || FA> FB)
REF(number, !isnan(FA) && !isnan(FB))
REF(lt_ftz, flush(FA) < flush(FB))
REF(add64, bits64(DA + DB))
REF(fma64, bits64(fma(DA, DB, DC)))
REF(div64, bits64(DA / DB))
REF(sqrt64, bits64(sqrt(DA)))
REF(lt64, DA < DB)

/* NaN payloads of f64 are not checked: both sides are made one NaN before the store. */
#define QUIET64 "\nsetp.nan.f64 P, D, D;\n@P mov.b64 D, 0x7ff8000000000000;"
static u64 quiet(u64 b)
{
    return isnan(f64(b)) ? UINT64_C(0x7ff8000000000000) : b;
}
REF(add64_q, quiet(add64(a, b, c)))
REF(fma64_q, quiet(fma64(a, b, c)))
REF(div64_q, quiet(div64(a, b, c)))
REF(sqrt64_q, quiet(sqrt64(a, b, c)))

REF(hadd, to_half(round_once(from_half(a) + from_half(b), 0, half, NEAREST)))
REF(hmul, to_half(round_once(from_half(a) * from_half(b), 0, half, NEAREST)))
/* 22 bits of product and 11 of addend may span 80: keep what 64 lose as sticky */
static u64 fma16(long double p, long double z, struct format f, u64 (*to)(long double))
{
    long double s = p + z;
    if (isnan(s) || isinf(s))
        return to(s);
    long double bb = s - p, lost = (p - (s - bb)) + (z - bb);
    return to(round_once(s, lost > 0 ? 1 : lost < 0 ? -1 : 0, f, NEAREST));
}
REF(hfma, fma16(from_half(a) * from_half(b), from_half(c), half, to_half))
REF(bfma, fma16(from_bf(a) * from_bf(b), from_bf(c), bfloat, to_bf))
REF(bmul, to_bf(round_once(from_bf(a) * from_bf(b), 0, bfloat, NEAREST)))
REF(hadd2, hadd(a & 0xffff, b & 0xffff, 0) | hadd(a >> 16 & 0xffff, b >> 16 & 0xffff, 0) << 16)
REF(hmul2, hmul(a & 0xffff, b & 0xffff, 0) | hmul(a >> 16 & 0xffff, b >> 16 & 0xffff, 0) << 16)
REF(hsub2, hadd(a & 0xffff, (b & 0xffff) ^ 0x8000, 0) |
               hadd(a >> 16 & 0xffff, (b >> 16 & 0xffff) ^ 0x8000, 0) << 16)
REF(hfma2, hfma(a & 0xffff, b & 0xffff, c & 0xffff) |
               hfma(a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff) << 16)
REF(hgt, from_half(a) > from_half(b))

REF(half_of_f32, to_half(round_once(FA, 0, half, NEAREST)))
REF(half_rz, to_half(round_once(FA, 0, half, ZERO)))
REF(bf_of_f32, to_bf(round_once(FA, 0, bfloat, NEAREST)))
REF(f32_of_half, bits32((float)from_half(a)))
/* NaNs keep their sign and their upper bits. */
static u64 cut_nan(u64 a)
{
    return (a >> 32 & 0x80000000) | 0x7fc00000 | (a >> 29 & 0x3fffff);
}
REF(f32_of_f64, DA != DA ? cut_nan(a) : bits32((float)DA))
REF(f32_of_f64_rz, DA != DA ? cut_nan(a) : bits32((float)round_once(DA, 0, single, ZERO)))
REF(f32_of_s32, bits32((float)(int32_t)a))
REF(f32_of_u64, bits32((float)a))
REF(f32_of_u32_rz, bits32((float)round_once((u32)a, 0, single, ZERO)))
REF(half_of_s32, to_half(round_once((int32_t)a, 0, half, NEAREST)))

static u64 to_int(double v, double lo, double hi)
{
    if (isnan(v))
        return 0;
    return v <= lo ? (u64)(int64_t)lo : v >= hi ? (u64)(int64_t)hi : (u64)(int64_t)v;
}
REF(s32_rz, to_int(trunc((double)FA), -2147483648.0, 2147483647.0))
REF(s32_rn, to_int(nearbyint((double)FA), -2147483648.0, 2147483647.0))
REF(s32_rm, to_int(floor((double)FA), -2147483648.0, 2147483647.0))
REF(u32_rz, to_int(trunc((double)FA), 0, 4294967295.0))
REF(u32_rp, to_int(ceil((double)FA), 0, 4294967295.0))
REF(s16_d, isnan(DA) ? 0x8000 : to_int(trunc(DA), -32768, 32767))
REF(u8_f, to_int(trunc((double)FA), 0, 255))
REF(rint_f, bits32(nearbyintf(FA)))
REF(floor_f, bits32(floorf(FA)))
REF(pack_half, half_of_f32(a, 0, 0) << 16 | half_of_f32(b, 0, 0))
REF(pack_bf, bf_of_f32(a, 0, 0) << 16 | bf_of_f32(b, 0, 0))
REF(sat_f, clamp01(FA))

REF(finite_f, FA - FA == 0)

/* 8-bit floats by their table of values: the nearest finite one, the even code of two equally near.
 */
static double fp8_value(unsigned code, bool e5)
{
    int fraction = e5 ? 2 : 3, bias = e5 ? 15 : 7, e = (int)(code & 0x7f) >> fraction;
    int m = (int)code & ((1 << fraction) - 1);
    double v = e ? ldexp(1 + ldexp(m, -fraction), e - bias) : ldexp(m, 1 - bias - fraction);
    return code & 0x80 ? -v : v;
}

static u64 to_fp8(double v, bool e5)
{
    unsigned top = e5 ? 0x7b : 0x7e, best = 0;
    if (isnan(v))
        return 0x7f;
    double far = INFINITY;
    for (unsigned code = 0; code <= top; code++) {
        double off = fabs(fabs(v) - fp8_value(code, e5));
        if (fabs(v) >= fp8_value(top, e5) ? code == top
                                          : off < far || (off == far && code % 2 == 0)) {
            best = code;
            far = off;
        }
    }
    return best | (signbit(v) ? 0x80 : 0);
}
REF(e4m3_pair, to_fp8(FA, false) << 8 | to_fp8(FB, false))
REF(e5m2_pair, to_fp8(FA, true) << 8 | to_fp8(FB, true))
REF(half_of_e4m3,
    (a >> 8 & 0x7f) == 0x7f || (a & 0x7f) == 0x7f
        ? 0
        : to_half(fp8_value(a >> 8 & 255, false)) << 16 | to_half(fp8_value(a & 255, false)))
REF(eq_pair, (from_half(a) == from_half(b) ? 0x3c00 : 0) |
                 (from_half(a >> 16) == from_half(b >> 16) ? 0x3c000000u : 0))

#define PRED "\nselp.b32 D, 1, 0, P;"
static const struct op_case cases[] = {
    {"add.f32 D, A, B;", 4, 4, 4, 0, add, 0},
    {"add.rn.f32 D, A, B;", 4, 4, 4, 0, add, 0},
    {"add.ftz.f32 D, A, B;", 4, 4, 4, 0, add_ftz, 0},
    {"add.sat.f32 D, A, B;", 4, 4, 4, 0, add_sat, 0},
    {"add.rz.f32 D, A, B;", 4, 4, 4, 0, add_rz, 0},
    {"add.rm.f32 D, A, B;", 4, 4, 4, 0, add_rm, 0},
    {"add.rp.f32 D, A, B;", 4, 4, 4, 0, add_rp, 0},
    {"sub.f32 D, A, B;", 4, 4, 4, 0, sub, 0},
    {"mul.f32 D, A, B;", 4, 4, 4, 0, mul, 0},
    {"mul.ftz.f32 D, A, B;", 4, 4, 4, 0, mul_ftz, 0},
    {"mul.rz.f32 D, A, B;", 4, 4, 4, 0, mul_rz, 0},
    {"mul.rp.f32 D, A, B;", 4, 4, 4, 0, mul_rp, 0},
    {"fma.rn.f32 D, A, B, C;", 4, 4, 4, 4, fma_rn, 0},
    {"fma.rn.ftz.f32 D, A, B, C;", 4, 4, 4, 4, fma_ftz, 0},
    {"fma.rn.sat.f32 D, A, B, C;", 4, 4, 4, 4, fma_sat, 0},
    {"div.rn.f32 D, A, B;", 4, 4, 4, 0, divide, 0},
    {"div.full.f32 D, A, B;", 4, 4, 4, 0, divide, 1.2e-7 * 2},
    {"min.f32 D, A, B;", 4, 4, 4, 0, min_f, 0},
    {"max.f32 D, A, B;", 4, 4, 4, 0, max_f, 0},
    {"max.NaN.f32 D, A, B;", 4, 4, 4, 0, max_nan, 0},
    {"neg.f32 D, A;", 4, 4, 0, 0, neg, 0},
    {"abs.f32 D, A;", 4, 4, 0, 0, absolute, 0},
    {"copysign.f32 D, A, B;", 4, 4, 4, 0, copysign_, 0},
    {"rcp.rn.f32 D, A;", 4, 4, 0, 0, rcp, 0},
    {"rcp.approx.f32 D, A;", 4, 4, 0, 0, rcp, 1.2e-7},
    {"sqrt.rn.f32 D, A;", 4, 4, 0, 0, root, 0},
    {"rsqrt.approx.f32 D, A;", 4, 4, 0, 0, rsqrt, 1.8e-7},
    {"ex2.approx.f32 D, A;", 4, 4, 0, 0, ex2, 2.4e-7},
    {"lg2.approx.f32 D, A;", 4, 4, 0, 0, lg2, 2.4e-7},
    {"tanh.approx.f32 D, A;", 4, 4, 0, 0, tanh_, 4.9e-4},
    {"setp.ltu.f32 P, A, B;" PRED, 4, 4, 4, 0, ltu, 0},
    {"setp.gt.f32 P, A, B;" PRED, 4, 4, 4, 0, gt, 0},
    {"setp.ne.f32 P, A, B;" PRED, 4, 4, 4, 0, ne, 0},
    {"setp.num.f32 P, A, B;" PRED, 4, 4, 4, 0, number, 0},
    {"setp.lt.ftz.f32 P, A, B;" PRED, 4, 4, 4, 0, lt_ftz, 0},
    {"testp.finite.f32 P, A;" PRED, 4, 4, 0, 0, finite_f, 0},
    {"add.f64 D, A, B;" QUIET64, 8, 8, 8, 0, add64_q, 0},
    {"fma.rn.f64 D, A, B, C;" QUIET64, 8, 8, 8, 8, fma64_q, 0},
    {"div.rn.f64 D, A, B;" QUIET64, 8, 8, 8, 0, div64_q, 0},
    {"sqrt.rn.f64 D, A;" QUIET64, 8, 8, 0, 0, sqrt64_q, 0},
    {"setp.lt.f64 P, A, B;" PRED, 4, 8, 8, 0, lt64, 0},
    {"add.f16 D, A, B;", 2, 2, 2, 0, hadd, 0},
    {"mul.rn.f16 D, A, B;", 2, 2, 2, 0, hmul, 0},
    {"fma.rn.f16 D, A, B, C;", 2, 2, 2, 2, hfma, 0},
    {"fma.rn.bf16 D, A, B, C;", 2, 2, 2, 2, bfma, 0},
    {"mul.rn.bf16 D, A, B;", 2, 2, 2, 0, bmul, 0},
    {"add.f16x2 D, A, B;", 4, 4, 4, 0, hadd2, 0},
    {"sub.f16x2 D, A, B;", 4, 4, 4, 0, hsub2, 0},
    {"mul.f16x2 D, A, B;", 4, 4, 4, 0, hmul2, 0},
    {"fma.rn.f16x2 D, A, B, C;", 4, 4, 4, 4, hfma2, 0},
    {"setp.gt.f16 P, A, B;" PRED, 4, 2, 2, 0, hgt, 0},
    {"cvt.rn.f16.f32 D, A;", 2, 4, 0, 0, half_of_f32, 0},
    {"cvt.rz.f16.f32 D, A;", 2, 4, 0, 0, half_rz, 0},
    {"cvt.rn.bf16.f32 D, A;", 2, 4, 0, 0, bf_of_f32, 0},
    {"cvt.f32.f16 D, A;", 4, 2, 0, 0, f32_of_half, 0},
    {"cvt.rn.f32.f64 D, A;", 4, 8, 0, 0, f32_of_f64, 0},
    {"cvt.rz.f32.f64 D, A;", 4, 8, 0, 0, f32_of_f64_rz, 0},
    {"cvt.rn.f32.s32 D, A;", 4, 4, 0, 0, f32_of_s32, 0},
    {"cvt.rn.f32.u64 D, A;", 4, 8, 0, 0, f32_of_u64, 0},
    {"cvt.rz.f32.u32 D, A;", 4, 4, 0, 0, f32_of_u32_rz, 0},
    {"cvt.rn.f16.s32 D, A;", 2, 4, 0, 0, half_of_s32, 0},
    {"cvt.rzi.s32.f32 D, A;", 4, 4, 0, 0, s32_rz, 0},
    {"cvt.rni.s32.f32 D, A;", 4, 4, 0, 0, s32_rn, 0},
    {"cvt.rmi.s32.f32 D, A;", 4, 4, 0, 0, s32_rm, 0},
    {"cvt.rzi.u32.f32 D, A;", 4, 4, 0, 0, u32_rz, 0},
    {"cvt.rpi.u32.f32 D, A;", 4, 4, 0, 0, u32_rp, 0},
    {"cvt.rzi.s16.f64 D, A;", 2, 8, 0, 0, s16_d, 0},
    {"cvt.rzi.u8.f32 D, A;", 4, 4, 0, 0, u8_f, 0},
    {"cvt.rni.f32.f32 D, A;", 4, 4, 0, 0, rint_f, 0},
    {"cvt.rmi.f32.f32 D, A;", 4, 4, 0, 0, floor_f, 0},
    {"cvt.sat.f32.f32 D, A;", 4, 4, 0, 0, sat_f, 0},
    {"cvt.rn.f16x2.f32 D, A, B;", 4, 4, 4, 0, pack_half, 0},
    {"cvt.rn.bf16x2.f32 D, A, B;", 4, 4, 4, 0, pack_bf, 0},
    {"cvt.rn.satfinite.e4m3x2.f32 D, A, B;", 2, 4, 4, 0, e4m3_pair, 0},
    {"cvt.rn.satfinite.e5m2x2.f32 D, A, B;", 2, 4, 4, 0, e5m2_pair, 0},
    /* pairs that hold a NaN give 0 on both sides */
    {".reg .b16 l, h, m;\n.reg .b32 v, w;\ncvt.rn.f16x2.e4m3x2 D, A;\nand.b16 l, A, 0x7f;\n"
     "shr.u16 h, A, 8;\nand.b16 h, h, 0x7f;\nsetp.eq.u16 P, l, 0x7f;\nsetp.eq.or.u16 P, h, 0x7f, "
     "P;\n"
     "@P mov.b32 D, 0;",
        4, 2, 0, 0, half_of_e4m3, 0},
    {"set.eq.f16x2.f16x2 D, A, B;", 4, 4, 4, 0, eq_pair, 0},
};

static void operations_match_references(void **state)
{
    (void)state;
    run_ops(cases, sizeof(cases) / sizeof(*cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operations_match_references)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
