/* Private to emu/: textures and surfaces. A fetch follows the CUDA programming guide's appendix on
 * texture fetching: nearest-point sampling, linear filtering with 8 bits of fraction, and the
 * address modes. Counters see a fetch as an instruction only: there is no texture cache model. */
#ifndef KEET_EMU_TEXTURE_H
#define KEET_EMU_TEXTURE_H

#include "emu/emu.h"
#include "emu/exec.h"

struct texture_inst { /* what inst->texture points to */
    enum ptx_geom geom;
    enum ptx_sub sub; /* surfaces: what happens outside: TRAP, CLAMP, ZERO */
    unsigned nr_coordinates, nr_values, value_bytes;
    bool is_store, is_surface, real_coordinates;
    uint32_t handle, coordinate[3], value[4]; /* rows; NO_ROW: not wanted */
};

struct texture_table {
    struct emu_texture *textures;
    size_t nr, cap;
};

uint64_t texture_add(struct texture_table *table, const struct emu_texture *texture);
void texture_remove(struct texture_table *table, uint64_t handle);

/* The address of a handle's texture; NULL: it is none. */
const struct emu_texture *texture_find(const struct texture_table *table, uint64_t handle);

/* One fetch, load or store by the lanes of mask. False: fault. */
bool texture_step(
    struct worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);

#endif
