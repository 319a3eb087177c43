/* Owns the element types: names, sizes, bit patterns. */
#include "core/elem.h"

#include <math.h>
#include <string.h>

struct elem_row {
    const char *name;
    uint8_t bytes;
    bool is_float, is_signed;
    double tolerance;
};

/* Tolerances: 64 units in the last place for f64 and f32 (sums in another order), 4 for the
 * 16-bit formats and tf32, 2 for the 8-bit floats. One unit is 2^-52, 2^-23, 2^-10 (tf32, f16),
 * 2^-7, 2^-3, 2^-2. */
static const struct elem_row rows[NR_ELEMS] = {
    [ELEM_F64] = {"f64", 8, true, true, 0x1p-46},
    [ELEM_F32] = {"f32", 4, true, true, 0x1p-17},
    [ELEM_TF32] = {"tf32", 4, true, true, 0x1p-8},
    [ELEM_F16] = {"f16", 2, true, true, 0x1p-8},
    [ELEM_BF16] = {"bf16", 2, true, true, 0x1p-5},
    [ELEM_E4M3] = {"e4m3", 1, true, true, 0x1p-2},
    [ELEM_E5M2] = {"e5m2", 1, true, true, 0x1p-1},
    [ELEM_I64] = {"i64", 8, false, true, 0},
    [ELEM_I32] = {"i32", 4, false, true, 0},
    [ELEM_I16] = {"i16", 2, false, true, 0},
    [ELEM_I8] = {"i8", 1, false, true, 0},
    [ELEM_U64] = {"u64", 8, false, false, 0},
    [ELEM_U32] = {"u32", 4, false, false, 0},
    [ELEM_U16] = {"u16", 2, false, false, 0},
    [ELEM_U8] = {"u8", 1, false, false, 0},
    [ELEM_BOOL] = {"bool", 1, false, false, 0},
};

/* A small binary float: sign, exponent, `man` mantissa bits; emin is the exponent of the smallest
 * normal number; `max` the bits of the largest finite one, `inf` those of infinity (0: there is
 * none), nan the canonical NaN that CUDA's conversions give. */
struct small_float {
    int man, emin, sign_bit;
    uint32_t max, inf, nan;
    bool saturates;
};

static const struct small_float tf32 = {10, -126, 18, 0x3fbff, 0x3fc00, 0x3ffff, false};
static const struct small_float f16 = {10, -14, 15, 0x7bff, 0x7c00, 0x7fff, false};
static const struct small_float bf16 = {7, -126, 15, 0x7f7f, 0x7f80, 0x7fff, false};
static const struct small_float e4m3 = {3, -6, 7, 0x7e, 0, 0x7f, true};
static const struct small_float e5m2 = {2, -14, 7, 0x7b, 0x7c, 0x7f, true};

const char *elem_name(enum elem elem)
{
    return rows[elem].name;
}

bool elem_parse(const char *name, size_t len, enum elem *elem)
{
    for (int i = 0; i < NR_ELEMS; i++) {
        if (strlen(rows[i].name) == len && memcmp(rows[i].name, name, len) == 0) {
            *elem = (enum elem)i;
            return true;
        }
    }
    return false;
}

size_t elem_bytes(enum elem elem)
{
    return rows[elem].bytes;
}

bool elem_is_float(enum elem elem)
{
    return rows[elem].is_float;
}

struct tolerance elem_tolerance(enum elem elem)
{
    return (struct tolerance){rows[elem].tolerance, rows[elem].tolerance};
}

/* Arrays have millions of elements, so exponents are read and written as bits: libm's frexp and
 * ldexp take ten times as long. */
static int exponent_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return (int)(bits >> 52 & 0x7ff) - 1023;
}

static double power_of_two(int exponent) /* -1022 to 1023 */
{
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* To the nearest integer, even of two, from 0 to 2^51. */
static double nearest(double value)
{
    return value + 0x1p52 - 0x1p52;
}

/* Round to nearest even in integers of the last place: scaling by a power of two is exact, so the
 * only rounding is nearest's. */
static uint32_t encode(const struct small_float *f, double value)
{
    uint32_t sign = signbit(value) ? 1u << f->sign_bit : 0;
    double magnitude = fabs(value), ulps;
    uint32_t bits;
    int e;

    if (isnan(value))
        return f->nan;
    if (isinf(value))
        return sign | (f->saturates ? f->max : f->inf);
    if (magnitude == 0)
        return sign;
    e = exponent_of(magnitude);
    if (e < f->emin)
        e = f->emin;
    if (e > 1000) /* keeps the power below in range; far beyond every small format */
        return sign | (f->saturates ? f->max : f->inf);
    ulps = nearest(magnitude * power_of_two(f->man - e));
    /* A subnormal has ulps < 2^man and exponent field 0; a carry out of the mantissa runs into the
     * exponent field by itself. */
    if (e - f->emin > 1 << 9)
        return sign | (f->saturates ? f->max : f->inf);
    bits = ((uint32_t)(e - f->emin) << f->man) + (uint32_t)ulps;
    if (bits > f->max)
        bits = f->saturates ? f->max : f->inf;
    return sign | bits;
}

static double decode(const struct small_float *f, uint32_t bits)
{
    bool negative = bits >> f->sign_bit & 1;
    uint32_t magnitude = bits & ((1u << f->sign_bit) - 1);
    uint32_t man = magnitude & ((1u << f->man) - 1);
    int exponent = (int)(magnitude >> f->man);
    double value;

    if (f->inf && magnitude == f->inf)
        value = INFINITY;
    else if (magnitude > f->max)
        return negative ? -(double)NAN : (double)NAN;
    else if (exponent == 0)
        value = man * power_of_two(f->emin - f->man);
    else
        value = (man | 1u << f->man) * power_of_two(exponent - 1 + f->emin - f->man);
    return negative ? -value : value;
}

static uint64_t load(enum elem elem, const void *array, size_t i)
{
    size_t bytes = rows[elem].bytes;
    const char *at = (const char *)array + i * bytes;
    uint64_t u64;
    uint32_t u32;
    uint16_t u16;

    switch (bytes) {
    case 8:
        memcpy(&u64, at, 8);
        return u64;
    case 4:
        memcpy(&u32, at, 4);
        return u32;
    case 2:
        memcpy(&u16, at, 2);
        return u16;
    default:
        return (uint8_t)*at;
    }
}

static void save(enum elem elem, void *array, size_t i, uint64_t bits)
{
    size_t bytes = rows[elem].bytes;
    char *at = (char *)array + i * bytes;
    uint32_t u32 = (uint32_t)bits;
    uint16_t u16 = (uint16_t)bits;
    uint8_t u8 = (uint8_t)bits;

    switch (bytes) {
    case 8:
        memcpy(at, &bits, 8);
        break;
    case 4:
        memcpy(at, &u32, 4);
        break;
    case 2:
        memcpy(at, &u16, 2);
        break;
    default:
        memcpy(at, &u8, 1);
    }
}

double elem_get(enum elem elem, const void *array, size_t i)
{
    uint64_t bits = load(elem, array, i);
    double f64;
    float f32;
    uint32_t u32 = (uint32_t)bits;

    switch (elem) {
    case ELEM_F64:
        memcpy(&f64, &bits, 8);
        return f64;
    case ELEM_F32:
    case ELEM_TF32:
        memcpy(&f32, &u32, 4);
        return (double)f32;
    case ELEM_F16:
        return decode(&f16, u32);
    case ELEM_BF16:
        return decode(&bf16, u32);
    case ELEM_E4M3:
        return decode(&e4m3, u32);
    case ELEM_E5M2:
        return decode(&e5m2, u32);
    case ELEM_U64:
        return (double)bits;
    default:
        return (double)elem_get_int(elem, array, i);
    }
}

void elem_set(enum elem elem, void *array, size_t i, double value)
{
    uint64_t bits = 0;
    uint32_t u32;
    float f32;

    switch (elem) {
    case ELEM_F64:
        memcpy(&bits, &value, 8);
        break;
    case ELEM_F32:
        f32 = (float)value;
        memcpy(&u32, &f32, 4);
        bits = u32;
        break;
    case ELEM_TF32:
        bits = (uint64_t)encode(&tf32, value) << 13;
        break;
    case ELEM_F16:
        bits = encode(&f16, value);
        break;
    case ELEM_BF16:
        bits = encode(&bf16, value);
        break;
    case ELEM_E4M3:
        bits = encode(&e4m3, value);
        break;
    case ELEM_E5M2:
        bits = encode(&e5m2, value);
        break;
    case ELEM_BOOL:
        bits = value != 0;
        break;
    case ELEM_U64:
        value = rint(value);
        bits = value >= 0x1p64 ? UINT64_MAX : value > 0 ? (uint64_t)value : 0;
        break;
    default:
        value = isnan(value) ? 0 : rint(value);
        elem_set_int(elem, array, i,
            value >= 0x1p63    ? INT64_MAX
            : value <= -0x1p63 ? INT64_MIN
                               : (int64_t)value);
        return;
    }
    save(elem, array, i, bits);
}

int64_t elem_get_int(enum elem elem, const void *array, size_t i)
{
    unsigned shift = 64 - 8 * rows[elem].bytes;
    uint64_t bits = load(elem, array, i);
    double value;

    if (!rows[elem].is_float) {
        if (elem == ELEM_BOOL)
            return bits != 0;
        if (!rows[elem].is_signed)
            return (int64_t)bits;
        bits <<= shift;
        return (int64_t)bits < 0 ? ~(int64_t)(~bits >> shift) : (int64_t)(bits >> shift);
    }
    value = elem_get(elem, array, i);
    if (isnan(value))
        return 0;
    value = rint(value);
    return value >= 0x1p63 ? INT64_MAX : value <= -0x1p63 ? INT64_MIN : (int64_t)value;
}

void elem_set_int(enum elem elem, void *array, size_t i, int64_t value)
{
    unsigned width = 8 * rows[elem].bytes;
    int64_t low, high;

    if (rows[elem].is_float) {
        /* one rounding, not two: the integer goes to f32 directly */
        if (elem == ELEM_F32) {
            float f32 = (float)value;
            memcpy((char *)array + 4 * i, &f32, 4);
        } else {
            elem_set(elem, array, i, (double)value);
        }
        return;
    }
    if (elem == ELEM_BOOL)
        value = value != 0;
    if (rows[elem].is_signed) {
        high = (int64_t)(UINT64_MAX >> (65 - width));
        low = -high - 1;
    } else {
        high = width == 64 ? INT64_MAX : (int64_t)(UINT64_MAX >> (64 - width));
        low = width == 64 ? INT64_MIN : 0; /* u64 takes all 64 bits as they are */
    }
    save(elem, array, i, (uint64_t)(value < low ? low : value > high ? high : value));
}
