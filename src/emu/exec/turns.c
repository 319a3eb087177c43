/* Owns the order in which the blocks of a launch run. */
#include "emu/exec/turns.h"

#include "base/rng.h"
#include "emu/exec/launch.h"
#include "emu/watch/order.h"

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

/* Nor does it promise an order of blocks: with a seed they come in their order, backwards, or by
 * steps that reach each once. Blocks that wait for lower ones keep their order. */
uint64_t turns_block(const struct exec *x, uint64_t i)
{
    const uint64_t seed = x->counting ? 0 : x->run.launch->seed, nr = x->nr_run;
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

/* Has a block its turn in this round? A seed lets some blocks fall behind for a while. */
bool turns_has(const struct exec *x, uint64_t i, unsigned round)
{
    enum { LAG_ROUNDS = 64 };
    const uint64_t seed = x->run.launch->seed;
    return seed == 0 || x->counting || round >= LAG_ROUNDS ||
           round % (1 + rng_mix(seed, i) % 5) == 0;
}

/* Do the blocks run side by side on one thread? Those that speak to each other do, where the grid
 * is small, so that whatever a block finds in memory does not depend on the host. */
bool turns_together(const struct exec *x)
{
    const struct emu_run *run = &x->run;
    return run->program->cooperative ||
           (!x->counting && !run->launch->probe && !x->choice->list &&
               (run->launch->find_races || run->launch->seed) && order_wanted(run->program) &&
               run->nr_blocks * run->nr_warps <= ORDER_MOST_WARPS && !run->program->uses_heap &&
               !run->program->uses_wide);
}
