/* Functions of f32 by polynomials in f64, for loops over lanes. A result is the correctly rounded
 * f32 but for one case in millions, and is the same on every machine and with every instruction
 * set. The coefficients are those of the Taylor series, whose remainders are below 2^-44 in the
 * ranges used. */
#ifndef KEET_EMU_SEM_APPROX_H
#define KEET_EMU_SEM_APPROX_H

#include "emu/sem/lanes.h"

/* Adding this constant rounds to an integer, which then stands in the low bits. */
#define APPROX_ROUND 0x1.8p52

/* 2^x = 2^n * e^(r ln 2), |r| <= 1/2. */
static inline float approx_exp2(float x)
{
    double v = x < -160 ? -160 : (double)x;
    v = v > 130 ? 130 : v;
    const double shifted = v + APPROX_ROUND, r = v - (shifted - APPROX_ROUND);
    double p = 0x1.e8cac7351bb25p-32;
    p = p * r + 0x1.e4cf5158b8ecap-28;
    p = p * r + 0x1.b5253d395e7c4p-24;
    p = p * r + 0x1.62c0223a5c824p-20;
    p = p * r + 0x1.ffcbfc588b0c7p-17;
    p = p * r + 0x1.430912f86c787p-13;
    p = p * r + 0x1.5d87fe78a6731p-10;
    p = p * r + 0x1.3b2ab6fba4e77p-7;
    p = p * r + 0x1.c6b08d704a0c0p-5;
    p = p * r + 0x1.ebfbdff82c58fp-3;
    p = p * r + 0x1.62e42fefa39efp-1;
    p = p * r + 1;
    return (float)(p * lanes_f64((lanes_bits64(shifted) + 1023) << 52));
}

/* sin (odd 0) or cos (odd 1) of x as the chip takes them: x times 1 / (2 pi) in f32, rounded
 * towards zero (FMUL.RZ), then the sine of so many turns. The first step is what costs accuracy
 * where x is large. */
static inline float approx_sin(float x, unsigned odd)
{
    const double exact = (double)x * (double)0x1.45f306p-3f;
    const float near = (float)exact;
    const uint32_t step = fabs((double)near) > fabs(exact);
    const double cut = (double)lanes_f32(lanes_bits(near) - step);
    const double turns = fabs(cut) < 0x1p24 ? cut : cut - cut; /* above: whole turns */
    const double shifted = 4 * turns + APPROX_ROUND;
    const double r = (4 * turns - (shifted - APPROX_ROUND)) * 0x1.921fb54442d18p+0;
    const double z = r * r;
    double s = -1.0 / 1307674368000;
    s = s * z + 1.0 / 6227020800;
    s = s * z - 1.0 / 39916800;
    s = s * z + 1.0 / 362880;
    s = s * z - 1.0 / 5040;
    s = s * z + 1.0 / 120;
    s = s * z - 1.0 / 6;
    s = r * (1 + z * s);
    double c = 1.0 / 20922789888000;
    c = c * z - 1.0 / 87178291200;
    c = c * z + 1.0 / 479001600;
    c = c * z - 1.0 / 3628800;
    c = c * z + 1.0 / 40320;
    c = c * z - 1.0 / 720;
    c = c * z + 1.0 / 24;
    c = c * z - 1.0 / 2;
    c = 1 + z * c;
    const uint64_t quadrant = lanes_bits64(shifted) + odd;
    const double value = quadrant & 1 ? c : s;
    return (float)lanes_f64(lanes_bits64(value) ^ (quadrant & 2) << 62);
}

#endif
