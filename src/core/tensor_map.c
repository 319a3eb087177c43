/* Owns tensor maps: their rules and their bytes. */
#include "core/tensor_map.h"

#include <string.h>

#define MAGIC 0x4b544d31u

/* What the 128 bytes hold. */
struct packed {
    uint64_t address;
    uint64_t stride_bytes[TENSOR_MAP_DIMS - 1];
    uint32_t magic, size_less_one[TENSOR_MAP_DIMS];
    uint16_t box[TENSOR_MAP_DIMS];
    uint8_t step[TENSOR_MAP_DIMS];
    uint8_t nr_dims, type, interleave, swizzle, l2_promotion, fill, im2col;
    int16_t lower[TENSOR_MAP_PIXEL_DIMS], upper[TENSOR_MAP_PIXEL_DIMS];
};
_Static_assert(sizeof(struct packed) <= TENSOR_MAP_BYTES, "a tensor map has 128 bytes");

unsigned tensor_map_type_bytes(enum tensor_map_type type)
{
    static const uint8_t bytes[NR_TENSOR_MAP_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type < NR_TENSOR_MAP_TYPES ? bytes[type] : 0;
}

static bool is_float(unsigned type)
{
    return type >= TENSOR_MAP_F16;
}

/* The more dimensions, the fewer bits the corners have. */
static const char *check_pixels(const struct tensor_map *m)
{
    static const int bits[TENSOR_MAP_DIMS + 1] = {0, 0, 0, 15, 7, 4};
    if (m->nr_dims < 3)
        return "im2col needs 3 to 5 dimensions";
    if (m->box[0] == 0 || m->box[0] > 256)
        return "the channels of a pixel are not 1 to 256";
    if (m->box[1] == 0 || m->box[1] > 1024)
        return "the pixels of a column are not 1 to 1024";
    for (unsigned d = 0; d < m->nr_dims - 2u; d++) {
        const int most = 1 << bits[m->nr_dims];
        if (m->lower[d] < -most || m->lower[d] >= most || m->upper[d] < -most ||
            m->upper[d] >= most)
            return "a corner of the pixels' box is too far away";
        if ((int64_t)m->size[d + 1] + m->upper[d] <= m->lower[d])
            return "the pixels' box is empty";
    }
    return NULL;
}

static const char *check_box(const struct tensor_map *m)
{
    const uint64_t inner = (uint64_t)m->box[0] * tensor_map_type_bytes(m->type);
    const char *wrong = m->im2col ? check_pixels(m) : NULL;
    if (wrong)
        return wrong;
    for (unsigned d = 0; d < m->nr_dims; d++) {
        if (!m->im2col && (m->box[d] == 0 || m->box[d] > 256))
            return "an extent of the box is not 1 to 256";
        if (m->step[d] == 0 || m->step[d] > 8)
            return "an element stride is not 1 to 8";
    }
    if (inner % 16)
        return "the box's inner extent is no multiple of 16 bytes";
    if (m->swizzle && inner > 16u << m->swizzle)
        return "the box's inner extent is wider than the swizzle";
    return NULL;
}

const char *tensor_map_check(const struct tensor_map *m)
{
    if (m->nr_dims == 0 || m->nr_dims > TENSOR_MAP_DIMS)
        return "not 1 to 5 dimensions";
    if (m->type >= NR_TENSOR_MAP_TYPES)
        return "no such type of elements";
    if (m->interleave)
        return "interleaved layouts (CU_TENSOR_MAP_INTERLEAVE_16B and _32B) are not emulated: the "
               "manuals do not say how their boxes lie in shared memory";
    if (m->swizzle > 3)
        return "no such swizzle";
    if (m->fill > 1 || (m->fill && !is_float(m->type)))
        return "no such fill for this type";
    if (m->address % 16)
        return "the array is not aligned to 16 bytes";
    for (unsigned d = 0; d < m->nr_dims; d++) {
        if (m->size[d] == 0 || m->size[d] > UINT64_C(1) << 32)
            return "an extent of the array is not 1 to 2^32";
        if (d > 0 && (m->stride_bytes[d] % 16 || m->stride_bytes[d] >= UINT64_C(1) << 40))
            return "a stride is no multiple of 16 bytes, or not below 2^40";
    }
    return check_box(m);
}

void tensor_map_encode(const struct tensor_map *m, uint8_t bytes[TENSOR_MAP_BYTES])
{
    struct packed p = {.address = m->address,
        .magic = MAGIC,
        .nr_dims = m->nr_dims,
        .type = m->type,
        .interleave = m->interleave,
        .swizzle = m->swizzle,
        .l2_promotion = m->l2_promotion,
        .fill = m->fill,
        .im2col = m->im2col};
    memcpy(p.lower, m->lower, sizeof(p.lower));
    memcpy(p.upper, m->upper, sizeof(p.upper));
    for (unsigned d = 0; d < m->nr_dims && d < TENSOR_MAP_DIMS; d++) {
        p.size_less_one[d] = (uint32_t)(m->size[d] - 1);
        p.box[d] = (uint16_t)m->box[d];
        p.step[d] = d > 0 ? (uint8_t)m->step[d] : 1;
        if (d > 0)
            p.stride_bytes[d - 1] = m->stride_bytes[d];
    }
    memset(bytes, 0, TENSOR_MAP_BYTES);
    memcpy(bytes, &p, sizeof(p));
}

bool tensor_map_decode(struct tensor_map *m, const uint8_t bytes[TENSOR_MAP_BYTES])
{
    struct packed p;
    memcpy(&p, bytes, sizeof(p));
    *m = (struct tensor_map){.address = p.address,
        .nr_dims = p.nr_dims,
        .type = p.type,
        .interleave = p.interleave,
        .swizzle = p.swizzle,
        .l2_promotion = p.l2_promotion,
        .fill = p.fill,
        .im2col = p.im2col};
    memcpy(m->lower, p.lower, sizeof(p.lower));
    memcpy(m->upper, p.upper, sizeof(p.upper));
    if (p.magic != MAGIC || p.nr_dims == 0 || p.nr_dims > TENSOR_MAP_DIMS)
        return false;
    for (unsigned d = 0; d < p.nr_dims; d++) {
        m->size[d] = (uint64_t)p.size_less_one[d] + 1;
        m->box[d] = p.box[d];
        m->step[d] = p.step[d];
        m->stride_bytes[d] = d > 0 ? p.stride_bytes[d - 1] : tensor_map_type_bytes(p.type);
    }
    return tensor_map_check(m) == NULL;
}

bool tensor_map_replace(
    uint8_t bytes[TENSOR_MAP_BYTES], enum tensor_map_field field, unsigned ordinal, uint64_t value)
{
    struct packed p;
    memcpy(&p, bytes, sizeof(p));
    if (p.magic != MAGIC || ordinal >= TENSOR_MAP_DIMS - (field == TENSOR_MAP_STRIDE))
        return false;
    switch (field) {
    case TENSOR_MAP_ADDRESS:
        p.address = value;
        break;
    case TENSOR_MAP_RANK:
        p.nr_dims = (uint8_t)(value + 1);
        break;
    case TENSOR_MAP_BOX:
        p.box[ordinal] = (uint16_t)value;
        break;
    case TENSOR_MAP_SIZE:
        p.size_less_one[ordinal] = (uint32_t)(value - 1);
        break;
    case TENSOR_MAP_STRIDE:
        p.stride_bytes[ordinal] = value;
        break;
    case TENSOR_MAP_STEP:
        p.step[ordinal] = (uint8_t)value;
        break;
    case TENSOR_MAP_SWIZZLE:
        p.swizzle = (uint8_t)value;
        break;
    default:
        p.fill = (uint8_t)value;
    }
    memcpy(bytes, &p, sizeof(p));
    return true;
}

uint32_t tensor_map_box(const struct tensor_map *m, unsigned dim)
{
    if (m->im2col)
        return dim < 2 ? m->box[dim] : 1;
    return (m->box[dim] + m->step[dim] - 1) / m->step[dim];
}

uint32_t tensor_map_box_bytes(const struct tensor_map *m)
{
    uint32_t bytes = tensor_map_type_bytes(m->type);
    for (unsigned d = 0; d < m->nr_dims; d++)
        bytes *= tensor_map_box(m, d);
    return bytes;
}

void tensor_map_pixel(const struct tensor_map *m, uint32_t pixels, int64_t at[TENSOR_MAP_DIMS])
{
    int64_t on = pixels; /* steps along dimension d */
    for (unsigned d = 1; d < m->nr_dims - 1u && on > 0; d++) {
        const int64_t step = m->step[d], lower = m->lower[d - 1],
                      end = (int64_t)m->size[d] + m->upper[d - 1],
                      whole = (end - lower + step - 1) / step,
                      left = at[d] < end ? (end - at[d] + step - 1) / step : 1;
        if (on < left) {
            at[d] += on * step;
            return;
        }
        at[d] = lower + (on - left) % whole * step;
        on = 1 + (on - left) / whole;
    }
    at[m->nr_dims - 1] += on;
}
