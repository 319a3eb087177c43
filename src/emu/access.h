/* One request of a warp's lanes in one space: from its addresses to the host's memory. Private to
 * emu/: access.c finds the place, data.c moves the data. */
#ifndef KEET_EMU_ACCESS_H
#define KEET_EMU_ACCESS_H

#include "emu/exec.h"

struct spot {
    uint64_t address[WARP_LANES]; /* within the space, or global */
    uint64_t moved[WARP_LANES];
    const uint64_t *at; /* host address of lane l: base + at[l] */
    uint8_t *base;
    uint64_t lo, hi; /* of active lanes */
    enum access_kind kind;
    struct pattern *pattern;
    uint32_t mask;
    enum ptx_space space;
    unsigned bytes; /* per lane */
    bool write, atomic;
    bool matrices; /* see struct pattern */
};

static inline uint8_t *spot_host(const struct spot *s, unsigned lane)
{
    return (uint8_t *)((uintptr_t)s->base + s->at[lane]);
}

/* data.c: registers and memory; s says where. */
#define data_load EXEC_NAME(data_load)
#define data_store EXEC_NAME(data_store)
#define data_atomic EXEC_NAME(data_atomic)
void data_load(const struct warp *w, const struct inst *in, const struct spot *s);
void data_store(const struct warp *w, const struct inst *in, const struct spot *s);
void data_atomic(
    struct worker *k, const struct warp *w, const struct inst *in, const struct spot *s);

#endif
