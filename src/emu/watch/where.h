/* How messages name threads, blocks and places in shared memory. Private to emu/. */
#ifndef KEET_EMU_WATCH_WHERE_H
#define KEET_EMU_WATCH_WHERE_H

#include "emu/watch/event.h"

enum { WHERE_BYTES = 128 };

/* "thread (5,0,0) of block (31,0,0)"; thread: number within the block, x fastest */
void where_thread(
    const struct emu_run *run, uint64_t block, unsigned thread, char text[WHERE_BYTES]);

/* " (line 12)": the instruction's, or the nearest known; "" when there is none. */
const char *where_line(const struct emu_run *run, uint32_t pc, char text[WHERE_BYTES]);

/* "byte 12 of tile (shared memory)", or "byte 140 of shared memory" when no variable is there */
void where_shared(const struct emu_run *run, uint64_t offset, char text[WHERE_BYTES]);

/* What the instruction does in a space: "read", "write", "atomic". */
const char *where_verb(const struct emu_run *run, uint32_t pc, enum ptx_space space);

#endif
