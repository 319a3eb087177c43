/* What bulk.c and tensor_copy.c share: the two sides of a copy by one thread. Private to emu/. */
#ifndef KEET_EMU_EXEC_COPY_H
#define KEET_EMU_EXEC_COPY_H

#include "emu/exec/exec.h"

struct copy {
    struct block_worker *k;
    struct warp *w;
    const struct inst *in;
    uint32_t pc;
    unsigned lane;
    uint32_t bytes; /* from the first to the last */
    uint32_t moved; /* less than that where a tensor copy leaves gaps */
};

struct copy_side {
    enum ptx_space space;
    bool is_write, is_atomic;
    uint64_t address; /* global, or from the start of shared memory */
    uint8_t *host;
    struct mem_buffer *buffer;  /* NULL: shared memory ... */
    struct block_worker *owner; /* ... of this block */
};

/* The address that a row of registers has for the copy's lane; of shared memory without window. */
uint64_t copy_address(
    const struct copy *c, uint32_t row, bool is32, int64_t imm, enum ptx_space space);
/* Finds host memory, buffer or owner of c->bytes. False: a fault. */
bool copy_find(const struct copy *c, struct copy_side *side);
/* The blocks that a multicast names, by bits; 0: no multicast. */
uint32_t copy_ranks(const struct copy *c);
/* Counts and tells listeners. False: a fault. */
bool copy_note(const struct copy *c, const struct copy_side *side);
bool copy_wrong(const struct copy *c, const struct copy_side *side, const char *what);

/* The blocks that get a copy to shared memory: the one that `to` names, or those of the mask, at
 * the same place. Calls each(); then its mbarrier, at the same place in the block, learns of the
 * bytes. */
bool copy_to_all(struct copy *c, struct copy_side *to,
    bool (*each)(const struct copy *c, struct copy_side *to, void *context), void *context);

/* tensor_copy.c */
bool tensor_copy(struct copy *c);

#endif
