/* Private to emu/: textures and surfaces. A fetch follows the CUDA programming guide's appendix on
 * texture fetching: nearest-point sampling, linear filtering with 8 bits of fraction, the address
 * modes, layers and cube maps. The OpenGL 4.6 specification, 8.14, says how the level of a mipmap
 * is chosen. Counters see a fetch as an instruction only: there is no model of the texture cache.
 */
#ifndef KEET_EMU_EXEC_TEXTURE_H
#define KEET_EMU_EXEC_TEXTURE_H

#include "emu/emu.h"
#include "emu/exec/exec.h"

struct texture_inst { /* what inst->texture points to */
    enum ptx_op op;
    enum ptx_geom geom;
    enum ptx_sub
        sub; /* surfaces: what happens outside: TRAP, CLAMP, ZERO; tex: BASE, LEVEL, GRAD */
    enum ptx_query query;
    enum ptx_type type; /* of the values */
    enum ptx_atom atom; /* sured */
    unsigned nr_coordinates, nr_values, value_bytes;
    bool is_surface, real_coordinates;
    bool formatted;     /* sust.p, sured.p: x counts texels */
    unsigned component; /* tld4 */
    /* rows; NO_ROW: not wanted, or not given. Values of 64 bits: rows of 64 bits. */
    uint32_t handle, coordinate[4], value[4], offset[3], level, dx[3], dy[3];
    uint32_t resident; /* word of predicates */
};

struct texture_table {
    struct emu_texture *textures;
    size_t nr, cap;
};

uint64_t texture_add(struct texture_table *table, const struct emu_texture *texture);
void texture_remove(struct texture_table *table, uint64_t handle);

/* The address of a handle's texture; NULL: the handle is none. */
const struct emu_texture *texture_find(const struct texture_table *table, uint64_t handle);

/* One fetch, load, store, reduction or question by the lanes of mask. False: fault. */
bool texture_step(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);

/* --- between texture.c and surface.c --- */

static inline bool texture_layered(enum ptx_geom geom)
{
    return geom == PTX_GEOM_A1D || geom == PTX_GEOM_A2D || geom == PTX_GEOM_ACUBE;
}

static inline unsigned texture_texel_bytes(const struct emu_texture *t)
{
    return t->channel_bytes * t->nr_channels;
}

static inline uint32_t texture_word(const struct warp *w, uint32_t row, unsigned lane)
{
    uint32_t value;
    __builtin_memcpy(&value, w->file + row + (size_t)lane * 4, 4);
    return value;
}

/* A fault; always false. */
bool texture_fault(struct block_worker *k, struct warp *w, uint32_t pc, unsigned lane,
    uint64_t handle, const char *what);

/* suld, sust, sured by one lane */
bool surface_lane(struct block_worker *k, struct warp *w, const struct texture_inst *ti,
    const struct emu_texture *t, unsigned lane, uint32_t pc, uint64_t handle);

#endif
