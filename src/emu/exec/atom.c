/* Owns what an atomic does to the memory of one lane. The operation is atomic across the worker
 * threads too. */
#include "emu/exec/exec.h"

#include "emu/sem/half.h"

#include <string.h>

static uint64_t mask_of(unsigned bytes)
{
    return bytes == 8 ? ~(uint64_t)0 : ((uint64_t)1 << (8 * bytes)) - 1;
}

static int64_t as_signed(uint64_t v, unsigned bytes)
{
    unsigned shift = 64 - 8 * bytes;
    return (int64_t)(v << shift) >> shift;
}

static uint32_t add_half(uint32_t x, uint32_t y)
{
    return half_from_f32(half_f32(x & 0xffff) + half_f32(y & 0xffff));
}

static uint32_t add_bf16(uint32_t x, uint32_t y)
{
    return bf16_from_f32(odd_f32(odd_sum(bf16_f32(x & 0xffff), bf16_f32(y & 0xffff))));
}

static uint32_t minmax_half(uint32_t x, uint32_t y, bool bf, bool max)
{
    x &= 0xffff, y &= 0xffff;
    float a = bf ? bf16_f32(x) : half_f32(x), b = bf ? bf16_f32(y) : half_f32(y);
    if (a != a || b != b)
        return a == a ? x : b == b ? y : 0x7fff;
    return (max ? a > b : a < b) ? x : a == b ? (max ? x & y : x | y) : y;
}

static uint64_t float_result(
    enum ptx_type type, uint64_t old, uint64_t b, unsigned op, unsigned how)
{
    uint32_t x = (uint32_t)old, y = (uint32_t)b;
    bool bf = type == PTX_BF16 || type == PTX_BF16X2, max = op == PTX_ATOM_MAX;
    switch (type) {
    case PTX_F32:
        if (how & ATOM_FLUSH)
            return lanes_ftz(lanes_nan32(lanes_f32(lanes_ftz(x)) + lanes_f32(lanes_ftz(y))));
        return lanes_nan32(lanes_f32(x) + lanes_f32(y));
    case PTX_F64:
        return lanes_bits64(lanes_f64(old) + lanes_f64(b));
    case PTX_F16:
    case PTX_BF16:
        return op != PTX_ATOM_ADD ? minmax_half(x, y, bf, max)
               : bf               ? add_bf16(x, y)
                                  : add_half(x, y);
    default:
        break;
    }
    uint32_t xh = x >> 16, yh = y >> 16;
    if (op != PTX_ATOM_ADD)
        return minmax_half(x, y, bf, max) | minmax_half(xh, yh, bf, max) << 16;
    return bf ? add_bf16(x, y) | add_bf16(xh, yh) << 16 : add_half(x, y) | add_half(xh, yh) << 16;
}

static uint64_t result(const struct inst *in, uint64_t old, const uint64_t operand[2], unsigned how)
{
    unsigned bytes = in->elem_bytes;
    uint64_t b = operand[0] & mask_of(bytes);
    enum ptx_type type = (enum ptx_type)in->type;
    bool is_signed = ptx_type_is_signed(type);
    switch (in->sub) {
    case PTX_ATOM_EXCH:
        return b;
    case PTX_ATOM_CAS:
        return old == b ? operand[1] & mask_of(bytes) : old;
    case PTX_ATOM_AND:
        return old & b;
    case PTX_ATOM_OR:
        return old | b;
    case PTX_ATOM_XOR:
        return old ^ b;
    case PTX_ATOM_INC:
        return old >= b ? 0 : old + 1;
    case PTX_ATOM_DEC:
        return old == 0 || old > b ? b : old - 1;
    default:
        break;
    }
    if (ptx_type_is_float(type))
        return float_result(type, old, b, in->sub, how);
    if (in->sub == PTX_ATOM_ADD)
        return (old + b) & mask_of(bytes);
    bool less = is_signed ? as_signed(old, bytes) < as_signed(b, bytes) : old < b;
    return (in->sub == PTX_ATOM_MIN) == less ? old : b;
}

/* No other thread can be at this memory. */
static void alone_lane(
    const struct inst *in, uint8_t *at, const uint64_t operand[2], uint64_t *old, unsigned how)
{
    *old = 0;
    memcpy(old, at, in->elem_bytes);
    const uint64_t now = result(in, *old, operand, how);
    memcpy(at, &now, in->elem_bytes);
}

void atom_lane(
    const struct inst *in, uint8_t *at, const uint64_t operand[2], uint64_t *old, unsigned how)
{
    if (how & ATOM_ALONE) {
        alone_lane(in, at, operand, old, how);
        return;
    }
    if (in->elem_bytes == 8) {
        uint64_t was = __atomic_load_n((uint64_t *)at, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n((uint64_t *)at, &was, result(in, was, operand, how),
            false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
        }
        *old = was;
    } else if (in->elem_bytes == 4) {
        uint32_t was = __atomic_load_n((uint32_t *)at, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n((uint32_t *)at, &was,
            (uint32_t)result(in, was, operand, how), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
        }
        *old = was;
    } else {
        uint16_t was = __atomic_load_n((uint16_t *)at, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n((uint16_t *)at, &was,
            (uint16_t)result(in, was, operand, how), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
        }
        *old = was;
    }
}
