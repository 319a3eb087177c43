/* A tensor map: how a kernel's tensor copies (cp.async.bulk.tensor) see an array in global memory.
 * CUDA hides what the 128 bytes of a CUtensorMap mean; the emulator and the software driver agree
 * on the bytes that tensor_map_encode writes.
 *
 * Sources: CUDA driver API 13, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col (the rules that
 * tensor_map_check knows); PTX ISA 9.0, 5.5 (boxes, fills, swizzles, im2col). Interleaved layouts
 * are refused: neither says where the slices of a box lie in shared memory. */
#ifndef KEET_CORE_TENSOR_MAP_H
#define KEET_CORE_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum { TENSOR_MAP_BYTES = 128, TENSOR_MAP_DIMS = 5, TENSOR_MAP_PIXEL_DIMS = 3 };

/* The numbers of CUtensorMapDataType. */
enum tensor_map_type {
    TENSOR_MAP_U8,
    TENSOR_MAP_U16,
    TENSOR_MAP_U32,
    TENSOR_MAP_I32,
    TENSOR_MAP_U64,
    TENSOR_MAP_I64,
    TENSOR_MAP_F16,
    TENSOR_MAP_F32,
    TENSOR_MAP_F64,
    TENSOR_MAP_BF16,
    TENSOR_MAP_F32_FTZ,
    TENSOR_MAP_TF32,
    TENSOR_MAP_TF32_FTZ,
    NR_TENSOR_MAP_TYPES
};

/* The innermost dimension comes first. */
struct tensor_map {
    uint64_t address;
    uint64_t size[TENSOR_MAP_DIMS];         /* elements */
    uint64_t stride_bytes[TENSOR_MAP_DIMS]; /* [0]: those of an element */
    uint32_t box[TENSOR_MAP_DIMS];          /* elements of the array that the box spans ... */
    uint32_t step[TENSOR_MAP_DIMS]; /* ... of which every step-th is copied; that of the innermost
                                       dimension means nothing */
    uint8_t nr_dims, type;          /* enum tensor_map_type */
    uint8_t interleave;             /* 0: none */
    uint8_t swizzle;                /* 0 none, 1 of 32, 2 of 64, 3 of 128 bytes */
    uint8_t l2_promotion;           /* changes nothing */
    uint8_t fill;                   /* outside of the array: 0 zeros, 1 NaN */
    /* im2col: the array is N x (D x (H x)) W x C, and box[0] has the channels of a pixel, box[1]
     * the pixels. These begin where the copy says, and go through w, h, d and n by steps, w from
     * lower to size - 1 + upper, h and d likewise; see tensor_map_pixel. */
    bool im2col;
    int16_t lower[TENSOR_MAP_PIXEL_DIMS], upper[TENSOR_MAP_PIXEL_DIMS]; /* of w, h, d */
};

unsigned tensor_map_type_bytes(enum tensor_map_type type);

/* NULL: the map is one that the driver takes; else what is wrong with it. */
const char *tensor_map_check(const struct tensor_map *map);

void tensor_map_encode(const struct tensor_map *map, uint8_t bytes[TENSOR_MAP_BYTES]);
/* False: the bytes are no tensor map. */
bool tensor_map_decode(struct tensor_map *map, const uint8_t bytes[TENSOR_MAP_BYTES]);

/* Changes one field of a map's bytes, as tensormap.replace does; `ordinal` is a dimension, of
 * strides the dimension less one. False: the bytes are no tensor map, or there is no such
 * dimension. The map that results is checked where it is used. */
enum tensor_map_field {
    TENSOR_MAP_ADDRESS,
    TENSOR_MAP_RANK, /* dimensions less one */
    TENSOR_MAP_BOX,
    TENSOR_MAP_SIZE,
    TENSOR_MAP_STRIDE, /* bytes */
    TENSOR_MAP_STEP,
    TENSOR_MAP_SWIZZLE,
    TENSOR_MAP_FILL,
    NR_TENSOR_MAP_FIELDS
};
bool tensor_map_replace(
    uint8_t bytes[TENSOR_MAP_BYTES], enum tensor_map_field field, unsigned ordinal, uint64_t value);

/* The elements along a dimension of a box that are copied, and the bytes of all of them. */
uint32_t tensor_map_box(const struct tensor_map *map, unsigned dim);
uint32_t tensor_map_box_bytes(const struct tensor_map *map);

/* im2col: moves a pixel's coordinates (c, w, h, d, n; as many as the map has) on by so many pixels.
 */
void tensor_map_pixel(const struct tensor_map *map, uint32_t pixels, int64_t at[TENSOR_MAP_DIMS]);

/* Where a byte of a box lies that stands at `at` in shared memory without a swizzle: its 16 bytes
 * change places with others of the same 32, 64 or 128. */
static inline uint32_t tensor_map_swizzled(unsigned swizzle, uint32_t at)
{
    return at ^ ((at >> 7 & ((1u << swizzle) - 1)) << 4);
}

#endif
