/* Conformance of the floating-point operations: every type, rounding mode, .ftz and .sat that PTX
 * ISA 9.0 lists for them. The reference takes the host's nearest result and, from exact arithmetic
 * in 113 bits, on which side of the true one it lies; the other roundings are then one step away.
 */
#include "conform.h"

#include <math.h>

typedef uint64_t u64;
typedef __float128 quad;

enum rounding { RN, RZ, RM, RP };
static const char *const roundings[] = {"rn", "rz", "rm", "rp"};

static double get(u64 bits, enum conform_type t)
{
    if (t == F64) {
        double d;
        memcpy(&d, &bits, 8);
        return d;
    }
    if (t == F16) {
        const int e = bits >> 10 & 31, m = bits & 1023;
        const double v = e == 31 ? (m ? NAN : INFINITY)
                         : e     ? ldexp(1024 + m, e - 25)
                                 : ldexp(m, -24);
        return bits & 0x8000 ? -v : v;
    }
    const uint32_t low = (uint32_t)(t == BF16 ? bits << 16 : bits);
    float f;
    memcpy(&f, &low, 4);
    return (double)f;
}

/* Precision, least exponent of a normal number, largest number. */
static int precision(enum conform_type t)
{
    return t == F64 ? 53 : t == F32 ? 24 : t == F16 ? 11 : 8;
}

static int least(enum conform_type t)
{
    return t == F64 ? -1022 : t == F16 ? -14 : -126;
}

static double largest(enum conform_type t)
{
    return t == F64   ? 0x1.fffffffffffffp1023
           : t == F32 ? 0x1.fffffep127
           : t == F16 ? 65504.0
                      : 0x1.fep127;
}

static double unit_of(double v, enum conform_type t)
{
    int e;
    frexp(v, &e);
    e = e - 1 < least(t) || v == 0 ? least(t) : e - 1;
    return ldexp(1, e - precision(t) + 1);
}

/* The type's number nearest to v and, where v itself lies off by a little on the side of `side`,
 * the one that a mode gives. v: a double that is exact unless side says otherwise. */
static double round_to(double v, int side, enum conform_type t, enum rounding mode)
{
    if (isnan(v) || isinf(v) || (v == 0 && side == 0))
        return v;
    double unit = unit_of(v, t);
    const bool inwards = side && (side < 0) == (v > 0);
    int e;
    if (inwards && fabs(frexp(v, &e)) == 0.5 && e - 1 > least(t))
        unit /= 2;             /* just under a power of two numbers lie closer */
    const double n = v / unit; /* exact: a power of two */
    double below = floor(n), rest = n - below;
    if (rest == 0 && side) {
        below -= side < 0;
        rest = side < 0 ? 0.75 : 0.25;
    } else if (rest == 0.5 && side) {
        rest += side > 0 ? 0.25 : -0.25;
    }
    bool up = rest > 0.5 || (rest == 0.5 && fmod(below, 2) != 0);
    if (rest != 0 && mode != RN)
        up = mode == RP || (mode == RZ && v < 0);
    double r = (below + up) * unit;
    if (fabs(r) > largest(t)) {
        const bool keep = mode == RZ || (mode == RM && v > 0) || (mode == RP && v < 0);
        return copysign(keep ? largest(t) : INFINITY, v);
    }
    return r == 0 ? copysign(0, v != 0 ? v : side) : r;
}

static u64 put(double v, enum conform_type t)
{
    const u64 sign = signbit(v) ? 1 : 0;
    u64 bits = 0;
    if (t == F64) {
        memcpy(&bits, &v, 8);
        return isnan(v) ? UINT64_C(0x7ff8000000000000) : bits;
    }
    if (t == F16) {
        if (isnan(v))
            return 0x7fff;
        const double m = fabs(v);
        int e;
        if (isinf(v))
            return sign << 15 | 0x7c00;
        if (m < 0x1p-14)
            return sign << 15 | (u64)ldexp(m, 24);
        frexp(m, &e);
        return sign << 15 | (u64)(e + 14) << 10 | ((u64)ldexp(m, 11 - e) & 1023);
    }
    const float f = (float)v;
    uint32_t low;
    memcpy(&low, &f, 4);
    if (t == BF16)
        return isnan(v) ? 0x7fff : low >> 16;
    return isnan(v) ? 0x7fffffff : low;
}

static double flushed(double v, enum conform_type t)
{
    return fabs(v) < ldexp(1, least(t)) ? copysign(0, v) : v;
}

static int sign_of(quad v)
{
    return v > 0 ? 1 : v < 0 ? -1 : 0;
}

/* Which side of the double v the true p + z lies on: exact as a sum of two quads. */
static int side_of_sum(quad p, quad z, double v)
{
    const quad s = p + z, b = s - p, lost = (p - (s - b)) + (z - b), off = s - (quad)v;
    return off != 0 ? sign_of(off) : sign_of(lost);
}

/* One of the next two doubles is the rounded result when v is the nearest double. */
static double step(double v, int side, enum rounding mode)
{
    if (isnan(v) || side == 0)
        return v;
    if (mode == RM || (mode == RZ && (v > 0 || (v == 0 && side > 0))))
        return side < 0 ? nextafter(v, -INFINITY) : v;
    if (mode == RP || mode == RZ)
        return side > 0 ? nextafter(v, INFINITY) : v;
    return v;
}

/* v: the double nearest to the true value, which lies on `side` of it. */
static double finish(double v, int side)
{
    const enum conform_type t = now.type;
    double r = t == F64 ? step(v, side, (enum rounding)now.mode)
                        : round_to(v, side, t, (enum rounding)now.mode);
    if (now.ftz)
        r = flushed(r, t);
    if (now.sat)
        r = isnan(r) || r <= 0 ? 0 : r > 1 ? 1 : r;
    if (now.flag && r <= 0) /* relu: -0 as well; NaN stays */
        r = 0;
    return r;
}

/* a * b + c, and sums and products as cases of it, so that signs of zeros come out right. */
static double multiply_add(double x, double y, double z, bool plain_sum, bool plain_product)
{
    const double v = plain_product ? x * y : plain_sum ? x + z : fma(x, y, z);
    if (isnan(v) || isinf(x) || isinf(y) || isinf(z))
        return finish(v, 0);
    const quad p = plain_sum ? (quad)x : (quad)x * y;
    const quad q = plain_product ? 0 : (quad)z;
    if (isinf(v)) /* too large even for a double: the true value lies below */
        return finish(v, v > 0 ? -1 : 1);
    const int side = side_of_sum(p, q, v);
    double r = finish(v, side);
    const bool cancelled =
        v == 0 && side == 0 && (p != 0 || q != 0 || signbit((double)p) != signbit((double)q));
    if (cancelled && !plain_product && !now.sat && !now.flag)
        r = now.mode == RM ? -0.0 : 0.0; /* x + -x */
    return r;
}

static double in(u64 bits)
{
    const double v = get(bits, now.type);
    return now.ftz ? flushed(v, now.type) : v;
}

static bool is(const char *op)
{
    return strcmp(now.op, op) == 0;
}

static u64 arithmetic(u64 a, u64 b, u64 c)
{
    double x = in(a), y = in(b), z = in(c), r;
    if (is("add"))
        r = multiply_add(x, 1, y, true, false);
    else if (is("sub"))
        r = multiply_add(x, 1, -y, true, false);
    else if (is("mul"))
        r = multiply_add(x, y, 0, false, true);
    else
        r = multiply_add(x, y, z, false, false);
    return put(r, now.type);
}

/* Quotients and roots: the sign of the remainder tells the side. */
static u64 divided(u64 a, u64 b, u64 c)
{
    const double x = is("rcp") ? 1 : in(a), y = is("rcp") ? in(a) : in(b), v = x / y;
    (void)c;
    if (isnan(v) || isinf(x) || isinf(y) || y == 0 || x == 0)
        return put(finish(v, 0), now.type);
    if (isinf(v))
        return put(finish(v, v > 0 ? -1 : 1), now.type);
    return put(finish(v, sign_of((quad)x - (quad)v * y) * (y < 0 ? -1 : 1)), now.type);
}

static u64 rooted(u64 a, u64 b, u64 c)
{
    const double x = in(a), v = sqrt(x);
    (void)b, (void)c;
    if (isnan(v) || isinf(v) || v == 0)
        return put(finish(v, 0), now.type);
    return put(finish(v, sign_of((quad)x - (quad)v * v)), now.type);
}

#define QUIET64 "\nsetp.nan.f64 P, D, D;\n@P mov.b64 D, 0x7ff8000000000000;"

static void form(const char *op, const char *modifiers, unsigned nr, u64 (*ref)(u64, u64, u64))
{
    char text[160];
    const unsigned n = type_bytes[now.type];
    now.op = op;
    snprintf(text, sizeof(text), "%s%s.%s D, A%s%s;%s", op, modifiers, type_names[now.type],
        nr > 1 ? ", B" : "", nr > 2 ? ", C" : "", now.type == F64 ? QUIET64 : "");
    run_form(text, n, n, nr > 1 ? n : 0, nr > 2 ? n : 0, ref, 0);
}

static void arithmetic_in_all_roundings(void **state)
{
    static const char *const ops[] = {"add", "sub", "mul", "fma"};
    char modifiers[32];
    (void)state;
    memset(&now, 0, sizeof(now));
    for (enum conform_type t = F32; t <= F64; t++) {
        for (unsigned i = 0; i < 4 * 4 * 4; i++) {
            now.type = t;
            now.mode = i / 4 % 4;
            now.ftz = i / 16 % 2;
            now.sat = i / 32;
            if (t == F64 && (now.ftz || now.sat))
                continue;
            snprintf(modifiers, sizeof(modifiers), ".%s%s%s", roundings[now.mode],
                now.ftz ? ".ftz" : "", now.sat ? ".sat" : "");
            form(ops[i % 4], modifiers, i % 4 == 3 ? 3 : 2, arithmetic);
        }
    }
}

static void halves(void **state)
{
    static const char *const ops[] = {"add", "sub", "mul", "fma"};
    char modifiers[32];
    (void)state;
    memset(&now, 0, sizeof(now));
    for (unsigned i = 0; i < 4 * 4; i++) {
        now.type = F16;
        now.ftz = i / 4 % 2;
        now.sat = i / 8 % 2;
        snprintf(
            modifiers, sizeof(modifiers), ".rn%s%s", now.ftz ? ".ftz" : "", now.sat ? ".sat" : "");
        form(ops[i % 4], modifiers, i % 4 == 3 ? 3 : 2, arithmetic);
    }
    memset(&now, 0, sizeof(now));
    now.type = BF16;
    for (unsigned i = 0; i < 4; i++)
        form(ops[i], ".rn", i == 3 ? 3 : 2, arithmetic);
    now.flag = true;
    form("fma", ".rn.relu", 3, arithmetic);
    now.type = F16;
    form("fma", ".rn.relu", 3, arithmetic);
}

static u64 both_halves(u64 a, u64 b, u64 c)
{
    return arithmetic(a & 0xffff, b & 0xffff, c & 0xffff) |
           arithmetic(a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff) << 16;
}

static void pairs_of_halves(void **state)
{
    static const char *const ops[] = {"add", "sub", "mul", "fma"};
    char text[128];
    (void)state;
    memset(&now, 0, sizeof(now));
    for (unsigned i = 0; i < 8; i++) {
        now.type = i / 4 ? BF16 : F16;
        now.op = ops[i % 4];
        snprintf(text, sizeof(text), "%s.rn.%sx2 D, A, B%s;", now.op, type_names[now.type],
            i % 4 == 3 ? ", C" : "");
        run_form(text, 4, 4, 4, i % 4 == 3 ? 4 : 0, both_halves, 0);
    }
    now.type = F16;
    now.ftz = true;
    for (unsigned i = 0; i < 4; i++) {
        now.op = ops[i];
        snprintf(text, sizeof(text), "%s.rn.ftz.f16x2 D, A, B%s;", now.op, i == 3 ? ", C" : "");
        run_form(text, 4, 4, 4, i == 3 ? 4 : 0, both_halves, 0);
    }
}

static void quotients_and_roots(void **state)
{
    char modifiers[32];
    (void)state;
    memset(&now, 0, sizeof(now));
    for (enum conform_type t = F32; t <= F64; t++) {
        for (unsigned i = 0; i < 8; i++) {
            now.type = t;
            now.mode = i % 4;
            now.ftz = i / 4;
            if (t == F64 && now.ftz)
                continue;
            snprintf(
                modifiers, sizeof(modifiers), ".%s%s", roundings[now.mode], now.ftz ? ".ftz" : "");
            form("div", modifiers, 2, divided);
            form("rcp", modifiers, 1, divided);
            form("sqrt", modifiers, 1, rooted);
        }
    }
}

/* --- the smaller and the larger --- */

static u64 min_max(u64 a, u64 b, u64 c)
{
    const u64 sign = UINT64_C(1) << (8 * type_bytes[now.type] - 1);
    double x = in(a), y = in(b);
    const bool max = now.op[1] == 'a', minus = (a ^ b) & sign;
    (void)c;
    if (now.sat) { /* .xorsign.abs */
        x = fabs(x);
        y = fabs(y);
    }
    double r;
    if (isnan(x) && isnan(y))
        r = NAN;
    else if (isnan(x) || isnan(y))
        r = now.flag ? NAN : isnan(x) ? y : x;
    else if (x == y)
        r = max == !signbit(x) ? x : y; /* -0 is less than +0 */
    else
        r = (x < y) != max ? x : y;
    if (now.sat && !isnan(r))
        r = minus ? -fabs(r) : fabs(r);
    return put(r, now.type);
}

static u64 min_max_pair(u64 a, u64 b, u64 c)
{
    return min_max(a & 0xffff, b & 0xffff, c) | min_max(a >> 16 & 0xffff, b >> 16 & 0xffff, c)
                                                    << 16;
}

static void smaller_and_larger(void **state)
{
    static const enum conform_type types[] = {F32, F64, F16, BF16};
    char text[160];
    (void)state;
    memset(&now, 0, sizeof(now));
    for (unsigned i = 0; i < 4 * 2 * 2 * 2 * 2; i++) {
        now.type = types[i % 4];
        now.op = i / 4 % 2 ? "max" : "min";
        now.ftz = i / 8 % 2;
        now.flag = i / 16 % 2; /* .NaN */
        now.sat = i / 32 % 2;  /* .xorsign.abs */
        if ((now.type == F64 && (now.ftz || now.flag || now.sat)) || (now.type == BF16 && now.ftz))
            continue;
        snprintf(text, sizeof(text), "%s%s%s%s.%s D, A, B;%s", now.op, now.ftz ? ".ftz" : "",
            now.flag ? ".NaN" : "", now.sat ? ".xorsign.abs" : "", type_names[now.type],
            now.type == F64 ? QUIET64 : "");
        run_form(
            text, type_bytes[now.type], type_bytes[now.type], type_bytes[now.type], 0, min_max, 0);
        if (type_bytes[now.type] != 2 || now.sat)
            continue;
        snprintf(text, sizeof(text), "%s%s%s.%sx2 D, A, B;", now.op, now.ftz ? ".ftz" : "",
            now.flag ? ".NaN" : "", type_names[now.type]);
        run_form(text, 4, 4, 4, 0, min_max_pair, 0);
    }
}

/* --- signs --- */

static u64 signs(u64 a, u64 b, u64 c)
{
    const u64 sign = UINT64_C(1) << (8 * type_bytes[now.type] - 1);
    (void)c;
    if (now.ftz && flushed(get(a, now.type), now.type) == 0)
        a &= sign;
    return now.op[0] == 'n' ? a ^ sign : now.op[0] == 'a' ? a & ~sign : (a & sign) | (b & ~sign);
}

static void signs_of_all_types(void **state)
{
    static const enum conform_type types[] = {F32, F64, F16, BF16};
    char text[128];
    (void)state;
    memset(&now, 0, sizeof(now));
    for (unsigned i = 0; i < 4; i++) {
        const unsigned n = type_bytes[now.type = types[i]];
        for (unsigned f = 0; f < (now.type == F32 ? 2 : 1); f++) {
            now.ftz = f;
            now.op = "neg";
            snprintf(text, sizeof(text), "neg%s.%s D, A;", f ? ".ftz" : "", type_names[now.type]);
            run_form(text, n, n, 0, 0, signs, 0);
            now.op = "abs";
            snprintf(text, sizeof(text), "abs%s.%s D, A;", f ? ".ftz" : "", type_names[now.type]);
            run_form(text, n, n, 0, 0, signs, 0);
        }
        now.ftz = false;
        now.op = "copysign";
        snprintf(text, sizeof(text), "copysign.%s D, A, B;", type_names[now.type]);
        if (now.type == F32 || now.type == F64)
            run_form(text, n, n, n, 0, signs, 0);
    }
}

/* --- comparisons and tests --- */

static const char *const compares[] = {
    "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

static bool compare(double x, double y)
{
    const bool none = isnan(x) || isnan(y);
    switch (now.mode) {
    case 12:
        return !none;
    case 13:
        return none;
    default:
        break;
    }
    if (none)
        return now.mode >= 6;
    switch (now.mode % 6) {
    case 0:
        return x == y;
    case 1:
        return x != y;
    case 2:
        return x < y;
    case 3:
        return x <= y;
    case 4:
        return x > y;
    default:
        return x >= y;
    }
}

static u64 compared(u64 a, u64 b, u64 c)
{
    (void)c;
    return compare(in(a), in(b));
}

static u64 set_to(u64 a, u64 b, u64 c)
{
    (void)c;
    return compare(in(a), in(b)) ? now.sat ? 0x3f800000u : 0xffffffffu : 0;
}

static u64 tested(u64 a, u64 b, u64 c)
{
    const double v = get(a, now.type);
    (void)b, (void)c;
    switch (now.mode) {
    case 0:
        return isfinite(v);
    case 1:
        return isinf(v) != 0;
    case 2:
        return !isnan(v);
    case 3:
        return isnan(v);
    case 4:
        return isfinite(v) && flushed(v, now.type) != 0;
    default:
        return v != 0 && flushed(v, now.type) == 0;
    }
}

static void comparisons(void **state)
{
    static const enum conform_type types[] = {F32, F64, F16, BF16};
    static const char *const tests[] = {
        "finite", "infinite", "number", "notanumber", "normal", "subnormal"};
    char text[200];
    (void)state;
    memset(&now, 0, sizeof(now));
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned f = 0; f < (types[i] == F32 || types[i] == F16 ? 2 : 1); f++) {
            const unsigned n = type_bytes[now.type = types[i]];
            now.ftz = f;
            for (now.mode = 0; now.mode < 14; now.mode++) {
                snprintf(text, sizeof(text), "setp.%s%s.%s P, A, B;\nselp.b32 D, 1, 0, P;",
                    compares[now.mode], f ? ".ftz" : "", type_names[now.type]);
                run_form(text, 4, n, n, 0, compared, 0);
                for (unsigned to = 0; to < 3 && now.type <= F64 && now.type >= F32; to++) {
                    static const char *const names[] = {"u32", "s32", "f32"};
                    now.sat = to == 2;
                    snprintf(text, sizeof(text), "set.%s%s.%s.%s D, A, B;", compares[now.mode],
                        f ? ".ftz" : "", names[to], type_names[now.type]);
                    run_form(text, 4, n, n, 0, set_to, 0);
                    now.sat = false;
                }
            }
        }
    }
    now.ftz = false;
    for (now.type = F32; now.type <= F64; now.type++) {
        for (now.mode = 0; now.mode < 6; now.mode++) {
            snprintf(text, sizeof(text), "testp.%s.%s P, A;\nselp.b32 D, 1, 0, P;", tests[now.mode],
                type_names[now.type]);
            run_form(text, 4, type_bytes[now.type], 0, 0, tested, 0);
        }
    }
}

/* --- conversions --- */

static u64 between_floats(u64 a, u64 b, u64 c)
{
    double v = get(a, now.type2);
    (void)b, (void)c;
    if (now.ftz && now.type2 == F32)
        v = flushed(v, F32);
    double r = round_to(v, 0, now.type, (enum rounding)now.mode);
    if (now.ftz && now.type == F32)
        r = flushed(r, F32);
    if (now.sat)
        r = isnan(r) || r <= 0 ? 0 : r > 1 ? 1 : r;
    if (now.flag && r <= 0)
        r = 0;
    return put(r, now.type);
}

static double whole(double v)
{
    switch (now.mode) {
    case RN:
        return nearbyint(v);
    case RZ:
        return trunc(v);
    case RM:
        return floor(v);
    default:
        return ceil(v);
    }
}

static u64 to_whole(u64 a, u64 b, u64 c)
{
    double v = get(a, now.type2);
    (void)b, (void)c;
    if (now.ftz && now.type2 == F32)
        v = flushed(v, F32);
    return put(whole(v), now.type);
}

static u64 to_integer(u64 a, u64 b, u64 c)
{
    const unsigned n = 8 * type_bytes[now.type];
    const bool is_signed = is_signed_type(now.type);
    double v = get(a, now.type2);
    (void)b, (void)c;
    if (now.ftz && now.type2 == F32)
        v = flushed(v, F32);
    v = whole(v);
    const double lo = is_signed ? -ldexp(1, (int)n - 1) : 0, hi = ldexp(1, (int)n - is_signed);
    u64 r;
    if (isnan(v)) /* PTX ISA 9.0, cvt: the top bit when f64 or 64 bits take part, else zero */
        r = n == 64 || now.type2 == F64 ? UINT64_C(1) << (n - 1) : 0;
    else if (v <= lo)
        r = is_signed ? (u64)1 << (n - 1) : 0;
    else if (v >= hi)
        r = ((u64)1 << (n - 1)) - 1 + (is_signed ? 0 : (u64)1 << (n - 1));
    else
        r = is_signed ? (u64)(int64_t)v : (u64)v;
    return n < 32 && is_signed ? (u64)((int64_t)(r << (64 - n)) >> (64 - n)) : r;
}

static u64 of_integer(u64 a, u64 b, u64 c)
{
    const unsigned n = 8 * type_bytes[now.type2];
    const __int128 v = is_signed_type(now.type2) ? (__int128)((int64_t)(a << (64 - n)) >> (64 - n))
                                                 : (__int128)(a & (~UINT64_C(0) >> (64 - n)));
    const double near = (double)v;
    const __int128 off = v - (__int128)near;
    const int side = off > 0 ? 1 : off < 0 ? -1 : 0;
    (void)b, (void)c;
    const double r = now.type == F64 ? step(near, side, (enum rounding)now.mode)
                                     : round_to(near, side, now.type, (enum rounding)now.mode);
    return put(r, now.type);
}

static void conversions_between_floats(void **state)
{
    static const enum conform_type types[] = {F16, BF16, F32, F64};
    char text[200];
    (void)state;
    memset(&now, 0, sizeof(now));
    for (unsigned i = 0; i < 16 * 4; i++) {
        now.type = types[i / 4 % 4];
        now.type2 = types[i % 4];
        now.mode = i / 16;
        const bool narrows = type_bytes[now.type] < type_bytes[now.type2];
        const bool half_pair = type_bytes[now.type] == 2 && type_bytes[now.type2] == 2;
        const bool brain = now.type == BF16 || now.type2 == BF16;
        if (now.type == now.type2 || half_pair || (!narrows && now.mode != RN) ||
            (brain && (now.type == F64 || now.type2 == F64)) ||
            (type_bytes[now.type] == 2 && now.mode > RZ))
            continue;
        snprintf(text, sizeof(text), "cvt%s%s.%s.%s D, A;%s", narrows ? "." : "",
            narrows ? roundings[now.mode] : "", type_names[now.type], type_names[now.type2],
            now.type == F64 ? QUIET64 : "");
        run_form(text, type_bytes[now.type], type_bytes[now.type2], 0, 0, between_floats, 0);
    }
    now.mode = RN;
    now.ftz = true;
    now.type = F32;
    now.type2 = F64;
    run_form("cvt.rn.ftz.f32.f64 D, A;", 4, 8, 0, 0, between_floats, 0);
    now.ftz = false;
    now.sat = true;
    run_form("cvt.rn.sat.f32.f64 D, A;", 4, 8, 0, 0, between_floats, 0);
    now.type2 = F16;
    run_form("cvt.sat.f32.f16 D, A;", 4, 2, 0, 0, between_floats, 0);
    now.type = F16;
    now.type2 = F32;
    run_form("cvt.rn.sat.f16.f32 D, A;", 2, 4, 0, 0, between_floats, 0);
    now.sat = false;
    now.flag = true;
    run_form("cvt.rn.relu.f16.f32 D, A;", 2, 4, 0, 0, between_floats, 0);
    now.type = BF16;
    run_form("cvt.rn.relu.bf16.f32 D, A;", 2, 4, 0, 0, between_floats, 0);
    now.flag = false;
}

static void conversions_to_whole_numbers(void **state)
{
    static const enum conform_type floats[] = {F16, F32, F64};
    static const enum conform_type ints[] = {U8, S8, U16, S16, U32, S32, U64, S64};
    char text[200];
    (void)state;
    memset(&now, 0, sizeof(now));
    for (unsigned f = 0; f < 3; f++) {
        for (now.mode = 0; now.mode < 4; now.mode++) {
            for (unsigned z = 0; z < (floats[f] == F32 ? 2 : 1); z++) {
                now.ftz = z;
                now.type = now.type2 = floats[f];
                snprintf(text, sizeof(text), "cvt.%si%s.%s.%s D, A;%s", roundings[now.mode],
                    z ? ".ftz" : "", type_names[now.type], type_names[now.type2],
                    now.type == F64 ? QUIET64 : "");
                run_form(text, type_bytes[now.type], type_bytes[now.type], 0, 0, to_whole, 0);
                for (unsigned i = 0; i < 8; i++) {
                    now.type = ints[i];
                    const unsigned d = type_bytes[now.type];
                    snprintf(text, sizeof(text), "cvt.%si%s.%s.%s D, A;", roundings[now.mode],
                        z ? ".ftz" : "", type_names[now.type], type_names[now.type2]);
                    run_form(text, d == 1 ? 4 : d, type_bytes[now.type2], 0, 0, to_integer, 0);
                }
            }
            now.ftz = false;
            for (unsigned i = 0; i < 8; i++) {
                now.type = floats[f];
                now.type2 = ints[i];
                const unsigned a = type_bytes[now.type2];
                snprintf(text, sizeof(text), "cvt.%s.%s.%s D, A;", roundings[now.mode],
                    type_names[now.type], type_names[now.type2]);
                run_form(text, type_bytes[now.type], a == 1 ? 4 : a, 0, 0, of_integer, 0);
            }
        }
    }
}

/* --- approximations: the tolerance that the manual states --- */

static u64 approximated(u64 a, u64 b, u64 c)
{
    const double x = in(a), y = in(b);
    double v;
    (void)c;
    if (is("div"))
        v = x / y;
    else if (is("rcp"))
        v = 1 / x;
    else if (is("sqrt"))
        v = sqrt(x);
    else if (is("rsqrt"))
        v = 1 / sqrt(x);
    else if (is("ex2"))
        v = exp2(x);
    else if (is("lg2"))
        v = log2(x);
    else
        v = tanh(x);
    if (now.type != F64)
        v = round_to(v, 0, now.type, RN);
    return put(now.ftz ? flushed(v, now.type) : v, now.type);
}

static void approximations(void **state)
{
    /* maximum relative errors of PTX ISA 9.0, 9.7.3; div.approx holds for divisors to 2^126 only */
    static const struct {
        const char *op;
        double tolerance;
    } ops[] = {{"rcp", 1.2e-7}, {"sqrt", 1.6e-7}, {"rsqrt", 1.8e-7}, {"ex2", 2.5e-7},
        {"lg2", 2.4e-7}, {"tanh", 4.9e-4}};
    char text[200];
    (void)state;
    memset(&now, 0, sizeof(now));
    now.type = F32;
    for (unsigned i = 0; i < 6; i++) {
        for (unsigned f = 0; f < (i == 5 ? 1 : 2); f++) {
            now.ftz = f;
            now.op = ops[i].op;
            snprintf(text, sizeof(text), "%s.approx%s.f32 D, A;", now.op, f ? ".ftz" : "");
            run_form(text, 4, 4, 0, 0, approximated, ops[i].tolerance);
        }
    }
    now.op = "div";
    for (unsigned f = 0; f < 2; f++) {
        now.ftz = f;
        snprintf(text, sizeof(text), "div.full%s.f32 D, A, B;", f ? ".ftz" : "");
        run_form(text, 4, 4, 4, 0, approximated, 2.4e-7);
    }
}

/* sin, cos: absolute error within 2^-20.5 for arguments in [-pi, pi]; compared with 2 added, where
 * half of that is a relative error of 2^-21.5. */
static u64 waves(u64 a, u64 b, u64 c)
{
    const double x = in(a);
    (void)b, (void)c;
    return put(fabs(x) <= 3.14159265 ? 2 + (now.op[0] == 's' ? sin(x) : cos(x)) : 0, F32);
}

static void sines(void **state)
{
    char text[300];
    (void)state;
    memset(&now, 0, sizeof(now));
    now.type = F32;
    for (unsigned i = 0; i < 4; i++) {
        now.op = i % 2 ? "cos" : "sin";
        now.ftz = i / 2;
        snprintf(text, sizeof(text),
            ".reg .f32 t;\nabs.f32 t, A;\nsetp.leu.f32 P, t, 0f40490FDA;\n"
            "setp.num.and.f32 P, t, t, P;\n%s.approx%s.f32 t, A;\nadd.f32 D, t, 0f40000000;\n"
            "@!P mov.b32 D, 0;",
            now.op, now.ftz ? ".ftz" : "");
        run_form(text, 4, 4, 0, 0, waves, 3.4e-7);
    }
}

static void there_were_many_forms(void **state)
{
    (void)state;
    print_message("%u forms\n", nr_forms);
    assert_true(nr_forms > 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_in_all_roundings),
        cmocka_unit_test(halves),
        cmocka_unit_test(pairs_of_halves),
        cmocka_unit_test(quotients_and_roots),
        cmocka_unit_test(smaller_and_larger),
        cmocka_unit_test(signs_of_all_types),
        cmocka_unit_test(comparisons),
        cmocka_unit_test(conversions_between_floats),
        cmocka_unit_test(conversions_to_whole_numbers),
        cmocka_unit_test(approximations),
        cmocka_unit_test(sines),
        cmocka_unit_test(there_were_many_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
