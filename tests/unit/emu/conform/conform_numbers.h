/* For the conformance tests: numbers of the floating-point types as doubles, and back. Rounding
 * takes the host's nearest result and, from exact arithmetic, on which side of the true one it
 * lies; the other roundings are then one step away. */
#ifndef KEET_TESTS_CONFORM_NUMBERS_H
#define KEET_TESTS_CONFORM_NUMBERS_H

#include "conform.h"

#include <math.h>

typedef uint64_t u64;

enum rounding { RN, RZ, RM, RP };

static inline double get(u64 bits, enum conform_type t)
{
    if (t == F64) {
        double d;
        memcpy(&d, &bits, 8);
        return d;
    }
    if (t == F16) {
        const int e = bits >> 10 & 31, m = bits & 1023;
        const double v = e == 31 ? (m ? NAN : INFINITY)
                         : e     ? ldexp(1024 + m, e - 25)
                                 : ldexp(m, -24);
        return bits & 0x8000 ? -v : v;
    }
    const uint32_t low = (uint32_t)(t == BF16 ? bits << 16 : bits);
    float f;
    memcpy(&f, &low, 4);
    return (double)f;
}

/* Precision, least exponent of a normal number, largest number. */
static inline int precision(enum conform_type t)
{
    return t == F64 ? 53 : t == F32 ? 24 : t == F16 ? 11 : 8;
}

static inline int least(enum conform_type t)
{
    return t == F64 ? -1022 : t == F16 ? -14 : -126;
}

static inline double largest(enum conform_type t)
{
    return t == F64   ? 0x1.fffffffffffffp1023
           : t == F32 ? 0x1.fffffep127
           : t == F16 ? 65504.0
                      : 0x1.fep127;
}

static inline double unit_of(double v, enum conform_type t)
{
    int e;
    frexp(v, &e);
    e = e - 1 < least(t) || v == 0 ? least(t) : e - 1;
    return ldexp(1, e - precision(t) + 1);
}

/* The type's number nearest to v and, where v itself lies off by a little on the side of `side`,
 * the one that a mode gives. v: a double that is exact unless side says otherwise. */
static inline double round_to(double v, int side, enum conform_type t, enum rounding mode)
{
    if (isnan(v) || isinf(v) || (v == 0 && side == 0))
        return v;
    double unit = unit_of(v, t);
    const bool inwards = side && (side < 0) == (v > 0);
    int e;
    if (inwards && fabs(frexp(v, &e)) == 0.5 && e - 1 > least(t))
        unit /= 2;             /* just under a power of two numbers lie closer */
    const double n = v / unit; /* exact: a power of two */
    double below = floor(n), rest = n - below;
    if (rest == 0 && side) {
        below -= side < 0;
        rest = side < 0 ? 0.75 : 0.25;
    } else if (rest == 0.5 && side) {
        rest += side > 0 ? 0.25 : -0.25;
    }
    bool up = rest > 0.5 || (rest == 0.5 && fmod(below, 2) != 0);
    if (rest != 0 && mode != RN)
        up = mode == RP || (mode == RZ && v < 0);
    double r = (below + up) * unit;
    if (fabs(r) > largest(t)) {
        const bool keep = mode == RZ || (mode == RM && v > 0) || (mode == RP && v < 0);
        return copysign(keep ? largest(t) : INFINITY, v);
    }
    return r == 0 ? copysign(0, v != 0 ? v : side) : r;
}

static inline u64 put(double v, enum conform_type t)
{
    const u64 sign = signbit(v) ? 1 : 0;
    u64 bits = 0;
    if (t == F64) {
        memcpy(&bits, &v, 8);
        return isnan(v) ? UINT64_C(0x7ff8000000000000) : bits;
    }
    if (t == F16) {
        if (isnan(v))
            return 0x7fff;
        const double m = fabs(v);
        int e;
        if (isinf(v))
            return sign << 15 | 0x7c00;
        if (m < 0x1p-14)
            return sign << 15 | (u64)ldexp(m, 24);
        frexp(m, &e);
        return sign << 15 | (u64)(e + 14) << 10 | ((u64)ldexp(m, 11 - e) & 1023);
    }
    const float f = (float)v;
    uint32_t low;
    memcpy(&low, &f, 4);
    if (t == BF16)
        return isnan(v) ? 0x7fff : low >> 16;
    return isnan(v) ? 0x7fffffff : low;
}

static inline double flushed(double v, enum conform_type t)
{
    return fabs(v) < ldexp(1, least(t)) ? copysign(0, v) : v;
}

#endif
