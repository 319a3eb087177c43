/* Global memory: named buffers at addresses that are never used twice, far apart, so that a stray
 * access lands in none of them. Private to emu/.
 *
 * The bit of a byte in `init` says that the byte was written at least once. While all_init is set
 * the bits mean nothing and every byte counts as written: a launch that did not look may have
 * written it. `touched` has one byte for each 32-byte sector: not 0 once a running launch that
 * counts has touched the sector. */
#ifndef KEET_EMU_STATE_MEMORY_H
#define KEET_EMU_STATE_MEMORY_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMORY_POISON = 0xAA /* what nothing has written */, MEMORY_SLACK = 256 };

struct mem_buffer {
    uint64_t base, bytes;
    uint8_t *host;
    uint64_t mapped_bytes; /* of host, where that is a mapping; else 0 */
    uint8_t *init;
    uint8_t *touched;
    uint64_t nr_touched; /* sectors, by the last launch that was counted */
    bool all_init, constant;
    bool fresh;       /* all poison, and nothing was written or launched since memory_alloc */
    bool pending;     /* ... and the poison does not stand in `host` yet: memory_settle */
    bool borrowed;    /* host is the caller's, and base its address */
    bool heap;        /* made by malloc on the device ... */
    bool this_launch; /* ... in the running launch, by ... */
    bool freed;       /* on the device: 0 bytes now, gone when the launch is over */
    uint32_t pc;      /* ... this instruction */
    uint64_t block;
    uint64_t heap_bytes; /* what the buffer takes of the heap */
    bool loaded;         /* a running launch that counts loads from it; atomics do not count */
    bool stored;         /* the last launch stored into it, or changed it by atomics */
    bool not_only_sums;  /* sums.h: the running launch loads or stores it */
    double in_l2;        /* share of its sectors that L2 holds after the last modelled launch */
    char name[64];
};

struct texture_table;

struct emu_memory {
    struct mem_buffer **buffers; /* rising addresses */
    size_t nr, cap;
    uint64_t next, used, limit;
    uint64_t held, host_limit; /* of the host: bytes in buffers that are whole there; how many */
    double unwritten;          /* sectors that L2 owes DRAM after the last modelled launch */
    uint64_t heap_used;        /* bytes that device code holds by malloc */
    struct texture_table *textures; /* the emulator's; NULL: there are none */
};

void memory_init(struct emu_memory *memory, uint64_t limit_bytes);
void memory_finish(struct emu_memory *memory);
/* Whether this process holds more than host_limit: launches may write into large buffers what the
 * host has no room for. */
bool memory_is_over(const struct emu_memory *memory);
struct mem_buffer *memory_alloc(
    struct emu_memory *memory, uint64_t bytes, const char *name, struct err *err);
/* The same, with the poison put off: until memory_settle a large buffer takes nothing of the host.
 */
struct mem_buffer *memory_reserve(
    struct emu_memory *memory, uint64_t bytes, const char *name, struct err *err);
void memory_settle(struct mem_buffer *buffer);
/* The same as memory_share of zeros of the buffer's own. */
struct mem_buffer *memory_alloc_host(
    struct emu_memory *memory, uint64_t bytes, const char *name, struct err *err);
/* Memory of the host, from `host` on, as a buffer at the address that it has there: what either
 * writes the other reads. It counts as written, belongs to the caller, and must outlive the buffer.
 * Rows are read whole: MEMORY_SLACK bytes behind it can be read, too. */
struct mem_buffer *memory_share(
    struct emu_memory *memory, void *host, uint64_t bytes, const char *name, struct err *err);
void memory_free(struct emu_memory *memory, uint64_t address);
/* The memory is gone; the buffer itself stays until memory_sweep, since listeners know it. */
void memory_retire(struct emu_memory *memory, struct mem_buffer *buffer);
void memory_sweep(struct emu_memory *memory, bool all); /* all: heap buffers in use too */

/* The buffer that holds all of [address, address + bytes); NULL when none does. */
struct mem_buffer *memory_find(const struct emu_memory *memory, uint64_t address, uint64_t bytes);
/* The buffer nearest to an address, for messages; NULL when there are no buffers. */
struct mem_buffer *memory_nearest(const struct emu_memory *memory, uint64_t address);

/* The bytes become copies of one period, and count as written. A large buffer that is filled whole
 * holds the period once, and further pages as launches write them, so that arrays of gigabytes cost
 * what a sample of the blocks touches. */
void memory_repeat(
    struct mem_buffer *buffer, uint64_t offset, uint64_t nr, const void *bytes, uint64_t period);
void memory_fill(struct mem_buffer *buffer, uint64_t offset, uint64_t nr, uint8_t byte);
void memory_set_init(struct mem_buffer *buffer, uint64_t offset, uint64_t nr, bool initialised);
/* What the buffers hold, to be put back by memory_restore, which frees it. Constants, and buffers
 * from 256 MiB on, are left out: by these no block tells another anything. */
struct saved_buffer {
    uint64_t base;
    uint8_t *bytes;
};
struct saved_buffer *memory_save(const struct emu_memory *memory, size_t *nr);
void memory_restore(struct emu_memory *memory, struct saved_buffer *saved, size_t nr);
bool memory_is_init(const struct mem_buffer *buffer, uint64_t offset, uint64_t nr);
/* A launch that notes_writes sets the bits of what it writes; after another one every byte counts
 * as written. */
void memory_begin_launch(struct emu_memory *memory, bool counts, bool notes_writes);
/* For a buffer that is made during a launch that counts, as memory_begin_launch for the others:
 * room for the notes in `touched`, all 0. After the launch: how many sectors were noted; the notes
 * are 0 again. *loaded_bytes: 32 for each of those in buffers from which the launch loads, times
 * `scale`, and for each buffer no more than it has. */
void memory_note_buffer(struct mem_buffer *buffer);
uint64_t memory_count_touched(struct emu_memory *memory, double scale, double *loaded_bytes);
static inline void memory_note_load(struct mem_buffer *buffer)
{
    __atomic_store_n(&buffer->loaded, true, __ATOMIC_RELAXED);
}
static inline void memory_note_store(struct mem_buffer *buffer)
{
    if (!__atomic_load_n(&buffer->stored, __ATOMIC_RELAXED))
        __atomic_store_n(&buffer->stored, true, __ATOMIC_RELAXED);
}

#endif
