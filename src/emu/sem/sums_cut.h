/* A sum of products as the tensor cores of an H100 make it, for loops over the columns of a row.
 *
 * All products of an instruction and the addend are added at once: each is cut, towards zero, to a
 * multiple of 2^(e - 25), of wgmma of eight bits 2^(e - 13), where e is the largest exponent among
 * them, a product's being the sum of its factors' exponents; the sum is exact, and is cut to f32.
 * That is what the card gave for every element of the forms and kernels that were run on it
 * (tests/gpu/conform.c). Infinities and NaNs take the plain sum. */
#ifndef KEET_EMU_SEM_SUMS_CUT_H
#define KEET_EMU_SEM_SUMS_CUT_H

#include "emu/sem/lanes.h"

enum { SUMS_FRACTION = 25, SUMS_FRACTION_8 = 13, SUMS_ZERO = -1500, SUMS_SPECIAL = 4000 };
enum { SUMS_LEAST = -100, SUMS_MOST = 110 }; /* exponents of tame sums are between these */

/* Exponents of elements; those of subnormals are the least of their type, that of zero is lower
 * than all, that of infinities and NaNs is over all, also of a product with zero. */
static inline void sums_exponents(const float *v, unsigned nr, int least, int32_t *e)
{
    IVDEP for (unsigned i = 0; i < nr; i++)
    {
        const uint32_t bits = lanes_bits(v[i]);
        const int x = (int)(bits >> 23 & 0xff) - 127;
        const int finite = bits << 1 == 0 ? SUMS_ZERO : x < least ? least : x;
        e[i] = (int32_t)(x == 128 ? SUMS_SPECIAL : finite);
    }
}

/* The least exponent of a type's numbers. */
static inline int sums_least(enum ptx_type type)
{
    return type == PTX_F16 || type == PTX_E5M2 ? -14 : type == PTX_E4M3 ? -6 : -126;
}

/* v towards zero to 24 bits, fewer where f32 has fewer. */
static inline double sums_cut_f32(double v)
{
    if (fabs(v) < 0x1p-126)
        return (double)(int32_t)(v * 0x1p149) * 0x1p-149;
    return lanes_f64(lanes_bits64(v) & ~UINT64_C(0x1fffffff));
}

/* The bits of a double that a result of f32 keeps: of eight-bit factors only 13 of the fraction. */
static inline int64_t sums_kept(int fraction)
{
    return fraction == SUMS_FRACTION ? ~INT64_C(0x1fffffff) : ~INT64_C(0x7fffffffff);
}

/* GCC unrolls a loop of so few rounds before it could make vectors of it. */
#ifdef __clang__
#define ONE_BY_ONE
#else
#define ONE_BY_ONE _Pragma("GCC unroll 1")
#endif

/* Eight columns. A comparison of vectors gives -1 where it holds, else 0. */
typedef double sums_f64 __attribute__((vector_size(64)));
typedef int64_t sums_s64 __attribute__((vector_size(64)));
typedef float sums_f32 __attribute__((vector_size(32)));
typedef int32_t sums_s32 __attribute__((vector_size(32)));
#define SUMS_PICK(mask, a, b) (((a) & (mask)) | ((b) & ~(mask)))

/* Towards zero; of what fits 32 bits. */
static inline void sums_trunc(sums_f64 *v)
{
    for (unsigned j = 0; j < 8; j++)
        (*v)[j] = (double)(int32_t)(*v)[j];
}

/* Eight columns one by one: with infinities, NaNs, or what is too large for f32. */
static inline void sums_cut_special(unsigned n, unsigned k, const float *x, const float *y,
    double sign, bool to_f32, sums_s32 *top, sums_f64 *scale, double *z)
{
    for (unsigned j = 0; j < 8; j++) {
        const double one = (*scale)[j];
        const bool cuts = (*top)[j] < 128;
        double plain = z[j], cut = cuts ? trunc(z[j] * one) : 0;
        for (unsigned p = 0; p < k; p++) {
            const double product = sign * (double)x[p] * (double)y[(size_t)p * n + j];
            plain += product;
            cut += cuts ? trunc(product * one) : 0;
        }
        cut /= one;
        z[j] = !cuts ? plain : to_f32 ? sums_cut_f32(cut) : cut;
    }
}

/* z[j] += sum over p of x[p] * y[p * n + j], for eight columns j, with exponents ex and ey; a sign
 * for all products; how many bits below the largest exponent count. to_f32: the result is cut to
 * f32, else exact. */
static inline void sums_cut_eight(unsigned n, unsigned k, const float *x, const int32_t *ex,
    const float *y, const int32_t *ey, double sign, int fraction, bool to_f32, double *z)
{
    sums_s64 bits;
    memcpy(&bits, z, sizeof(bits));
    const sums_s64 e_of_z = (bits >> 52 & 0x7ff) - 1023,
                   least_of_z = SUMS_PICK(e_of_z < -126, -126 - (sums_s64){0}, e_of_z),
                   of_z = SUMS_PICK((bits << 1) == 0, SUMS_ZERO - (sums_s64){0}, least_of_z);
    sums_s32 top = __builtin_convertvector(of_z, sums_s32), e;
    for (unsigned p = 0; p < k; p++) {
        memcpy(&e, ey + (size_t)p * n, sizeof(e));
        e += ex[p];
        top = SUMS_PICK(e > top, e, top);
    }
    const sums_s32 low = SUMS_PICK(top < -900, -900 - (sums_s32){0}, top), over = low >= 128;
    const sums_s32 t = SUMS_PICK(over, 128 - (sums_s32){0}, low);
    const sums_s64 wide = __builtin_convertvector(t, sums_s64);
    sums_f64 scale = (sums_f64)((fraction + 1023 - wide) << 52);
    uint64_t any[4];
    memcpy(any, &over, sizeof(any));
    if (any[0] | any[1] | any[2] | any[3]) {
        sums_cut_special(n, k, x, y, sign, to_f32, &top, &scale, z);
        return;
    }
    sums_f64 sum = (sums_f64)bits * scale;
    sums_trunc(&sum);
    for (unsigned p = 0; p < k; p++) {
        sums_f32 other;
        memcpy(&other, y + (size_t)p * n, sizeof(other));
        sums_f64 product = sign * (double)x[p] * __builtin_convertvector(other, sums_f64) * scale;
        sums_trunc(&product);
        sum += product;
    }
    /* The inverse of a power of two is exact, and so is the product with it. */
    sum *= (sums_f64)((wide + 1023 - fraction) << 52);
    if (to_f32) {
        const sums_s64 exact = (sums_s64)sum;
        const sums_s64 small = (exact & INT64_MAX) < (INT64_C(0x381) << 52); /* 2^-126 */
        sums_f64 tiny = (sums_f64)(exact & small) * 0x1p149;
        sums_trunc(&tiny);
        sum = (sums_f64)SUMS_PICK(small, (sums_s64)(tiny * 0x1p-149), exact & sums_kept(fraction));
    }
    memcpy(z, &sum, sizeof(sum));
}

/* The exponents of numbers that are not zero: the least and the greatest. */
struct sums_range {
    int32_t least, most;
};

static inline struct sums_range sums_range(const int32_t *e, unsigned nr)
{
    struct sums_range range = {SUMS_SPECIAL, SUMS_ZERO};
    IVDEP for (unsigned i = 0; i < nr; i++)
    {
        const int32_t not_zero = e[i] == SUMS_ZERO ? SUMS_SPECIAL : e[i];
        range.least = not_zero < range.least ? not_zero : range.least;
        range.most = e[i] > range.most ? e[i] : range.most;
    }
    return range;
}

/* The high half of a double, which tells a number of f32 from zero, and the exponent there. */
static inline int32_t sums_high(const double *v, unsigned i)
{
    return (int32_t)(lanes_bits64(v[i]) >> 32);
}

static inline int32_t sums_exponent(int32_t high)
{
    return (high >> 20 & 0x7ff) - 1023;
}

/* The same of addends, which are f32 or f16 in a double. */
static inline struct sums_range sums_addends(const double *v, unsigned nr)
{
    struct sums_range range = {SUMS_SPECIAL, SUMS_ZERO};
    IVDEP for (unsigned i = 0; i < nr; i++)
    {
        const int32_t high = sums_high(v, i), e = sums_exponent(high);
        const bool is_zero = (high & INT32_MAX) == 0;
        const int32_t low = is_zero ? SUMS_SPECIAL : e, top = is_zero ? SUMS_ZERO : e;
        range.least = low < range.least ? low : range.least;
        range.most = top > range.most ? top : range.most;
    }
    return range;
}

static inline struct sums_range sums_singles(const float *v, unsigned nr)
{
    struct sums_range range = {SUMS_SPECIAL, SUMS_ZERO};
    IVDEP for (unsigned i = 0; i < nr; i++)
    {
        const uint32_t bits = lanes_bits(v[i]);
        const int32_t e = (int32_t)(bits >> 23 & 0xff) - 127;
        const int32_t x = e == 128 ? SUMS_SPECIAL : e;
        const bool is_zero = bits << 1 == 0;
        const int32_t low = is_zero ? SUMS_SPECIAL : x, top = is_zero ? SUMS_ZERO : x;
        range.least = low < range.least ? low : range.least;
        range.most = top > range.most ? top : range.most;
    }
    return range;
}

/* Are all sums of such factors, 32 at a time on top of such addends, far from where f32 ends? No
 * number but zero is then below 2^-126 at any time, since sums are multiples of 2^(e - 25). */
static inline bool sums_are_tame(struct sums_range a, struct sums_range b, struct sums_range c)
{
    return a.least + b.least > SUMS_LEAST && c.least > SUMS_LEAST && a.most + b.most < SUMS_MOST &&
           c.most < SUMS_MOST;
}

/* The largest exponents of eight columns of products and of `top`, those of the addends. Nothing
 * but zero is below 2^-100 (sums_are_tame), so that this stands for zeros: the scale is then
 * finite. */
static inline void sums_top(
    unsigned n, unsigned k, unsigned apart, const int32_t *ex, const int32_t *ey, int32_t *top)
{
    for (unsigned j = 0; j < 8; j++)
        top[j] = top[j] < SUMS_LEAST ? SUMS_LEAST : top[j];
    for (unsigned p = 0; p < k; p++) {
        for (unsigned j = 0; j < 8; j++) {
            const int32_t e = ex[(size_t)p * apart] + ey[(size_t)p * n + j];
            top[j] = e > top[j] ? e : top[j];
        }
    }
}

/* Eight columns of tame products in units of 2^(top - fraction), towards zero: at most 16, of eight
 * bits 32. A product of factors of 11 bits is exact in f32, and so is its part of the sum; it is
 * below 2^27 units, and the largest sixteen are below 2^31. */
static inline __attribute__((always_inline)) sums_s32 sums_of_products(
    unsigned n, unsigned k, unsigned apart, const float *x, const float *y, sums_f32 scale)
{
    sums_s32 whole = {0};
    for (unsigned p = 0; p < k; p++) {
        sums_f32 other;
        memcpy(&other, y + (size_t)p * n, sizeof(other));
        whole += __builtin_convertvector(x[(size_t)p * apart] * other * scale, sums_s32);
    }
    return whole;
}

/* 2^e, for e of -126 to 127. */
static inline sums_f32 sums_power(sums_s32 e)
{
    return (sums_f32)((e + 127) << 23);
}

/* sums_cut of tame sums, for eight columns; the factors of a row are `apart`. */
static inline __attribute__((always_inline)) void sums_tame_eight(unsigned n, unsigned k,
    unsigned apart, const float *x, const int32_t *ex, const float *y, const int32_t *ey,
    int fraction, bool to_f32, double *z)
{
    const uint64_t keeps = to_f32 ? (uint64_t)sums_kept(fraction) : ~UINT64_C(0);
    int32_t whole[8], top[8];
    sums_s32 tops;
    for (unsigned j = 0; j < 8; j++)
        top[j] = sums_exponent(sums_high(z, j));
    sums_top(n, k, apart, ex, ey, top);
    memcpy(&tops, top, sizeof(tops));
    const sums_s32 parts = sums_of_products(n, k, apart, x, y, sums_power(fraction - tops));
    memcpy(whole, &parts, sizeof(whole));
    ONE_BY_ONE IVDEP for (unsigned c = 0; c < 8; c++)
    {
        const int64_t e = top[c];
        const double up = lanes_f64((uint64_t)(fraction + 1023 - e) << 52),
                     down = lanes_f64((uint64_t)(e + 1023 - fraction) << 52);
        const double sum = (double)(int32_t)(z[c] * up) + (double)whole[c];
        z[c] = lanes_f64(lanes_bits64(sum * down) & keeps);
    }
}

static inline __attribute__((always_inline)) void sums_cut_tame(unsigned n, unsigned k,
    const float *x, const int32_t *ex, const float *y, const int32_t *ey, bool to_f32, double *z)
{
    for (unsigned j = 0; j < n; j += 8)
        sums_tame_eight(n, k, 1, x, ex, y + j, ey + j, SUMS_FRACTION, to_f32, z + j);
}

/* The same where addends and results are f32: nothing is wider than that but a sum near 2^31
 * units. */
static inline __attribute__((always_inline)) void sums_cut_single(unsigned n, unsigned k,
    const float *x, const int32_t *ex, const float *y, const int32_t *ey, float *z)
{
    enum { NEAR = 3 << 29 }; /* an addend is below 2^26 units */
    for (unsigned j = 0; j < n; j += 8) {
        int32_t top[8];
        sums_s32 tops;
        sums_f32 addend;
        for (unsigned c = 0; c < 8; c++)
            top[c] = (int32_t)(lanes_bits(z[j + c]) >> 23 & 0xff) - 127;
        sums_top(n, k, 1, ex, ey + j, top);
        memcpy(&tops, top, sizeof(tops));
        memcpy(&addend, z + j, sizeof(addend));
        const sums_f32 scale = sums_power(SUMS_FRACTION - tops);
        const sums_s32 parts = sums_of_products(n, k, 1, x, y + j, scale);
        const sums_s32 far = (parts > NEAR) | (parts < -NEAR);
        uint64_t any[4];
        memcpy(any, &far, sizeof(any));
        if (k > 8 && (any[0] | any[1] | any[2] | any[3])) {
            double wide[8];
            for (unsigned c = 0; c < 8; c++)
                wide[c] = (double)z[j + c];
            sums_tame_eight(n, k, 1, x, ex, y + j, ey + j, SUMS_FRACTION, true, wide);
            for (unsigned c = 0; c < 8; c++)
                z[j + c] = (float)wide[c];
            continue;
        }
        const sums_s32 sum = parts + __builtin_convertvector(addend * scale, sums_s32);
        const sums_f32 nearest = __builtin_convertvector(sum, sums_f32);
        const sums_s32 back = __builtin_convertvector(nearest, sums_s32);
        /* -1 where the nearest of f32 is farther from zero than the sum */
        const sums_s32 away = ((sum > 0) & (back > sum)) | ((sum < 0) & (back < sum));
        addend = (sums_f32)((sums_s32)nearest + away) * sums_power(tops - SUMS_FRACTION);
        memcpy(z + j, &addend, sizeof(addend));
    }
}

/* The sum of products that are zero, where it keeps all bits of f32: -0 becomes 0. */
static inline void sums_of_nothing(unsigned n, double *z)
{
    for (unsigned j = 0; j < n; j++)
        z[j] += 0;
}

static inline void sums_of_no_singles(unsigned n, float *z)
{
    for (unsigned j = 0; j < n; j++)
        z[j] += 0;
}

/* sums_cut_eight for a row of n columns, a multiple of eight. */
static inline void sums_cut(unsigned n, unsigned k, const float *x, const int32_t *ex,
    const float *y, const int32_t *ey, double sign, int fraction, bool to_f32, double *z)
{
    for (unsigned j = 0; j < n; j += 8)
        sums_cut_eight(n, k, x, ex, y + j, ey + j, sign, fraction, to_f32, z + j);
}

#endif
