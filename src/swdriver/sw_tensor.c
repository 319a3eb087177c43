/* Owns tensor maps: cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and what goes with them. The
 * bytes are those that the emulator reads (core/tensor_map.h). */
#include "swdriver/sw_state.h"

#include "core/tensor_map.h"

#include <string.h>

static CUresult encode(CUtensorMap *to, const struct tensor_map *map)
{
    _Static_assert(sizeof(*to) == TENSOR_MAP_BYTES, "CUDA's tensor maps have so many bytes");
    const char *wrong =
        (uintptr_t)to % 64 ? "the map is not aligned to 64 bytes" : tensor_map_check(map);

    if (wrong != NULL) {
        sw_tell("a tensor map cannot be encoded", wrong);
        return map->interleave == CU_TENSOR_MAP_INTERLEAVE_16B ||
                       map->interleave == CU_TENSOR_MAP_INTERLEAVE_32B
                   ? CUDA_ERROR_NOT_SUPPORTED
                   : CUDA_ERROR_INVALID_VALUE;
    }
    tensor_map_encode(map, (uint8_t *)to);
    return CUDA_SUCCESS;
}

/* Of nr_dims dimensions, as both encoders are told them. */
static bool set_array(struct tensor_map *map, const cuuint64_t *size, const cuuint64_t *strides,
    const cuuint32_t *steps)
{
    const unsigned rank = map->nr_dims;
    if (rank == 0 || size == NULL || steps == NULL || (strides == NULL && rank > 1))
        return false;
    for (unsigned d = 0; d < rank; d++) {
        map->size[d] = size[d];
        map->step[d] = steps[d];
        map->stride_bytes[d] =
            d > 0 ? strides[d - 1] : tensor_map_type_bytes((enum tensor_map_type)map->type);
    }
    return true;
}

CUresult CUDAAPI cuTensorMapEncodeTiled(CUtensorMap *to, CUtensorMapDataType type, cuuint32_t rank,
    void *address, const cuuint64_t *size, const cuuint64_t *strides, const cuuint32_t *box,
    const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
    CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    struct tensor_map map = {.address = (uint64_t)(uintptr_t)address,
        .nr_dims = (uint8_t)rank,
        .type = (uint8_t)type,
        .interleave = (uint8_t)interleave,
        .swizzle = (uint8_t)swizzle,
        .l2_promotion = (uint8_t)promotion,
        .fill = (uint8_t)fill};

    if (to == NULL || box == NULL || rank > TENSOR_MAP_DIMS ||
        !set_array(&map, size, strides, steps))
        return CUDA_ERROR_INVALID_VALUE;
    for (cuuint32_t d = 0; d < rank; d++)
        map.box[d] = box[d];
    return encode(to, &map);
}

CUresult CUDAAPI cuTensorMapEncodeIm2col(CUtensorMap *to, CUtensorMapDataType type, cuuint32_t rank,
    void *address, const cuuint64_t *size, const cuuint64_t *strides, const int *lower,
    const int *upper, cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *steps,
    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill)
{
    struct tensor_map map = {.address = (uint64_t)(uintptr_t)address,
        .nr_dims = (uint8_t)rank,
        .type = (uint8_t)type,
        .interleave = (uint8_t)interleave,
        .swizzle = (uint8_t)swizzle,
        .l2_promotion = (uint8_t)promotion,
        .fill = (uint8_t)fill,
        .box = {channels, pixels},
        .im2col = true};

    if (to == NULL || lower == NULL || upper == NULL || rank < 3 || rank > TENSOR_MAP_DIMS ||
        !set_array(&map, size, strides, steps))
        return CUDA_ERROR_INVALID_VALUE;
    for (cuuint32_t d = 0; d < rank - 2; d++) {
        if (lower[d] != (int16_t)lower[d] || upper[d] != (int16_t)upper[d])
            return CUDA_ERROR_INVALID_VALUE;
        map.lower[d] = (int16_t)lower[d];
        map.upper[d] = (int16_t)upper[d];
    }
    return encode(to, &map);
}

CUresult CUDAAPI cuTensorMapReplaceAddress(CUtensorMap *to, void *address)
{
    struct tensor_map map;

    if (to == NULL || !tensor_map_decode(&map, (const uint8_t *)to))
        return CUDA_ERROR_INVALID_VALUE;
    map.address = (uint64_t)(uintptr_t)address;
    return encode(to, &map);
}
