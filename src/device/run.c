/* Owns the buffers of one run and the binding of launch arguments to them. */
#include "device/run.h"

#include "core/tensor_map.h"
#include "base/mem.h"
#include "base/str.h"
#include "core/elem.h"
#include "core/inputs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool alloc_one(struct device *device, struct run_buffer *buffer, const struct env *env,
    uint64_t guard_bytes, struct err *err)
{
    const struct task_array *array = buffer->array;

    if (!array_elems(array, env, &buffer->nr, err))
        return false;
    buffer->bytes = array_bytes(array, buffer->nr);
    buffer->guard_bytes = guard_bytes;
    /* An array without elements still needs an address of its own. */
    buffer->base = device_alloc(device,
        (buffer->bytes + 2 * guard_bytes) > 0 ? buffer->bytes + 2 * guard_bytes : 1, array->name,
        err);
    if (buffer->base == 0)
        return err_wrap(err, "array %s", array->name);
    buffer->address = buffer->base + guard_bytes;
    if (!device_fill(device, buffer->base, RUN_GUARD_BYTE, guard_bytes, true, err) ||
        !device_fill(
            device, buffer->address + buffer->bytes, RUN_GUARD_BYTE, guard_bytes, true, err))
        return false;
    if (array->role == ROLE_OUT || array->role == ROLE_TEMP)
        return device_fill(device, buffer->address, RUN_POISON_BYTE, buffer->bytes, false, err);
    return true;
}

static bool cannot_have(
    struct device_result *result, const struct task_array *temp, const char *why)
{
    result->verdict = VERDICT_LAUNCH_FAILED;
    result->line = temp->line;
    snprintf(result->text, sizeof(result->text), "the scratch array %s cannot be made: %.400s",
        temp->name, why);
    return true;
}

bool run_temps_fit(const struct plan *plan, const struct env *env, struct device_result *result)
{
    static const uint64_t most_bytes = UINT64_C(8) << 30;
    uint64_t bytes = 0, nr;

    memset(result, 0, sizeof(*result));
    for (unsigned i = 0; i < plan->nr_temps; i++) {
        const struct task_array *temp = &plan->temps[i];
        struct err why;
        const bool known = array_elems(temp, env, &nr, &why);

        if (known && nr <= most_bytes)
            bytes += array_bytes(temp, nr);
        if (known && nr <= most_bytes && bytes <= most_bytes)
            continue;
        return !cannot_have(result, temp, known ? "scratch over 8 GiB" : why.text);
    }
    return true;
}

bool run_alloc(struct device *device, const struct task *task, const struct plan *plan,
    const struct env *env, uint64_t guard_bytes, struct arena *arena, struct run_buffers *buffers,
    struct device_result *result, struct err *err)
{
    enum { ALIGNMENT = 256 }; /* as cudaMalloc; guards must not spoil it */
    unsigned nr = task->nr_arrays + plan->nr_temps;
    struct err why;

    memset(result, 0, sizeof(*result));
    guard_bytes = round_up(guard_bytes, ALIGNMENT);
    buffers->buffers = arena_array(arena, nr > 0 ? nr : 1, sizeof(*buffers->buffers));
    buffers->nr = 0;
    for (unsigned i = 0; i < nr; i++) {
        struct run_buffer *buffer = &buffers->buffers[buffers->nr++];

        buffer->array = i < task->nr_arrays ? &task->arrays[i] : &plan->temps[i - task->nr_arrays];
        if (alloc_one(device, buffer, env, guard_bytes, &why))
            continue;
        run_free(device, buffers);
        if (i >= task->nr_arrays)
            return cannot_have(result, buffer->array, why.text);
        *err = why;
        return false;
    }
    return true;
}

bool run_fill(struct device *device, const struct task *task, const struct run_buffers *buffers,
    const struct env *env, uint64_t seed, struct err *err)
{
    bool ok = true;

    for (unsigned i = 0; ok && i < task->nr_arrays; i++) {
        const struct run_buffer *b = &buffers->buffers[i];

        if (b->array->role != ROLE_IN && b->array->role != ROLE_INOUT)
            continue;
        uint8_t *bytes = xcalloc(1, b->bytes + 1);

        ok = inputs_fill_beside(task, b->array, env, seed + i, bytes, b->nr, err) &&
             device_write(device, b->address, bytes, b->bytes, err);
        free(bytes);
    }
    return ok;
}

void run_free(struct device *device, struct run_buffers *buffers)
{
    for (unsigned i = 0; i < buffers->nr; i++)
        device_free(device, buffers->buffers[i].base);
    buffers->nr = 0;
}

static void cannot_bind(struct device_result *result, const struct launch *launch, const char *text)
{
    result->verdict = VERDICT_LAUNCH_FAILED;
    result->line = launch->line;
    snprintf(result->text, sizeof(result->text), "%.600s", text);
}

static const struct run_buffer *find_buffer(const struct run_buffers *buffers, const char *name)
{
    for (unsigned i = 0; i < buffers->nr; i++)
        if (strcmp(buffers->buffers[i].array->name, name) == 0)
            return &buffers->buffers[i];
    return NULL;
}

/* x + 4 */
static bool point_inside(const struct launch_arg *arg, const struct run_buffer *buffer,
    const struct env *env, struct device_arg *bound, struct err *why)
{
    const struct task_array *array = buffer->array;
    const unsigned each = array->record ? array->record->bytes : elem_bytes(array->elem);
    int64_t at;

    if (!expr_eval(arg->value, env, &at, why))
        return false;
    if (at < 0 || (uint64_t)at >= buffer->bytes / each)
        return err_set(why, "%s + %" PRId64 " is outside of %s, which has %" PRIu64 " elements",
            arg->name, at, arg->name, buffer->bytes / each);
    bound->address += (uint64_t)at * each;
    return true;
}

/* texture(x, width, height, ...): all of x has to be one grid of texels. */
static bool bind_texture(const struct launch_arg *arg, const struct run_buffer *buffer,
    const struct env *env, struct arena *arena, struct device_arg *bound, struct err *why)
{
    const struct texture_view *view = arg->texture;
    struct device_texture *texture = arena_alloc(arena, sizeof(*texture));
    uint64_t texels = 1;

    *texture =
        (struct device_texture){.view = view, .size = {1, 1, 1}, .elem = buffer->array->elem};
    for (unsigned d = 0; d < view->nr_dims; d++) {
        int64_t size;

        if (!expr_eval(view->size[d], env, &size, why))
            return false;
        if (size < 1 || size > 1 << 27)
            return err_set(why, "%s has an extent of %" PRId64 "; expected 1 to 134217728",
                view->written, size);
        texture->size[d] = (uint32_t)size;
        texels *= texels > buffer->bytes ? 1 : (uint64_t)size;
    }
    const uint64_t nr = buffer->bytes / elem_bytes(buffer->array->elem), lanes = nr / texels;

    if (nr % texels != 0 || (lanes != 1 && lanes != 2 && lanes != 4))
        return err_set(why,
            "%s has %" PRIu64 " texels and %s has %" PRIu64 " numbers; expected 1, 2 or 4 for each",
            view->written, texels, arg->name, nr);
    if (elem_bytes(texture->elem) > 4 || texture->elem == ELEM_BF16 || texture->elem == ELEM_E4M3 ||
        texture->elem == ELEM_E5M2)
        return err_set(why, "texels of type %s; expected f32, f16, or integers of 1, 2 or 4 bytes",
            elem_name(texture->elem));
    texture->nr_lanes = (unsigned)lanes;
    bound->address = buffer->address;
    bound->texture = texture;
    return true;
}

static bool eval_all(const struct expr *const *exprs, unsigned nr, const struct env *env,
    int64_t *values, struct err *why)
{
    for (unsigned d = 0; d < nr; d++)
        if (!expr_eval(exprs[d], env, &values[d], why))
            return false;
    return true;
}

static uint8_t tensor_type(enum elem elem)
{
    static const uint8_t types[] = {[ELEM_F64] = TENSOR_MAP_F64,
        [ELEM_F32] = TENSOR_MAP_F32,
        [ELEM_TF32] = TENSOR_MAP_TF32,
        [ELEM_F16] = TENSOR_MAP_F16,
        [ELEM_BF16] = TENSOR_MAP_BF16,
        [ELEM_E4M3] = TENSOR_MAP_U8,
        [ELEM_E5M2] = TENSOR_MAP_U8,
        [ELEM_I64] = TENSOR_MAP_I64,
        [ELEM_I32] = TENSOR_MAP_I32,
        [ELEM_I16] = TENSOR_MAP_U16,
        [ELEM_I8] = TENSOR_MAP_U8,
        [ELEM_U64] = TENSOR_MAP_U64,
        [ELEM_U32] = TENSOR_MAP_U32,
        [ELEM_U16] = TENSOR_MAP_U16,
        [ELEM_U8] = TENSOR_MAP_U8,
        [ELEM_BOOL] = TENSOR_MAP_U8};

    return types[elem];
}

/* The extents, innermost first: as given, or the array's own. */
static bool tensor_extents(const struct tensor_view *view, const struct task_array *array,
    const struct env *env, int64_t *size, unsigned *nr, struct err *why)
{
    *nr = view->nr_size ? view->nr_size : array->nr_dims ? array->nr_dims : 1;
    if (view->nr_size)
        return eval_all(view->size, view->nr_size, env, size, why);
    if (*nr > TENSOR_MAP_DIMS)
        return err_set(why, "%s has more than five dimensions; expected size(...)", array->name);
    size[0] = 1;
    for (unsigned d = 0; d < array->nr_dims; d++)
        if (!expr_eval(array->dims[array->nr_dims - 1 - d], env, &size[d], why))
            return false;
    return true;
}

/* tensor_map(x, box(..), ...): the map must be one that the driver takes, and within the array. */
static bool bind_tensor_map(const struct launch_arg *arg, const struct run_buffer *buffer,
    const struct env *env, struct arena *arena, struct device_arg *bound, struct err *why)
{
    const struct tensor_view *view = arg->tensor;
    const unsigned each = elem_bytes(buffer->array->elem);
    int64_t size[TENSOR_MAP_DIMS], box[TENSOR_MAP_DIMS], stride[TENSOR_MAP_DIMS],
        step[TENSOR_MAP_DIMS], swizzle = 0;
    struct tensor_map *map = arena_alloc(arena, sizeof(*map));
    unsigned nr;
    uint64_t last = 0;

    if (!tensor_extents(view, buffer->array, env, size, &nr, why) ||
        !eval_all(view->box, view->nr_box, env, box, why) ||
        !eval_all(view->stride, view->nr_stride, env, stride, why) ||
        !eval_all(view->step, view->nr_step, env, step, why) ||
        (view->swizzle && !expr_eval(view->swizzle, env, &swizzle, why)))
        return false;
    if (view->nr_box != nr || (view->nr_stride && view->nr_stride + 1 != nr) ||
        (view->nr_step && view->nr_step != nr))
        return err_set(why,
            "%s has %u dimensions; expected as many extents of the box and steps, and one stride "
            "less",
            view->written, nr);
    if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
        return err_set(why, "%s: swizzle is 32, 64 or 128", view->written);
    *map = (struct tensor_map){.address = buffer->address,
        .nr_dims = (uint8_t)nr,
        .type = tensor_type(buffer->array->elem),
        .swizzle = swizzle == 128 ? 3 : (uint8_t)(swizzle / 32),
        .fill = view->nan};
    for (unsigned d = 0; d < nr; d++) {
        if (size[d] < 1 || box[d] < 1 || (view->nr_stride && d > 0 && stride[d - 1] < 1))
            return err_set(why, "%s: an extent or a stride is below 1", view->written);
        map->size[d] = (uint64_t)size[d];
        map->box[d] = (uint32_t)box[d];
        map->step[d] = view->nr_step ? (uint32_t)step[d] : 1;
        map->stride_bytes[d] = d == 0            ? each
                               : view->nr_stride ? (uint64_t)stride[d - 1] * each
                                                 : map->stride_bytes[d - 1] * map->size[d - 1];
        last += (map->size[d] - 1) * map->stride_bytes[d];
    }
    if (last + each > buffer->bytes)
        return err_set(why, "%s is larger than %s", view->written, arg->name);
    if (tensor_map_check(map))
        return err_set(why, "%s: %s", view->written, tensor_map_check(map));
    bound->address = buffer->address;
    bound->tensor = map;
    return true;
}

static bool bind_arg(const struct task *task, const struct launch_arg *arg, const struct env *env,
    const struct run_buffers *buffers, struct arena *arena, struct device_arg *bound,
    struct err *why)
{
    const struct task_scalar *scalar;
    const struct run_buffer *buffer;

    *bound = (struct device_arg){.kind = arg->kind, .name = arg->name, .elem = arg->elem};
    switch (arg->kind) {
    case ARG_ARRAY:
        buffer = find_buffer(buffers, arg->name);
        if (buffer == NULL)
            return err_set(why, "no array or temp is called %s", arg->name);
        bound->address = buffer->address;
        return !arg->value || point_inside(arg, buffer, env, bound, why);
    case ARG_SCALAR:
        scalar = task_find_scalar(task, arg->name);
        if (scalar == NULL)
            return err_set(why, "no scalar is called %s", arg->name);
        bound->elem = scalar->elem;
        bound->real = scalar->value;
        if (!elem_is_float(scalar->elem))
            bound->integer = (int64_t)scalar->value;
        return true;
    case ARG_INTEGER:
        bound->name = expr_text(arg->value);
        return expr_eval(arg->value, env, &bound->integer, why);
    case ARG_TEXTURE:
        buffer = find_buffer(buffers, arg->name);
        if (buffer == NULL)
            return err_set(why, "no array or temp is called %s", arg->name);
        return bind_texture(arg, buffer, env, arena, bound, why);
    case ARG_TENSOR_MAP:
        buffer = find_buffer(buffers, arg->name);
        if (buffer == NULL)
            return err_set(why, "no array or temp is called %s", arg->name);
        return bind_tensor_map(arg, buffer, env, arena, bound, why);
    case ARG_STRUCT:
        bound->nr_fields = arg->nr_fields;
        return true;
    }
    return err_set(why, "an argument of unknown kind");
}

static const struct kernel_facts *find_facts(
    const struct compilation *compilation, const char *kernel)
{
    for (unsigned i = 0; i < compilation->nr_kernels; i++)
        if (strcmp(compilation->kernels[i].kernel, kernel) == 0)
            return &compilation->kernels[i];
    return NULL;
}

static bool bind_launch(const struct task *task, const struct launch *launch,
    const struct compilation *compilation, const struct env *env, const struct run_buffers *buffers,
    struct arena *arena, struct device_launch *bound, struct err *why)
{
    struct launch_config *config = arena_alloc(arena, sizeof(*config));
    struct device_arg *args;
    unsigned nr = launch->nr_args, at = 0;

    if (!launch_resolve(launch, env, config, why))
        return false;
    for (unsigned i = 0; i < launch->nr_args; i++)
        nr += launch->args[i].nr_fields;
    args = arena_array(arena, nr + 1, sizeof(*args));
    for (unsigned i = 0; i < launch->nr_args; i++) {
        const struct launch_arg *arg = &launch->args[i];

        if (!bind_arg(task, arg, env, buffers, arena, &args[at++], why))
            return false;
        for (unsigned f = 0; f < arg->nr_fields; f++)
            if (!bind_arg(task, &arg->fields[f], env, buffers, arena, &args[at++], why))
                return false;
    }
    bound->config = config;
    bound->args = args;
    bound->nr_args = nr;
    bound->line = launch->line;
    bound->facts = find_facts(compilation, launch->kernel);
    if (bound->facts == NULL)
        return err_set(why, "the compiled code has no kernel %s", launch->kernel);
    return true;
}

/* A variable's name in the PTX: the name itself, or C++'s mangled form with its length (_ZL4taps,
 * _ZN1a4tapsE). NULL: the code has no such variable. */
static const char *symbol_name(const char *ptx, const char *name, struct arena *arena)
{
    char *written = arena_printf(arena, "%zu%s", strlen(name), name);
    const size_t nr = strlen(written), plain = strlen(name);

    for (const char *line = ptx; *line; line = str_next_line(line)) {
        bool variable = false;

        for (const char *p = line + strcspn(line, "\n."); *p && *p != '\n';) {
            const size_t word =
                strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.");
            const size_t tail = word > 0 && p[word - 1] == 'E' ? 1 : 0;

            if (*p == '{' || *p == '(')
                break;
            variable = variable || (word == 6 && memcmp(p, ".const", 6) == 0) ||
                       (word == 7 && memcmp(p, ".global", 7) == 0);
            if (variable && ((word == plain && memcmp(p, name, plain) == 0) ||
                                (word > nr + tail && strncmp(p, "_Z", 2) == 0 &&
                                    memcmp(p + word - tail - nr, written, nr) == 0)))
                return arena_strndup(arena, p, word);
            p += word ? word : 1;
        }
    }
    return NULL;
}

/* Finds the contract's symbols that this code has. */
static unsigned bind_symbols(const struct compilation *compilation,
    const struct run_buffers *buffers, struct arena *arena, const struct device_symbol **symbols)
{
    struct device_symbol *all = arena_array(arena, buffers->nr + 1, sizeof(*all));
    unsigned nr = 0;

    for (unsigned i = 0; i < buffers->nr; i++) {
        const struct run_buffer *b = &buffers->buffers[i];
        const char *name = b->array->is_symbol && compilation->ptx
                               ? symbol_name(compilation->ptx, b->array->name, arena)
                               : NULL;

        if (name)
            all[nr++] =
                (struct device_symbol){name, b->address, b->bytes, b->array->role != ROLE_IN};
    }
    *symbols = all;
    return nr;
}

bool run_bind(const struct task *task, const struct plan *plan,
    const struct compilation *compilation, const struct env *env, const struct run_buffers *buffers,
    struct arena *arena, struct device_launch **launches, struct device_result *result,
    struct err *err)
{
    const struct device_symbol *symbols;
    unsigned nr_symbols;
    struct err why = {0};

    (void)err; /* all failures of binding are verdicts */
    memset(result, 0, sizeof(*result));
    *launches = arena_array(arena, plan->nr_launches + 1, sizeof(**launches));
    nr_symbols = bind_symbols(compilation, buffers, arena, &symbols);
    for (unsigned i = 0; i < plan->nr_launches; i++) {
        if (!bind_launch(task, &plan->launches[i], compilation, env, buffers, arena,
                &(*launches)[i], &why)) {
            cannot_bind(result, &plan->launches[i], why.text);
            return true;
        }
        (*launches)[i].symbols = symbols;
        (*launches)[i].nr_symbols = nr_symbols;
    }
    return true;
}

bool run_launches(struct device *device, struct device_module *module,
    const struct device_launch *launches, unsigned nr, struct device_result *result,
    struct err *err)
{
    uint64_t insts = 0;
    bool float_atomics = false, oblivious = true;

    memset(result, 0, sizeof(*result));
    for (unsigned i = 0; i < nr; i++) {
        if (!device_launch(device, module, &launches[i], result, err))
            return false;
        result->thread_insts = insts += result->thread_insts;
        result->float_atomics = float_atomics |= result->float_atomics;
        result->oblivious = oblivious &= result->oblivious;
        if (result->verdict != VERDICT_OK)
            return true;
    }
    return true;
}
