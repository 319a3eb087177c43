/* Owns tensor maps in exported host code: CUtensorMap values that the driver encodes before the
 * launch. cuTensorMapEncodeTiled is asked for at run time, so that no program links the driver. */
#include "export/export_input.h"

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

bool export_has_maps(const struct export_input *in)
{
    for (unsigned l = 0; l < in->plan.nr_launches; l++)
        for (unsigned a = 0; a < in->plan.launches[l].nr_args; a++)
            if (in->plan.launches[l].args[a].kind == ARG_TENSOR_MAP)
                return true;
    return false;
}

void export_map_helper(struct str *out)
{
    str_add(out, helper);
}

/* A list of values, each times `each`. reversed: the last expression first. */
static void add_list(const char *name, unsigned number, const struct expr *const *values,
    unsigned nr, unsigned each, bool reversed, struct str *out)
{
    str_addf(out, "        const int64_t keet_%s_%u[] = {", name, number);
    for (unsigned i = 0; i < nr; i++) {
        str_add(out, i ? ", (" : "(");
        export_expr(LANGUAGE_CPP, values[reversed ? nr - 1 - i : i], out);
        str_addf(out, each > 1 ? ") * %u" : ")", each);
    }
    str_add(out, nr ? "};\n" : "1};\n");
}

void export_map(
    const struct export_input *in, const struct launch_arg *arg, unsigned number, struct str *out)
{
    const struct tensor_view *view = arg->tensor;
    const struct task_array *array = task_find_array(&in->task, &in->plan, arg->name);
    const unsigned each = elem_bytes(array->elem);

    str_addf(out, "        CUtensorMap keet_map_%u;\n", number);
    if (view->nr_size)
        add_list("size", number, view->size, view->nr_size, 1, false, out);
    else
        add_list("size", number, array->dims, array->nr_dims, 1, true, out);
    add_list("box", number, view->box, view->nr_box, 1, false, out);
    if (view->nr_stride)
        add_list("stride", number, view->stride, view->nr_stride, each, false, out);
    if (view->nr_step)
        add_list("step", number, view->step, view->nr_step, 1, false, out);
    str_addf(out,
        "        if (keet_error == cudaSuccess)\n"
        "            keet_error = keet_encode(&keet_map_%u, CU_TENSOR_MAP_DATA_TYPE_%s, %u, %u, "
        "%s,\n"
        "                keet_size_%u, ",
        number, type_name(array->elem), view->nr_box, each, arg->name, number);
    str_addf(out, view->nr_stride ? "keet_stride_%u, " : "nullptr, ", number);
    str_addf(out, "keet_box_%u, ", number);
    str_addf(out, view->nr_step ? "keet_step_%u,\n" : "nullptr,\n", number);
    str_add(out, "                ");
    if (view->swizzle) {
        str_add(out, "(CUtensorMapSwizzle)((");
        export_expr(LANGUAGE_CPP, view->swizzle, out);
        str_add(out, ") == 128 ? 3 : (");
        export_expr(LANGUAGE_CPP, view->swizzle, out);
        str_add(out, ") / 32), ");
    } else {
        str_add(out, "CU_TENSOR_MAP_SWIZZLE_NONE, ");
    }
    str_addf(
        out, "CU_TENSOR_MAP_FLOAT_OOB_FILL_%s);\n", view->nan ? "NAN_REQUEST_ZERO_FMA" : "NONE");
}
