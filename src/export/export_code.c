/* Owns the best kernel as C++ with host code: the device code in a namespace, and its launcher. */
#include "core/map_code.h"
#include "export/export_input.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    return at;
}

/* The device code without its pragmas. Its includes (those outside any #if) go to *includes, since
 * they may stand neither in a namespace nor behind macros of ours. */
static void split_code(const struct export_input *in, struct str *includes, struct str *code)
{
    char *blanked = task_code(in->best->source, in->best->source_bytes);
    int depth = 0;
    bool skipped = true; /* blank lines at the beginning are left out as well */

    for (const char *at = blanked, *was = in->best->source; *at;) {
        const char *end = str_next_line(at), *word = skip_blanks(at, end);
        const bool blank = word == end,
                   pragma = blank && skip_blanks(was, was + (end - at)) != was + (end - at);

        if (strncmp(word, "#if", 3) == 0)
            depth++;
        else if (strncmp(word, "#endif", 6) == 0)
            depth--;
        if (depth == 0 && strncmp(word, "#include", 8) == 0)
            str_add_n(includes, at, (size_t)(end - at));
        else if (!pragma && !(blank && skipped))
            str_add_n(code, at, (size_t)(end - at));
        skipped = pragma || (blank && skipped);
        was += end - at;
        at = end;
    }
    if (code->len > 0 && code->text[code->len - 1] != '\n')
        str_add_char(code, '\n');
    free(blanked);
}

static void add_type_includes(const struct export_input *in, struct str *out)
{
    bool half = false, bf16 = false, fp8 = false;

    for (unsigned i = 0; i < in->task.nr_arrays; i++) {
        const enum elem elem = in->task.arrays[i].elem;

        half |= elem == ELEM_F16;
        bf16 |= elem == ELEM_BF16;
        fp8 |= elem == ELEM_E4M3 || elem == ELEM_E5M2;
    }
    str_add(out, "#include <cuda_runtime.h>\n#include <math.h>\n#include <stddef.h>\n"
                 "#include <stdint.h>\n");
    str_add(out, export_has_maps(in) ? "#include <cuda.h>\n" : "");
    str_add(out, half ? "#include <cuda_fp16.h>\n" : "");
    str_add(out, bf16 ? "#include <cuda_bf16.h>\n" : "");
    str_add(out, fp8 ? "#include <cuda_fp8.h>\n" : "");
}

static void add_device_code(const struct export_input *in, const char *code, struct str *out)
{
    str_add(out, "namespace {\n\n");
    for (unsigned i = 0; i < in->plan.nr_tunes; i++)
        str_addf(out, "#define %s %" PRId64 "\n", in->plan.tunes[i].name, in->plan.tunes[i].value);
    str_add(out, in->plan.nr_tunes ? "\n" : "");
    str_add(out, code);
    str_add(out, "\n");
    for (unsigned i = 0; i < in->plan.nr_tunes; i++)
        str_addf(out, "#undef %s\n", in->plan.tunes[i].name);
    for (unsigned i = 0; i < in->plan.nr_tunes; i++)
        str_addf(out, "constexpr int64_t %s = %" PRId64 ";\n", in->plan.tunes[i].name,
            in->plan.tunes[i].value);
    str_add(out, "\n} // namespace\n\n");
}

static const char helpers[] =
    "static inline int64_t keet_ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }\n"
    "static inline int64_t keet_min(int64_t a, int64_t b) { return a < b ? a : b; }\n"
    "static inline int64_t keet_max(int64_t a, int64_t b) { return a > b ? a : b; }\n"
    "/* Scratch arrays begin at multiples of 256 bytes. */\n"
    "static inline size_t keet_room(int64_t bytes) { return ((size_t)bytes + 255) / 256 * 256; }\n"
    "/* Becomes a pointer of the kernel's own type. */\n"
    "struct keet_pointer {\n"
    "    const void *address;\n"
    "    template <class T> operator T *() const { return (T *)address; }\n"
    "};\n\n";

/* Adds the helper functions that the text uses; unused ones would draw warnings. */
static void add_helpers(const char *body, struct str *out)
{
    static const char *const names[] = {
        "keet_ceil_div", "keet_min", "keet_max", "keet_room", "keet_pointer"};
    const char *at = helpers;

    for (unsigned i = 0; i < 5; i++) {
        const char *end = i < 4 ? strstr(at, "}\n") + 2 : helpers + sizeof(helpers) - 1;

        if (strstr(body, names[i]))
            str_add_n(out, at, (size_t)(end - at));
        at = end;
    }
    str_add(out, "\n");
}

static void add_bytes(const struct task_array *temp, struct str *out)
{
    str_addf(out, "keet_room((int64_t)%zu", elem_bytes(temp->elem));
    for (unsigned d = 0; d < temp->nr_dims; d++) {
        str_add(out, " * (");
        export_expr(LANGUAGE_CPP, temp->dims[d], out);
        str_add(out, ")");
    }
    str_add(out, ")");
}

static void add_sizes(const struct export_input *in, struct str *out)
{
    const struct env *sizes = &in->task.timed.sizes;

    for (size_t i = 0; i < sizes->nr; i++)
        str_addf(out, "%sint64_t %s", i ? ", " : "", sizes->bindings[i].name);
}

static void add_scratch(const struct export_input *in, struct str *out)
{
    str_add(out, "static inline size_t scratch_bytes(");
    add_sizes(in, out);
    str_add(out, ")\n{\n    return ");
    for (unsigned i = 0; i < in->plan.nr_temps; i++) {
        str_add(out, i ? " +\n           " : "");
        add_bytes(&in->plan.temps[i], out);
    }
    str_add(out, in->plan.nr_temps ? ";\n}\n\n" : "0;\n}\n\n");
}

static void add_dim3(const char *name, const struct expr *const dims[3], struct str *out)
{
    str_addf(out, "const dim3 %s(", name);
    for (int i = 0; i < 3; i++) {
        str_add(out, i ? ", (unsigned)(" : "(unsigned)(");
        export_expr(LANGUAGE_CPP, dims[i], out);
        str_add(out, ")");
    }
    str_add(out, ");\n");
}

static bool is_text(const struct expr *expr, const char *text)
{
    return strcmp(expr_text(expr), text) == 0;
}

static void add_args(const struct launch *launch, struct str *out)
{
    for (unsigned i = 0; i < launch->nr_args; i++) {
        const struct launch_arg *arg = &launch->args[i];

        str_add(out, i ? ", " : "");
        if (arg->kind == ARG_ARRAY)
            str_addf(out, "keet_pointer{%s}", arg->name);
        else if (arg->kind == ARG_TENSOR_MAP)
            str_addf(out, "keet_map_%u", i);
        else if (arg->kind == ARG_SCALAR)
            str_add(out, arg->name);
        else
            export_expr(LANGUAGE_CPP, arg->value, out);
    }
}

static bool has_cluster(const struct launch *launch)
{
    return !is_text(launch->cluster[0], "1") || !is_text(launch->cluster[1], "1") ||
           !is_text(launch->cluster[2], "1");
}

static void add_cluster_launch(
    const struct export_input *in, const struct launch *launch, struct str *out)
{
    str_add(out, "        ");
    add_dim3("keet_cluster", launch->cluster, out);
    str_addf(out,
        "        cudaLaunchAttribute keet_attribute = {};\n"
        "        cudaLaunchConfig_t keet_config = {};\n\n"
        "        keet_attribute.id = cudaLaunchAttributeClusterDimension;\n"
        "        keet_attribute.val.clusterDim.x = keet_cluster.x;\n"
        "        keet_attribute.val.clusterDim.y = keet_cluster.y;\n"
        "        keet_attribute.val.clusterDim.z = keet_cluster.z;\n"
        "        keet_config.gridDim = keet_grid;\n"
        "        keet_config.blockDim = keet_block;\n"
        "        keet_config.dynamicSmemBytes = keet_shared;\n"
        "        keet_config.stream = keet_stream;\n"
        "        keet_config.attrs = &keet_attribute;\n"
        "        keet_config.numAttrs = 1;\n"
        "        if (keet_error == cudaSuccess)\n"
        "            keet_error = cudaLaunchKernelEx(&keet_config, keet_%s::%s, ",
        in->name, launch->kernel);
    add_args(launch, out);
    str_add(out, ");\n");
}

static void add_launch(const struct export_input *in, const struct launch *launch, struct str *out)
{
    str_add(out, "    {\n");
    for (unsigned i = 0; i < launch->nr_args; i++)
        if (launch->args[i].kind == ARG_TENSOR_MAP)
            export_map(in, &launch->args[i], i, out);
    str_add(out, "        ");
    add_dim3("keet_grid", launch->grid, out);
    str_add(out, "        ");
    add_dim3("keet_block", launch->block, out);
    str_add(out, "        const size_t keet_shared = (size_t)(");
    export_expr(LANGUAGE_CPP, launch->smem_bytes, out);
    str_add(out, ");\n\n");
    if (!is_text(launch->smem_bytes, "0"))
        str_addf(out,
            "        if (keet_error == cudaSuccess && keet_shared > 0)\n"
            "            keet_error = cudaFuncSetAttribute(keet_%s::%s,\n"
            "                cudaFuncAttributeMaxDynamicSharedMemorySize, (int)keet_shared);\n",
            in->name, launch->kernel);
    if (has_cluster(launch)) {
        add_cluster_launch(in, launch, out);
    } else {
        str_addf(out,
            "        if (keet_error == cudaSuccess) {\n"
            "            keet_%s::%s<<<keet_grid, keet_block, keet_shared, keet_stream>>>(",
            in->name, launch->kernel);
        add_args(launch, out);
        str_add(out, ");\n            keet_error = cudaGetLastError();\n        }\n");
    }
    str_add(out, "    }\n");
}

static const char *scalar_type(enum elem elem)
{
    return elem_is_float(elem) && elem != ELEM_F64 ? "float" : export_ctype(elem);
}

static void add_launcher(const struct export_input *in, struct str *out)
{
    const struct task *task = &in->task;

    str_add(out, "static inline cudaError_t launch(");
    for (unsigned i = 0; i < task->nr_arrays; i++)
        str_addf(out, "%s%s *%s, ", task->arrays[i].role == ROLE_IN ? "const " : "",
            export_ctype(task->arrays[i].elem), task->arrays[i].name);
    add_sizes(in, out);
    str_add(out, task->timed.sizes.nr ? ", " : "");
    for (unsigned i = 0; i < task->nr_scalars; i++)
        str_addf(out, "%s %s, ", scalar_type(task->scalars[i].elem), task->scalars[i].name);
    str_add(out, "void *keet_scratch, cudaStream_t keet_stream)\n{\n"
                 "    cudaError_t keet_error = cudaSuccess;\n");
    if (in->plan.nr_temps)
        str_add(out, "    char *keet_at = (char *)keet_scratch;\n");
    else
        str_add(out, "    (void)keet_scratch;\n");
    for (unsigned i = 0; i < in->plan.nr_temps; i++) {
        str_addf(out, "    void *%s = keet_at;\n", in->plan.temps[i].name);
        if (i + 1 < in->plan.nr_temps) {
            str_add(out, "    keet_at += ");
            add_bytes(&in->plan.temps[i], out);
            str_add(out, ";\n");
        }
    }
    for (unsigned i = 0; i < in->plan.nr_launches; i++)
        add_launch(in, &in->plan.launches[i], out);
    str_add(out, "    return keet_error;\n}\n\n");
}

void export_code(const struct export_input *in, struct str *out)
{
    struct str includes = {0}, code = {0}, body = {0};

    split_code(in, &includes, &code);
    add_scratch(in, &body);
    add_launcher(in, &body);
    add_type_includes(in, out);
    str_add_n(out, str_text(&includes), includes.len);
    str_addf(out, "\nnamespace keet_%s {\n", in->name);
    add_device_code(in, str_text(&code), out);
    add_helpers(str_text(&body), out);
    if (export_has_maps(in))
        str_add(out, map_code_helper());
    str_add(out, str_text(&body));
    str_addf(out, "} // namespace keet_%s\n", in->name);
    str_finish(&includes);
    str_finish(&code);
    str_finish(&body);
}
