/* Owns the choice of blocks: which to run when not all run, which to trace for the time model. */
#include "base/mem.h"
#include "base/rng.h"
#include "emu/launch.h"

uint64_t *launch_sample(const struct emu_launch *launch, uint64_t nr_blocks, uint64_t *nr)
{
    uint64_t want = launch->sample_blocks < nr_blocks ? launch->sample_blocks : nr_blocks;
    uint64_t *list = xcalloc(want, sizeof(*list));
    for (uint64_t i = 0; i < want; i++) {
        uint64_t from = (uint64_t)((double)i * (double)nr_blocks / (double)want);
        uint64_t to = (uint64_t)((double)(i + 1) * (double)nr_blocks / (double)want);
        to = to > nr_blocks ? nr_blocks : to;
        list[i] = from + rng_mix(launch->seed, i) % (to > from ? to - from : 1);
    }
    *nr = want;
    return list;
}

bool launch_traced(uint64_t i, uint64_t nr)
{
    if (nr <= EMU_TRACED_BLOCKS)
        return true;
    /* the middle of each of EMU_TRACED_BLOCKS equal stretches */
    for (uint64_t t = 0; t < EMU_TRACED_BLOCKS; t++) {
        if (i == (2 * t + 1) * nr / (2 * EMU_TRACED_BLOCKS))
            return true;
    }
    return false;
}
