/* Owns `--as flashinfer-bench`: a Definition, a Solution, a workload and its Trace. */
#include "base/hash.h"
#include "export/export_input.h"
#include "report/json_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* PyTorch's names; a Definition has neither doubles nor unsigned integers: NULL. */
static const char *dtype(enum elem elem)
{
    switch (elem) {
    case ELEM_F64:
    case ELEM_U64:
    case ELEM_U32:
    case ELEM_U16:
    case ELEM_U8:
        return NULL;
    default:
        return torch_dtype(elem);
    }
}

static bool is_size(const struct export_input *in, const struct expr *dim)
{
    const struct env *sizes = &in->task.timed.sizes;

    for (size_t i = 0; i < sizes->nr; i++) {
        if (strcmp(sizes->bindings[i].name, expr_text(dim)) == 0)
            return true;
    }
    return false;
}

/* Axes may vary where each dimension of each array is a single size that an input has as well. Else
 * all axes are fixed, since an axis cannot be a formula. */
static bool axes_vary(const struct export_input *in)
{
    for (unsigned i = 0; i < in->task.nr_arrays; i++) {
        const struct task_array *array = &in->task.arrays[i];

        for (unsigned d = 0; d < array->nr_dims; d++) {
            bool found = false;

            if (!is_size(in, array->dims[d]))
                return false;
            for (unsigned j = 0; j < in->task.nr_arrays && !found; j++) {
                const struct task_array *given = &in->task.arrays[j];

                for (unsigned k = 0; given->role != ROLE_OUT && k < given->nr_dims; k++)
                    found |= strcmp(expr_text(given->dims[k]), expr_text(array->dims[d])) == 0;
            }
            if (!found)
                return false;
        }
    }
    return true;
}

/* The names of an array's axes; adds new ones to `axes`. */
static bool shape_of(const struct export_input *in, const struct task_array *array, bool vary,
    json_t *axes, json_t **shape, struct err *err)
{
    *shape = json_array();
    for (unsigned d = 0; d < array->nr_dims; d++) {
        const char *name = expr_text(array->dims[d]);
        int64_t value;

        if (!expr_eval(array->dims[d], &in->task.timed.sizes, &value, err))
            return false;
        if (!is_size(in, array->dims[d]))
            name = arena_printf(in->arena, "%s_dim%u", array->name, d);
        if (!json_object_get(axes, name))
            json_object_set_new(axes, name,
                vary ? json_pack("{s:s}", "type", "var")
                     : json_pack("{s:s, s:I}", "type", "const", "value", (json_int_t)value));
        json_array_append_new(*shape, json_string(name));
    }
    return true;
}

static bool add_arrays(const struct export_input *in, json_t *axes, json_t *inputs, json_t *outputs,
    json_t *random, struct err *err)
{
    const bool vary = axes_vary(in);

    for (unsigned i = 0; i < in->task.nr_arrays; i++) {
        const struct task_array *array = &in->task.arrays[i];
        json_t *shape;

        if (!dtype(array->elem))
            return err_set(err, "%s: flashinfer-bench has no elements of type %s", array->name,
                elem_name(array->elem));
        if (array->role == ROLE_INOUT)
            return err_set(err, "%s: flashinfer-bench has no arrays that are both input and output",
                array->name);
        if (!shape_of(in, array, vary, axes, &shape, err))
            return false;
        json_object_set_new(array->role == ROLE_OUT ? outputs : inputs, array->name,
            json_pack("{s:o, s:s}", "shape", shape, "dtype", dtype(array->elem)));
        if (array->role == ROLE_IN)
            json_object_set_new(random, array->name, json_pack("{s:s}", "type", "random"));
    }
    for (unsigned i = 0; i < in->task.nr_scalars; i++) {
        const struct task_scalar *scalar = &in->task.scalars[i];
        const bool real = elem_is_float(scalar->elem);

        json_object_set_new(inputs, scalar->name,
            json_pack("{s:n, s:s}", "shape", "dtype", real ? "float32" : "int64"));
        json_object_set_new(random, scalar->name,
            json_pack("{s:s, s:o}", "type", "scalar", "value",
                real ? json_real(scalar->value) : json_integer((json_int_t)scalar->value)));
    }
    return true;
}

/* Adds the arguments by name, arrays first. */
static void add_names(const struct export_input *in, struct str *out)
{
    const char *comma = "";

    for (unsigned i = 0; i < in->task.nr_arrays; i++) {
        if (in->task.arrays[i].role == ROLE_OUT)
            continue;
        str_addf(out, "%s%s", comma, in->task.arrays[i].name);
        comma = ", ";
    }
    for (unsigned i = 0; i < in->task.nr_scalars; i++) {
        str_addf(out, "%s%s", comma, in->task.scalars[i].name);
        comma = ", ";
    }
}

static void add_pytorch_run(const struct export_input *in, struct str *out)
{
    str_addf(out, "import inspect\n\n%s\n\ndef run(", in->pytorch);
    add_names(in, out);
    str_add(out, "):\n    given = dict(zip([");
    for (unsigned i = 0, nr = 0; i < in->task.nr_arrays + in->task.nr_scalars; i++) {
        const bool array = i < in->task.nr_arrays;

        if (array && in->task.arrays[i].role == ROLE_OUT)
            continue;
        str_addf(out, "%s\"%s\"", nr++ ? ", " : "",
            array ? in->task.arrays[i].name : in->task.scalars[i - in->task.nr_arrays].name);
    }
    str_add(out, "], [");
    add_names(in, out);
    str_add(out,
        "]))\n"
        "    device = next(v.device for v in given.values() if torch.is_tensor(v))\n"
        "    model = Model(*get_init_inputs()).to(device)\n"
        "    weights = {n: given[n.replace(\".\", \"_\")] for n in model.state_dict()\n"
        "               if n.replace(\".\", \"_\") in given}\n"
        "    names = [n for n in inspect.signature(model.forward).parameters if n in given]\n"
        "    return torch.func.functional_call(model, weights, tuple(given[n] for n in names))\n");
}

/* Adds `run` for a task without PyTorch text: the reference is then the original kernel. */
static bool add_original_run(const struct export_input *in, struct str *out, struct err *err)
{
    struct export_input original = *in;

    original.best = &in->page->path[0];
    original.plan = in->task.plan;
    str_add(out, "import torch\nfrom torch.utils.cpp_extension import load_inline\n\n");
    if (!torch_load(&original, "original", out, err))
        return false;
    str_add(out, "\n\ndef run(");
    add_names(in, out);
    str_addf(out, "):\n    outputs = original.%s_forward(", in->name);
    add_names(in, out);
    str_add(out,
        export_nr_out(in) == 1 ? ")\n    return outputs[0]\n" : ")\n    return tuple(outputs)\n");
    return true;
}

static bool definition(const struct export_input *in, const char *name, json_t *axes,
    json_t *inputs, json_t *outputs, struct str *out, struct err *err)
{
    struct str reference = {0};
    bool ok = true;
    json_t *root;

    if (in->pytorch)
        add_pytorch_run(in, &reference);
    else
        ok = add_original_run(in, &reference, err);
    root = json_pack("{s:s, s:s, s:O, s:O, s:O, s:s}", "name", name, "op_type", "keet", "axes",
        axes, "inputs", inputs, "outputs", outputs, "reference", str_text(&reference));
    json_add(out, root, JSON_INDENT(2));
    str_finish(&reference);
    return ok;
}

static void add_module(const struct export_input *in, struct str *out)
{
    const unsigned nr_out = export_nr_out(in);

    torch_source(in, out);
    str_add(out, "\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, module)\n{\n    module.def(\"run\", [](");
    torch_params(in, out);
    str_addf(out, ") {\n        const auto outputs = %s_forward(", in->name);
    add_names(in, out);
    str_add(out, nr_out == 1 ? ");\n        return outputs[0];\n    });\n}\n"
                             : ");\n        return std::make_tuple(");
    for (unsigned i = 0; nr_out > 1 && i < nr_out; i++)
        str_addf(out, "%soutputs[%u]", i ? ", " : "", i);
    str_add(out, nr_out == 1 ? "" : ");\n    });\n}\n");
}

static void solution(
    const struct export_input *in, const char *name, const char *definition_name, struct str *out)
{
    struct str source = {0}, said = {0};
    json_t *root;

    add_module(in, &source);
    page_result(in->page, &said);
    root = json_pack("{s:s, s:s, s:s, s:s, s:{s:s, s:[s], s:s, s:[], s:b, s:s}, s:[{s:s, s:s}]}",
        "name", name, "definition", definition_name, "author", "keet-opt", "description",
        str_text(&said), "spec", "language", "cuda", "target_hardware", "cuda", "entry_point",
        "kernel.cu::run", "dependencies", "destination_passing_style", 0, "binding", "torch",
        "sources", "path", "kernel.cu", "content", str_text(&source));
    json_add(out, root, JSON_INDENT(2));
    str_finish(&source);
    str_finish(&said);
}

static json_t *evaluation(const struct export_input *in)
{
    const struct candidate *best = in->best, *root = &in->page->path[0];
    const char *from = provenance_name(best->profile.time_from);

    return json_pack("{s:s, s:{s:s, s:{s:s}}, s:s, s:s, s:{s:f, s:f}, s:{s:f, s:f, s:f}}", "status",
        "PASSED", "environment", "hardware",
        arena_printf(in->arena, "%s, times %s", in->page->device_name, from), "libs", "keet-opt",
        in->page->run.version, "timestamp", in->page->run.started ? in->page->run.started : "",
        "log",
        arena_printf(in->arena, "times are %s; errors are against the original kernel", from),
        "correctness", "max_relative_error", best->check.max_rel, "max_absolute_error",
        best->check.max_abs, "performance", "latency_ms", best->profile.time_ns * 1e-6,
        "reference_latency_ms", root->profile.time_ns * 1e-6, "speedup_factor", best->speedup);
}

/* Adds one line: a workload; with a solution and its evaluation, a trace. */
static void trace(const struct export_input *in, const char *definition_name,
    const char *solution_name, json_t *axes, json_t *random, struct str *out)
{
    const struct env *sizes = &in->task.timed.sizes;
    json_t *values = json_object(), *root;
    char hash[HASH_HEX_BYTES];

    for (size_t i = 0; i < sizes->nr; i++) {
        const json_t *axis = json_object_get(axes, sizes->bindings[i].name);

        if (axis && strcmp(json_string_value(json_object_get(axis, "type")), "var") == 0)
            json_object_set_new(
                values, sizes->bindings[i].name, json_integer(sizes->bindings[i].value));
    }
    hash_hex(hash_bytes(in->task.source, in->task.source_bytes, 0), hash);
    root = json_pack("{s:s, s:{s:o, s:O, s:s}}", "definition", definition_name, "workload", "axes",
        values, "inputs", random, "uuid",
        arena_printf(in->arena, "%.8s-%.4s-%.4s-%.4s-%.12s", hash, hash + 8, hash + 12, hash + 16,
            hash + 20));
    json_object_set_new(root, "solution", solution_name ? json_string(solution_name) : json_null());
    json_object_set_new(root, "evaluation", solution_name ? evaluation(in) : json_null());
    json_add(out, root, JSON_COMPACT);
}

bool export_flashinfer(struct export_input *in, struct export_files *files, struct err *err)
{
    const char *name = arena_printf(in->arena, "keet_%s", in->name);
    const char *by = arena_printf(in->arena, "keet_opt_%s_node%" PRId64, in->name, in->best->node);
    json_t *axes = json_object(), *inputs = json_object(), *outputs = json_object();
    json_t *random = json_object();
    bool ok =
        add_arrays(in, axes, inputs, outputs, random, err) &&
        definition(in, name, axes, inputs, outputs,
            export_add(files, arena_printf(in->arena, "definitions/keet/%s.json", name)), err);

    files->folder = true;
    if (ok) {
        solution(in, by, name,
            export_add(
                files, arena_printf(in->arena, "solutions/keet-opt/keet/%s/%s.json", name, by)));
        trace(in, name, NULL, axes, random,
            export_add(files, arena_printf(in->arena, "workloads/keet/%s.jsonl", name)));
        trace(in, name, by, axes, random,
            export_add(files, arena_printf(in->arena, "traces/keet-opt/keet/%s.jsonl", name)));
    }
    json_decref(axes);
    json_decref(inputs);
    json_decref(outputs);
    json_decref(random);
    return ok;
}
