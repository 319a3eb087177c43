/* Owns the video instructions: on one part or the whole of a register (vadd ... vset, vmad), and on
 * two or four parts at once (vadd2 ... vset4). What each does: PTX ISA 9.0, chapter 9.7, scalar and
 * SIMD video instructions; a scalar result keeps 33 bits until its second operation, as there. What
 * inst->imm holds: video.h. */
#include "emu/sem/lanes.h"
#include "emu/state/video.h"

static unsigned get(const struct inst *in, unsigned at, unsigned bits)
{
    return (unsigned)((uint64_t)in->imm >> at) & ((1u << bits) - 1);
}

static int64_t extend(uint32_t v, unsigned bits, bool is_signed)
{
    v = bits == 32 ? v : v & ((1u << bits) - 1);
    return is_signed ? (int32_t)(v << (32 - bits)) >> (32 - bits) : (int64_t)v;
}

static int64_t clamp(int64_t v, unsigned bits, bool is_signed)
{
    const int64_t top = (INT64_C(1) << (bits - is_signed)) - 1, bottom = is_signed ? -top - 1 : 0;
    return v > top ? top : v < bottom ? bottom : v;
}

static bool compare(enum ptx_cmp cmp, int64_t x, int64_t y)
{
    switch (cmp) {
    case PTX_EQ:
        return x == y;
    case PTX_NE:
        return x != y;
    case PTX_LT:
        return x < y;
    case PTX_LE:
        return x <= y;
    case PTX_GT:
        return x > y;
    default:
        return x >= y;
    }
}

static int64_t apply(const struct inst *in, int64_t x, int64_t y)
{
    switch (in->sub) {
    case VIDEO_ADD:
        return x + y;
    case VIDEO_SUB:
        return x - y;
    case VIDEO_ABSDIFF:
        return x > y ? x - y : y - x;
    case VIDEO_MIN:
        return x < y ? x : y;
    case VIDEO_MAX:
        return x > y ? x : y;
    case VIDEO_AVRG: /* rounded away from zero */
        return x + y >= 0 ? (x + y + 1) >> 1 : (x + y) >> 1;
    default:
        return compare((enum ptx_cmp)get(in, VIDEO_CMP, 5), x, y);
    }
}

/* --- one part --- */

/* PTX's b0 to b3, h0, h1; 0: all of it. */
static unsigned part_bits(unsigned part)
{
    return part == 0 ? 32 : part <= 4 ? 8 : 16;
}

static unsigned part_at(unsigned part)
{
    return part == 0 ? 0 : part <= 4 ? 8 * (part - 1) : 16 * (part - 5);
}

static int64_t pick_part(uint32_t v, unsigned part, bool is_signed)
{
    return extend(v >> part_at(part), part_bits(part), is_signed);
}

/* A shift by 32 places at most. Beyond 33 bits only a clamp can tell what a left shift gave. */
static int64_t shift(const struct inst *in, int64_t x, int64_t y)
{
    const unsigned nr = get(in, VIDEO_WRAP, 1) ? (unsigned)y & 31 : y > 32 ? 32 : (unsigned)y;
    const int64_t far = INT64_C(1) << 40;
    if (in->sub == VIDEO_SHR)
        return x >> nr;
    if (in->flags & INST_SAT && (x > far >> nr || x < -(far >> nr)))
        return x > 0 ? far : -far;
    return (int64_t)((uint64_t)x << nr);
}

static uint32_t finish(const struct inst *in, int64_t v, uint32_t z)
{
    const unsigned part = get(in, VIDEO_TO, 3), bits = part_bits(part), at = part_at(part);
    const bool is_signed = in->imm & VIDEO_SIGNED_D;
    const int64_t c = extend(z, 32, is_signed);
    const uint32_t mask = (uint32_t)((UINT64_C(1) << bits) - 1) << at;
    if (in->flags & INST_SAT)
        v = clamp(v, bits, is_signed);
    v = (int64_t)((uint64_t)v << 31) >> 31;
    switch (get(in, VIDEO_SECOND, 2)) {
    case VIDEO_THEN_ADD:
        return (uint32_t)(v + c);
    case VIDEO_THEN_MIN:
        return (uint32_t)(v < c ? v : c);
    case VIDEO_THEN_MAX:
        return (uint32_t)(v > c ? v : c);
    default:
        return part ? ((uint32_t)v << at & mask) | (z & ~mask) : (uint32_t)v;
    }
}

static uint32_t scalar_lane(const struct inst *in, uint32_t x, uint32_t y, uint32_t z)
{
    const int64_t a = pick_part(x, get(in, VIDEO_A, 3), in->imm & VIDEO_SIGNED_A),
                  b = pick_part(y, get(in, VIDEO_B, 3), in->imm & VIDEO_SIGNED_B);
    const bool shifts = in->sub == VIDEO_SHL || in->sub == VIDEO_SHR;
    return finish(in, shifts ? shift(in, a, b) : apply(in, a, b), z);
}
LANE_OP3(video1, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, scalar_lane(in, x, y, z))

/* In 128 bits, as in the manual: product and sum need 66. */
static uint32_t multiply_lane(const struct inst *in, uint32_t x, uint32_t y, uint32_t z)
{
    typedef __int128 wide;
    const bool minus = in->imm & VIDEO_MINUS_PRODUCT, minus_c = in->imm & VIDEO_MINUS_C,
               is_signed = in->imm &
                           (VIDEO_SIGNED_A | VIDEO_SIGNED_B | VIDEO_MINUS_PRODUCT | VIDEO_MINUS_C);
    const int64_t a = pick_part(x, get(in, VIDEO_A, 3), in->imm & VIDEO_SIGNED_A),
                  b = pick_part(y, get(in, VIDEO_B, 3), in->imm & VIDEO_SIGNED_B);
    wide v = (wide)a * b, top = is_signed ? INT32_MAX : (wide)UINT32_MAX,
         bottom = is_signed ? INT32_MIN : 0;
    const unsigned lsb = in->imm & (VIDEO_PLUS_ONE | VIDEO_MINUS_PRODUCT | VIDEO_MINUS_C) ? 1 : 0;
    v = minus ? ~v : v;
    v += extend(minus_c && !minus ? ~z : z, 32, is_signed);
    v = (v + lsb) >> get(in, VIDEO_SCALE, 4);
    if (in->flags & INST_SAT)
        v = v > top ? top : v < bottom ? bottom : v;
    return (uint32_t)v;
}
LANE_OP3(video_mad, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, multiply_lane(in, x, y, z))

/* --- two or four parts --- */

static uint32_t simd_lane(const struct inst *in, unsigned bits, uint32_t x, uint32_t y, uint32_t z)
{
    const bool sums = get(in, VIDEO_SECOND, 2) == VIDEO_THEN_ADD,
               is_signed = in->imm & VIDEO_SIGNED_D;
    const uint64_t both = (uint64_t)y << 32 | x;
    uint32_t r = sums ? z : 0;
    for (unsigned i = 0; i < 32 / bits; i++) {
        const uint32_t mask = ((1u << bits) - 1) << i * bits;
        const unsigned a = get(in, VIDEO_PICK_A + 3 * i, 3), b = get(in, VIDEO_PICK_B + 3 * i, 3);
        int64_t v = apply(in, extend((uint32_t)(both >> a * bits), bits, in->imm & VIDEO_SIGNED_A),
            extend((uint32_t)(both >> b * bits), bits, in->imm & VIDEO_SIGNED_B));
        const bool on = get(in, VIDEO_MASK + i, 1);
        if (in->flags & INST_SAT)
            v = clamp(v, bits, is_signed);
        if (sums)
            r += on ? (uint32_t)v : 0;
        else
            r |= on ? (uint32_t)v << i * bits & mask : z & mask;
    }
    return r;
}
LANE_OP3(video2, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, simd_lane(in, 16, x, y, z))
LANE_OP3(video4, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, simd_lane(in, 8, x, y, z))

sem_fn *LANES(sem_video)(const struct ptx_inst *p, struct inst *in)
{
    if (in->sub == VIDEO_MAD)
        return video_mad;
    return in->elem_bytes == 1 ? video4 : in->elem_bytes == 2 ? video2 : video1;
}
