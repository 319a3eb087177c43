/* Owns textures and surfaces: their table, sampling, and the instructions that use them. */
#include "emu/texture.h"

#include "base/mem.h"
#include "emu/half.h"
#include "emu/where.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Handles look like nothing else: a tag above, the number of the texture below. */
static const uint64_t TAG = UINT64_C(0x7e87) << 48;

uint64_t texture_add(struct texture_table *table, const struct emu_texture *texture)
{
    for (size_t i = 0; i < table->nr; i++)
        if (table->textures[i].nr_dims == 0) {
            table->textures[i] = *texture;
            return TAG | i;
        }
    table->textures = grow(table->textures, &table->cap, table->nr + 1, sizeof(*texture));
    table->textures[table->nr] = *texture;
    return TAG | table->nr++;
}

const struct emu_texture *texture_find(const struct texture_table *table, uint64_t handle)
{
    uint64_t nr = handle & ~(UINT64_C(0xffff) << 48);

    return table && (handle & UINT64_C(0xffff) << 48) == TAG && nr < table->nr &&
                   table->textures[nr].nr_dims
               ? &table->textures[nr]
               : NULL;
}

void texture_remove(struct texture_table *table, uint64_t handle)
{
    const struct emu_texture *t = texture_find(table, handle);

    if (t)
        table->textures[t - table->textures].nr_dims = 0;
}

/* ---- texels ---- */

struct texel {
    double v[4];      /* as numbers, normalised where the texture says so */
    uint32_t bits[4]; /* as the register gets it for element reads */
};

static unsigned texel_bytes(const struct emu_texture *t)
{
    return t->channel_bytes * t->nr_channels;
}

/* Host memory of the texel at whole coordinates that lie inside; NULL: the buffer has gone. */
static uint8_t *texel_at(const struct worker *k, const struct emu_texture *t, const int64_t at[3])
{
    uint64_t address = t->address + (uint64_t)at[0] * texel_bytes(t) +
                       (uint64_t)at[1] * t->pitch_bytes + (uint64_t)at[2] * t->layer_bytes;
    struct mem_buffer *b = memory_find(k->memory, address, texel_bytes(t));

    return b ? b->host + (address - b->base) : NULL;
}

static bool read_texel(
    const struct worker *k, const struct emu_texture *t, const int64_t at[3], struct texel *out)
{
    const uint8_t *from = texel_at(k, t, at);

    *out = (struct texel){.v = {0, 0, 0, 1}};
    if (t->kind == EMU_TEXEL_FLOAT || t->normalized_float)
        out->bits[3] = 0x3f800000; /* the missing alpha is one */
    else
        out->bits[3] = 1;
    if (!from)
        return false;
    for (unsigned c = 0; c < t->nr_channels; c++) {
        uint32_t raw = 0;
        float real;

        memcpy(&raw, from + (size_t)c * t->channel_bytes, t->channel_bytes);
        if (t->kind == EMU_TEXEL_FLOAT) {
            if (t->channel_bytes == 2)
                real = half_f32(raw);
            else
                memcpy(&real, &raw, 4);
            out->v[c] = (double)real;
            memcpy(&out->bits[c], &real, 4);
            continue;
        }
        bool is_signed = t->kind == EMU_TEXEL_SIGNED;
        unsigned shift = 32 - 8 * t->channel_bytes;
        int32_t number = is_signed ? (int32_t)(raw << shift) >> shift : (int32_t)raw;

        out->bits[c] = (uint32_t)number;
        out->v[c] = is_signed ? number : (double)raw;
        if (t->normalized_float) {
            double most = ldexp(1, (int)(8 * t->channel_bytes) - is_signed) - 1;

            out->v[c] = fmax(out->v[c] / most, -1);
            real = (float)out->v[c];
            memcpy(&out->bits[c], &real, 4);
        }
    }
    return true;
}

/* A whole coordinate by the address mode; false: the border, which reads as zeros. */
static bool wrap(enum emu_address_mode mode, int64_t size, int64_t *at)
{
    if (*at >= 0 && *at < size)
        return true;
    switch (mode) {
    case EMU_ADDRESS_BORDER:
        return false;
    case EMU_ADDRESS_WRAP:
        *at = ((*at % size) + size) % size;
        return true;
    case EMU_ADDRESS_MIRROR: {
        int64_t both = ((*at % (2 * size)) + 2 * size) % (2 * size);

        *at = both < size ? both : 2 * size - 1 - both;
        return true;
    }
    default:
        *at = *at < 0 ? 0 : size - 1;
        return true;
    }
}

static bool sample(
    const struct worker *k, const struct emu_texture *t, const int64_t whole[3], struct texel *out)
{
    int64_t at[3] = {0, 0, 0};
    static const struct texel zero;

    for (unsigned d = 0; d < t->nr_dims; d++) {
        /* wrap and mirror need normalised coordinates: clamp otherwise (programming guide) */
        enum emu_address_mode mode = t->address_mode[d];

        if (!t->normalized_coordinates && (mode == EMU_ADDRESS_WRAP || mode == EMU_ADDRESS_MIRROR))
            mode = EMU_ADDRESS_CLAMP;
        at[d] = whole[d];
        if (!wrap(mode, (int64_t)t->size[d], &at[d])) {
            *out = zero;
            return true;
        }
    }
    at[2] = t->nr_dims < 3 ? whole[2] : at[2]; /* the layer */
    return read_texel(k, t, at, out);
}

static bool fetch(const struct worker *k, const struct emu_texture *t, const double x[3],
    int64_t layer, uint32_t out[4])
{
    int64_t base[3] = {0, 0, t->nr_dims < 3 ? layer : 0};
    double fraction[3] = {0};
    struct texel texel;

    for (unsigned d = 0; d < t->nr_dims; d++) {
        double at = t->normalized_coordinates ? x[d] * t->size[d] : x[d];

        if (t->linear) {
            at -= 0.5;
            /* 9-bit fixed point with 8 bits of fraction (programming guide) */
            fraction[d] = floor((at - floor(at)) * 256 + 0.5) / 256;
        }
        base[d] = at >= -9e18 && at <= 9e18 ? (int64_t)floor(at)
                  : at > 0                  ? INT64_MAX / 2
                                            : INT64_MIN / 2;
    }
    if (!t->linear) {
        bool ok = sample(k, t, base, &texel);

        memcpy(out, texel.bits, sizeof(texel.bits));
        return ok;
    }
    double sum[4] = {0};

    for (unsigned corner = 0; corner < 1u << t->nr_dims; corner++) {
        int64_t at[3] = {base[0], base[1], base[2]};
        double weight = 1;

        for (unsigned d = 0; d < t->nr_dims; d++) {
            bool upper = corner >> d & 1;

            at[d] += upper;
            weight *= upper ? fraction[d] : 1 - fraction[d];
        }
        if (!sample(k, t, at, &texel))
            return false;
        for (unsigned c = 0; c < 4; c++)
            sum[c] += weight * texel.v[c];
    }
    for (unsigned c = 0; c < 4; c++) {
        float real = (float)sum[c];

        memcpy(&out[c], &real, 4);
    }
    return true;
}

/* ---- instructions ---- */

static uint32_t word(const struct warp *w, uint32_t row, unsigned lane)
{
    uint32_t value;

    memcpy(&value, w->file + row + lane * 4, 4);
    return value;
}

static bool no_texture(
    struct worker *k, struct warp *w, uint32_t pc, unsigned lane, uint64_t handle, const char *what)
{
    char who[WHERE_BYTES];

    where_thread(&k->exec->run, k->block.index, w->index * WARP_LANES + lane, who);
    exec_fault(k, VERDICT_FAULT, pc, "%s (handle 0x%" PRIx64 ") by %s", what, handle, who);
    return false;
}

/* suld, sust: x counts bytes. */
static bool surface_lane(struct worker *k, struct warp *w, const struct texture_inst *ti,
    const struct emu_texture *t, unsigned lane, uint32_t pc, uint64_t handle)
{
    bool layered = ti->geom == PTX_GEOM_A1D || ti->geom == PTX_GEOM_A2D, inside = true;
    int64_t at[3] = {0, 0, 0};
    unsigned bytes = ti->nr_values * ti->value_bytes;

    for (unsigned c = 0; c < ti->nr_coordinates; c++) {
        int64_t x = (int32_t)word(w, ti->coordinate[c], lane);
        unsigned d = layered ? (c == 0 ? 2 : c - 1) : c;
        int64_t size =
            d == 0 ? (int64_t)t->size[0] * texel_bytes(t) - bytes + 1 : (int64_t)t->size[d];

        if (d == 2 && layered)
            size = INT32_MAX;
        inside = inside && x >= 0 && x < size;
        if (ti->sub == PTX_SUB_CLAMP)
            x = x < 0 ? 0 : x >= size ? size - 1 : x;
        at[d] = x;
    }
    if (!inside && ti->sub == PTX_SUB_TRAP)
        return no_texture(k, w, pc, lane, handle, "a surface access outside of the surface");
    uint64_t address = t->address + (uint64_t)at[0] + (uint64_t)at[1] * t->pitch_bytes +
                       (uint64_t)at[2] * t->layer_bytes;
    struct mem_buffer *b =
        inside || ti->sub == PTX_SUB_CLAMP ? memory_find(k->memory, address, bytes) : NULL;

    for (unsigned v = 0; v < ti->nr_values; v++) {
        uint32_t value = 0;
        uint8_t *host = b ? b->host + (address - b->base) + (size_t)v * ti->value_bytes : NULL;

        if (ti->is_store) {
            value = word(w, ti->value[v], lane);
            if (host)
                memcpy(host, &value, ti->value_bytes);
        } else if (ti->value[v] != NO_ROW) {
            if (host)
                memcpy(&value, host, ti->value_bytes);
            memcpy(w->file + ti->value[v] + lane * 4, &value, 4);
        }
    }
    return true;
}

static bool fetch_lane(struct worker *k, struct warp *w, const struct texture_inst *ti,
    const struct emu_texture *t, unsigned lane, uint32_t pc, uint64_t handle)
{
    bool layered = ti->geom == PTX_GEOM_A1D || ti->geom == PTX_GEOM_A2D;
    double x[3] = {0};
    int64_t layer = 0;
    uint32_t out[4];

    for (unsigned c = 0; c < ti->nr_coordinates; c++) {
        uint32_t bits = word(w, ti->coordinate[c], lane);
        float real;

        memcpy(&real, &bits, 4);
        if (layered && c == 0)
            layer = bits;
        else
            x[c - layered] = ti->real_coordinates ? (double)real : (double)(int32_t)bits;
    }
    if (!fetch(k, t, x, layer, out))
        return no_texture(k, w, pc, lane, handle, "a fetch from a texture whose memory is gone");
    for (unsigned v = 0; v < ti->nr_values; v++)
        if (ti->value[v] != NO_ROW)
            memcpy(w->file + ti->value[v] + lane * 4, &out[v], 4);
    return true;
}

bool texture_step(
    struct worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    const struct texture_inst *ti = in->texture;

    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        uint64_t handle;

        memcpy(&handle, w->file + ti->handle + lane * 8, 8);
        const struct emu_texture *t = texture_find(k->memory->textures, handle);

        if (!t)
            return no_texture(k, w, pc, lane, handle, "not a texture or surface object");
        if (!(ti->is_surface ? surface_lane : fetch_lane)(k, w, ti, t, lane, pc, handle))
            return false;
    }
    return true;
}
