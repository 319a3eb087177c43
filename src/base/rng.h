/* Seeded random numbers (SplitMix64, Steele, Lea and Flood, OOPSLA 2014: state += golden gamma,
 * then two xor-multiply rounds). The same seed gives the same numbers on every machine. Independent
 * streams come from rng_seed with different stream numbers. */
#ifndef KEET_BASE_RNG_H
#define KEET_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream);
uint64_t rng_next(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t bound); /* 0..bound-1; 0 when bound is 0 */
double rng_unit(struct rng *rng);                    /* [0, 1), 53 bits */
double rng_normal(struct rng *rng);                  /* mean 0, variance 1; Box-Muller */

/* Value number `index` of the stream `seed`, well mixed, for random access. */
uint64_t rng_mix(uint64_t seed, uint64_t index);

#endif
