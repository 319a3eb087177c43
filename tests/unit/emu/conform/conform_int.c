/* Conformance of the integer operations: every type and modifier that PTX ISA 9.0 lists for them,
 * against 128-bit integer arithmetic. */
#include "conform.h"

typedef __int128 wide;
typedef unsigned __int128 uwide;
typedef uint64_t u64;

static wide value(u64 bits, enum conform_type t)
{
    const unsigned n = 8 * type_bytes[t];
    if (is_signed_type(t))
        return (wide)((int64_t)(bits << (64 - n)) >> (64 - n));
    return (wide)(n == 64 ? bits : bits & ((UINT64_C(1) << n) - 1));
}

static wide lowest(enum conform_type t)
{
    return is_signed_type(t) ? -((wide)1 << (8 * type_bytes[t] - 1)) : 0;
}

static wide highest(enum conform_type t)
{
    return ((wide)1 << (8 * type_bytes[t] - is_signed_type(t))) - 1;
}

static u64 clamp(wide v, enum conform_type t)
{
    return (u64)(v < lowest(t) ? lowest(t) : v > highest(t) ? highest(t) : v);
}

static bool is(const char *op)
{
    return strcmp(now.op, op) == 0;
}

enum half { LO, HI, WIDE };
static const char *const halves[] = {"lo", "hi", "wide"};

/* --- arithmetic --- */

static wide product(wide x, wide y)
{
    const wide p = (wide)((uwide)x * (uwide)y);
    if (now.mode != HI)
        return p;
    return is_signed_type(now.type) ? p >> (8 * type_bytes[now.type])
                                    : (wide)((uwide)p >> (8 * type_bytes[now.type]));
}

/* Division by zero gives all ones, and so does its remainder, on an H100 (keet-conform-gpu). */
static wide quotient(wide x, wide y)
{
    return y == 0 ? -1 : x / y;
}

static u64 arithmetic(u64 a, u64 b, u64 c)
{
    const wide x = value(a, now.type), y = value(b, now.type);
    const wide z = now.mode == WIDE ? (wide)c : value(c, now.type);
    wide r = 0;
    if (is("add"))
        r = x + y;
    else if (is("sub"))
        r = x - y;
    else if (is("mul"))
        r = product(x, y);
    else if (is("mad"))
        r = (wide)((uwide)product(x, y) + (uwide)z);
    else if (is("min"))
        r = x < y ? x : y;
    else if (is("max"))
        r = x > y ? x : y;
    else if (is("div"))
        r = quotient(x, y);
    else if (is("rem"))
        r = y == 0 ? -1 : x % y;
    else if (is("sad"))
        r = z + (x > y ? x - y : y - x);
    else if (is("abs"))
        r = x < 0 ? -x : x;
    else
        r = -x;
    if (now.flag && r < 0) /* relu */
        r = 0;
    return now.sat ? clamp(r, now.type) : (u64)r;
}

static void form(const char *op, enum conform_type t, unsigned nr, const char *modifier)
{
    char text[100];
    const unsigned n = type_bytes[t], d = now.mode == WIDE ? 2 * n : n;
    now.op = op;
    now.type = t;
    snprintf(text, sizeof(text), "%s%s.%s D, A%s%s;", op, modifier, type_names[t],
        nr > 1 ? ", B" : "", nr > 2 ? ", C" : "");
    run_form(text, d, n, nr > 1 ? n : 0, nr > 2 ? d : 0, arithmetic, 0);
}

static void arithmetic_of_all_types(void **state)
{
    (void)state;
    for (enum conform_type t = U16; t <= S64; t++) {
        static const char *const two[] = {"add", "sub", "min", "max", "div", "rem"};
        memset(&now, 0, sizeof(now));
        for (size_t i = 0; i < sizeof(two) / sizeof(*two); i++)
            form(two[i], t, 2, "");
        form("sad", t, 3, "");
        if (is_signed_type(t)) {
            form("abs", t, 1, "");
            form("neg", t, 1, "");
        }
        for (now.mode = LO; now.mode <= (type_bytes[t] < 8 ? WIDE : HI); now.mode++) {
            char modifier[8];
            snprintf(modifier, sizeof(modifier), ".%s", halves[now.mode]);
            form("mul", t, 2, modifier);
            form("mad", t, 3, modifier);
        }
    }
    memset(&now, 0, sizeof(now));
    now.sat = true;
    form("add", S32, 2, ".sat");
    form("sub", S32, 2, ".sat");
    now.mode = HI;
    form("mad", S32, 3, ".hi.sat");
    memset(&now, 0, sizeof(now));
    now.flag = true;
    form("min", S32, 2, ".relu");
    form("max", S32, 2, ".relu");
}

/* Two 16-bit halves at once. */
static u64 halves_at_once(u64 a, u64 b, u64 c)
{
    return (arithmetic(a & 0xffff, b & 0xffff, c) & 0xffff) |
           (arithmetic(a >> 16 & 0xffff, b >> 16 & 0xffff, c) & 0xffff) << 16;
}

static void pairs_of_halves(void **state)
{
    static const char *const ops[] = {"add", "min", "max"};
    char text[64];
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned s = 0; s < 2; s++) {
            memset(&now, 0, sizeof(now));
            now.op = ops[i];
            now.type = s ? S16 : U16;
            snprintf(text, sizeof(text), "%s.%s16x2 D, A, B;", ops[i], s ? "s" : "u");
            run_form(text, 4, 4, 4, 0, halves_at_once, 0);
            if (!s || !i)
                continue;
            now.flag = true;
            snprintf(text, sizeof(text), "%s.s16x2.relu D, A, B;", ops[i]);
            run_form(text, 4, 4, 4, 0, halves_at_once, 0);
        }
    }
}

static u64 of_24_bits(u64 a, u64 b, u64 c)
{
    wide x = (wide)(a & 0xffffff), y = (wide)(b & 0xffffff);
    if (now.type == S32) {
        x -= x >> 23 ? 1 << 24 : 0;
        y -= y >> 23 ? 1 << 24 : 0;
    }
    wide r = now.mode == HI ? x * y >> 16 : x * y;
    r = (wide)value((u64)r, now.type) + (now.flag ? value(c, now.type) : 0);
    return now.sat ? clamp(r, S32) : (u64)r;
}

static void products_of_24_bits(void **state)
{
    char text[64];
    (void)state;
    for (enum conform_type t = U32; t <= S32; t++) {
        for (unsigned mode = LO; mode <= HI; mode++) {
            memset(&now, 0, sizeof(now));
            now.type = t;
            now.mode = mode;
            snprintf(text, sizeof(text), "mul24.%s.%s D, A, B;", halves[mode], type_names[t]);
            run_form(text, 4, 4, 4, 0, of_24_bits, 0);
            now.flag = true;
            snprintf(text, sizeof(text), "mad24.%s.%s D, A, B, C;", halves[mode], type_names[t]);
            run_form(text, 4, 4, 4, 4, of_24_bits, 0);
        }
    }
    now.sat = true;
    run_form("mad24.hi.sat.s32 D, A, B, C;", 4, 4, 4, 4, of_24_bits, 0);
}

/* D, or (now.flag) what is carried out of it, of an operation on A, B, C; what is carried into it
 * is that of B + C or B - C. */
static u64 with_carry(u64 a, u64 b, u64 c)
{
    const unsigned n = 8 * type_bytes[now.type];
    const bool minus = now.op[0] == 's', takes = now.sat;
    const uwide one = (uwide)1 << n;
    uwide r, carry = 0;
    if (takes)
        carry = minus ? b < c : ((uwide)b + c) >> n;
    if (minus) {
        r = (uwide)a - b - carry;
        return now.flag ? (u64)(0 - (u64)((uwide)b + carry > a)) : (u64)r;
    }
    if (now.op[0] == 'a') {
        r = (uwide)a + b + carry;
    } else {
        const uwide p = (uwide)value(a, now.type) * (uwide)value(b, now.type);
        r = ((now.mode == HI ? p >> n : p) & (one - 1)) + c + carry;
    }
    return now.flag ? (u64)(r >> n) : (u64)r;
}

static void run_carry(const char *op, const char *modifiers, void *context)
{
    const bool takes = op[strlen(op) - 1] == 'c', gives = has_word(modifiers, "cc");
    char text[300];
    memset(&now, 0, sizeof(now));
    if (!takes && !gives)
        return;
    for (now.type = U32; strcmp(strrchr(modifiers, '.') + 1, type_names[now.type]) != 0;)
        now.type++;
    now.op = op;
    now.mode = has_word(modifiers, "hi") ? HI : LO;
    now.sat = takes;
    const unsigned n = type_bytes[now.type];
    const char *back = op[0] == 's' ? "sub" : "add", *t = type_names[now.type];
    for (unsigned out = 0; out < (gives ? 2 : 1); out++) {
        int at = snprintf(text, sizeof(text), ".reg .b%u t;\n", 8 * n);
        if (takes)
            at += snprintf(text + at, sizeof(text) - (size_t)at, "%s.cc.%s t, B, C;\n", back, t);
        at += snprintf(text + at, sizeof(text) - (size_t)at, "%s%s D, A, B%s;\n", op, modifiers,
            op[0] == 'm' ? ", C" : "");
        if (out)
            snprintf(text + at, sizeof(text) - (size_t)at, "%sc.%s D, 0, 0;", back, t);
        now.flag = out;
        run_form(text, n, n, n, n, with_carry, 0);
    }
}

static void carries_of_all_types(void **state)
{
    static const char *const ops[] = {"add", "addc", "sub", "subc", "mad", "madc"};
    (void)state;
    for (unsigned i = 0; i < 6; i++)
        syntax_each(ops[i], run_carry, NULL);
}

static u64 dot(u64 a, u64 b, u64 c)
{
    const bool two = is("dp2a");
    wide sum = (wide)(int32_t)c;
    for (unsigned i = 0; i < (two ? 2 : 4); i++) {
        const wide x = two ? value(a >> 16 * i & 0xffff, now.type == S8 ? S16 : U16)
                           : value(a >> 8 * i & 0xff, now.type);
        sum += x * value(b >> 8 * (i + (two && now.mode == HI ? 2 : 0)) & 0xff, now.type2);
    }
    return (u64)sum;
}

static void dot_products(void **state)
{
    char text[64];
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        now.type = i & 1 ? S8 : U8;
        now.type2 = i & 2 ? S8 : U8;
        now.op = "dp4a";
        snprintf(
            text, sizeof(text), "dp4a.%s32.%s32 D, A, B, C;", i & 1 ? "s" : "u", i & 2 ? "s" : "u");
        run_form(text, 4, 4, 4, 4, dot, 0);
        for (now.mode = LO; now.mode <= HI; now.mode++) {
            now.op = "dp2a";
            snprintf(text, sizeof(text), "dp2a.%s.%s32.%s32 D, A, B, C;", halves[now.mode],
                i & 1 ? "s" : "u", i & 2 ? "s" : "u");
            run_form(text, 4, 4, 4, 4, dot, 0);
        }
    }
}

/* --- bits --- */

static u64 logic(u64 a, u64 b, u64 c)
{
    const u64 all =
        type_bytes[now.type] == 8 ? ~UINT64_C(0) : (UINT64_C(1) << 8 * type_bytes[now.type]) - 1;
    (void)c;
    switch (now.op[0]) {
    case 'a':
        return a & b;
    case 'o':
        return a | b;
    case 'x':
        return a ^ b;
    case 'n':
        return ~a & all;
    default:
        return a == 0;
    }
}

static u64 by_table(u64 a, u64 b, u64 c)
{
    u64 r = 0;
    for (unsigned i = 0; i < 32; i++)
        r |= (u64)(now.mode >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1) << i;
    return r;
}

static void logic_of_all_types(void **state)
{
    static const char *const ops[] = {"and", "or", "xor", "not", "cnot"};
    char text[64];
    (void)state;
    for (enum conform_type t = B16; t <= B64; t++) {
        for (unsigned i = 0; i < 5; i++) {
            now.type = t;
            now.op = ops[i];
            snprintf(
                text, sizeof(text), "%s.%s D, A%s;", ops[i], type_names[t], i < 3 ? ", B" : "");
            run_form(text, type_bytes[t], type_bytes[t], i < 3 ? type_bytes[t] : 0, 0, logic, 0);
        }
    }
    for (now.mode = 0; now.mode < 256; now.mode++) {
        snprintf(text, sizeof(text), "lop3.b32 D, A, B, C, %u;", now.mode);
        run_form(text, 4, 4, 4, 4, by_table, 0);
    }
}

/* lop3 with a predicate: whether any bit is set, combined with another; for one table. */
static u64 table_and_predicate(u64 a, u64 b, u64 c)
{
    const u64 r = by_table(a, b, c);
    const bool q = (uint32_t)c > 5, p = (uint32_t)r != 0;
    const bool both = now.op[0] == 'a' ? p && q : p || q;
    return (r & 0xffffffff) | (u64)both << 32;
}

static void tables_with_predicates(void **state)
{
    static const char *const bools[] = {"and", "or"};
    char text[200];
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        now.op = bools[i % 2];
        now.mode = i < 2 ? 0x80 : 0x1e;
        snprintf(text, sizeof(text),
            ".reg .b32 r, s;\nsetp.gt.u32 Q, C, 5;\nlop3.%s.b32 r|P, A, B, C, %u, Q;\n"
            "selp.b32 s, 1, 0, P;\nmov.b64 D, {r, s};",
            now.op, now.mode);
        run_form(text, 8, 4, 4, 4, table_and_predicate, 0);
    }
}

static u64 predicates(u64 a, u64 b, u64 c)
{
    const bool p = (int32_t)a<(int32_t)b, q = c> 5;
    return now.mode == 0 ? p && q : now.mode == 1 ? p || q : now.mode == 2 ? p != q : !p;
}

static void logic_of_predicates(void **state)
{
    static const char *const ops[] = {
        "and.pred P, P, Q;", "or.pred P, P, Q;", "xor.pred P, P, Q;", "not.pred P, P;"};
    char text[160];
    (void)state;
    for (now.mode = 0; now.mode < 4; now.mode++) {
        snprintf(text, sizeof(text),
            "setp.lt.s32 P, A, B;\nsetp.gt.u32 Q, C, 5;\n%s\nselp.b32 D, 1, 0, P;", ops[now.mode]);
        run_form(text, 4, 4, 4, 4, predicates, 0);
    }
}

/* Shifts by more than the width give what shifting bit by bit gives: zeros or signs. */
static u64 shifted(u64 a, u64 b, u64 c)
{
    const unsigned n = 8 * type_bytes[now.type], by = (uint32_t)b > n ? n : (unsigned)b;
    (void)c;
    if (now.op[2] == 'l')
        return by == 64 ? 0 : a << by;
    const wide v = value(a, now.type);
    return (u64)(v >> by);
}

static u64 funnel(u64 a, u64 b, u64 c)
{
    const u64 both = (b & 0xffffffff) << 32 | (a & 0xffffffff);
    unsigned by = now.flag ? (unsigned)c & 31 : (uint32_t)c > 32 ? 32 : (unsigned)c;
    return now.op[0] == 'l' ? (by == 0 ? both >> 32 : both >> (32 - by)) : both >> by;
}

static void shifts(void **state)
{
    static const enum conform_type types[] = {U16, S16, U32, S32, U64, S64, B16, B32, B64};
    char text[64];
    (void)state;
    for (unsigned i = 0; i < 9; i++) {
        const unsigned n = type_bytes[now.type = types[i]];
        now.op = "shr";
        snprintf(text, sizeof(text), "shr.%s D, A, B;", type_names[types[i]]);
        run_form(text, n, n, 4, 0, shifted, 0);
        now.op = "shl";
        snprintf(text, sizeof(text), "shl.%s D, A, B;", type_names[types[i]]);
        if (types[i] >= B16)
            run_form(text, n, n, 4, 0, shifted, 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        now.op = i & 1 ? "l" : "r";
        now.flag = i & 2;
        snprintf(text, sizeof(text), "shf.%s.%s.b32 D, A, B, C;", now.op, i & 2 ? "wrap" : "clamp");
        run_form(text, 4, 4, 4, 4, funnel, 0);
    }
}

/* Positions and lengths: modulo 256 in 32 bits, as they are in 64, which is what an H100 does. */
static unsigned field_end(u64 v)
{
    return type_bytes[now.type] == 8 ? (v & 0xffffffff) > 999 ? 999 : (unsigned)v : v & 255;
}

/* Field of c bits from bit b on. Past the value it reads zeros or the sign. */
static u64 extracted(u64 a, u64 b, u64 c)
{
    const unsigned n = 8 * type_bytes[now.type], pos = field_end(b), len = field_end(c);
    const bool is_signed = is_signed_type(now.type);
    const unsigned top = pos + len - 1 < n - 1 ? pos + len - 1 : n - 1;
    const u64 sign = is_signed && len ? a >> top & 1 : 0;
    u64 r = 0;
    for (unsigned i = 0; i < n; i++)
        r |= (i < len && pos + i < n ? a >> (pos + i) & 1 : sign) << i;
    return r;
}

static u64 inserted(u64 a, u64 b, u64 c)
{
    const unsigned n = 8 * type_bytes[now.type], pos = field_end(c), len = now.mode;
    u64 r = b;
    for (unsigned i = 0; i < len && pos + i < n; i++)
        r = (r & ~(UINT64_C(1) << (pos + i))) | (a >> i & 1) << (pos + i);
    return r;
}

static u64 found(u64 a, u64 b, u64 c)
{
    const unsigned n = 8 * type_bytes[now.type];
    (void)b, (void)c;
    const u64 v = is_signed_type(now.type) && a >> (n - 1) & 1 ? ~a : a;
    for (int i = (int)n - 1; i >= 0; i--) {
        if (v >> i & 1)
            return now.flag ? n - 1 - (unsigned)i : (unsigned)i;
    }
    return 0xffffffff;
}

static u64 counted(u64 a, u64 b, u64 c)
{
    const unsigned n = 8 * type_bytes[now.type];
    u64 r = 0;
    (void)b, (void)c;
    for (unsigned i = 0; i < n; i++) {
        const u64 bit = a >> i & 1;
        if (now.op[0] == 'b')
            r |= bit << (n - 1 - i);
        else if (now.op[0] == 'p')
            r += bit;
        else
            r = bit ? 0 : r + 1; /* zeros above the last one seen */
    }
    return r;
}

static u64 extended(u64 a, u64 b, u64 c)
{
    const unsigned len = now.flag ? (unsigned)b & 31 : (uint32_t)b > 32 ? 32 : (unsigned)b;
    (void)c;
    if (len == 0)
        return 0;
    const u64 sign = now.type == S32 ? a >> (len - 1) & 1 : 0;
    u64 r = 0;
    for (unsigned i = 0; i < 32; i++)
        r |= (i < len ? a >> i & 1 : sign) << i;
    return r;
}

static u64 masked(u64 a, u64 b, u64 c)
{
    const u64 from = now.flag ? a & 31 : a, len = now.flag ? b & 31 : b;
    u64 r = 0;
    (void)c;
    for (u64 i = 0; i < 32; i++)
        r |= (u64)(i >= from && i - from < len) << i;
    return r;
}

/* The c-th set bit from bit b, upwards or downwards; c = 0: bit b itself. */
static u64 nth(u64 a, u64 b, u64 c)
{
    const int base = (int)(b & 31), offset = (int)(int32_t)c;
    int64_t left = offset < 0 ? -(int64_t)offset : offset;
    if (offset == INT32_MIN)
        return 0;
    if (offset == 0)
        return a >> base & 1 ? (u64)base : 0xffffffff;
    for (int i = base; i >= 0 && i<32; i += offset> 0 ? 1 : -1) {
        if ((a >> i & 1) && --left == 0)
            return (u64)i;
    }
    return 0xffffffff;
}

static void fields_and_counts(void **state)
{
    static const char *const count_ops[] = {"brev", "popc", "clz"};
    char text[96];
    (void)state;
    for (enum conform_type t = U32; t <= S64; t++) {
        const unsigned n = type_bytes[now.type = t];
        snprintf(text, sizeof(text), "bfe.%s D, A, B, C;", type_names[t]);
        run_form(text, n, n, 4, 4, extracted, 0);
        for (unsigned s = 0; s < 2; s++) {
            now.flag = s;
            snprintf(text, sizeof(text), "bfind%s.%s D, A;", s ? ".shiftamt" : "", type_names[t]);
            run_form(text, 4, n, 0, 0, found, 0);
        }
    }
    for (enum conform_type t = B32; t <= B64; t++) {
        static const unsigned lengths[] = {0, 1, 11, 32, 64, 255};
        const unsigned n = type_bytes[now.type = t];
        for (unsigned i = 0; i < 6; i++) {
            now.mode = lengths[i];
            snprintf(text, sizeof(text), "bfi.%s D, A, B, C, %u;", type_names[t], lengths[i]);
            run_form(text, n, n, n, 4, inserted, 0);
        }
        for (unsigned i = 0; i < 3; i++) {
            now.op = count_ops[i];
            snprintf(text, sizeof(text), "%s.%s D, A;", now.op, type_names[t]);
            run_form(text, i ? 4 : n, n, 0, 0, counted, 0);
        }
    }
    for (unsigned i = 0; i < 4; i++) {
        now.flag = i & 1;
        now.type = i & 2 ? S32 : U32;
        snprintf(text, sizeof(text), "szext.%s.%s D, A, B;", i & 1 ? "wrap" : "clamp",
            type_names[now.type]);
        run_form(text, 4, 4, 4, 0, extended, 0);
    }
    now.flag = false;
    run_form("bmsk.clamp.b32 D, A, B;", 4, 4, 4, 0, masked, 0);
    now.flag = true;
    run_form("bmsk.wrap.b32 D, A, B;", 4, 4, 4, 0, masked, 0);
    run_form("and.b32 B, B, 31;\nfns.b32 D, A, B, C;", 4, 4, 4, 4, nth, 0);
}

/* The manual's tables: bytes 0-3 are A's, 4-7 B's. */
static u64 permuted(u64 a, u64 b, u64 c)
{
    static const uint8_t table[6][4][4] = {/* [mode][c & 3][byte of the result, lowest first] */
        {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}},
        {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}},
        {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
        {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}},
        {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}},
        {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}};
    const u64 both = (b & 0xffffffff) << 32 | (a & 0xffffffff);
    u64 r = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned pick = now.mode ? table[now.mode - 1][c & 3][i] : c >> 4 * i & 15;
        u64 byte = both >> 8 * (pick & 7) & 0xff;
        if (pick & 8)
            byte = byte & 0x80 ? 0xff : 0;
        r |= byte << 8 * i;
    }
    return r;
}

static void permutations(void **state)
{
    static const char *const modes[] = {"", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"};
    char text[64];
    (void)state;
    for (now.mode = 0; now.mode < 7; now.mode++) {
        snprintf(text, sizeof(text), "prmt.b32%s D, A, B, C;", modes[now.mode]);
        run_form(text, 4, 4, 4, 4, permuted, 0);
    }
}

/* --- choices --- */

static u64 chosen(u64 a, u64 b, u64 c)
{
    if (now.mode == 0)
        return (int32_t)c >= 0 ? a : b;
    float f;
    const uint32_t bits = (uint32_t)c;
    memcpy(&f, &bits, 4);
    if (now.mode == 2 && (bits & 0x7f800000) == 0)
        f = 0;             /* denormals are zeros, of either sign */
    return f >= 0 ? a : b; /* not for NaN */
}

static u64 selected(u64 a, u64 b, u64 c)
{
    return c > 5 ? a : b;
}

static void choices(void **state)
{
    static const char *const by[] = {"s32", "f32", "f32"};
    static const enum conform_type types[] = {
        B16, B32, B64, U16, S16, U32, S32, U64, S64, F32, F64};
    char text[96];
    (void)state;
    for (unsigned i = 0; i < 11; i++) {
        const unsigned n = type_bytes[types[i]];
        for (now.mode = 0; now.mode < 3; now.mode++) {
            snprintf(text, sizeof(text), "slct%s.%s.%s D, A, B, C;", now.mode == 2 ? ".ftz" : "",
                type_names[types[i]], by[now.mode]);
            run_form(text, n, n, n, 4, chosen, 0);
        }
        snprintf(
            text, sizeof(text), "setp.gt.u32 P, C, 5;\nselp.%s D, A, B, P;", type_names[types[i]]);
        run_form(text, n, n, n, 4, selected, 0);
    }
}

/* --- packed bytes and halves --- */

static u64 packed(u64 a, u64 b, u64 c)
{
    const unsigned bits = now.mode, nr = 32 / bits;
    const u64 mask = (UINT64_C(1) << bits) - 1;
    const enum conform_type from = bits == 8 ? now.type : now.type == S8 ? S16 : U16;
    u64 r = 0, sum = c;
    for (unsigned i = 0; i < nr; i++) {
        const wide x = value(a >> i * bits & mask, from), y = value(b >> i * bits & mask, from);
        wide v = 0;
        if (strncmp(now.op, "vadd", 4) == 0)
            v = x + y;
        else if (strncmp(now.op, "vsub", 4) == 0)
            v = x - y;
        else if (strncmp(now.op, "vmin", 4) == 0)
            v = x < y ? x : y;
        else if (strncmp(now.op, "vmax", 4) == 0)
            v = x > y ? x : y;
        else if (strncmp(now.op, "vabs", 4) == 0)
            v = x > y ? x - y : y - x;
        else
            v = x + y >= 0 ? (x + y + 1) / 2 : (x + y - 1) / 2;
        if (now.sat)
            v = (wide)(int64_t)clamp(v, from);
        r |= ((u64)v & mask) << i * bits;
        sum += (u64)v;
    }
    return now.flag ? sum : r;
}

static void video(void **state)
{
    static const char *const ops[] = {"vadd", "vsub", "vmin", "vmax", "vabsdiff", "vavrg"};
    static const char *const ends[] = {"", ".sat", ".add"};
    char text[96], name[16];
    (void)state;
    for (unsigned i = 0; i < 6 * 2 * 2 * 3; i++) {
        const char *t = i / 12 % 2 ? "s32" : "u32";
        const unsigned end = i % 3, four = i / 3 % 2;
        snprintf(name, sizeof(name), "%s%u", ops[i / 12 % 6], four ? 4u : 2u);
        for (unsigned s = 0; s < 2; s++) {
            t = s ? "s32" : "u32";
            now.op = ops[i / 12 % 6];
            now.type = s ? S8 : U8;
            now.mode = four ? 8 : 16;
            now.sat = end == 1;
            now.flag = end == 2;
            snprintf(text, sizeof(text), "%s.%s.%s.%s%s D, A, B, C;", name, t, t, t, ends[end]);
            if (i / 6 % 2 == 0)
                run_form(text, 4, 4, 4, 4, packed, 0);
        }
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
        cmocka_unit_test(arithmetic_of_all_types),
        cmocka_unit_test(pairs_of_halves),
        cmocka_unit_test(products_of_24_bits),
        cmocka_unit_test(carries_of_all_types),
        cmocka_unit_test(dot_products),
        cmocka_unit_test(logic_of_all_types),
        cmocka_unit_test(tables_with_predicates),
        cmocka_unit_test(logic_of_predicates),
        cmocka_unit_test(shifts),
        cmocka_unit_test(fields_and_counts),
        cmocka_unit_test(permutations),
        cmocka_unit_test(choices),
        cmocka_unit_test(video),
        cmocka_unit_test(there_were_many_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
