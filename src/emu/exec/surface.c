/* Owns loads from surfaces, stores and reductions to them: x counts bytes, or texels when
 * formatted. */
#include "emu/exec/texture.h"
#include "emu/sem/half.h"

#include <math.h>
#include <string.h>

/* Where a lane's access begins; *inside: all of it lies in the surface. */
static uint64_t place(const struct warp *w, const struct texture_inst *ti,
    const struct emu_texture *t, unsigned lane, unsigned bytes, bool *inside)
{
    const bool layered = texture_layered(ti->geom);
    int64_t at[3] = {0, 0, 0};

    *inside = true;
    for (unsigned c = 0; c < ti->nr_coordinates; c++) {
        const unsigned d = layered ? (c == 0 ? 2 : c - 1) : c;
        int64_t x = (int32_t)texture_word(w, ti->coordinate[c], lane), size = t->size[d];

        if (d == 0 && ti->formatted)
            x *= texture_texel_bytes(t);
        if (d == 0)
            size = size * texture_texel_bytes(t) - bytes + 1;
        else if (size == 0)
            size = 1;
        *inside = *inside && x >= 0 && x < size;
        if (ti->sub == PTX_SUB_CLAMP)
            x = x < 0 ? 0 : x >= size ? size - 1 : x;
        at[d] = x;
    }
    return t->address + (uint64_t)at[0] + (uint64_t)at[1] * t->pitch_bytes +
           (uint64_t)at[2] * t->layer_bytes;
}

/* Bytes of one channel, of a value that sust.p has. */
static uint32_t formatted(const struct emu_texture *t, uint32_t bits)
{
    const unsigned width = 8 * t->channel_bytes;
    const bool is_signed = t->kind == EMU_TEXEL_SIGNED;

    if (t->kind == EMU_TEXEL_FLOAT)
        return t->channel_bytes == 2 ? half_from_f32(lanes_f32(bits)) : bits;
    if (t->normalized_float) {
        const double most = ldexp(1, (int)width - is_signed) - 1, x = (double)lanes_f32(bits);
        const double in = x != x ? 0 : fmin(fmax(x, is_signed ? -1 : 0), 1);

        return (uint32_t)(int64_t)rint(in * most);
    }
    return bits;
}

static void reduce(const struct block_worker *k, const struct texture_inst *ti,
    const struct emu_texture *t, uint8_t *host, uint64_t value)
{
    const bool is_signed = ti->type == PTX_S32 || ti->type == PTX_S64 ||
                           (ti->formatted && t->kind == EMU_TEXEL_SIGNED);
    const struct inst as = {.elem_bytes = (uint8_t)ti->value_bytes,
        .sub = (uint8_t)ti->atom,
        .type = ti->value_bytes == 8 ? (is_signed ? PTX_S64 : PTX_U64)
                                     : (is_signed ? PTX_S32 : PTX_U32)};
    const uint64_t operand[2] = {value, 0};
    uint64_t old;

    atom_lane(&as, host, operand, &old, k->alone ? ATOM_ALONE : 0);
}

bool surface_lane(struct block_worker *k, struct warp *w, const struct texture_inst *ti,
    const struct emu_texture *t, unsigned lane, uint32_t pc, uint64_t handle)
{
    const bool texels = ti->formatted && ti->op == PTX_OP_SUST;
    const unsigned each = texels ? t->channel_bytes : ti->value_bytes,
                   nr = texels && ti->nr_values > t->nr_channels ? t->nr_channels : ti->nr_values,
                   bytes = nr * each;
    bool inside;
    const uint64_t address = place(w, ti, t, lane, bytes, &inside);

    if (!inside && ti->sub == PTX_SUB_TRAP)
        return texture_fault(k, w, pc, lane, handle, "a surface access outside of the surface");
    if (address % each)
        return texture_fault(k, w, pc, lane, handle, "a misaligned surface access");
    struct mem_buffer *b =
        inside || ti->sub == PTX_SUB_CLAMP ? memory_find(k->memory, address, bytes) : NULL;

    if (b && ti->op != PTX_OP_SULD)
        memory_note_store(b);
    for (unsigned v = 0; v < nr; v++) {
        const size_t row_bytes = ti->value_bytes == 8 ? 8 : 4;
        uint8_t *host = b ? b->host + (address - b->base) + (size_t)v * each : NULL;
        uint8_t *reg = ti->value[v] == NO_ROW ? NULL : w->file + ti->value[v] + lane * row_bytes;
        uint64_t value = 0;

        if (ti->op == PTX_OP_SULD) {
            if (host)
                memcpy(&value, host, each);
            if (reg)
                memcpy(reg, &value, row_bytes);
            continue;
        }
        memcpy(&value, reg, row_bytes);
        if (!host)
            continue;
        if (ti->op == PTX_OP_SURED)
            reduce(k, ti, t, host, value);
        else if (texels)
            value = formatted(t, (uint32_t)value);
        if (ti->op == PTX_OP_SUST)
            memcpy(host, &value, each);
    }
    return true;
}
