/* The order in which the blocks of a launch run. Private to emu/. */
#ifndef KEET_EMU_EXEC_TURNS_H
#define KEET_EMU_EXEC_TURNS_H

#include "emu/exec/exec.h"

/* The number in the grid of the block that runs as number i. */
uint64_t turns_block(const struct exec *x, uint64_t i);

/* Of blocks side by side: does block i run in this round? */
bool turns_has(const struct exec *x, uint64_t i, unsigned round);

/* Do the blocks run side by side on one thread? */
bool turns_together(const struct exec *x);

#endif
