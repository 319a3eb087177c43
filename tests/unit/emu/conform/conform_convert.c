/* Conformance of conversions: every form of cvt between integers and floating-point types, fp8 and
 * tf32 included, against exact arithmetic. */
#include "conform_numbers.h"

typedef __int128 wide;

enum kind { INTEGER, FLOAT, TF32, FP8 };

struct side {
    enum kind kind;
    enum conform_type type; /* INTEGER, FLOAT; the type of a TF32's register is F32 */
    bool e5m2;
    unsigned values; /* in one register */
    unsigned bytes;  /* of the register */
};

static struct {
    struct side to, from;
    bool rounds_to_whole, away, satfinite, copies; /* copies: no modifiers */
} how;

/* --- numbers of eight bits: the OCP formats e4m3 and e5m2 --- */

static double of_fp8(unsigned bits, bool e5m2)
{
    const int m_bits = e5m2 ? 2 : 3, bias = e5m2 ? 15 : 7;
    const int e = (int)(bits >> m_bits) & (e5m2 ? 31 : 15), m = (int)bits & ((1 << m_bits) - 1);
    double v;
    if (e5m2 && e == 31)
        v = m ? NAN : INFINITY;
    else if (!e5m2 && (bits & 0x7f) == 0x7f)
        v = NAN;
    else
        v = e ? ldexp((1 << m_bits) + m, e - bias - m_bits) : ldexp(m, 1 - bias - m_bits);
    return bits & 0x80 ? -v : v;
}

/* The nearest, found by trying them all; even on a tie; too large ones and infinity become the
 * largest. */
static unsigned to_fp8(double v, bool e5m2)
{
    unsigned best = 0;
    double off = INFINITY;
    if (isnan(v))
        return 0x7f;
    if (fabs(v) > (e5m2 ? 57344 : 448))
        v = copysign(e5m2 ? 57344 : 448, v);
    for (unsigned b = 0; b < 0x80; b++) {
        const double x = of_fp8(b, e5m2);
        if (isnan(x) || isinf(x))
            continue;
        const double d = fabs(fabs(v) - x);
        if (d < off || (d == off && b % 2 == 0)) {
            off = d;
            best = b;
        }
    }
    return best | (signbit(v) ? 0x80 : 0);
}

/* --- one value --- */

static wide integer(u64 bits, enum conform_type t)
{
    const unsigned shift = 64 - 8 * type_bytes[t];
    return is_signed_type(t) ? (wide)((int64_t)(bits << shift) >> shift)
                             : (wide)(bits << shift >> shift);
}

static u64 clamped(wide v, enum conform_type t)
{
    const unsigned n = 8 * type_bytes[t];
    const wide lo = is_signed_type(t) ? -((wide)1 << (n - 1)) : 0;
    const wide hi = ((wide)1 << (n - is_signed_type(t))) - 1;
    return (u64)(v < lo ? lo : v > hi ? hi : v);
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

/* Floats to integers clamp always; NaN: PTX ISA 9.0, cvt: the top bit when f64 or 64 bits take
 * part, else zero. */
static u64 float_to_integer(double v)
{
    const enum conform_type t = how.to.type;
    const unsigned n = 8 * type_bytes[t];
    const bool is_signed = is_signed_type(t);
    v = whole(v);
    const double lo = is_signed ? -ldexp(1, (int)n - 1) : 0, hi = ldexp(1, (int)n - is_signed);
    if (isnan(v))
        return n == 64 || how.from.type == F64 ? UINT64_C(1) << (n - 1) : 0;
    if (v <= lo)
        return clamped(-((wide)1 << 100), t);
    return v >= hi ? clamped((wide)1 << 100, t) : (u64)(wide)v;
}

static double limits(double r, enum conform_type t)
{
    if (now.sat)
        r = isnan(r) || r <= 0 ? 0 : r > 1 ? 1 : r;
    if (now.flag && !isnan(r) && r <= 0) /* relu */
        r = 0;
    if (how.satfinite && fabs(r) > largest(t))
        r = copysign(largest(t), r);
    return r;
}

/* Ten bits of fraction. */
static u64 to_tf32(double v)
{
    if (isnan(v))
        return 0x7fffe000;
    int e;
    frexp(v, &e);
    const double unit = ldexp(1, (e - 1 < -126 || v == 0 ? -126 : e - 1) - 10);
    double n = v / unit, r = isinf(v) ? v : 0;
    if (!isinf(v))
        r = (how.away ? round(n) : now.mode == RZ ? trunc(n) : nearbyint(n)) * unit;
    if (fabs(r) > 0x1.ffcp127)
        r = how.satfinite ? copysign(0x1.ffcp127, r) : copysign(INFINITY, r);
    if (now.flag && r <= 0)
        r = 0;
    return put(r == 0 ? copysign(0, now.flag ? 1 : v) : r, F32);
}

/* off: which side of v the true value lies on. */
static u64 to_float(double v, int off)
{
    const enum conform_type t = how.to.type;
    if (how.from.type == F32 && how.from.kind == FLOAT && now.ftz && t != F16)
        v = flushed(v, F32); /* an H100 rounds them to f16 */
    if (how.to.kind == TF32)
        return to_tf32(v);
    if (how.to.kind == FP8)
        return to_fp8(now.flag && v <= 0 ? 0 : v, how.to.e5m2);
    double r = v;
    if (how.rounds_to_whole)
        r = whole(v);
    else if (t != F64)
        r = round_to(v, off, t, (enum rounding)now.mode);
    else if (off && now.mode != RN)
        r = now.mode == RM || (now.mode == RZ && v > 0) ? (off < 0 ? nextafter(v, -INFINITY) : v)
                                                        : (off > 0 ? nextafter(v, INFINITY) : v);
    if (t == F32 && now.ftz)
        r = flushed(r, F32);
    return put(limits(r, t), t);
}

static u64 of_integer(wide v)
{
    const double near = (double)v;
    const wide off = v - (wide)near;
    return to_float(near, off > 0 ? 1 : off < 0 ? -1 : 0);
}

/* The NaNs that an H100 does not make canonical (keet-conform-gpu): from f64 the upper bits stay;
 * from bf16 all; a cvt of f32 that does nothing does nothing; .rna to tf32 cuts. */
static bool kept_nan(u64 bits, u64 *r)
{
    const bool plain = how.from.kind == FLOAT && how.to.kind == FLOAT && !now.sat && !now.flag;
    if (how.from.kind != FLOAT || !isnan(get(bits, how.from.type)))
        return false;
    if (how.to.kind == TF32 && how.away)
        *r = (bits & 0xffffe000) - (how.satfinite ? 0x2000 : 0);
    else if (plain && how.from.type == F64 && how.to.type == F32)
        *r = (bits >> 32 & 0x80000000) | 0x7fc00000 | (bits >> 29 & 0x3fffff);
    else if (plain && how.from.type == F64 && how.to.type == F16)
        *r = (bits >> 48 & 0x8000) | 0x7e00 | (bits >> 42 & 0x1ff);
    else if (plain && how.from.type == F64 && how.to.type == BF16)
        *r = (bits >> 48 & 0x8000) | 0x7fc0 | (bits >> 45 & 0x3f);
    else if (plain && how.from.type == BF16 && how.to.type == F32 && !how.rounds_to_whole &&
             !now.ftz)
        *r = bits << 16;
    else if (plain && how.from.type == F32 && how.to.type == F32 && how.copies)
        *r = bits;
    else
        return false;
    return true;
}

static u64 one(u64 bits)
{
    u64 nan;
    if (kept_nan(bits, &nan))
        return nan;
    if (how.from.kind == INTEGER && how.to.kind == INTEGER) {
        const wide v = integer(bits, how.from.type);
        const u64 r = now.sat ? clamped(v, how.to.type) : (u64)v;
        return (u64)integer(r, how.to.type); /* wider registers hold it extended */
    }
    if (how.from.kind == INTEGER)
        return of_integer(integer(bits, how.from.type));
    double v = how.from.kind == FP8 ? of_fp8((unsigned)bits & 0xff, how.from.e5m2)
                                    : get(bits, how.from.type);
    if (how.to.kind == INTEGER) {
        v = now.ftz && how.from.type == F32 ? flushed(v, F32) : v;
        return (u64)integer(float_to_integer(v), how.to.type);
    }
    return to_float(v, 0);
}

/* Packed results: of two f32 the first goes to the upper half; of a packed source, half by half. */
static u64 converted(u64 a, u64 b, u64 c)
{
    const unsigned to_bits = 4 * how.to.bytes, from_bits = 4 * how.from.bytes;
    (void)c;
    if (how.to.values == 1)
        return one(a);
    const u64 mask = (UINT64_C(1) << to_bits) - 1, from = (UINT64_C(1) << from_bits) - 1;
    if (how.from.values == 1)
        return (one(b) & mask) | (one(a) & mask) << to_bits;
    return (one(a & from) & mask) | (one(a >> from_bits & from) & mask) << to_bits;
}

/* --- forms --- */

static struct side side_called(const char *name, size_t len)
{
    struct side s = {.kind = FLOAT, .values = 1};
    if (len > 2 && strncmp(name + len - 2, "x2", 2) == 0) {
        s.values = 2;
        len -= 2;
    }
    s.e5m2 = strncmp(name, "e5m2", 4) == 0;
    if (strncmp(name, "e4m3", 4) == 0 || s.e5m2)
        s.kind = FP8;
    if (strncmp(name, "tf32", 4) == 0)
        s.kind = TF32;
    s.type = s.kind == FP8 ? F16 : F32;
    for (unsigned t = 0; t < NR_TYPES; t++) {
        if (strlen(type_names[t]) == len && strncmp(type_names[t], name, len) == 0)
            s.type = (enum conform_type)t;
    }
    s.kind = s.kind == FLOAT && s.type < F16 ? INTEGER : s.kind;
    s.bytes = s.kind == FP8 ? 2 : s.values * type_bytes[s.type];
    return s;
}

static void read_form(const char *modifiers)
{
    static const char *const modes[] = {"rn", "rz", "rm", "rp"};
    const char *from = strrchr(modifiers, '.') + 1, *to = from - 1;
    while (to[-1] != '.')
        to--;
    memset(&how, 0, sizeof(how));
    memset(&now, 0, sizeof(now));
    how.from = side_called(from, strlen(from));
    how.to = side_called(to, (size_t)(from - 1 - to));
    for (unsigned m = 0; m < 4; m++) {
        const char integral[] = {modes[m][0], modes[m][1], 'i', 0};
        how.rounds_to_whole |= has_word(modifiers, integral);
        if (has_word(modifiers, integral) || has_word(modifiers, modes[m]))
            now.mode = m;
    }
    how.copies = strcmp(modifiers, ".f32.f32") == 0;
    how.away = has_word(modifiers, "rna");
    how.satfinite = has_word(modifiers, "satfinite");
    now.ftz = has_word(modifiers, "ftz");
    now.sat = has_word(modifiers, "sat");
    now.flag = has_word(modifiers, "relu");
}

/* cvt.pack: now.mode bits of a above as many of b, above them what is left of c. */
static u64 packed(u64 a, u64 b, u64 c)
{
    const wide top = ((wide)1 << (now.mode - now.flag)) - 1, bottom = now.flag ? -top - 1 : 0;
    const wide in[2] = {(int32_t)b, (int32_t)a};
    wide r = (wide)c << 2 * now.mode;
    for (unsigned i = 0; i < 2; i++) {
        const wide v = in[i] > top ? top : in[i] < bottom ? bottom : in[i];
        r |= (v & (((wide)1 << now.mode) - 1)) << i * now.mode;
    }
    return (u64)r & 0xffffffff;
}

static void run_pack(const char *op, const char *modifiers)
{
    char text[200];
    const char *type = strstr(modifiers, ".sat.") + 5;
    memset(&now, 0, sizeof(now));
    now.mode = (unsigned)atoi(type + 1);
    now.flag = type[0] == 's';
    snprintf(text, sizeof(text), "%s%s D, A, B%s;", op, modifiers, now.mode < 16 ? ", C" : "");
    run_form(text, 4, 4, 4, now.mode < 16 ? 4 : 0, packed, 0);
}

static void run_cvt(const char *op, const char *modifiers, void *context)
{
    char text[200];
    if (strstr(modifiers, ".pack")) {
        run_pack(op, modifiers);
        return;
    }
    read_form(modifiers);
    const bool two = how.to.values == 2 && how.from.values == 1;
    const unsigned d = how.to.bytes == 1 ? 4 : how.to.bytes;
    const unsigned a = how.from.bytes == 1 ? 4 : how.from.bytes;
    snprintf(text, sizeof(text), "%s%s D, A%s;%s", op, modifiers, two ? ", B" : "",
        how.to.type == F64 && how.to.kind == FLOAT
            ? "\nsetp.nan.f64 P, D, D;\n@P mov.b64 D, 0x7ff8000000000000;"
            : "");
    run_form(text, d, a, two ? a : 0, 0, converted, 0);
}

static void conversions(void **state)
{
    (void)state;
    syntax_each("cvt", run_cvt, NULL);
    print_message("%u forms\n", nr_forms);
    assert_true(nr_forms > 800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(conversions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
