/* Owns the choice of blocks: which to run when not all run, which to trace for the time model. */
#include "base/mem.h"
#include "base/rng.h"
#include "emu/exec/launch.h"

/* How far from a traced block the second of its neighbours lies: fewer blocks away than any chip
 * runs at a time, and no multiple of the widths that grids have. */
enum { FURTHER = 61 };

/* One block of each of EMU_TRACED_BLOCKS equal stretches. */
static uint64_t middle(uint64_t stretch, uint64_t nr)
{
    return (2 * stretch + 1) * nr / (2 * EMU_TRACED_BLOCKS);
}

/* Block `near` of the sample becomes one that runs at the same time as the one before it. */
static void move_near(uint64_t *list, uint64_t nr, uint64_t near, uint64_t distance)
{
    if (near + 1 >= nr || list[near - 1] + 1 >= list[near + 1])
        return;
    list[near] = list[near - 1] + distance;
    if (list[near] >= list[near + 1])
        list[near] = list[near + 1] - 1;
}

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
    if (want >= 4 * EMU_TRACED_BLOCKS) {
        move_near(list, want, middle(1, want) + 1, 1);
        move_near(list, want, middle(2, want) + 1, FURTHER);
    }
    *nr = want;
    return list;
}

bool launch_traced(uint64_t i, uint64_t nr)
{
    if (nr <= EMU_TRACED_BLOCKS)
        return true;
    for (uint64_t t = 0; t < EMU_TRACED_BLOCKS; t++) {
        if (i == middle(t, nr))
            return true;
    }
    return false;
}

bool launch_nearby(uint64_t i, uint64_t nr, bool sampled)
{
    if (nr < 4 * EMU_TRACED_BLOCKS)
        return false;
    return i == middle(1, nr) + 1 || i == middle(2, nr) + (sampled ? 1 : FURTHER);
}
