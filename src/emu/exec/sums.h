/* Sums that nobody waits for. A counter to which two worker threads add goes to and fro between
 * their processors' caches, and that takes longer than all else that a histogram does. So a worker
 * adds into memory of its own, as far as a program lets it, and adds what came together to the
 * buffer itself after each round of a block's turns.
 *
 * A program lets it (program->sum_bytes) if all its atomics outside shared memory are integer
 * additions of one width whose results are dropped, and nothing in it orders memory between blocks:
 * then no block can tell when another's sums arrive, as long as they do. The worker itself can, by
 * loading: it keeps no sums for a buffer to which its blocks go in any other way. Large buffers get
 * theirs at once: their counters are seldom in another's cache, and many to look through. Private
 * to emu/. */
#ifndef KEET_EMU_EXEC_SUMS_H
#define KEET_EMU_EXEC_SUMS_H

#include <stdbool.h>
#include <stdint.h>

struct emu_memory;
struct mem_buffer;
struct program;
struct block_worker;

enum { SUMS_BUFFERS = 8, SUMS_BYTES = 16 << 10 };

struct own_sums {    /* a worker's; all zero at first */
    uint8_t *memory; /* SUMS_BYTES, NULL until they are needed */
    uint32_t used;
    bool waiting; /* perhaps some that are not 0 */
    unsigned nr;
    struct {
        struct mem_buffer *buffer; /* NULL: no longer kept */
        uint32_t at;
    } of[SUMS_BUFFERS];
};

/* What program->sum_bytes is: the width of the additions, 0 if they must not wait. */
unsigned sums_width(const struct program *program);

void sums_launch(const struct program *program, struct emu_memory *memory); /* before workers run */

/* Where the worker's atomics on this buffer go from now on: host memory for its first byte. */
uint8_t *sums_host(struct block_worker *k, struct mem_buffer *buffer);

/* The worker goes to the buffer in another way: its sums are added, and no more are kept. */
void sums_end(struct block_worker *k, struct mem_buffer *buffer);

/* Is this memory a worker's own sums? Then it is about to add to them. */
static inline bool sums_take(struct own_sums *s, const uint8_t *host)
{
    const bool own = s->memory && (uintptr_t)host - (uintptr_t)s->memory < SUMS_BYTES;
    s->waiting |= own;
    return own;
}

void sums_settle_now(struct block_worker *k);

#endif
