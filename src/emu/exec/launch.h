/* Between emu.c, launch.c and sample.c. Private to emu/. */
#ifndef KEET_EMU_EXEC_LAUNCH_H
#define KEET_EMU_EXEC_LAUNCH_H

#include "emu/watch/event.h"

enum { LAUNCH_PARAM_BYTES = 32764 }; /* at most: CUDA 12.1 and later, sm_70 and up */

/* False: the result says LAUNCH_FAILED and why. */
bool launch_check(const struct chip *chip, const struct program *program,
    const struct emu_launch *launch, struct emu_result *result);
void launch_interrupt(void);
bool launch_interrupted(void);
void launch_go_on(void);
void launch_run(
    const struct emu_run *run, unsigned nr_threads, struct arena *arena, struct emu_result *result);

/* Which blocks of a launch run, and at which the time model looks; in a grid of clusters, which
 * clusters, x fastest, of which all blocks are traced. Where the launch asks for a sample, rising
 * block numbers, about launch->sample_blocks of them, each standing for nr_blocks / nr; the caller
 * frees them. The same seed gives the same numbers. Traced blocks are evenly spread. The nearby
 * ones lie beside a traced one: the next along x, along y, along z, and the next that the same SM
 * gets. */
enum { MOST_NEARBY_BLOCKS = 4 };
struct block_choice {
    uint64_t *list; /* NULL: all */
    uint64_t nr;
    uint64_t traced[EMU_TRACED_BLOCKS], nearby[MOST_NEARBY_BLOCKS];
    unsigned nr_traced, nr_nearby;
    bool only_first; /* the list has the first blocks, without gaps */
};
struct block_choice launch_choose(const struct emu_run *run);
bool launch_traced(const struct block_choice *choice, uint64_t block);
bool launch_nearby(const struct block_choice *choice, uint64_t block);

#endif
