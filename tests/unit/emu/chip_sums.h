/* For the tests of tensor instructions: a sum of products as an H100 makes it, worked out number by
 * number. */
#ifndef KEET_TESTS_CHIP_SUMS_H
#define KEET_TESTS_CHIP_SUMS_H

#include <math.h>

static inline int chip_exponent(double v, int least)
{
    const int e = v == 0 ? -5000 : ilogb(v);
    return v != 0 && e < least ? least : e;
}

/* x[0] y[0] + ... + c, each cut to `bits` bits below the largest exponent. least: that of the
 * type's normal numbers. */
static inline double chip_sum_cut(
    const double *x, const double *y, unsigned nr, double c, int least, int least_y, int bits)
{
    int top = chip_exponent(c, -126);
    for (unsigned i = 0; i < nr; i++) {
        const int e = chip_exponent(x[i], least) + chip_exponent(y[i], least_y);
        top = e > top ? e : top;
    }
    if (top < -4000)
        return 0;
    const double unit = ldexp(1, top - bits);
    double sum = trunc(c / unit);
    for (unsigned i = 0; i < nr; i++)
        sum += trunc(x[i] * y[i] / unit);
    return sum * unit;
}

static inline double chip_sum(const double *x, const double *y, unsigned nr, double c, int least)
{
    return chip_sum_cut(x, y, nr, c, least, least, 25);
}

/* Towards zero. */
static inline double chip_f32(double v)
{
    const float f = (float)v;
    return (double)(fabs((double)f) > fabs(v) ? nextafterf(f, 0) : f);
}

/* Towards zero, to 13 bits behind the first: of eight-bit factors. */
static inline double chip_f32_of_8(double v)
{
    int e;
    frexp(v, &e);
    return v == 0 ? v : trunc(ldexp(v, 14 - e)) * ldexp(1, e - 14);
}

#endif
