/* Owns the integer operations: arithmetic, logic, shifts, bit fields, carries.
 *
 * d, a, b, c, e: rows of the operation's width, except where PTX says otherwise (shift amounts, bit
 * positions and the results of popc, clz, bfind are 32-bit rows). lop3, prmt: imm. Carries: d2 is
 * the condition-code predicate word. Division by zero gives all ones and the dividend as remainder,
 * as Hopper does (PTX leaves it unspecified). */
#include "emu/sem/lanes.h"

#define INT_SIGNED_UNSIGNED(OP, name, expr)                                                        \
    OP(name##_u16, uint32_t, uint16_t, uint32_t, uint16_t, expr)                                   \
    OP(name##_s16, uint32_t, uint16_t, uint32_t, int16_t, expr)                                    \
    OP(name##_u32, uint32_t, uint32_t, uint32_t, uint32_t, expr)                                   \
    OP(name##_s32, uint32_t, uint32_t, uint32_t, int32_t, expr)                                    \
    OP(name##_u64, uint64_t, uint64_t, uint64_t, uint64_t, expr)                                   \
    OP(name##_s64, uint64_t, uint64_t, uint64_t, int64_t, expr)
#define INT_UNSIGNED(OP, name, expr)                                                               \
    OP(name##_u16, uint32_t, uint16_t, uint32_t, uint32_t, expr)                                   \
    OP(name##_u32, uint32_t, uint32_t, uint32_t, uint32_t, expr)                                   \
    OP(name##_u64, uint64_t, uint64_t, uint64_t, uint64_t, expr)
#define TABLE6(name)                                                                               \
    {                                                                                              \
        name##_u16, name##_s16, name##_u32, name##_s32, name##_u64, name##_s64                     \
    }
#define TABLE3(name)                                                                               \
    {                                                                                              \
        name##_u16, name##_u16, name##_u32, name##_u32, name##_u64, name##_u64                     \
    }

typedef unsigned __int128 u128;
typedef __int128 s128;

/* Quotients by double are exact for 32 bits: the distance of a/b from the next integer is at least
 * 2^-32 of it, the rounding error 2^-53; and doubles divide in vectors. */
static inline uint32_t div_u32(uint32_t x, uint32_t y)
{
    double q = (double)x / (double)(y ? y : 1);
    return y ? (uint32_t)(int64_t)q : ~0u;
}

static inline int32_t div_s32(int32_t x, int32_t y)
{
    double q = (double)x / (double)(y ? y : 1);
    return y ? (int32_t)(uint32_t)(int64_t)q : -1;
}

static inline uint64_t div_u64(uint64_t x, uint64_t y)
{
    return y ? x / y : ~(uint64_t)0;
}

static inline int64_t div_s64(int64_t x, int64_t y)
{
    if (y == 0)
        return -1;
    return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

static inline uint64_t rem_u64(uint64_t x, uint64_t y)
{
    return y ? x % y : ~(uint64_t)0;
}

static inline int64_t rem_s64(int64_t x, int64_t y)
{
    if (y == 0)
        return -1;
    return y == -1 ? 0 : x % y;
}

INT_UNSIGNED(LANE_OP2, add, x + y)
INT_UNSIGNED(LANE_OP2, sub, x - y)
INT_UNSIGNED(LANE_OP2, mul, x *y)
INT_UNSIGNED(LANE_OP2, and, x &y)
INT_UNSIGNED(LANE_OP2, or, x | y)
INT_UNSIGNED(LANE_OP2, xor, x ^ y)
INT_UNSIGNED(LANE_OP1, not, ~x)
INT_UNSIGNED(LANE_OP1, cnot, x == 0)
INT_UNSIGNED(LANE_OP1, neg, 0 - x)
INT_SIGNED_UNSIGNED(LANE_OP2, min, x < y ? x : y)
INT_SIGNED_UNSIGNED(LANE_OP2, max, x > y ? x : y)
LANE_OP2(
    min_relu_s32, uint32_t, uint32_t, uint32_t, int32_t, (x < y ? x : y) > 0 ? (x < y ? x : y) : 0)
LANE_OP2(
    max_relu_s32, uint32_t, uint32_t, uint32_t, int32_t, (x > y ? x : y) > 0 ? (x > y ? x : y) : 0)
LANE_OP1(abs_s16, uint32_t, uint16_t, uint32_t, int16_t, x < 0 ? -x : x)
LANE_OP1(abs_s32, uint32_t, uint32_t, uint32_t, uint32_t, (int32_t)x < 0 ? 0 - x : x)
LANE_OP1(abs_s64, uint64_t, uint64_t, uint64_t, uint64_t, (int64_t)x < 0 ? 0 - x : x)

LANE_OP3(mad_u16, uint32_t, uint16_t, uint32_t, uint32_t, uint32_t, x *y + z)
LANE_OP3(mad_u32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, x *y + z)
LANE_OP3(mad_u64, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, x *y + z)

#define HI_u16(x, y) ((uint32_t)(x) * (y) >> 16)
#define HI_s16(x, y) ((uint32_t)((int32_t)(x) * (y)) >> 16)
#define HI_u32(x, y) ((uint32_t)((uint64_t)(x) * (y) >> 32))
#define HI_s32(x, y) ((uint32_t)((int64_t)(x) * (y) >> 32))
#define HI_u64(x, y) ((uint64_t)((u128)(x) * (y) >> 64))
#define HI_s64(x, y) ((uint64_t)((s128)(x) * (y) >> 64))
LANE_OP2(mul_hi_u16, uint32_t, uint16_t, uint32_t, uint16_t, HI_u16(x, y))
LANE_OP2(mul_hi_s16, uint32_t, uint16_t, uint32_t, int16_t, HI_s16(x, y))
LANE_OP2(mul_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t, HI_u32(x, y))
LANE_OP2(mul_hi_s32, uint32_t, uint32_t, uint32_t, int32_t, HI_s32(x, y))
LANE_OP2(mul_hi_u64, uint64_t, uint64_t, uint64_t, uint64_t, HI_u64(x, y))
LANE_OP2(mul_hi_s64, uint64_t, uint64_t, uint64_t, int64_t, HI_s64(x, y))
LANE_OP3(mad_hi_u16, uint32_t, uint16_t, uint32_t, uint16_t, uint32_t, HI_u16(x, y) + z)
LANE_OP3(mad_hi_s16, uint32_t, uint16_t, uint32_t, int16_t, uint32_t, HI_s16(x, y) + z)
LANE_OP3(mad_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, HI_u32(x, y) + z)
LANE_OP3(mad_hi_s32, uint32_t, uint32_t, uint32_t, int32_t, uint32_t, HI_s32(x, y) + z)
LANE_OP3(mad_hi_u64, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, HI_u64(x, y) + z)
LANE_OP3(mad_hi_s64, uint64_t, uint64_t, uint64_t, int64_t, uint64_t, HI_s64(x, y) + z)

LANE_OP2(mul_wide_u16, uint32_t, uint32_t, uint32_t, uint16_t, (uint32_t)x *y)
LANE_OP2(mul_wide_s16, uint32_t, uint32_t, uint32_t, int16_t, (int32_t)x *y)
LANE_OP2(mul_wide_u32, uint64_t, uint64_t, uint32_t, uint32_t, (uint64_t)x *y)
LANE_OP2(mul_wide_s32, uint64_t, uint64_t, uint32_t, int32_t, (int64_t)x *y)
LANE_OP3(mad_wide_u16, uint32_t, uint32_t, uint32_t, uint16_t, uint32_t, (uint32_t)x *y + z)
LANE_OP3(
    mad_wide_s16, uint32_t, uint32_t, uint32_t, int16_t, uint32_t, (uint32_t)((int32_t)x *y) + z)
LANE_OP3(mad_wide_u32, uint64_t, uint64_t, uint32_t, uint32_t, uint64_t, (uint64_t)x *y + z)
LANE_OP3(
    mad_wide_s32, uint64_t, uint64_t, uint32_t, int32_t, uint64_t, (uint64_t)((int64_t)x *y) + z)

LANE_OP2(div_op_u16, uint32_t, uint16_t, uint32_t, uint16_t, y ? x / y : 0xffff)
LANE_OP2(div_op_s16, uint32_t, uint16_t, uint32_t, int16_t, y ? x / y : -1)
LANE_OP2(div_op_u32, uint32_t, uint32_t, uint32_t, uint32_t, div_u32(x, y))
LANE_OP2(div_op_s32, uint32_t, uint32_t, uint32_t, int32_t, div_s32(x, y))
LANE_OP2(div_op_u64, uint64_t, uint64_t, uint64_t, uint64_t, div_u64(x, y))
LANE_OP2(div_op_s64, uint64_t, uint64_t, uint64_t, int64_t, div_s64(x, y))
LANE_OP2(rem_op_u16, uint32_t, uint16_t, uint32_t, uint16_t, y ? x % y : 0xffff)
LANE_OP2(rem_op_s16, uint32_t, uint16_t, uint32_t, int16_t, y ? x % y : -1)
LANE_OP2(rem_op_u32, uint32_t, uint32_t, uint32_t, uint32_t, y ? x - div_u32(x, y) * y : ~0u)
LANE_OP2(rem_op_s32, uint32_t, uint32_t, uint32_t, int32_t,
    y ? (uint32_t)x - (uint32_t)div_s32(x, y) * (uint32_t)y : ~0u)
LANE_OP2(rem_op_u64, uint64_t, uint64_t, uint64_t, uint64_t, rem_u64(x, y))
LANE_OP2(rem_op_s64, uint64_t, uint64_t, uint64_t, int64_t, rem_s64(x, y))

static inline uint32_t clamp_s32(int64_t v)
{
    return (uint32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}

LANE_OP2(add_sat_s32, uint32_t, uint32_t, uint32_t, int32_t, clamp_s32((int64_t)x + y))
LANE_OP2(sub_sat_s32, uint32_t, uint32_t, uint32_t, int32_t, clamp_s32((int64_t)x - y))
LANE_OP3(mad_hi_sat_s32, uint32_t, uint32_t, uint32_t, int32_t, int32_t,
    clamp_s32(((int64_t)x * y >> 32) + z))

#define LOW24(x) ((x)&0xffffffu)
#define SIGNED24(x) ((int32_t)((uint32_t)(x) << 8) >> 8)
LANE_OP2(mul24_u32, uint32_t, uint32_t, uint32_t, uint32_t, LOW24(x) * LOW24(y))
LANE_OP2(mul24_s32, uint32_t, uint32_t, uint32_t, uint32_t,
    (uint64_t)((int64_t)SIGNED24(x) * SIGNED24(y)))
LANE_OP2(mul24_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t, (uint64_t)LOW24(x) * LOW24(y) >> 16)
LANE_OP2(mul24_hi_s32, uint32_t, uint32_t, uint32_t, uint32_t,
    (uint64_t)((int64_t)SIGNED24(x) * SIGNED24(y) >> 16))
LANE_OP3(mad24_u32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, LOW24(x) * LOW24(y) + z)
LANE_OP3(mad24_s32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
    (uint32_t)(uint64_t)((int64_t)SIGNED24(x) * SIGNED24(y)) + z)
LANE_OP3(mad24_hi_u32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
    (uint32_t)((uint64_t)LOW24(x) * LOW24(y) >> 16) + z)
LANE_OP3(mad24_hi_s32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
    (uint32_t)(uint64_t)((int64_t)SIGNED24(x) * SIGNED24(y) >> 16) + z)

LANE_OP3(sad_u16, uint32_t, uint16_t, uint32_t, uint16_t, uint32_t, (x > y ? x - y : y - x) + z)
LANE_OP3(
    sad_s16, uint32_t, uint16_t, uint32_t, int16_t, uint32_t, (uint32_t)(x > y ? x - y : y - x) + z)
LANE_OP3(sad_u32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, (x > y ? x - y : y - x) + z)
LANE_OP3(sad_s32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
    ((int32_t)x > (int32_t)y ? x - y : y - x) + z)
LANE_OP3(sad_u64, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, (x > y ? x - y : y - x) + z)
LANE_OP3(sad_s64, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
    ((int64_t)x > (int64_t)y ? x - y : y - x) + z)

/* Shifts: the amount is a 32-bit row whatever the width. A larger amount than the width counts as
 * the width. */
#define SHIFT_OP(name, D, U, C, WIDTH, inside, outside)                                            \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        D *d = (D *)(file + in->d);                                                                \
        const D *a = (const D *)(file + in->a);                                                    \
        const uint32_t *b = (const uint32_t *)(file + in->b);                                      \
        IVDEP for (unsigned l = 0; l < 32; l++)                                                    \
        {                                                                                          \
            C x = (C)a[l];                                                                         \
            uint32_t n = b[l] < WIDTH ? b[l] : WIDTH - 1;                                          \
            D r = (D)(U)(b[l] < WIDTH ? (inside) : (outside));                                     \
            d[l] = (mask >> l & 1) ? r : d[l];                                                     \
        }                                                                                          \
    }
SHIFT_OP(shl_u16, uint32_t, uint16_t, uint32_t, 16, x << n, 0)
SHIFT_OP(shl_u32, uint32_t, uint32_t, uint32_t, 32, x << n, 0)
SHIFT_OP(shl_u64, uint64_t, uint64_t, uint64_t, 64, x << n, 0)
SHIFT_OP(shr_u16, uint32_t, uint16_t, uint16_t, 16, x >> n, 0)
SHIFT_OP(shr_s16, uint32_t, uint16_t, int16_t, 16, x >> n, x >> n)
SHIFT_OP(shr_u32, uint32_t, uint32_t, uint32_t, 32, x >> n, 0)
SHIFT_OP(shr_s32, uint32_t, uint32_t, int32_t, 32, x >> n, x >> n)
SHIFT_OP(shr_u64, uint64_t, uint64_t, uint64_t, 64, x >> n, 0)
SHIFT_OP(shr_s64, uint64_t, uint64_t, int64_t, 64, x >> n, x >> n)

static inline uint32_t funnel_left(uint32_t lo, uint32_t hi, uint32_t n)
{
    return n ? (n < 32 ? hi << n | lo >> (32 - n) : lo) : hi;
}

static inline uint32_t funnel_right(uint32_t lo, uint32_t hi, uint32_t n)
{
    return n ? (n < 32 ? hi << (32 - n) | lo >> n : hi) : lo;
}
LANE_OP3(shf_l_wrap, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, funnel_left(x, y, z & 31))
LANE_OP3(shf_r_wrap, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, funnel_right(x, y, z & 31))
LANE_OP3(shf_l_clamp, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
    funnel_left(x, y, z < 32 ? z : 32))
LANE_OP3(shf_r_clamp, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
    funnel_right(x, y, z < 32 ? z : 32))

static inline uint32_t lop3(uint32_t x, uint32_t y, uint32_t z, uint32_t lut)
{
    uint32_t r = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint32_t term = (i & 4 ? x : ~x) & (i & 2 ? y : ~y) & (i & 1 ? z : ~z);
        r |= lut >> i & 1 ? term : 0;
    }
    return r;
}
LANE_OP3(
    lop3_b32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, lop3(x, y, z, (uint32_t)in->imm))

/* The chip looks at eight bits of a position and a length in 32 bits, at all of them in 64. */
static inline void field_ends(uint32_t *pos, uint32_t *len, unsigned width)
{
    const uint32_t most = width == 64 ? 128 : 255;
    *pos = width == 64 ? (*pos < most ? *pos : most) : *pos & most;
    *len = width == 64 ? (*len < most ? *len : most) : *len & most;
}

static inline uint64_t bfe(uint64_t x, uint32_t pos, uint32_t len, unsigned width, bool is_signed)
{
    field_ends(&pos, &len, width);
    if (len == 0)
        return 0;
    bool sign = is_signed && (x >> (pos + len - 1 < width - 1 ? pos + len - 1 : width - 1) & 1);
    uint64_t field = pos < width ? x >> pos : 0;
    uint64_t keep = len < 64 ? ((uint64_t)1 << len) - 1 : ~(uint64_t)0;
    if (pos + len > width && pos > 0) /* bits past the top are the sign's */
        keep = pos < width ? ((uint64_t)1 << (width - pos)) - 1 : 0;
    return (field & keep) | (sign ? ~keep : 0);
}

static inline uint64_t bfi(uint64_t x, uint64_t base, uint32_t pos, uint32_t len, unsigned width)
{
    field_ends(&pos, &len, width);
    if (pos >= width || len == 0)
        return base;
    uint64_t keep = len < 64 ? ((uint64_t)1 << len) - 1 : ~(uint64_t)0;
    return (base & ~(keep << pos)) | (x & keep) << pos;
}

#define BIT_FIELD_OP(name, D, width, is_signed)                                                    \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        D *d = (D *)(file + in->d);                                                                \
        const D *a = (const D *)(file + in->a);                                                    \
        const uint32_t *b = (const uint32_t *)(file + in->b);                                      \
        const uint32_t *c = (const uint32_t *)(file + in->c);                                      \
        for (unsigned l = 0; l < 32; l++) {                                                        \
            D r = (D)bfe(a[l], b[l], c[l], width, is_signed);                                      \
            d[l] = (mask >> l & 1) ? r : d[l];                                                     \
        }                                                                                          \
    }
BIT_FIELD_OP(bfe_u32, uint32_t, 32, false)
BIT_FIELD_OP(bfe_s32, uint32_t, 32, true)
BIT_FIELD_OP(bfe_u64, uint64_t, 64, false)
BIT_FIELD_OP(bfe_s64, uint64_t, 64, true)

#define BIT_INSERT_OP(name, D, width)                                                              \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        D *d = (D *)(file + in->d);                                                                \
        const D *a = (const D *)(file + in->a), *b = (const D *)(file + in->b);                    \
        const uint32_t *c = (const uint32_t *)(file + in->c);                                      \
        const uint32_t *e = (const uint32_t *)(file + in->e);                                      \
        for (unsigned l = 0; l < 32; l++) {                                                        \
            D r = (D)bfi(a[l], b[l], c[l], e[l], width);                                           \
            d[l] = (mask >> l & 1) ? r : d[l];                                                     \
        }                                                                                          \
    }
BIT_INSERT_OP(bfi_b32, uint32_t, 32)
BIT_INSERT_OP(bfi_b64, uint64_t, 64)

static inline uint32_t find_bit(uint64_t x, bool shift_amount, unsigned width)
{
    if (x == 0)
        return ~0u;
    uint32_t at = 63 - (uint32_t)__builtin_clzll(x);
    return shift_amount ? width - 1 - at : at;
}
#define SHIFTAMT (in->sub == PTX_SUB_SHIFTAMT)
#define SIGN_OUT(T, x) ((x) < 0 ? ~(x) : (x))
LANE_OP1(bfind_u32, uint32_t, uint32_t, uint32_t, uint32_t, find_bit(x, SHIFTAMT, 32))
LANE_OP1(bfind_s32, uint32_t, uint32_t, uint32_t, int32_t,
    find_bit((uint32_t)SIGN_OUT(int32_t, x), SHIFTAMT, 32))
LANE_OP1(bfind_u64, uint32_t, uint32_t, uint64_t, uint64_t, find_bit(x, SHIFTAMT, 64))
LANE_OP1(bfind_s64, uint32_t, uint32_t, uint64_t, int64_t,
    find_bit((uint64_t)SIGN_OUT(int64_t, x), SHIFTAMT, 64))

static inline uint32_t reverse32(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
LANE_OP1(brev_b32, uint32_t, uint32_t, uint32_t, uint32_t, reverse32(x))
LANE_OP1(brev_b64, uint64_t, uint64_t, uint64_t, uint64_t,
    (uint64_t)reverse32((uint32_t)x) << 32 | reverse32((uint32_t)(x >> 32)))
LANE_OP1(clz_b32, uint32_t, uint32_t, uint32_t, uint32_t, x ? (uint32_t)__builtin_clz(x) : 32)
LANE_OP1(clz_b64, uint32_t, uint32_t, uint64_t, uint64_t, x ? (uint32_t)__builtin_clzll(x) : 64)
LANE_OP1(popc_b32, uint32_t, uint32_t, uint32_t, uint32_t, (uint32_t)__builtin_popcount(x))
LANE_OP1(popc_b64, uint32_t, uint32_t, uint64_t, uint64_t, (uint32_t)__builtin_popcountll(x))

static inline uint32_t bmsk(uint32_t pos, uint32_t len, bool clamp)
{
    if (!clamp) {
        pos &= 31;
        len &= 31;
    }
    if (pos >= 32 || len == 0)
        return 0;
    uint32_t ones = len < 32 ? (1u << len) - 1 : ~0u;
    return ones << pos;
}
LANE_OP2(bmsk_clamp, uint32_t, uint32_t, uint32_t, uint32_t, bmsk(x, y, true))
LANE_OP2(bmsk_wrap, uint32_t, uint32_t, uint32_t, uint32_t, bmsk(x, y, false))

static inline uint32_t szext(uint32_t x, uint32_t n, bool is_signed, bool wrap)
{
    n = wrap ? n & 31 : n;
    if (n == 0)
        return 0;
    if (n >= 32)
        return x;
    return is_signed ? (uint32_t)((int32_t)(x << (32 - n)) >> (32 - n)) : x & ((1u << n) - 1);
}
LANE_OP2(szext_u32_clamp, uint32_t, uint32_t, uint32_t, uint32_t, szext(x, y, false, false))
LANE_OP2(szext_s32_clamp, uint32_t, uint32_t, uint32_t, uint32_t, szext(x, y, true, false))
LANE_OP2(szext_u32_wrap, uint32_t, uint32_t, uint32_t, uint32_t, szext(x, y, false, true))
LANE_OP2(szext_s32_wrap, uint32_t, uint32_t, uint32_t, uint32_t, szext(x, y, true, true))

/* fns: the c-th set bit of a at or after (c > 0), or at or before (c < 0), position b. */
static inline uint32_t fns(uint32_t x, uint32_t base, int32_t offset)
{
    base &= 31;
    if (offset == 0)
        return x >> base & 1 ? base : ~0u;
    int step = offset > 0 ? 1 : -1;
    uint32_t left = offset > 0 ? (uint32_t)offset : 0 - (uint32_t)offset;
    if (left == 0x80000000u)
        return 0; /* what an H100 gives */
    for (int at = (int)base; at >= 0 && at < 32; at += step) {
        if (x >> at & 1 && --left == 0)
            return (uint32_t)at;
    }
    return ~0u;
}
LANE_OP3(fns_b32, uint32_t, uint32_t, uint32_t, uint32_t, int32_t, fns(x, y, z))

static inline uint32_t prmt(uint32_t lo, uint32_t hi, uint32_t select)
{
    uint64_t both = (uint64_t)hi << 32 | lo;
    uint32_t r = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t s = select >> (4 * i);
        uint32_t byte = (uint32_t)(both >> (8 * (s & 7))) & 0xff;
        byte = s & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
        r |= byte << (8 * i);
    }
    return r;
}

/* The named modes as selectors for each value of c's low two bits (PTX ISA 9.0, prmt). */
static inline uint32_t prmt_mode(unsigned mode, uint32_t c)
{
    static const uint16_t selectors[7][4] = {
        [PTX_PRMT_F4E] = {0x3210, 0x4321, 0x5432, 0x6543},
        [PTX_PRMT_B4E] = {0x5670, 0x6701, 0x7012, 0x0123},
        [PTX_PRMT_RC8] = {0x0000, 0x1111, 0x2222, 0x3333},
        [PTX_PRMT_ECL] = {0x3210, 0x3211, 0x3222, 0x3333},
        [PTX_PRMT_ECR] = {0x0000, 0x1110, 0x2210, 0x3210},
        [PTX_PRMT_RC16] = {0x1010, 0x3232, 0x1010, 0x3232},
    };
    return selectors[mode][c & 3];
}
LANE_OP3(prmt_b32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, prmt(x, y, z))
LANE_OP3(prmt_mode_b32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
    prmt(x, y, prmt_mode(in->sub, z)))

/* imm bit 0: a is signed, bit 1: b is signed; dp2a: bit 2: the high half of b. */
static inline int32_t byte_of(uint32_t v, unsigned i, bool is_signed)
{
    uint32_t byte = v >> (8 * i) & 0xff;
    return is_signed ? (int32_t)(int8_t)byte : (int32_t)byte;
}

static inline uint32_t dp4a(uint32_t x, uint32_t y, uint32_t z, int64_t signs)
{
    for (unsigned i = 0; i < 4; i++)
        z += (uint32_t)(byte_of(x, i, signs & 1) * byte_of(y, i, signs & 2));
    return z;
}

static inline uint32_t dp2a(uint32_t x, uint32_t y, uint32_t z, int64_t signs)
{
    for (unsigned i = 0; i < 2; i++) {
        uint32_t half = x >> (16 * i) & 0xffff;
        int32_t value = signs & 1 ? (int32_t)(int16_t)half : (int32_t)half;
        z += (uint32_t)(value * byte_of(y, i + (signs & 4 ? 2 : 0), signs & 2));
    }
    return z;
}
LANE_OP3(dp4a_op, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, dp4a(x, y, z, in->imm))
LANE_OP3(dp2a_op, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, dp2a(x, y, z, in->imm))

/* add.cc, addc(.cc), sub.cc, subc(.cc): sub bit 0: carry in, bit 1: carry out, bit 2: subtract. The
 * condition code of a subtraction is the borrow. */
#define CARRY_OP(name, D, WIDE)                                                                    \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        D *d = (D *)(file + in->d);                                                                \
        const D *a = (const D *)(file + in->a), *b = (const D *)(file + in->b);                    \
        uint32_t *code = (uint32_t *)(file + in->d2);                                              \
        uint32_t was = in->sub & 1 ? *code : 0, out = 0;                                           \
        for (unsigned l = 0; l < 32; l++) {                                                        \
            WIDE r = in->sub & 4 ? (WIDE)a[l] - b[l] - (was >> l & 1)                              \
                                 : (WIDE)a[l] + b[l] + (was >> l & 1);                             \
            out |= (uint32_t)(r >> (sizeof(D) * 8) & 1) << l;                                      \
            d[l] = (mask >> l & 1) ? (D)r : d[l];                                                  \
        }                                                                                          \
        if (in->sub & 2)                                                                           \
            *code = (*code & ~mask) | (out & mask);                                                \
    }
CARRY_OP(carry_32, uint32_t, uint64_t)
CARRY_OP(carry_64, uint64_t, u128)

/* mad.cc, madc: as above; sub bit 3: the high half of the product; bit 4: signed. */
#define MAD_CARRY_OP(name, D, S, WIDE, SWIDE)                                                      \
    static void name(uint8_t *file, const struct inst *in, uint32_t mask)                          \
    {                                                                                              \
        D *d = (D *)(file + in->d);                                                                \
        const D *a = (const D *)(file + in->a), *b = (const D *)(file + in->b);                    \
        const D *c = (const D *)(file + in->c);                                                    \
        uint32_t *code = (uint32_t *)(file + in->d2);                                              \
        uint32_t was = in->sub & 1 ? *code : 0, out = 0;                                           \
        for (unsigned l = 0; l < 32; l++) {                                                        \
            WIDE product = in->sub & 16 ? (WIDE)((SWIDE)(S)a[l] * (S)b[l]) : (WIDE)a[l] * b[l];    \
            D half = in->sub & 8 ? (D)(product >> (sizeof(D) * 8)) : (D)product;                   \
            WIDE r = (WIDE)half + c[l] + (was >> l & 1);                                           \
            out |= (uint32_t)(r >> (sizeof(D) * 8) & 1) << l;                                      \
            d[l] = (mask >> l & 1) ? (D)r : d[l];                                                  \
        }                                                                                          \
        if (in->sub & 2)                                                                           \
            *code = (*code & ~mask) | (out & mask);                                                \
    }
MAD_CARRY_OP(mad_carry_32, uint32_t, int32_t, uint64_t, int64_t)
MAD_CARRY_OP(mad_carry_64, uint64_t, int64_t, u128, s128)

/* Logic on predicates: words. */
static void pred_op(uint8_t *file, const struct inst *in, uint32_t mask)
{
    uint32_t *d = (uint32_t *)(file + in->d);
    uint32_t a = *(const uint32_t *)(file + in->a);
    uint32_t b = in->b == NO_ROW ? 0 : *(const uint32_t *)(file + in->b), r = 0;
    switch (in->sub) {
    case PTX_OP_AND:
        r = a & b;
        break;
    case PTX_OP_OR:
        r = a | b;
        break;
    case PTX_OP_XOR:
        r = a ^ b;
        break;
    default:
        r = ~a;
    }
    *d = (*d & ~mask) | (r & mask);
}

sem_fn *LANES(sem_pred)(const struct ptx_inst *p, struct inst *in)
{
    in->sub = (uint8_t)p->op;
    return pred_op;
}

/* --- which loop --- */

static sem_fn *from(sem_fn *const table[6], enum ptx_type type)
{
    int i = lanes_int_index(type);
    return i < 0 ? NULL : table[i];
}

static sem_fn *pick_carry(const struct ptx_inst *p, struct inst *in)
{
    bool wide = ptx_type_bytes(p->type) == 8;
    bool carry_in = p->op == PTX_OP_ADDC || p->op == PTX_OP_SUBC || p->op == PTX_OP_MADC;
    in->sub = (uint8_t)((carry_in ? 1 : 0) | (p->cc ? 2 : 0));
    if (p->op == PTX_OP_MADC || p->op == PTX_OP_MAD) {
        in->sub |=
            (uint8_t)((p->mul == PTX_MUL_HI ? 8 : 0) | (ptx_type_is_signed(p->type) ? 16 : 0));
        return wide ? mad_carry_64 : mad_carry_32;
    }
    in->sub |= p->op == PTX_OP_SUB || p->op == PTX_OP_SUBC ? 4 : 0;
    return wide ? carry_64 : carry_32;
}

static sem_fn *pick_sum(const struct ptx_inst *p, struct inst *in)
{
    static sem_fn *const add[6] = TABLE3(add), *const sub[6] = TABLE3(sub);
    const bool adds = p->op == PTX_OP_ADD;
    if (p->cc)
        return pick_carry(p, in);
    if (p->sat)
        return p->type != PTX_S32 ? NULL : adds ? add_sat_s32 : sub_sat_s32;
    return from(adds ? add : sub, p->type);
}

static sem_fn *pick_mul(const struct ptx_inst *p, struct inst *in)
{
    static sem_fn *const lo[6] = TABLE3(mul), *const hi[6] = TABLE6(mul_hi);
    static sem_fn *const wide[6] = {
        mul_wide_u16, mul_wide_s16, mul_wide_u32, mul_wide_s32, NULL, NULL};
    if (p->mul == PTX_MUL_WIDE)
        return from(wide, p->type);
    return from(p->mul == PTX_MUL_HI ? hi : lo, p->type);
}

static sem_fn *pick_mad(const struct ptx_inst *p, struct inst *in)
{
    static sem_fn *const lo[6] = TABLE3(mad), *const hi[6] = TABLE6(mad_hi);
    static sem_fn *const wide[6] = {
        mad_wide_u16, mad_wide_s16, mad_wide_u32, mad_wide_s32, NULL, NULL};
    if (p->cc)
        return pick_carry(p, in);
    if (p->sat)
        return p->type == PTX_S32 && p->mul == PTX_MUL_HI ? mad_hi_sat_s32 : NULL;
    if (p->mul == PTX_MUL_WIDE)
        return from(wide, p->type);
    return from(p->mul == PTX_MUL_HI ? hi : lo, p->type);
}

static uint32_t mad24_sat(uint32_t x, uint32_t y, uint32_t z)
{
    int32_t p = (int32_t)((int64_t)((int32_t)(x << 8) >> 8) * ((int32_t)(y << 8) >> 8) >> 16);
    int64_t r = (int64_t)p + (int32_t)z;
    return (uint32_t)(r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : r);
}
LANE_OP3(mad24_hi_sat_s32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, mad24_sat(x, y, z))

static sem_fn *pick_24(const struct ptx_inst *p, struct inst *in)
{
    static sem_fn *const table[2][2][2] = {{{mul24_u32, mul24_s32}, {mul24_hi_u32, mul24_hi_s32}},
        {{mad24_u32, mad24_s32}, {mad24_hi_u32, mad24_hi_s32}}};
    if (p->type != PTX_U32 && p->type != PTX_S32)
        return NULL;
    if (p->sat)
        return p->type == PTX_S32 && p->mul == PTX_MUL_HI ? mad24_hi_sat_s32 : NULL;
    return table[p->op == PTX_OP_MAD24][p->mul == PTX_MUL_HI][p->type == PTX_S32];
}

static sem_fn *pick_minmax(const struct ptx_inst *p, struct inst *in)
{
    static sem_fn *const min[6] = TABLE6(min), *const max[6] = TABLE6(max);
    const bool least = p->op == PTX_OP_MIN;
    if (p->relu)
        return p->type != PTX_S32 ? NULL : least ? min_relu_s32 : max_relu_s32;
    return from(least ? min : max, p->type);
}

static sem_fn *pick_dot(const struct ptx_inst *p, struct inst *in)
{
    in->imm = (ptx_type_is_signed(p->type) ? 1 : 0) | (ptx_type_is_signed(p->type2) ? 2 : 0) |
              (p->mul == PTX_MUL_HI ? 4 : 0);
    return p->op == PTX_OP_DP4A ? dp4a_op : dp2a_op;
}

static sem_fn *pick_shf(const struct ptx_inst *p, struct inst *in)
{
    const bool left = p->shfl == PTX_SHFL_UP;
    return p->clamp ? (left ? shf_l_clamp : shf_r_clamp) : (left ? shf_l_wrap : shf_r_wrap);
}

static sem_fn *pick_bfind(const struct ptx_inst *p, struct inst *in)
{
    static sem_fn *const bfind[6] = {NULL, NULL, bfind_u32, bfind_s32, bfind_u64, bfind_s64};
    in->sub = (uint8_t)p->sub;
    return from(bfind, p->type);
}

static sem_fn *pick_bmsk(const struct ptx_inst *p, struct inst *in)
{
    return p->clamp ? bmsk_clamp : bmsk_wrap;
}

static sem_fn *pick_szext(const struct ptx_inst *p, struct inst *in)
{
    if (ptx_type_is_signed(p->type))
        return p->clamp ? szext_s32_clamp : szext_s32_wrap;
    return p->clamp ? szext_u32_clamp : szext_u32_wrap;
}

static sem_fn *pick_prmt(const struct ptx_inst *p, struct inst *in)
{
    in->sub = (uint8_t)p->prmt;
    return p->prmt == PTX_PRMT_NONE ? prmt_b32 : prmt_mode_b32;
}

/* The words of ops.def for integers. PICK(name): pick_name() chooses the loop. The others name a
 * loop for each of these types: EACH: u16, s16, u32, s32, u64, s64. SIZES: 16, 32, 64 bits. SIGNED:
 * s16, s32, s64. WIDE_EACH: u32, s32, u64, s64. WIDE_SIZES: 32, 64 bits. B32: 32 bits. */
#define PICK(name)                                                                                 \
    {                                                                                              \
        .pick = pick_##name                                                                        \
    }
#define EACH(name)                                                                                 \
    {                                                                                              \
        .loop = TABLE6(name)                                                                       \
    }
#define SIZES(name)                                                                                \
    {                                                                                              \
        .loop = TABLE3(name)                                                                       \
    }
#define SIGNED(name)                                                                               \
    {                                                                                              \
        .loop = { NULL, name##_s16, NULL, name##_s32, NULL, name##_s64 }                           \
    }
#define WIDE_EACH(name)                                                                            \
    {                                                                                              \
        .loop = { NULL, NULL, name##_u32, name##_s32, name##_u64, name##_s64 }                     \
    }
#define WIDE_SIZES(name)                                                                           \
    {                                                                                              \
        .loop = { NULL, NULL, name##_b32, name##_b32, name##_b64, name##_b64 }                     \
    }
#define B32(name)                                                                                  \
    {                                                                                              \
        .loop = { NULL, NULL, name##_b32, NULL, NULL, NULL }                                       \
    }
#define BY_TYPE(integers, floats, halves, pairs) integers

sem_fn *LANES(sem_int)(const struct ptx_inst *p, struct inst *in)
{
    static const struct {
        sem_pick *pick;
        sem_fn *loop[6]; /* lanes_int_index */
    } meanings[NR_PTX_OPS] = {
#define OP(id, name, class, takes, costs, decoder, meaning) [PTX_OP_##id] = meaning,
#include "ptx/ops.def"
#undef OP
    };
    const int i = lanes_int_index(p->type);
    if (i < 0)
        return NULL;
    return meanings[p->op].pick ? meanings[p->op].pick(p, in) : meanings[p->op].loop[i];
}
