/* A sum of products as the tensor cores of an H100 make it, for loops over the columns of a row.
 *
 * All products of an instruction and the addend are added at once: each is cut, towards zero, to a
 * multiple of 2^(e - 25), where e is the largest exponent among them, a product's being the sum of
 * its factors' exponents; the sum is exact, and is cut to f32. That is what the card gave for every
 * element of the forms and kernels that were run on it (tests/gpu/conform.c). Infinities and NaNs
 * take the plain sum. */
#ifndef KEET_EMU_SEM_SUMS_CUT_H
#define KEET_EMU_SEM_SUMS_CUT_H

#include "emu/sem/lanes.h"

enum { SUMS_FRACTION = 25, SUMS_ZERO = -1500, SUMS_SPECIAL = 4000, SUMS_MOST = 256 };

/* Exponents of elements; those of subnormals are the least of their type, that of zero is lower
 * than all, that of infinities and NaNs is over all, also of a product with zero. */
static inline void sums_exponents(const float *v, unsigned nr, int least, int16_t *e)
{
    IVDEP for (unsigned i = 0; i < nr; i++)
    {
        const uint32_t bits = lanes_bits(v[i]);
        const int x = (int)(bits >> 23 & 0xff) - 127;
        const int finite = bits << 1 == 0 ? SUMS_ZERO : x < least ? least : x;
        e[i] = (int16_t)(x == 128 ? SUMS_SPECIAL : finite);
    }
}

/* The least exponent of a type's numbers. */
static inline int sums_least(enum ptx_type type)
{
    return type == PTX_F16 || type == PTX_E5M2 ? -14 : type == PTX_E4M3 ? -6 : -126;
}

/* v towards zero to 24 bits, fewer where f32 has fewer. Selects by masks, so that loops become
 * vectors. */
static inline double sums_cut_f32(double v)
{
    const uint64_t bits = lanes_bits64(v), least = UINT64_C(0x381) << 52; /* 2^-126 */
    const uint64_t small = (bits & INT64_MAX) < least ? ~UINT64_C(0) : 0;
    const double tiny = (double)(int32_t)(lanes_f64(bits & small) * 0x1p149) * 0x1p-149;
    return lanes_f64((lanes_bits64(tiny) & small) | (bits & ~UINT64_C(0x1fffffff) & ~small));
}

/* A column at a time: for a row with infinities, NaNs, or what is too large for f32. */
static inline void sums_cut_special(unsigned n, unsigned k, const float *x, const float *y,
    double sign, bool to_f32, const int16_t *top, const double *scale, double *z)
{
    for (unsigned j = 0; j < n; j++) {
        double plain = z[j], cut = top[j] < 128 ? trunc(z[j] * scale[j]) : 0;
        for (unsigned p = 0; p < k; p++) {
            const double product = sign * (double)x[p] * (double)y[(size_t)p * n + j];
            plain += product;
            cut += top[j] < 128 ? trunc(product * scale[j]) : 0;
        }
        cut /= scale[j];
        z[j] = top[j] >= 128 ? plain : to_f32 ? sums_cut_f32(cut) : cut;
    }
}

/* z[j] += sum over p of x[p] * y[p * n + j], with exponents ex and ey; a sign for all products.
 * to_f32: the result is cut to f32, else exact. Inlined, so that a constant n keeps a row in
 * registers. */
static inline __attribute__((always_inline)) void sums_cut(unsigned n, unsigned k, const float *x,
    const int16_t *ex, const float *y, const int16_t *ey, double sign, bool to_f32, double *z)
{
    int16_t top[SUMS_MOST];
    double scale[SUMS_MOST], sum[SUMS_MOST];
    int32_t special = 0;

    IVDEP for (unsigned j = 0; j < n; j++)
    {
        const uint64_t bits = lanes_bits64(z[j]);
        const int e = (int)(bits >> 52 & 0x7ff) - 1023;
        top[j] = (int16_t)(bits << 1 == 0 ? SUMS_ZERO : e);
    }
    for (unsigned p = 0; p < k; p++) {
        const int16_t *e = ey + (size_t)p * n, one = ex[p];
        IVDEP for (unsigned j = 0; j < n; j++)
        {
            const int16_t both = (int16_t)(e[j] + one);
            top[j] = both > top[j] ? both : top[j];
        }
    }
    IVDEP for (unsigned j = 0; j < n; j++)
    {
        const int low = top[j] < -900 ? -900 : top[j], t = low > 128 ? 128 : low;
        special |= t >= 128;
        scale[j] = lanes_f64((uint64_t)(SUMS_FRACTION - t + 1023) << 52);
    }
    if (special) {
        sums_cut_special(n, k, x, y, sign, to_f32, top, scale, z);
        return;
    }
    IVDEP for (unsigned j = 0; j < n; j++) sum[j] = (double)(int32_t)(z[j] * scale[j]);
    for (unsigned p = 0; p < k; p++) {
        const double one = sign * (double)x[p];
        const float *other = y + (size_t)p * n;
        IVDEP for (unsigned j = 0; j < n; j++) sum[j] +=
            (double)(int32_t)(one * (double)other[j] * scale[j]);
    }
    /* The scale is a power of 2 with |exponent| < 1000: its inverse is exact, and so is the
     * product. */
    IVDEP for (unsigned j = 0; j < n; j++)
    {
        const uint64_t inverse = (UINT64_C(2046) << 52) - lanes_bits64(scale[j]);
        sum[j] *= lanes_f64(inverse);
    }
    if (to_f32) {
        IVDEP for (unsigned j = 0; j < n; j++) z[j] = sums_cut_f32(sum[j]);
    } else {
        IVDEP for (unsigned j = 0; j < n; j++) z[j] = sum[j];
    }
}

#endif
