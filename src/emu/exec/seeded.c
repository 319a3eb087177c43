/* Owns what a launch's seed does to the order of warps, of blocks, and of turns. Counted runs and
 * seed 0 keep the plain order. */
#include "emu/exec/exec.h"

#include "base/rng.h"
#include "emu/exec/launch.h"

/* Hardware promises no order of warps, so runs with other seeds take other orders, and a kernel
 * whose result depends on it gives itself away. Seed 0 and counted runs keep the plain order. */
void seeded_warps(struct block_worker *k)
{
    uint64_t seed = k->counting ? 0 : k->exec->run.launch->seed;
    uint64_t bits = seed ? rng_mix(seed, k->block.index) : 0;
    k->first_warp = (unsigned)(bits >> 1) % k->nr_warps;
    k->backwards = bits & 1;
}

/* The next number from `at` on that has no divisor in common with nr. */
static uint64_t coprime(uint64_t at, uint64_t nr)
{
    for (at = at ? at : 1;; at++) {
        uint64_t a = at, b = nr;
        while (b) {
            const uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1)
            return at;
    }
}

/* Hardware promises no order of blocks: with a seed they, or their clusters, come in their order,
 * backwards, or by steps that reach each once. Blocks that wait for lower ones keep their order. */
uint64_t seeded_unit(const struct exec *x, uint64_t i)
{
    const uint64_t seed = x->counting ? 0 : x->run.launch->seed, nr = x->choice->nr;
    uint64_t step;
    if (x->choice->list)
        return x->choice->list[i];
    if (seed == 0 || nr < 2 || x->run.program->waits || nr > UINT32_MAX)
        return i;
    switch (rng_mix(seed, 1) % 3) {
    case 0:
        return nr - 1 - i;
    case 1:
        step = coprime(rng_mix(seed, 2) % nr, nr);
        return (i * step + rng_mix(seed, 3) % nr) % nr;
    default:
        return i;
    }
}

/* A seed lets some blocks fall behind for a while. */
bool seeded_turn(const struct block_worker *k, unsigned round)
{
    enum { LAG_ROUNDS = 64 };
    const uint64_t seed = k->exec->run.launch->seed;
    return seed == 0 || k->counting || round >= LAG_ROUNDS ||
           round % (1 + rng_mix(seed, k->block.index) % 5) == 0;
}
