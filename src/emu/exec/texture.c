/* Owns textures: their table, sampling, the instructions that fetch, and those that ask for sizes.
 */
#include "emu/exec/texture.h"

#include "base/mem.h"
#include "emu/sem/half.h"
#include "emu/watch/where.h"

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

/* One level of a mipmap, or the whole of a texture that has no others. */
struct level {
    const struct emu_texture *texture;
    uint64_t address, pitch_bytes, layer_bytes;
    int64_t size[3];
};

static struct level level_of(const struct emu_texture *t, unsigned nr)
{
    struct level level = {
        t, t->address, t->pitch_bytes, t->layer_bytes, {t->size[0], t->size[1], t->size[2]}};

    if (nr == 0)
        return level;
    level.address = t->levels[nr - 1].address;
    level.pitch_bytes = t->levels[nr - 1].pitch_bytes;
    level.layer_bytes = t->levels[nr - 1].layer_bytes;
    for (unsigned d = 0; d < t->nr_dims; d++)
        level.size[d] = level.size[d] >> nr ? level.size[d] >> nr : 1;
    return level;
}

/* Host memory of the texel at whole coordinates that lie inside; NULL: the buffer has gone. */
static uint8_t *texel_at(
    const struct block_worker *k, const struct level *level, const int64_t at[3])
{
    const unsigned bytes = texture_texel_bytes(level->texture);
    const uint64_t address = level->address + (uint64_t)at[0] * bytes +
                             (uint64_t)at[1] * level->pitch_bytes +
                             (uint64_t)at[2] * level->layer_bytes;
    struct mem_buffer *b = memory_find(k->memory, address, bytes);

    return b ? b->host + (address - b->base) : NULL;
}

static bool read_texel(
    const struct block_worker *k, const struct level *level, const int64_t at[3], struct texel *out)
{
    const struct emu_texture *t = level->texture;
    const uint8_t *from = texel_at(k, level, at);

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

static bool sample(const struct block_worker *k, const struct level *level, const int64_t whole[3],
    struct texel *out)
{
    const struct emu_texture *t = level->texture;
    int64_t at[3] = {0, 0, 0};
    static const struct texel zero;

    for (unsigned d = 0; d < t->nr_dims; d++) {
        /* wrap and mirror need normalised coordinates: clamp otherwise (programming guide) */
        enum emu_address_mode mode = t->address_mode[d];

        if (!t->normalized_coordinates && (mode == EMU_ADDRESS_WRAP || mode == EMU_ADDRESS_MIRROR))
            mode = EMU_ADDRESS_CLAMP;
        at[d] = whole[d];
        if (!wrap(mode, level->size[d], &at[d])) {
            *out = zero;
            return true;
        }
    }
    at[2] = t->nr_dims < 3 ? whole[2] : at[2]; /* the layer */
    return read_texel(k, level, at, out);
}

/* ---- one fetch ---- */

struct texel_place {
    double x[3];
    int64_t layer;
    int32_t offset[3]; /* texels */
    double lod;
};

/* Finds between which texels a coordinate lies, and how far: 9-bit fixed point with 8 bits of
 * fraction (programming guide). */
static void between(const struct level *level, const struct texel_place *p, bool linear,
    int64_t base[3], double fraction[3])
{
    const struct emu_texture *t = level->texture;

    base[0] = base[1] = 0;
    base[2] = t->nr_dims < 3 ? p->layer : 0;
    for (unsigned d = 0; d < t->nr_dims; d++) {
        double at = t->normalized_coordinates ? p->x[d] * (double)level->size[d] : p->x[d];

        fraction[d] = 0;
        if (linear) {
            at -= 0.5;
            fraction[d] = floor((at - floor(at)) * 256 + 0.5) / 256;
        }
        base[d] = at >= -9e18 && at <= 9e18 ? (int64_t)floor(at)
                  : at > 0                  ? INT64_MAX / 2
                                            : INT64_MIN / 2;
        base[d] += p->offset[d];
    }
}

/* The weighted mean of the texels around a place, in one level. */
static bool filter(const struct block_worker *k, const struct level *level,
    const struct texel_place *p, double sum[4])
{
    const unsigned nr_dims = level->texture->nr_dims;
    int64_t base[3];
    double fraction[3];
    struct texel texel;

    between(level, p, true, base, fraction);
    memset(sum, 0, 4 * sizeof(*sum));
    for (unsigned corner = 0; corner < 1u << nr_dims; corner++) {
        int64_t at[3] = {base[0], base[1], base[2]};
        double weight = 1;

        for (unsigned d = 0; d < nr_dims; d++) {
            bool upper = corner >> d & 1;

            at[d] += upper;
            weight *= upper ? fraction[d] : 1 - fraction[d];
        }
        if (!sample(k, level, at, &texel))
            return false;
        for (unsigned c = 0; c < 4; c++)
            sum[c] += weight * texel.v[c];
    }
    return true;
}

static bool nearest(const struct block_worker *k, const struct level *level,
    const struct texel_place *p, struct texel *texel)
{
    int64_t base[3];
    double fraction[3];

    between(level, p, false, base, fraction);
    return sample(k, level, base, texel);
}

static void to_bits(const double v[4], uint32_t out[4])
{
    for (unsigned c = 0; c < 4; c++) {
        float real = (float)v[c];

        memcpy(&out[c], &real, 4);
    }
}

/* One level, as numbers; for a mean of two. */
static bool of_level(const struct block_worker *k, const struct emu_texture *t, unsigned nr,
    const struct texel_place *p, double v[4])
{
    const struct level level = level_of(t, nr);
    struct texel texel;

    if (t->linear)
        return filter(k, &level, p, v);
    if (!nearest(k, &level, p, &texel))
        return false;
    memcpy(v, texel.v, sizeof(texel.v));
    return true;
}

/* Finds the two levels between which a level of detail lies; *fraction: how far it is to the
 * second. */
static unsigned pick_level(const struct emu_texture *t, double lod, double *fraction)
{
    const double last = t->nr_levels > 1 ? t->nr_levels - 1 : 0;

    lod = fmin(fmax(lod + (double)t->level_bias, (double)t->min_level), (double)t->max_level);
    lod = lod != lod ? 0 : fmin(fmax(lod, 0), last);
    if (!t->linear_levels) {
        *fraction = 0;
        return (unsigned)ceil(lod + 0.5) - 1;
    }
    *fraction = floor((lod - floor(lod)) * 256 + 0.5) / 256;
    return (unsigned)lod;
}

static bool fetch(const struct block_worker *k, const struct emu_texture *t,
    const struct texel_place *p, uint32_t out[4])
{
    double fraction = 0, v[4], next[4];
    const unsigned nr = t->nr_levels > 1 && p->lod == p->lod ? pick_level(t, p->lod, &fraction) : 0;

    if (fraction == 0 && !t->linear) {
        const struct level level = level_of(t, nr);
        struct texel texel;

        if (!nearest(k, &level, p, &texel))
            return false;
        memcpy(out, texel.bits, sizeof(texel.bits));
        return true;
    }
    if (!of_level(k, t, nr, p, v))
        return false;
    if (fraction > 0) {
        if (!of_level(k, t, nr + 1, p, next))
            return false;
        for (unsigned c = 0; c < 4; c++)
            v[c] = (1 - fraction) * v[c] + fraction * next[c];
    }
    to_bits(v, out);
    return true;
}

/* tld4: one component of the four texels that a linear filter looks at, counter-clockwise from the
 * lower left. */
static bool gather(const struct block_worker *k, const struct emu_texture *t,
    const struct texel_place *p, unsigned component, uint32_t out[4])
{
    static const unsigned corner[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const struct level level = level_of(t, 0);
    int64_t base[3];
    double fraction[3];

    between(&level, p, true, base, fraction);
    for (unsigned i = 0; i < 4; i++) {
        const int64_t at[3] = {base[0] + corner[i][0], base[1] + corner[i][1], base[2]};
        struct texel texel;

        if (!sample(k, &level, at, &texel))
            return false;
        out[i] = texel.bits[component];
    }
    return true;
}

/* ---- cube maps ---- */

/* Which axis, and with which signs, the two coordinates within a face are (programming guide, table
 * of cubemap fetches): x and y of the face are coordinate[axis] * sign / |coordinate[major]|. */
static const struct {
    unsigned axis[2];
    int sign[2];
} faces[6] = {{{2, 1}, {-1, -1}}, {{2, 1}, {1, -1}}, {{0, 2}, {1, 1}}, {{0, 2}, {1, -1}},
    {{0, 1}, {1, -1}}, {{0, 1}, {-1, -1}}};

static unsigned major_axis(const double x[3])
{
    const double a[3] = {fabs(x[0]), fabs(x[1]), fabs(x[2])};

    return a[0] > a[1] && a[0] > a[2] ? 0 : a[1] > a[2] ? 1 : 2;
}

/* A direction becomes a place on a face; steps along it, by the quotient rule, steps on the face.
 */
static void onto_face(struct texel_place *p, double dx[3], double dy[3])
{
    const unsigned axis = major_axis(p->x), face = 2 * axis + (p->x[axis] < 0);
    const double m = fabs(p->x[axis]), direction = p->x[axis] < 0 ? -1 : 1;
    double on[3] = {0}, *steps[2] = {dx, dy};

    for (unsigned c = 0; c < 2; c++)
        on[c] = faces[face].sign[c] * p->x[faces[face].axis[c]];
    for (unsigned s = 0; s < 2; s++) {
        double step[3] = {0};

        for (unsigned c = 0; c < 2; c++)
            step[c] = (faces[face].sign[c] * steps[s][faces[face].axis[c]] * m -
                          on[c] * direction * steps[s][axis]) /
                      (2 * m * m);
        memcpy(steps[s], step, sizeof(step));
    }
    for (unsigned c = 0; c < 2; c++)
        p->x[c] = (on[c] / m + 1) / 2;
    p->x[2] = 0;
    p->layer = 6 * p->layer + face;
}

/* ---- instructions ---- */

bool texture_fault(struct block_worker *k, struct warp *w, uint32_t pc, unsigned lane,
    uint64_t handle, const char *what)
{
    char who[WHERE_BYTES];

    where_thread(&k->exec->run, k->block.index, w->index * WARP_LANES + lane, who);
    return exec_fault(k, VERDICT_FAULT, pc, "%s (handle 0x%" PRIx64 ") by %s", what, handle, who);
}

static double real_word(const struct warp *w, uint32_t row, unsigned lane)
{
    return row == NO_ROW ? 0 : (double)lanes_f32(texture_word(w, row, lane));
}

/* The length in texels of the longer of two steps, as a power of two. */
static double level_of_steps(const struct emu_texture *t, const double dx[3], const double dy[3])
{
    double x = 0, y = 0;

    for (unsigned d = 0; d < t->nr_dims; d++) {
        x += dx[d] * t->size[d] * dx[d] * t->size[d];
        y += dy[d] * t->size[d] * dy[d] * t->size[d];
    }
    return log2(fmax(x, y)) / 2;
}

static struct texel_place read_place(
    const struct warp *w, const struct texture_inst *ti, const struct emu_texture *t, unsigned lane)
{
    const bool layered = texture_layered(ti->geom);
    const int64_t per_layer = t->cube ? 6 : 1, layers = t->size[2] / per_layer;
    struct texel_place p = {.lod = 0};
    double dx[3], dy[3];

    for (unsigned c = 0; c < ti->nr_coordinates; c++) {
        const uint32_t bits = texture_word(w, ti->coordinate[c], lane);

        if (layered && c == 0)
            p.layer = bits;
        else
            p.x[c - layered] =
                ti->real_coordinates ? (double)lanes_f32(bits) : (double)(int32_t)bits;
    }
    if (layered && p.layer >= layers)
        p.layer = layers > 0 ? layers - 1 : 0;
    for (unsigned d = 0; d < 3; d++) {
        if (ti->offset[d] != NO_ROW)
            p.offset[d] = (int32_t)texture_word(w, ti->offset[d], lane);
        dx[d] = real_word(w, ti->dx[d], lane);
        dy[d] = real_word(w, ti->dy[d], lane);
    }
    if (ti->geom == PTX_GEOM_CUBE || ti->geom == PTX_GEOM_ACUBE)
        onto_face(&p, dx, dy);
    if (ti->sub == PTX_SUB_LEVEL)
        p.lod = real_word(w, ti->level, lane);
    else if (ti->sub == PTX_SUB_GRAD)
        p.lod = level_of_steps(t, dx, dy);
    return p;
}

/* Writes values to registers: as they are, as one f16 each, or as two f16 in each. */
static void put(const struct warp *w, const struct texture_inst *ti, unsigned lane, uint32_t out[4])
{
    for (unsigned c = 0; c < 4 && ti->type == PTX_F16X2; c += 2)
        out[c / 2] = half_from_f32(lanes_f32(out[c])) | half_from_f32(lanes_f32(out[c + 1])) << 16;
    for (unsigned v = 0; v < ti->nr_values; v++) {
        if (ti->type == PTX_F16)
            out[v] = half_from_f32(lanes_f32(out[v]));
        if (ti->value[v] != NO_ROW)
            memcpy(w->file + ti->value[v] + (size_t)lane * 4, &out[v], 4);
    }
    if (ti->resident != NO_ROW) {
        uint32_t *word = (uint32_t *)(void *)(w->file + ti->resident);
        *word |= 1u << lane;
    }
}

static bool fetch_lane(struct block_worker *k, struct warp *w, const struct texture_inst *ti,
    const struct emu_texture *t, unsigned lane, uint32_t pc, uint64_t handle)
{
    const bool cube = ti->geom == PTX_GEOM_CUBE || ti->geom == PTX_GEOM_ACUBE;
    const struct texel_place p = read_place(w, ti, t, lane);
    uint32_t out[4];

    if (cube != t->cube)
        return texture_fault(k, w, pc, lane, handle,
            cube ? "a fetch from what is not a cube map"
                 : "a fetch without direction from a cube map");
    if (!(ti->op == PTX_OP_TLD4 ? gather(k, t, &p, ti->component, out) : fetch(k, t, &p, out)))
        return texture_fault(k, w, pc, lane, handle, "a fetch from a texture whose memory is gone");
    put(w, ti, lane, out);
    return true;
}

/* txq, suq. Sizes are 0 in dimensions that the texture does not have (CUDA driver API,
 * CUDA_ARRAY3D_DESCRIPTOR). */
static bool answer(struct block_worker *k, struct warp *w, const struct texture_inst *ti,
    const struct emu_texture *t, unsigned lane, uint32_t pc, uint64_t handle)
{
    uint32_t nr = ti->level == NO_ROW ? 0 : texture_word(w, ti->level, lane), value = 0;

    if (nr > 0 && nr >= t->nr_levels)
        return texture_fault(k, w, pc, lane, handle, "a question about a level that is not there");
    const struct level level = level_of(t, nr);

    switch (ti->query) {
    case PTX_QUERY_WIDTH:
    case PTX_QUERY_HEIGHT:
    case PTX_QUERY_DEPTH: {
        const unsigned d = ti->query - PTX_QUERY_WIDTH;
        value = d < t->nr_dims ? (uint32_t)level.size[d] : 0;
        break;
    }
    case PTX_QUERY_ARRAY_SIZE:
        value = t->nr_dims < 3 ? t->size[2] : 0;
        break;
    case PTX_QUERY_LEVELS:
        value = t->nr_levels ? t->nr_levels : 1;
        break;
    case PTX_QUERY_SAMPLES:
        value = 1;
        break;
    default:
        value = t->normalized_coordinates;
        break;
    }
    memcpy(w->file + ti->value[0] + (size_t)lane * 4, &value, 4);
    return true;
}

bool texture_step(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask)
{
    const struct texture_inst *ti = in->texture;

    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        uint64_t handle;

        memcpy(&handle, w->file + ti->handle + (size_t)lane * 8, 8);
        const struct emu_texture *t = texture_find(k->memory->textures, handle);

        if (!t)
            return texture_fault(k, w, pc, lane, handle, "not a texture or surface object");
        if (!(ti->query          ? answer
                : ti->is_surface ? surface_lane
                                 : fetch_lane)(k, w, ti, t, lane, pc, handle))
            return false;
    }
    return true;
}
