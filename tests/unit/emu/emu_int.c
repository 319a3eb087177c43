/* Integer operations against references written here, on edge values in all pairs and on random
 * bits. */
#include "emu/sem/sem.h"
#include "emu_harness.h"

typedef uint64_t u64;
typedef uint32_t u32;
typedef int32_t s32;
typedef int64_t s64;
typedef int16_t s16;

#define REF(name, expr)                                                                            \
    static u64 name(u64 a, u64 b, u64 c)                                                           \
    {                                                                                              \
        (void)a, (void)b, (void)c;                                                                 \
        return (u64)(expr);                                                                        \
    }
REF(add_u, a + b)
REF(sub_u, a - b)
REF(mul_u, a *b)
REF(mad_u, a *b + c)
REF(mulhi_u32, ((u64)(u32)a * (u32)b) >> 32)
REF(mulhi_s32, ((s64)(s32)a * (s32)b) >> 32)
REF(mulhi_u64, ((unsigned __int128)a * b) >> 64)
REF(mulhi_s64, ((__int128)(s64)a * (s64)b) >> 64)
REF(madhi_u32, (((u64)(u32)a * (u32)b) >> 32) + c)
REF(wide_u32, (u64)(u32)a *(u32)b)
REF(wide_s32, (s64)(s32)a *(s32)b)
REF(wide_s16, (s32)(s16)a *(s16)b)
REF(madwide_s32, (u64)((s64)(s32)a *(s32)b) + c)
REF(madwide_u32, (u64)(u32)a *(u32)b + c)
REF(min_u, a < b ? a : b)
REF(max_u, a > b ? a : b)
REF(min_s32, (s32)a < (s32)b ? a : b)
REF(max_s32, (s32)a > (s32)b ? a : b)
REF(min_s64, (s64)a < (s64)b ? a : b)
REF(max_s64, (s64)a > (s64)b ? a : b)
REF(min_s16, (s16)a < (s16)b ? a : b)
REF(div_u, b ? a / b : ~(u64)0)
REF(rem_u, b ? a % b : ~(u64)0)
REF(div_s32, (s32)b ? (s64)(s32)a / (s32)b : -1)
REF(rem_s32, (s32)b ? (s64)(s32)a % (s32)b : -1)
REF(div_s64, b == 0 ? -1 : (s64)b == -1 ? (s64)(0 - a) : (s64)a / (s64)b)
REF(rem_s64, b == 0 ? -1 : (s64)b == -1 ? 0 : (s64)a % (s64)b)
REF(abs_s32, (s32)a < 0 ? 0 - a : a)
REF(abs_s64, (s64)a < 0 ? 0 - a : a)
REF(neg_u, 0 - a)
REF(and_u, a &b)
REF(or_u, a | b)
REF(xor_u, a ^ b)
REF(not_u, ~a)
REF(cnot_u, a == 0)
REF(shl32, b > 31 ? 0 : a << b)
REF(shl16, b > 15 ? 0 : a << b)
REF(shl64, b > 63 ? 0 : a << b)
REF(shr_u32, b > 31 ? 0 : a >> b)
REF(shr_s32, (s32)a >> (b > 31 ? 31 : b))
REF(shr_s64, (s64)a >> (b > 63 ? 63 : b))
REF(shr_s16, (s16)a >> (b > 15 ? 15 : b))
REF(shf_l_wrap, ((b << 32 | a) << (c & 31)) >> 32)
REF(shf_r_wrap, (b << 32 | a) >> (c & 31))
REF(shf_l_clamp, c >= 32 ? a : ((b << 32 | a) << c) >> 32)
REF(shf_r_clamp, c >= 32 ? b : (b << 32 | a) >> c)
REF(lop3_96, a ^ b ^ c)
REF(lop3_e8, (a & b) | (a & c) | (b & c))
REF(lop3_ca, (a & b) | (~a & c))
REF(sad_u32, (a > b ? a - b : b - a) + c)
REF(sad_s32, (u64)((s32)a > (s32)b ? (s64)(s32)a - (s32)b : (s64)(s32)b - (s32)a) + c)
REF(mul24_u, (a & 0xffffff) * (b & 0xffffff))
REF(addsat, (s64)(s32)a + (s32)b > INT32_MAX   ? INT32_MAX
            : (s64)(s32)a + (s32)b < INT32_MIN ? INT32_MIN
                                               : (s64)(s32)a + (s32)b)

static u64 popc(u64 a, u64 b, u64 c)
{
    u64 n = 0;
    (void)b, (void)c;
    for (; a; a >>= 1)
        n += a & 1;
    return n;
}

static u64 clz(u64 a, unsigned width)
{
    u64 n = 0;
    while (n < width && !(a >> (width - 1 - n) & 1))
        n++;
    return n;
}
REF(clz32, clz(a, 32))
REF(clz64, clz(a, 64))
REF(bfind_u32, a ? 31 - clz(a, 32) : ~(u64)0)
REF(bfind_s32,
    ((s32)a < 0 ? ~(u32)a : (u32)a) ? 31 - clz((s32)a < 0 ? ~(u32)a : (u32)a, 32) : ~(u64)0)
REF(bfind_shift, a ? clz(a, 32) : ~(u64)0)
REF(bfind_u64, a ? 63 - clz(a, 64) : ~(u64)0)

static u64 reverse(u64 a, unsigned width)
{
    u64 r = 0;
    for (unsigned i = 0; i < width; i++)
        r |= (a >> i & 1) << (width - 1 - i);
    return r;
}
REF(brev32, reverse(a, 32))
REF(brev64, reverse(a, 64))

/* The pseudo-code of the PTX manual for bfe, but in 64 bits positions are not cut to eight bits. */
static u64 bfe(u64 a, u64 b, u64 c, unsigned msb, bool is_signed)
{
    const unsigned top = msb == 63 ? 999 : 255;
    unsigned pos = msb == 31 ? b & top
                   : b < top ? (unsigned)b
                             : top,
             len = msb == 31 ? c & top
                   : c < top ? (unsigned)c
                             : top;
    u64 d = 0;
    bool sign = is_signed && len ? a >> (pos + len - 1 < msb ? pos + len - 1 : msb) & 1 : false;
    for (unsigned i = 0; i <= msb; i++) {
        bool bit = i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign;
        d |= (u64)bit << i;
    }
    return d;
}
REF(bfe_u32, bfe(a, b, c, 31, false))
REF(bfe_s32, bfe(a, b, c, 31, true))
REF(bfe_u64, bfe(a, b, c, 63, false))
REF(bfe_s64, bfe(a, b, c, 63, true))

static u64 bfi(u64 a, u64 b, u64 c)
{
    unsigned pos = c & 0xff, len = 11;
    for (unsigned i = 0; i < len && pos + i <= 31; i++) {
        b &= ~((u64)1 << (pos + i));
        b |= (a >> i & 1) << (pos + i);
    }
    return b;
}

static u64 prmt(u64 a, u64 b, u64 c)
{
    u64 both = b << 32 | a, d = 0;
    for (int i = 0; i < 4; i++) {
        unsigned s = c >> 4 * i & 15;
        unsigned byte = both >> 8 * (s & 7) & 255;
        if (s & 8)
            byte = byte & 128 ? 255 : 0;
        d |= (u64)byte << 8 * i;
    }
    return d;
}

static u64 dp4a(u64 a, u64 b, u64 c)
{
    s64 sum = (s32)c;
    for (int i = 0; i < 4; i++)
        sum += (int)(int8_t)(a >> 8 * i) * (int)(int8_t)(b >> 8 * i);
    return (u64)sum;
}

static u64 dp4a_us(u64 a, u64 b, u64 c)
{
    s64 sum = (s32)c;
    for (int i = 0; i < 4; i++)
        sum += (int)(uint8_t)(a >> 8 * i) * (int)(int8_t)(b >> 8 * i);
    return (u64)sum;
}
REF(carry64, a + b)
REF(borrow64, a - b)
REF(lt_s32, (s32)a < (s32)b)
REF(ge_u32, (u32)a >= (u32)b)
REF(ne_u64, a != b)
REF(le_s16, (s16)a <= (s16)b)
REF(eq_and, a == b && c > 5)
REF(set_gt, (s32)a > (s32)b ? 0xffffffffu : 0)
REF(slct, (s32)c >= 0 ? a : b)
REF(cvt_s8, (u64)(s64)(int8_t)a)
REF(cvt_u8, a & 0xff)
REF(sx64, (s64)(s32)a)
REF(sat_s8, (s32)a > 127 ? 127 : (s32)a < -128 ? (u64)-128 : a)
REF(sat_u16, (s32)a<0 ? 0 : (s32)a> 65535 ? 65535 : a)
REF(pack, (b & 0xffff) << 16 | (a & 0xffff))
REF(swap64, a >> 32 | a << 32)
REF(bmsk, a > 31 || b == 0 ? 0 : (b > 31 ? 0xffffffffu : (1u << b) - 1) << a)

static u64 halves(u64 a, u64 b, int64_t (*f)(s64, s64), bool is_signed)
{
    u64 r = 0;
    for (int i = 0; i < 2; i++) {
        u64 x = a >> 16 * i & 0xffff, y = b >> 16 * i & 0xffff;
        s64 v = is_signed ? f((s16)x, (s16)y) : f((s64)x, (s64)y);
        r |= ((u64)v & 0xffff) << 16 * i;
    }
    return r;
}

static s64 plus(s64 x, s64 y)
{
    return x + y;
}

static s64 most(s64 x, s64 y)
{
    return x > y ? x : y;
}
REF(add_16x2, halves(a, b, plus, false))
REF(max_s16x2, halves(a, b, most, true))
REF(max_u16x2, halves(a, b, most, false))

static u64 absdiff4(u64 a, u64 b, u64 c)
{
    u64 sum = c;
    for (int i = 0; i < 4; i++) {
        int x = a >> 8 * i & 255, y = b >> 8 * i & 255;
        sum += (u64)abs(x - y);
    }
    return sum;
}

static u64 add4_sat(u64 a, u64 b, u64 c)
{
    u64 r = 0;
    (void)c;
    for (int i = 0; i < 4; i++) {
        int v = (int8_t)(a >> 8 * i) + (int8_t)(b >> 8 * i);
        v = v > 127 ? 127 : v < -128 ? -128 : v;
        r |= (u64)(v & 255) << 8 * i;
    }
    return r;
}

static const struct op_case cases[] = {
    {"add.u16x2 D, A, B;", 4, 4, 4, 0, add_16x2, 0},
    {"max.s16x2 D, A, B;", 4, 4, 4, 0, max_s16x2, 0},
    {"max.u16x2 D, A, B;", 4, 4, 4, 0, max_u16x2, 0},
    {"vabsdiff4.u32.u32.u32.add D, A, B, C;", 4, 4, 4, 4, absdiff4, 0},
    {"vadd4.s32.s32.s32.sat D, A, B, C;", 4, 4, 4, 4, add4_sat, 0},
    {"add.s32 D, A, B;", 4, 4, 4, 0, add_u, 0},
    {"add.u64 D, A, B;", 8, 8, 8, 0, add_u, 0},
    {"add.s16 D, A, B;", 2, 2, 2, 0, add_u, 0},
    {"sub.u32 D, A, B;", 4, 4, 4, 0, sub_u, 0},
    {"sub.s64 D, A, B;", 8, 8, 8, 0, sub_u, 0},
    {"mul.lo.s32 D, A, B;", 4, 4, 4, 0, mul_u, 0},
    {"mul.lo.u16 D, A, B;", 2, 2, 2, 0, mul_u, 0},
    {"mul.lo.s64 D, A, B;", 8, 8, 8, 0, mul_u, 0},
    {"mul.hi.u32 D, A, B;", 4, 4, 4, 0, mulhi_u32, 0},
    {"mul.hi.s32 D, A, B;", 4, 4, 4, 0, mulhi_s32, 0},
    {"mul.hi.u64 D, A, B;", 8, 8, 8, 0, mulhi_u64, 0},
    {"mul.hi.s64 D, A, B;", 8, 8, 8, 0, mulhi_s64, 0},
    {"mul.wide.u32 D, A, B;", 8, 4, 4, 0, wide_u32, 0},
    {"mul.wide.s32 D, A, B;", 8, 4, 4, 0, wide_s32, 0},
    {"mul.wide.s16 D, A, B;", 4, 2, 2, 0, wide_s16, 0},
    {"mad.lo.s32 D, A, B, C;", 4, 4, 4, 4, mad_u, 0},
    {"mad.lo.u64 D, A, B, C;", 8, 8, 8, 8, mad_u, 0},
    {"mad.hi.u32 D, A, B, C;", 4, 4, 4, 4, madhi_u32, 0},
    {"mad.wide.s32 D, A, B, C;", 8, 4, 4, 8, madwide_s32, 0},
    {"mad.wide.u32 D, A, B, C;", 8, 4, 4, 8, madwide_u32, 0},
    {"mul24.lo.u32 D, A, B;", 4, 4, 4, 0, mul24_u, 0},
    {"min.u32 D, A, B;", 4, 4, 4, 0, min_u, 0},
    {"max.u64 D, A, B;", 8, 8, 8, 0, max_u, 0},
    {"min.s32 D, A, B;", 4, 4, 4, 0, min_s32, 0},
    {"max.s32 D, A, B;", 4, 4, 4, 0, max_s32, 0},
    {"min.s64 D, A, B;", 8, 8, 8, 0, min_s64, 0},
    {"max.s64 D, A, B;", 8, 8, 8, 0, max_s64, 0},
    {"min.s16 D, A, B;", 2, 2, 2, 0, min_s16, 0},
    {"div.u32 D, A, B;", 4, 4, 4, 0, div_u, 0},
    {"rem.u32 D, A, B;", 4, 4, 4, 0, rem_u, 0},
    {"div.s32 D, A, B;", 4, 4, 4, 0, div_s32, 0},
    {"rem.s32 D, A, B;", 4, 4, 4, 0, rem_s32, 0},
    {"div.u64 D, A, B;", 8, 8, 8, 0, div_u, 0},
    {"rem.u64 D, A, B;", 8, 8, 8, 0, rem_u, 0},
    {"div.s64 D, A, B;", 8, 8, 8, 0, div_s64, 0},
    {"rem.s64 D, A, B;", 8, 8, 8, 0, rem_s64, 0},
    {"abs.s32 D, A;", 4, 4, 0, 0, abs_s32, 0},
    {"abs.s64 D, A;", 8, 8, 0, 0, abs_s64, 0},
    {"neg.s32 D, A;", 4, 4, 0, 0, neg_u, 0},
    {"and.b32 D, A, B;", 4, 4, 4, 0, and_u, 0},
    {"or.b16 D, A, B;", 2, 2, 2, 0, or_u, 0},
    {"xor.b64 D, A, B;", 8, 8, 8, 0, xor_u, 0},
    {"not.b32 D, A;", 4, 4, 0, 0, not_u, 0},
    {"not.b16 D, A;", 2, 2, 0, 0, not_u, 0},
    {"cnot.b32 D, A;", 4, 4, 0, 0, cnot_u, 0},
    {"shl.b16 D, A, B;", 2, 2, 4, 0, shl16, 0},
    {"shl.b32 D, A, B;", 4, 4, 4, 0, shl32, 0},
    {"shl.b64 D, A, B;", 8, 8, 4, 0, shl64, 0},
    {"shr.u32 D, A, B;", 4, 4, 4, 0, shr_u32, 0},
    {"shr.s32 D, A, B;", 4, 4, 4, 0, shr_s32, 0},
    {"shr.s64 D, A, B;", 8, 8, 4, 0, shr_s64, 0},
    {"shr.s16 D, A, B;", 2, 2, 4, 0, shr_s16, 0},
    {"shf.l.wrap.b32 D, A, B, C;", 4, 4, 4, 4, shf_l_wrap, 0},
    {"shf.r.wrap.b32 D, A, B, C;", 4, 4, 4, 4, shf_r_wrap, 0},
    {"shf.l.clamp.b32 D, A, B, C;", 4, 4, 4, 4, shf_l_clamp, 0},
    {"shf.r.clamp.b32 D, A, B, C;", 4, 4, 4, 4, shf_r_clamp, 0},
    {"lop3.b32 D, A, B, C, 0x96;", 4, 4, 4, 4, lop3_96, 0},
    {"lop3.b32 D, A, B, C, 0xe8;", 4, 4, 4, 4, lop3_e8, 0},
    {"lop3.b32 D, A, B, C, 0xca;", 4, 4, 4, 4, lop3_ca, 0},
    {"sad.u32 D, A, B, C;", 4, 4, 4, 4, sad_u32, 0},
    {"sad.s32 D, A, B, C;", 4, 4, 4, 4, sad_s32, 0},
    {"add.sat.s32 D, A, B;", 4, 4, 4, 0, addsat, 0},
    {"popc.b32 D, A;", 4, 4, 0, 0, popc, 0},
    {"popc.b64 D, A;", 4, 8, 0, 0, popc, 0},
    {"clz.b32 D, A;", 4, 4, 0, 0, clz32, 0},
    {"clz.b64 D, A;", 4, 8, 0, 0, clz64, 0},
    {"bfind.u32 D, A;", 4, 4, 0, 0, bfind_u32, 0},
    {"bfind.s32 D, A;", 4, 4, 0, 0, bfind_s32, 0},
    {"bfind.shiftamt.u32 D, A;", 4, 4, 0, 0, bfind_shift, 0},
    {"bfind.u64 D, A;", 4, 8, 0, 0, bfind_u64, 0},
    {"brev.b32 D, A;", 4, 4, 0, 0, brev32, 0},
    {"brev.b64 D, A;", 8, 8, 0, 0, brev64, 0},
    {"bfe.u32 D, A, B, C;", 4, 4, 4, 4, bfe_u32, 0},
    {"bfe.s32 D, A, B, C;", 4, 4, 4, 4, bfe_s32, 0},
    {"bfe.u64 D, A, B, C;", 8, 8, 4, 4, bfe_u64, 0},
    {"bfe.s64 D, A, B, C;", 8, 8, 4, 4, bfe_s64, 0},
    {"bfi.b32 D, A, B, C, 11;", 4, 4, 4, 4, bfi, 0},
    {"prmt.b32 D, A, B, C;", 4, 4, 4, 4, prmt, 0},
    {"dp4a.s32.s32 D, A, B, C;", 4, 4, 4, 4, dp4a, 0},
    {"dp4a.u32.s32 D, A, B, C;", 4, 4, 4, 4, dp4a_us, 0},
    {"bmsk.clamp.b32 D, A, B;", 4, 4, 4, 0, bmsk, 0},
    {".reg .b32 l, h, m, n;\nmov.b64 {l, h}, A;\nmov.b64 {m, n}, B;\nadd.cc.u32 l, l, m;\n"
     "addc.u32 h, h, n;\nmov.b64 D, {l, h};",
        8, 8, 8, 0, carry64, 0},
    {".reg .b32 l, h, m, n;\nmov.b64 {l, h}, A;\nmov.b64 {m, n}, B;\nsub.cc.u32 l, l, m;\n"
     "subc.u32 h, h, n;\nmov.b64 D, {l, h};",
        8, 8, 8, 0, borrow64, 0},
    {"setp.lt.s32 P, A, B;\nselp.b32 D, 1, 0, P;", 4, 4, 4, 0, lt_s32, 0},
    {"setp.ge.u32 P|Q, A, B;\nselp.b32 D, 0, 1, Q;", 4, 4, 4, 0, ge_u32, 0},
    {"setp.hs.u32 P, A, B;\nselp.b32 D, 1, 0, P;", 4, 4, 4, 0, ge_u32, 0},
    {"setp.ne.u64 P, A, B;\nselp.b32 D, 1, 0, P;", 4, 8, 8, 0, ne_u64, 0},
    {"setp.le.s16 P, A, B;\nselp.b32 D, 1, 0, P;", 4, 2, 2, 0, le_s16, 0},
    {"setp.gt.u32 Q, C, 5;\nsetp.eq.and.s32 P, A, B, Q;\nselp.b32 D, 1, 0, P;", 4, 4, 4, 4, eq_and,
        0},
    {"setp.gt.u32 Q, C, 5;\nsetp.eq.s32 P, A, B;\nand.pred P, P, Q;\nmov.b32 D, 0;\n@P mov.b32 D, "
     "1;",
        4, 4, 4, 4, eq_and, 0},
    {"set.gt.u32.s32 D, A, B;", 4, 4, 4, 0, set_gt, 0},
    {"slct.b32.s32 D, A, B, C;", 4, 4, 4, 4, slct, 0},
    {"cvt.s32.s8 D, A;", 4, 4, 0, 0, cvt_s8, 0},
    {"cvt.u32.u8 D, A;", 4, 4, 0, 0, cvt_u8, 0},
    {"cvt.s16.s8 D, A;", 2, 4, 0, 0, cvt_s8, 0},
    {"cvt.u16.u32 D, A;", 2, 4, 0, 0, add_u, 0},
    {"cvt.s64.s32 D, A;", 8, 4, 0, 0, sx64, 0},
    {"cvt.u64.u32 D, A;", 8, 4, 0, 0, add_u, 0},
    {"cvt.u32.u64 D, A;", 4, 8, 0, 0, add_u, 0},
    {"cvt.sat.s8.s32 D, A;", 4, 4, 0, 0, sat_s8, 0},
    {"cvt.sat.u16.s32 D, A;", 2, 4, 0, 0, sat_u16, 0},
    {"mov.b32 D, {A, B};", 4, 2, 2, 0, pack, 0},
    {".reg .b32 l, h;\nmov.b64 {l, h}, A;\nmov.b64 D, {h, l};", 8, 8, 0, 0, swap64, 0},
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
