/* Owns nothing: the state is the caller's. */
#include "base/rng.h"

#include <math.h>

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t rng_mix(uint64_t seed, uint64_t index)
{
    return mix(mix(seed + 0x9e3779b97f4a7c15u) + (index + 1) * 0x9e3779b97f4a7c15u);
}

void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream)
{
    rng->state = rng_mix(seed, stream);
}

uint64_t rng_next(struct rng *rng)
{
    rng->state += 0x9e3779b97f4a7c15u;
    return mix(rng->state);
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    return bound ? (uint64_t)(((unsigned __int128)rng_next(rng) * bound) >> 64) : 0;
}

double rng_unit(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

double rng_normal(struct rng *rng)
{
    const double u = 1.0 - rng_unit(rng), v = rng_unit(rng);

    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}
