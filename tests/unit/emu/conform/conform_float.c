/* Conformance of the floating-point operations: every type, rounding mode, .ftz and .sat that PTX
 * ISA 9.0 lists for them, against exact arithmetic in 113 bits. */
#include "conform_numbers.h"

typedef __float128 quad;

static const char *const roundings[] = {"rn", "rz", "rm", "rp"};

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

/* --- signs --- */

/* neg and abs of a NaN: the canonical one, of f64 the same (an H100, by keet-conform-gpu). */
static u64 signs(u64 a, u64 b, u64 c)
{
    const u64 sign = UINT64_C(1) << (8 * type_bytes[now.type] - 1);
    (void)c;
    if (isnan(get(a, now.type)) && now.op[0] != 'c')
        return now.type == F64 ? a : put(NAN, now.type);
    if (now.ftz && flushed(get(a, now.type), now.type) == 0)
        a &= sign;
    return now.op[0] == 'n' ? a ^ sign : now.op[0] == 'a' ? a & ~sign : (a & sign) | (b & ~sign);
}

/* --- every form of these --- */

static u64 (*single)(u64, u64, u64); /* of one half */

static u64 both_halves(u64 a, u64 b, u64 c)
{
    return (single(a & 0xffff, b & 0xffff, c & 0xffff) & 0xffff) |
           (single(a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff) & 0xffff) << 16;
}

/* A form of a list: what it is into `now`, and its operands' bytes; false: not of floats. */
static bool read_form(const char *op, const char *modifiers, unsigned *bytes)
{
    const char *type = strrchr(modifiers, '.') + 1;
    const bool pair = strstr(type, "x2") != NULL;
    memset(&now, 0, sizeof(now));
    now.op = op;
    now.type = NR_TYPES;
    for (unsigned t = F16; t <= F64; t++) {
        if (strlen(type) == strlen(type_names[t]) + (pair ? 2 : 0) &&
            strncmp(type, type_names[t], strlen(type_names[t])) == 0)
            now.type = (enum conform_type)t;
    }
    for (unsigned r = RN; r <= RP; r++) {
        if (has_word(modifiers, roundings[r]))
            now.mode = r;
    }
    now.ftz = has_word(modifiers, "ftz");
    now.sat = has_word(modifiers, "sat") || has_word(modifiers, "xorsign");
    now.flag = has_word(modifiers, "relu") || has_word(modifiers, "NaN");
    *bytes = pair ? 4 : now.type == NR_TYPES ? 0 : type_bytes[now.type];
    return now.type != NR_TYPES;
}

struct exact_op {
    const char *op;
    unsigned nr_sources;
    u64 (*ref)(u64, u64, u64);
};

static void run_exact(const char *op, const char *modifiers, void *context)
{
    const struct exact_op *e = context;
    char text[200];
    unsigned n;
    if (!read_form(op, modifiers, &n) || has_word(modifiers, "approx") ||
        has_word(modifiers, "full"))
        return;
    snprintf(text, sizeof(text), "%s%s D, A%s%s;%s", op, modifiers, e->nr_sources > 1 ? ", B" : "",
        e->nr_sources > 2 ? ", C" : "", now.type == F64 && e->ref != signs ? QUIET64 : "");
    single = e->ref;
    run_form(text, n, n, e->nr_sources > 1 ? n : 0, e->nr_sources > 2 ? n : 0,
        n == type_bytes[now.type] ? e->ref : both_halves, 0);
}

static void exact_operations(void **state)
{
    static const struct exact_op ops[] = {{"add", 2, arithmetic}, {"sub", 2, arithmetic},
        {"mul", 2, arithmetic}, {"mad", 3, arithmetic}, {"fma", 3, arithmetic}, {"div", 2, divided},
        {"rcp", 1, divided}, {"sqrt", 1, rooted}, {"min", 2, min_max}, {"max", 2, min_max},
        {"abs", 1, signs}, {"neg", 1, signs}, {"copysign", 2, signs}};
    (void)state;
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        struct exact_op op = ops[i];
        syntax_each(op.op, run_exact, &op);
    }
}

/* --- tests --- */

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
        return isfinite(v) && (v == 0 || flushed(v, now.type) != 0);
    default:
        return v != 0 && flushed(v, now.type) == 0;
    }
}

static void tests_of_kind(void **state)
{
    static const char *const tests[] = {
        "finite", "infinite", "number", "notanumber", "normal", "subnormal"};
    char text[200];
    (void)state;
    memset(&now, 0, sizeof(now));
    for (now.type = F32; now.type <= F64; now.type++) {
        for (now.mode = 0; now.mode < 6; now.mode++) {
            snprintf(text, sizeof(text), "testp.%s.%s P, A;\nselp.b32 D, 1, 0, P;", tests[now.mode],
                type_names[now.type]);
            run_form(text, 4, type_bytes[now.type], 0, 0, tested, 0);
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
    if (now.type == BF16 && is("tanh") && v != 0) /* as an H100 does: of sixteen bits of fraction */
        v = nearbyint(v / (128 * unit_of(v, F32))) * 128 * unit_of(v, F32);
    if (fabs(v) >= (now.type == F16 ? 0x1p16 : 0x1p128) && now.type != F64)
        v = copysign(INFINITY, v);
    if (now.type != F64)
        v = round_to(v, 0, F32, RN);
    if (now.type < F32) /* halves are cut */
        v = round_to(v, 0, now.type, RZ);
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

/* Values of halves are compared as f32. now.mode: which half of two. */
static u64 approximated_half(u64 a, u64 b, u64 c)
{
    const u64 half = now.mode ? a >> 16 : a & 0xffff;
    const double v = get(approximated(half, b, c), now.type);
    return put(v, F32);
}

/* PTX ISA 9.0: ex2 of halves within 2^-9.9, of bf16 within 2^-7; tanh 2^-10.987 and 2^-8. */
static void approximations_of_halves(void **state)
{
    static const struct {
        const char *form;
        enum conform_type type;
        double tolerance;
    } forms[] = {{"ex2.approx.f16", F16, 0x1.2p-10}, {"ex2.approx.ftz.bf16", BF16, 0x1p-7},
        {"tanh.approx.f16", F16, 0x1p-10}, {"tanh.approx.bf16", BF16, 0x1p-8}};
    char text[300];
    (void)state;
    for (unsigned i = 0; i < 4 * 3; i++) {
        const bool pair = i / 4 > 0;
        memset(&now, 0, sizeof(now));
        now.op = i % 4 < 2 ? "ex2" : "tanh";
        now.type = forms[i % 4].type;
        now.ftz = i % 4 == 1;
        now.mode = i / 4 == 2;
        snprintf(text, sizeof(text),
            ".reg .b32 t;\n.reg .b16 l, h;\n%s%s %s, A;\n%s"
            "cvt.f32.%s D, %s;\nsetp.nan.f32 P, D, D;\n@P mov.b32 D, 0x7fffffff;",
            forms[i % 4].form, pair ? "x2" : "", pair ? "t" : "l",
            pair ? "mov.b32 {l, h}, t;\n" : "", type_names[now.type], now.mode ? "h" : "l");
        run_form(text, 4, pair ? 4 : 2, 0, 0, approximated_half, forms[i % 4].tolerance);
    }
}

/* Gross reciprocals: from the upper half of a number, subnormals as zeros. */
static u64 gross(u64 a, u64 b, u64 c)
{
    const double x = now.ftz ? flushed(get(a & ~UINT64_C(0xffffffff), F64), F64) : get(a, F64);
    const double v = now.op[1] == 'c' ? 1 / x : 1 / sqrt(x);
    (void)b, (void)c;
    return put(now.ftz ? flushed(v, F64) : v, F64);
}

/* Divisors above 2^126 give 0; a quotient's tolerance holds below. */
static u64 divided_roughly(u64 a, u64 b, u64 c)
{
    const double y = in(b);
    return fabs(y) > 0x1p126 && !isinf(y) ? 0 : approximated(a, b, c);
}

static void approximations_of_quotients(void **state)
{
    char text[300];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        memset(&now, 0, sizeof(now));
        now.type = F32;
        now.op = "div";
        now.ftz = i;
        snprintf(text, sizeof(text),
            ".reg .f32 t;\ndiv.approx%s.f32 D, A, B;\nabs.f32 t, B;\nsetp.gt.f32 P, t, "
            "0f7E800000;\n"
            "setp.neu.and.f32 P, t, 0f7F800000, P;\n@P mov.b32 D, 0;",
            i ? ".ftz" : "");
        run_form(text, 4, 4, 4, 0, divided_roughly, 2.4e-7);
        now.type = F64;
        now.op = "rsqrt";
        snprintf(text, sizeof(text), "rsqrt.approx%s.f64 D, A;%s", i ? ".ftz" : "", QUIET64);
        run_form(text, 8, 8, 0, 0, gross, i ? 0x1p-19 : 0x1p-22);
    }
    now.op = "rcp";
    now.ftz = true;
    run_form("rcp.approx.ftz.f64 D, A;" QUIET64, 8, 8, 0, 0, gross, 0x1p-19);
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
    assert_true(nr_forms > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_operations),
        cmocka_unit_test(tests_of_kind),
        cmocka_unit_test(approximations),
        cmocka_unit_test(approximations_of_halves),
        cmocka_unit_test(approximations_of_quotients),
        cmocka_unit_test(sines),
        cmocka_unit_test(there_were_many_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
