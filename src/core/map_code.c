/* Owns host code that makes tensor maps. */
#include "core/map_code.h"

#include <stdlib.h>
#include <string.h>

/* Strides are in bytes; an extent list without strides is dense. */
static const char helper[] =
    "static inline cudaError_t keet_encode(CUtensorMap *map, CUtensorMapDataType type,\n"
    "    unsigned nr_dims, size_t element_bytes, const void *array, const int64_t *size,\n"
    "    const int64_t *stride, const int64_t *box, const int64_t *step,\n"
    "    CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill)\n"
    "{\n"
    "    typedef CUresult (*encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,\n"
    "        const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,\n"
    "        CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,\n"
    "        CUtensorMapFloatOOBfill);\n"
    "    cuuint64_t sizes[5], strides[5];\n"
    "    cuuint32_t boxes[5], steps[5];\n"
    "    cudaDriverEntryPointQueryResult found;\n"
    "    void *driver = nullptr;\n"
    "#if CUDART_VERSION >= 12050\n"
    "    cudaError_t error = cudaGetDriverEntryPointByVersion(\n"
    "        \"cuTensorMapEncodeTiled\", &driver, 12000, cudaEnableDefault, &found);\n"
    "#else\n"
    "    cudaError_t error = cudaGetDriverEntryPoint(\n"
    "        \"cuTensorMapEncodeTiled\", &driver, cudaEnableDefault, &found);\n"
    "#endif\n\n"
    "    if (error != cudaSuccess || !driver)\n"
    "        return error != cudaSuccess ? error : cudaErrorNotSupported;\n"
    "    strides[0] = element_bytes;\n"
    "    for (unsigned d = 0; d < nr_dims; d++) {\n"
    "        sizes[d] = (cuuint64_t)size[d];\n"
    "        boxes[d] = (cuuint32_t)box[d];\n"
    "        steps[d] = step ? (cuuint32_t)step[d] : 1;\n"
    "        if (d > 0)\n"
    "            strides[d] = stride ? (cuuint64_t)stride[d - 1] : strides[d - 1] * sizes[d - 1];\n"
    "    }\n"
    "    return ((encode)driver)(map, type, nr_dims, (void *)array, sizes, strides + 1, boxes, "
    "steps,\n"
    "               CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,\n"
    "               fill) == CUDA_SUCCESS\n"
    "               ? cudaSuccess\n"
    "               : cudaErrorInvalidValue;\n"
    "}\n\n";

static const char *type_name(enum elem elem)
{
    static const char *const names[] = {[ELEM_F64] = "FLOAT64",
        [ELEM_F32] = "FLOAT32",
        [ELEM_TF32] = "TFLOAT32",
        [ELEM_F16] = "FLOAT16",
        [ELEM_BF16] = "BFLOAT16",
        [ELEM_E4M3] = "UINT8",
        [ELEM_E5M2] = "UINT8",
        [ELEM_I64] = "INT64",
        [ELEM_I32] = "INT32",
        [ELEM_I16] = "UINT16",
        [ELEM_I8] = "UINT8",
        [ELEM_U64] = "UINT64",
        [ELEM_U32] = "UINT32",
        [ELEM_U16] = "UINT16",
        [ELEM_U8] = "UINT8",
        [ELEM_BOOL] = "UINT8"};

    return names[elem];
}

const char *map_code_helper(void)
{
    return helper;
}

/* A list of values, each times `each`. reversed: the last expression first. */
static bool add_list(struct str *out, const char *indent, const struct map_code *map,
    const char *what, const struct expr *const *values, unsigned nr, unsigned each, bool reversed)
{
    bool ok = true;

    str_addf(out, "%sconst int64_t %s_%s[] = {", indent, map->name, what);
    for (unsigned i = 0; ok && i < nr; i++) {
        str_add(out, i ? ", " : "");
        str_add(out, each > 1 ? "(int64_t)(" : "");
        ok = map->write(map->context, values[reversed ? nr - 1 - i : i], out);
        if (each > 1)
            str_addf(out, ") * %u", each);
    }
    str_add(out, nr ? "};\n" : "1};\n");
    return ok;
}

bool map_code_lists(struct str *out, const char *indent, const struct map_code *map)
{
    const struct tensor_view *view = map->view;
    const struct task_array *array = map->array;

    str_addf(out, "%sCUtensorMap %s;\n", indent, map->name);
    return (view->nr_size
                   ? add_list(out, indent, map, "size", view->size, view->nr_size, 1, false)
                   : add_list(out, indent, map, "size", array->dims, array->nr_dims, 1, true)) &&
           add_list(out, indent, map, "box", view->box, view->nr_box, 1, false) &&
           (!view->nr_stride || add_list(out, indent, map, "stride", view->stride, view->nr_stride,
                                    (unsigned)elem_bytes(array->elem), false)) &&
           (!view->nr_step ||
               add_list(out, indent, map, "step", view->step, view->nr_step, 1, false));
}

static bool add_swizzle(struct str *out, const struct map_code *map)
{
    struct str text = {0};

    if (!map->view->swizzle) {
        str_add(out, "CU_TENSOR_MAP_SWIZZLE_NONE");
        return true;
    }
    const bool ok = map->write(map->context, map->view->swizzle, &text);
    char *end;
    long bytes = strtol(str_text(&text), &end, 10);

    bytes = end[strspn(end, "L")] ? 0 : bytes;
    if (bytes == 32 || bytes == 64 || bytes == 128)
        str_addf(out, "CU_TENSOR_MAP_SWIZZLE_%ldB", bytes);
    else /* the driver's numbers of 32, 64 and 128 bytes are 1, 2 and 3 */
        str_addf(out, "(CUtensorMapSwizzle)((%s) == 128 ? 3 : (%s) / 32)", str_text(&text),
            str_text(&text));
    str_finish(&text);
    return ok;
}

bool map_code_call(struct str *out, const char *indent, const struct map_code *map)
{
    const struct tensor_view *view = map->view;
    const char *name = map->name;

    str_addf(out, "keet_encode(&%s, CU_TENSOR_MAP_DATA_TYPE_%s, %u, %u, %s,\n%s%s_size, ", name,
        type_name(map->array->elem), view->nr_box, (unsigned)elem_bytes(map->array->elem),
        map->pointer, indent, name);
    str_addf(out, view->nr_stride ? "%s_stride, " : "nullptr, ", name);
    str_addf(out, "%s_box, ", name);
    str_addf(out, view->nr_step ? "%s_step,\n%s" : "nullptr,\n%.0s%s", name, indent);
    const bool ok = add_swizzle(out, map);

    str_addf(
        out, ", CU_TENSOR_MAP_FLOAT_OOB_FILL_%s)", view->nan ? "NAN_REQUEST_ZERO_FMA" : "NONE");
    return ok;
}
