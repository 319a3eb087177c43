/* Owns the exports for PyTorch: the C++ of an extension, ModelNew, and a module with an operator.
 */
#include "base/hash.h"
#include "export/export_input.h"

#include <inttypes.h>
#include <string.h>

/* PyTorch's element types in Python and in C++ (c10::ScalarType). */
static const struct {
    const char *dtype, *scalar_type;
} dtypes[NR_ELEMS] = {
    [ELEM_F64] = {"float64", "Double"},
    [ELEM_F32] = {"float32", "Float"},
    [ELEM_TF32] = {"float32", "Float"},
    [ELEM_F16] = {"float16", "Half"},
    [ELEM_BF16] = {"bfloat16", "BFloat16"},
    [ELEM_E4M3] = {"float8_e4m3fn", "Float8_e4m3fn"},
    [ELEM_E5M2] = {"float8_e5m2", "Float8_e5m2"},
    [ELEM_I64] = {"int64", "Long"},
    [ELEM_I32] = {"int32", "Int"},
    [ELEM_I16] = {"int16", "Short"},
    [ELEM_I8] = {"int8", "Char"},
    [ELEM_U64] = {"uint64", "UInt64"},
    [ELEM_U32] = {"uint32", "UInt32"},
    [ELEM_U16] = {"uint16", "UInt16"},
    [ELEM_U8] = {"uint8", "Byte"},
    [ELEM_BOOL] = {"bool", "Bool"},
};

const char *torch_dtype(enum elem elem)
{
    return dtypes[elem].dtype;
}

static bool is_float(const struct task_scalar *scalar)
{
    return elem_is_float(scalar->elem);
}

void torch_params(const struct export_input *in, struct str *out)
{
    const char *comma = "";

    for (unsigned i = 0; i < in->task.nr_arrays; i++) {
        if (in->task.arrays[i].role == ROLE_OUT)
            continue;
        str_addf(out, "%storch::Tensor %s", comma, in->task.arrays[i].name);
        comma = ", ";
    }
    for (unsigned i = 0; i < in->task.nr_scalars; i++) {
        const struct task_scalar *scalar = &in->task.scalars[i];

        str_addf(out, "%s%s %s", comma, is_float(scalar) ? "double" : "int64_t", scalar->name);
        comma = ", ";
    }
}

static void torch_declare(const struct export_input *in, struct str *out)
{
    str_addf(out, "std::vector<torch::Tensor> %s_forward(", in->name);
    torch_params(in, out);
    str_add_char(out, ')');
}

/* Adds the size as read from the first input that has the size as a dimension of its own; else the
 * size is fixed. */
static void add_size(const struct export_input *in, const struct binding *size, struct str *out)
{
    for (unsigned i = 0; i < in->task.nr_arrays; i++) {
        const struct task_array *array = &in->task.arrays[i];

        for (unsigned d = 0; array->role != ROLE_OUT && d < array->nr_dims; d++) {
            if (strcmp(expr_text(array->dims[d]), size->name) != 0)
                continue;
            str_addf(out,
                "    TORCH_CHECK(%s.dim() == %u, \"%s: expected %u dimensions, got \", %s.dim());\n"
                "    const int64_t %s = %s.size(%u);\n",
                array->name, array->nr_dims, array->name, array->nr_dims, array->name, size->name,
                array->name, d);
            return;
        }
    }
    str_addf(out, "    const int64_t %s = %" PRId64 ";\n", size->name, size->value);
}

static const char check_function[] =
    "static torch::Tensor keet_check(const torch::Tensor &tensor, const char *name,\n"
    "    c10::ScalarType type, const std::vector<int64_t> &shape)\n"
    "{\n"
    "    TORCH_CHECK(tensor.is_cuda(), name, \": expected a tensor on a GPU\");\n"
    "    TORCH_CHECK(tensor.scalar_type() == type, name, \": expected elements of type \", type,\n"
    "        \", got \", tensor.scalar_type());\n"
    "    TORCH_CHECK(tensor.sizes() == c10::IntArrayRef(shape), name, \": expected shape \",\n"
    "        c10::IntArrayRef(shape), \", got \", tensor.sizes());\n"
    "    return tensor.contiguous();\n"
    "}\n\n";

static void add_tensors(const struct export_input *in, struct str *out)
{
    const char *first = NULL;

    for (unsigned i = 0; i < in->task.nr_arrays; i++) {
        const struct task_array *array = &in->task.arrays[i];

        if (array->role == ROLE_OUT)
            continue;
        str_addf(out, "    %s = keet_check(%s, \"%s\", c10::ScalarType::%s, ", array->name,
            array->name, array->name, dtypes[array->elem].scalar_type);
        export_dims(LANGUAGE_CPP, array, out);
        str_add(out, array->role == ROLE_INOUT ? ").clone();\n" : ");\n");
        first = first ? first : array->name;
    }
    if (first)
        str_addf(out,
            "    const c10::cuda::CUDAGuard keet_guard(%s.device());\n"
            "    const auto keet_options = %s.options();\n",
            first, first);
    else
        str_add(
            out, "    const auto keet_options = torch::TensorOptions().device(torch::kCUDA);\n");
    for (unsigned i = 0; i < in->task.nr_arrays; i++) {
        const struct task_array *array = &in->task.arrays[i];

        if (array->role != ROLE_OUT)
            continue;
        str_addf(out, "    torch::Tensor %s = torch::empty(std::vector<int64_t>", array->name);
        export_dims(LANGUAGE_CPP, array, out);
        str_addf(
            out, ", keet_options.dtype(c10::ScalarType::%s));\n", dtypes[array->elem].scalar_type);
    }
}

static void add_sizes(const struct export_input *in, const char *comma, struct str *out)
{
    const struct env *sizes = &in->task.timed.sizes;

    for (size_t i = 0; i < sizes->nr; i++) {
        str_addf(out, "%s%s", comma, sizes->bindings[i].name);
        comma = ", ";
    }
}

static void add_call(const struct export_input *in, struct str *out)
{
    str_addf(out,
        "    torch::Tensor keet_scratch =\n        torch::empty({(int64_t)keet_%s::scratch_bytes(",
        in->name);
    add_sizes(in, "", out);
    str_addf(out, ")}, keet_options.dtype(torch::kByte));\n\n    C10_CUDA_CHECK(keet_%s::launch(",
        in->name);
    for (unsigned i = 0; i < in->task.nr_arrays; i++) {
        const struct task_array *array = &in->task.arrays[i];

        str_addf(out, "%s(%s%s *)%s.data_ptr()", i ? ", " : "",
            array->role == ROLE_IN ? "const " : "", export_ctype(array->elem), array->name);
    }
    add_sizes(in, ", ", out);
    for (unsigned i = 0; i < in->task.nr_scalars; i++)
        str_addf(out, ", %s", in->task.scalars[i].name);
    str_add(out,
        ", keet_scratch.data_ptr(),\n        at::cuda::getCurrentCUDAStream()));\n    return {");
    for (unsigned i = 0, nr = 0; i < in->task.nr_arrays; i++) {
        if (in->task.arrays[i].role != ROLE_IN)
            str_addf(out, "%s%s", nr++ ? ", " : "", in->task.arrays[i].name);
    }
    str_add(out, "};\n}\n");
}

void torch_source(const struct export_input *in, struct str *out)
{
    const struct env *sizes = &in->task.timed.sizes;

    str_add(out, "#include <torch/extension.h>\n#include <ATen/cuda/CUDAContext.h>\n"
                 "#include <c10/cuda/CUDAException.h>\n#include <c10/cuda/CUDAGuard.h>\n"
                 "#include <vector>\n");
    export_code(in, out);
    str_add(out, "\n");
    if (export_nr_in(in) > 0)
        str_add(out, check_function);
    torch_declare(in, out);
    str_add(out, "\n{\n");
    for (size_t i = 0; i < sizes->nr; i++)
        add_size(in, &sizes->bindings[i], out);
    add_tensors(in, out);
    add_call(in, out);
}

bool torch_load(
    const struct export_input *in, const char *variable, struct str *out, struct err *err)
{
    struct str source = {0};
    char hash[33];
    bool ok, hopper;

    torch_source(in, &source);
    hopper = strstr(str_text(&source), "wgmma.") || strstr(str_text(&source), "setmaxnreg.");
    ok = !strstr(str_text(&source), "'''") ||
         err_set(err, "node %" PRId64 ": its code holds ''', which ends a Python string",
             in->best->node);
    hash_hex(hash_bytes(str_text(&source), source.len, 0), hash);
    str_addf(out, "cuda_source = r'''\n%s'''\n\ncpp_source = \"", str_text(&source));
    torch_declare(in, out);
    str_addf(out,
        ";\"\n\n"
        "%s = load_inline(\n"
        "    name=\"keet_%s_%.8s\",\n"
        "    cpp_sources=cpp_source,\n"
        "    cuda_sources=cuda_source,\n"
        "    functions=[\"%s_forward\"],\n"
        "    extra_cuda_cflags=[\"-O3\"%s],\n"
        ")\n",
        variable, in->name, hash, in->name,
        hopper ? ", \"-gencode=arch=compute_90a,code=sm_90a\"" : "");
    str_finish(&source);
    return ok;
}

/* ---- ModelNew ---- */

static size_t indent_of(const char *line)
{
    return strspn(line, " \t");
}

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t\r")] == '\n' || line[strspn(line, " \t\r")] == '\0';
}

/* Skips a text in triple quotes that begins on this line as a statement; any other line is returned
 * itself. */
static const char *skip_docstring(const char *line)
{
    const char *at = line + indent_of(line), *end;

    if (strncmp(at, "\"\"\"", 3) != 0 && strncmp(at, "'''", 3) != 0)
        return line;
    end = strstr(at + 3, *at == '"' ? "\"\"\"" : "'''");
    return end ? str_next_line(end) : line;
}

/* Skips a method forward, up to the next line that is indented no deeper. A `)` that closes the
 * arguments of forward is skipped, too. */
static const char *skip_forward(const char *line)
{
    const size_t indent = indent_of(line);

    if (indent == 0 || !str_starts(line + indent, "def forward("))
        return line;
    for (line = str_next_line(line); *line; line = str_next_line(line)) {
        if (!is_blank(line) && indent_of(line) <= indent && line[indent] != ')')
            break;
    }
    return line;
}

/* The PyTorch text without texts in quotes and without the body of forward. The rest makes the
 * weights, with the same random numbers as the original. */
static void add_init(const char *pytorch, struct str *out)
{
    for (const char *line = pytorch; *line;) {
        const char *next = skip_docstring(line);

        if (next == line)
            next = skip_forward(line);
        if (next == line) {
            next = str_next_line(line);
            str_add_n(out, line, (size_t)(next - line));
        }
        line = next;
    }
}

static void add_names(const struct export_input *in, struct str *out)
{
    str_add(out, "    keet_inputs = [");
    for (unsigned i = 0, nr = 0; i < in->task.nr_arrays; i++) {
        if (in->task.arrays[i].role != ROLE_OUT)
            str_addf(out, "%s\"%s\"", nr++ ? ", " : "", in->task.arrays[i].name);
    }
    str_add(out, "]\n    keet_scalars = [");
    for (unsigned i = 0; i < in->task.nr_scalars; i++)
        str_addf(out, "%s%.9g", i ? ", " : "", in->task.scalars[i].value);
    str_add(out, "]\n\n");
}

/* Tensors among forward's arguments come first in the contract, then weights by their names with
 * dots as underscores; numbers among the arguments are the contract's scalars. */
static void add_model(const struct export_input *in, struct str *out)
{
    str_addf(out, "\n\nclass ModelNew(%s):\n", in->pytorch ? "Model" : "nn.Module");
    add_names(in, out);
    str_add(out, "    def __init__(self, *args, **kwargs):\n"
                 "        super().__init__(*args, **kwargs)\n"
                 "        self.keet_state = {}\n"
                 "        for prefix, module in self.named_modules():\n"
                 "            for name in [*module._parameters, *module._buffers]:\n"
                 "                path = f\"{prefix}.{name}\".lstrip(\".\").replace(\".\", \"_\")\n"
                 "                self.keet_state[path] = (module, name)\n\n"
                 "    def forward(self, *inputs):\n"
                 "        arrays = [value for value in inputs if torch.is_tensor(value)]\n"
                 "        numbers = [value for value in inputs if not torch.is_tensor(value)]\n"
                 "        for path in self.keet_inputs[len(arrays):]:\n"
                 "            arrays.append(getattr(*self.keet_state[path]).detach())\n"
                 "        numbers += self.keet_scalars[len(numbers):]\n");
    str_addf(out, "        outputs = keet.%s_forward(*arrays, *numbers)\n", in->name);
    str_add(out,
        export_nr_out(in) == 1 ? "        return outputs[0]\n" : "        return tuple(outputs)\n");
}

bool export_kernelbench(struct export_input *in, struct export_files *files, struct err *err)
{
    struct str *out = export_add(files, arena_printf(in->arena, "%s_kernelbench.py", in->name));

    export_provenance(in, "#", out);
    str_add(out, "import torch\nimport torch.nn as nn\n"
                 "from torch.utils.cpp_extension import load_inline\n\n");
    if (in->pytorch) {
        add_init(in->pytorch, out);
        str_add(out, "\n\n");
    }
    if (!torch_load(in, "keet", out, err))
        return false;
    add_model(in, out);
    return true;
}

/* ---- an operator ---- */

static void add_params(const struct export_input *in, bool types, struct str *out)
{
    const char *comma = "";

    for (unsigned i = 0; i < in->task.nr_arrays; i++) {
        if (in->task.arrays[i].role == ROLE_OUT)
            continue;
        str_addf(out, "%s%s%s", comma, in->task.arrays[i].name, types ? ": torch.Tensor" : "");
        comma = ", ";
    }
    for (unsigned i = 0; i < in->task.nr_scalars; i++) {
        const struct task_scalar *scalar = &in->task.scalars[i];

        str_addf(out, "%s%s", comma, scalar->name);
        if (types)
            str_addf(out, is_float(scalar) ? ": float = %.9g" : ": int = %.0f", scalar->value);
        comma = ", ";
    }
}

/* Adds the shapes of the outputs for PyTorch's compiler, which runs nothing; none where Python
 * cannot express them. */
static void add_fake(const struct export_input *in, struct str *out)
{
    const struct env *sizes = &in->task.timed.sizes;
    struct str text = {0};
    const char *from = NULL;
    bool ok = true;

    str_addf(&text, "@%s.register_fake\ndef _(", in->name);
    add_params(in, true, &text);
    str_add(&text, "):\n");
    for (size_t n = 0; n < sizes->nr; n++) {
        const struct binding *size = &sizes->bindings[n];
        bool found = false;

        for (unsigned i = 0; i < in->task.nr_arrays && !found; i++) {
            const struct task_array *array = &in->task.arrays[i];

            for (unsigned d = 0; array->role != ROLE_OUT && d < array->nr_dims && !found; d++) {
                found = strcmp(expr_text(array->dims[d]), size->name) == 0;
                if (found)
                    str_addf(&text, "    %s = %s.shape[%u]\n", size->name, array->name, d);
            }
        }
        if (!found)
            str_addf(&text, "    %s = %" PRId64 "\n", size->name, size->value);
    }
    for (unsigned i = 0; i < in->task.nr_arrays && !from; i++)
        from = in->task.arrays[i].role != ROLE_OUT ? in->task.arrays[i].name : NULL;
    str_add(&text, "    return [");
    for (unsigned i = 0, nr = 0; i < in->task.nr_arrays; i++) {
        const struct task_array *array = &in->task.arrays[i];

        if (array->role == ROLE_IN)
            continue;
        str_add(&text, nr++ ? ", " : "");
        if (from)
            str_addf(&text, "%s.new_empty(", from);
        else
            str_add(&text, "torch.empty(");
        ok = ok && export_dims(LANGUAGE_PYTHON, array, &text);
        str_addf(&text, ", dtype=torch.%s)", torch_dtype(array->elem));
    }
    str_add(&text, "]\n");
    if (ok)
        str_add(out, str_text(&text));
    str_finish(&text);
}

bool export_pytorch(struct export_input *in, struct export_files *files, struct err *err)
{
    struct str *out = export_add(files, arena_printf(in->arena, "%s_torch.py", in->name));

    export_provenance(in, "#", out);
    str_addf(out,
        "# Import it and call %s(...), or torch.ops.keet.%s(...): tensors in, a list of new "
        "tensors\n"
        "# out. It has no gradient.\n"
        "import torch\nfrom torch.utils.cpp_extension import load_inline\n\n",
        in->name, in->name);
    if (!torch_load(in, "_extension", out, err))
        return false;
    str_addf(out, "\n\n@torch.library.custom_op(\"keet::%s\", mutates_args=())\ndef %s(", in->name,
        in->name);
    add_params(in, true, out);
    str_addf(out, ") -> list[torch.Tensor]:\n    return _extension.%s_forward(", in->name);
    add_params(in, false, out);
    str_add(out, ")\n\n\ndef keet_ceil_div(a, b):\n    return (a + b - 1) // b\n\n\n");
    add_fake(in, out);
    return true;
}
