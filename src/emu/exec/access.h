/* One request of a warp's lanes in one space: from its addresses to the host's memory. Private to
 * emu/: access.c finds the place, data.c moves the data. */
#ifndef KEET_EMU_EXEC_ACCESS_H
#define KEET_EMU_EXEC_ACCESS_H

#include "emu/exec/exec.h"

struct access_spot {
    uint8_t *base; /* host address of lane l: base + at[l] */
    const uint64_t *at;
    struct access_pattern *pattern;
    /* kind and mask are apart: a compiler would compare both by one load, which has to wait for the
     * stores of the two. */
    enum access_kind kind;
    unsigned bytes; /* per lane */
    uint32_t mask;
    bool write, atomic;
    bool matrices; /* see struct access_pattern */
    bool differs;  /* from the pattern, for sure */
    bool moves;    /* as in the pattern, from `start` on, which is elsewhere in its line */
    enum ptx_space space;
    /* set by those functions that look at the addresses */
    uint64_t *address; /* 32, within the space, or global */
    uint64_t *moved;   /* 32, room for `at` */
    uint64_t start;    /* of the first active lane */
    uint64_t lo, hi;   /* of active lanes */
};

static inline uint8_t *spot_host(const struct access_spot *s, unsigned lane)
{
    return (uint8_t *)((uintptr_t)s->base + s->at[lane]);
}

/* data.c: registers and memory; s says where. */
#define data_load EXEC_NAME(data_load)
#define data_store EXEC_NAME(data_store)
#define data_atomic EXEC_NAME(data_atomic)
void data_load(const struct warp *w, const struct inst *in, const struct access_spot *s);
void data_store(const struct warp *w, const struct inst *in, const struct access_spot *s);
void data_atomic(struct block_worker *k, const struct warp *w, const struct inst *in,
    const struct access_spot *s);

#endif
