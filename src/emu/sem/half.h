/* Conversions between f16, bf16, f32 and f64 bits, for the sem_*.c files and atomics, written so
 * that loops over them vectorise. They are bit-exact; NaN results are the chip's canonical ones. */
#ifndef KEET_EMU_SEM_HALF_H
#define KEET_EMU_SEM_HALF_H

#include "emu/sem/lanes.h"

static inline float half_f32(uint32_t h)
{
    uint32_t magnitude = (h & 0x7fffu) << 13, sign = (h & 0x8000u) << 16;
    /* exponents rebias by a multiplication, which also normalises subnormals */
    uint32_t finite = lanes_bits(lanes_f32(magnitude) * 0x1p112f);
    uint32_t bits = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : finite;
    return lanes_f32(bits | sign);
}

static inline uint32_t half_from_f32(float f)
{
    uint32_t bits = lanes_bits(f), sign = bits >> 16 & 0x8000u, a = bits & 0x7fffffffu;
    uint32_t normal = (a - 0x38000000u + 0xfffu + (a >> 13 & 1)) >> 13;
    /* 0.5 has the f16 subnormals' unit 2^-24 as its unit in the last place */
    uint32_t tiny = lanes_bits(lanes_f32(a) + 0.5f) - 0x3f000000u;
    uint32_t r = a < 0x38800000u ? tiny : normal;
    r = a >= 0x477ff000u ? 0x7c00u : r;
    return a > 0x7f800000u ? 0x7fffu : r | sign;
}

static inline float bf16_f32(uint32_t h)
{
    return lanes_f32(h << 16);
}

static inline uint32_t bf16_from_f32(float f)
{
    uint32_t bits = lanes_bits(f);
    uint32_t r = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : r;
}

/* Towards zero, as the chip's approximations end; infinity from 2^16 on. */
static inline uint32_t half_cut_f32(float f)
{
    uint32_t bits = lanes_bits(f), sign = bits >> 16 & 0x8000u, a = bits & 0x7fffffffu;
    uint32_t tiny = (uint32_t)(lanes_f32(a < 0x38800000u ? a : 0) * 0x1p24f);
    uint32_t r = a < 0x38800000u ? tiny : (a - 0x38000000u) >> 13;
    r = a >= 0x47800000u ? 0x7c00u : r;
    return a > 0x7f800000u ? 0x7fffu : r | sign;
}

static inline uint32_t bf16_cut_f32(float f)
{
    uint32_t bits = lanes_bits(f);
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : bits >> 16;
}

/* v rounded to odd: a second rounding to fewer bits then gives what one rounding of v gives. */
static inline float odd_f32(double v)
{
    float f = (float)v;
    uint32_t bits = lanes_bits(f);
    bool inexact = (double)f != v && v == v;
    bool away = fabs((double)f) > fabs(v);
    uint32_t stepped = away ? bits - 1 : bits + 1;
    return lanes_f32(inexact && !(bits & 1) ? stepped : bits);
}

/* a + b rounded to odd in double. */
static inline double odd_sum(double a, double b)
{
    double s = a + b, bb = s - a, lost = (a - (s - bb)) + (b - bb);
    uint64_t bits = lanes_bits64(s);
    bool fix = lost != 0 && !(bits & 1) && fabs(s) < INFINITY && s != 0;
    uint64_t stepped = (lost > 0) == (s > 0) ? bits + 1 : bits - 1;
    return lanes_f64(fix ? stepped : bits);
}

/* The same in float. */
static inline float odd_sum_f32(float a, float b)
{
    float s = a + b, bb = s - a, lost = (a - (s - bb)) + (b - bb);
    uint32_t bits = lanes_bits(s);
    uint32_t fix = (uint32_t)(lost != 0) & (uint32_t)(fabsf(s) < INFINITY) & ~bits & 1;
    uint32_t up = (uint32_t)((lost > 0) == (s > 0));
    return lanes_f32(bits + (up ? fix : 0 - fix));
}

#endif
