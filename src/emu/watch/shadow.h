/* Shadow of global memory: three numbers for every cell of it, for listeners that must remember who
 * touched what. A cell is as small as the kernel's smallest access to global memory. A sector of 32
 * bytes that was only touched as a whole has one set of numbers for all its cells. Each worker's
 * listener has its own shadow; shadow_merge joins them. Private to emu/.
 *
 * A tag says who touched a cell: block + 1 in the upper half, then thread and pc. In a sector
 * touched as a whole the tag holds the thread of its first byte; splitting the sector works out the
 * threads of the others. */
#ifndef KEET_EMU_WATCH_SHADOW_H
#define KEET_EMU_WATCH_SHADOW_H

#include "emu/state/memory.h"
#include "emu/watch/event.h"

enum { SHADOW_SECTOR_BYTES = 32 };

enum shadow_how { SHADOW_READ, SHADOW_WRITE, SHADOW_ATOMIC, SHADOW_SILENT };

struct shadow_cell {
    uint64_t tag[3]; /* 0: nobody */
};

struct shadow_sector {
    struct shadow_cell all;
    struct shadow_cell *fine; /* NULL: all cells are like `all` */
};

struct shadow_buffer {
    struct mem_buffer *buffer;
    uint64_t base, bytes;
    struct shadow_sector *sectors; /* pages that nobody touches cost nothing */
    uint64_t nr_sectors;
    bool skip; /* set by the listener: of no interest */
};

struct shadow {
    const struct emu_run *run;
    struct shadow_buffer *buffers; /* as run->memory->buffers */
    size_t nr, cap;
    struct shadow_buffer **by_pc;  /* the buffer that an instruction touched last */
    struct arena *arena;           /* fine cells */
    unsigned cell_bytes, nr_cells; /* per sector */
};

void shadow_init(struct shadow *shadow, const struct emu_run *run);
void shadow_finish(struct shadow *shadow);

static inline uint64_t shadow_tag(uint64_t block, unsigned thread, uint32_t pc)
{
    return (block + 1) << 32 | (uint64_t)thread << 22 | (pc & 0x3fffff);
}
static inline uint64_t shadow_block(uint64_t tag) /* 0: nobody, else block + 1 */
{
    return tag >> 32;
}
static inline unsigned shadow_thread(uint64_t tag)
{
    return (unsigned)(tag >> 22) & 1023;
}
static inline uint32_t shadow_pc(uint64_t tag)
{
    return (uint32_t)tag & 0x3fffff;
}

/* Keeps the two lowest tags of different blocks among those put in. */
void shadow_keep_two(uint64_t *low, uint64_t *high, uint64_t tag);

/* Calls update once for each cell, or whole sector, that the access touches. */
typedef void shadow_update(struct shadow_cell *cell, uint64_t tag, enum shadow_how how);
void shadow_access(struct shadow *shadow, uint64_t block, const struct emu_access *access,
    enum shadow_how how, shadow_update *update);

void shadow_split(
    struct shadow *shadow, struct shadow_buffer *buffer, struct shadow_sector *sector);

typedef void shadow_join(struct shadow_cell *into, const struct shadow_cell *from);
void shadow_merge(struct shadow *into, struct shadow *from, shadow_join *join);

/* Smallest bytes per element among the kernel's accesses to a space, at least 1, at most 4. */
unsigned shadow_cell_bytes(const struct program *program, enum ptx_space space);

#endif
