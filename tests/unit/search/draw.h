/* Numbers that follow from two others, for landscapes that no machine changes. */
#ifndef KEET_TESTS_DRAW_H
#define KEET_TESTS_DRAW_H

#include <stdint.h>

static inline uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = a * 0x9e3779b97f4a7c15u + b * 0xd1342543de82ef95u + 0x632be59bd9b4e019u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* From 0 to 1, which it does not reach. */
static inline double unit(uint64_t a, uint64_t b)
{
    return (double)(mix(a, b) >> 11) * 0x1p-53;
}

#endif
