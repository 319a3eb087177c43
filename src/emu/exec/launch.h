/* Between emu.c, launch.c and sample.c. Private to emu/. */
#ifndef KEET_EMU_EXEC_LAUNCH_H
#define KEET_EMU_EXEC_LAUNCH_H

#include "emu/watch/event.h"

enum { LAUNCH_PARAM_BYTES = 32764 }; /* at most: CUDA 12.1 and later, sm_70 and up */

/* False: the result says LAUNCH_FAILED and why. */
bool launch_check(const struct chip *chip, const struct program *program,
    const struct emu_launch *launch, struct emu_result *result);
void launch_run(
    const struct emu_run *run, unsigned nr_threads, struct arena *arena, struct emu_result *result);

/* Gives rising block numbers, about launch->sample_blocks of them, each standing for nr_blocks /
 * *nr; the caller frees them. One block comes from each of equally long stretches of the grid, so
 * that edges count as often as they occur. The same seed gives the same numbers. */
uint64_t *launch_sample(const struct emu_launch *launch, uint64_t nr_blocks, uint64_t *nr);

/* Is the i-th of the nr blocks that run one for the time model? At most EMU_TRACED_BLOCKS are,
 * evenly spread. */
bool launch_traced(uint64_t i, uint64_t nr);

/* Is the block one of the two that run at the same time as a traced one, one beside it and one
 * further away? Where not all blocks run, launch_sample chose these two for that. */
bool launch_nearby(uint64_t i, uint64_t nr, bool sampled);

#endif
