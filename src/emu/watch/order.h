/* Order between warps on global memory, for launches whose blocks speak to each other: a vector
 * clock for every warp of the grid, as races.c has them for the warps of a block. Such a launch
 * runs on one thread, its blocks side by side. Private to emu/. */
#ifndef KEET_EMU_WATCH_ORDER_H
#define KEET_EMU_WATCH_ORDER_H

#include "emu/watch/event.h"

enum { ORDER_MOST_WARPS = 512 }; /* of the grid: the clocks take the square */

/* Does the kernel order blocks itself, by atomics, fences, volatile or ordered accesses? */
bool order_wanted(const struct program *program);

struct order *order_create(const struct emu_run *run);
void order_destroy(struct order *order);

/* False: a race, *fault says which. */
bool order_access(struct order *order, uint64_t block, const struct emu_access *access, bool strong,
    bool silent, struct emu_fault *fault);
void order_barrier(
    struct order *order, uint64_t block, const struct emu_barrier *barrier, bool all);
void order_inst(struct order *order, uint64_t block, unsigned warp, uint32_t pc, uint32_t mask);

#endif
