/* Sums that nobody waits for. A counter to which two worker threads add goes to and fro between
 * their processors' caches, which takes longer than all else that a histogram does. So a worker
 * adds into memory of its own where the program allows it. After each round of a block's turns the
 * worker adds its sums to the buffer itself.
 *
 * A program allows it (program->sum_bytes) if all its atomics outside shared memory are integer
 * additions of one width whose results are dropped, and nothing in the program orders memory
 * between blocks. Then no block can tell when the sums of another arrive, as long as they do
 * arrive. The worker itself can tell, by loading: it keeps no sums for a buffer that its blocks use
 * in any other way. Large buffers get their sums at once: another processor's cache seldom holds
 * their counters, and there are many to look through. Private to emu/. */
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

/* Gives program->sum_bytes: the width of the additions, 0 if they must not wait. */
unsigned sums_width(const struct program *program);

void sums_launch(const struct program *program, struct emu_memory *memory); /* before workers run */

/* Where the worker's atomics on this buffer go from now on: host memory that stands for the
 * buffer's first byte. */
uint8_t *sums_host(struct block_worker *k, struct mem_buffer *buffer);

/* The worker uses the buffer in another way: its sums are added, and it keeps no more of them. */
void sums_end(struct block_worker *k, struct mem_buffer *buffer);

/* Is this memory a worker's own sums? If so, the worker is about to add to them. */
static inline bool sums_take(struct own_sums *s, const uint8_t *host)
{
    const bool own = s->memory && (uintptr_t)host - (uintptr_t)s->memory < SUMS_BYTES;
    s->waiting |= own;
    return own;
}

void sums_settle_now(struct block_worker *k);

#endif
