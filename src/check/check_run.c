/* Owns one run of a plan in fresh memory. */
#include "base/file.h"
#include "base/mem.h"
#include "check/check_run.h"
#include "core/inputs.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 4096, READ_PIECE = 1 << 18 };

bool host_init(
    struct host_arrays *host, const struct task *task, const struct env *env, struct err *err)
{
    host->nr_arrays = task->nr_arrays;
    host->bytes = xcalloc(task->nr_arrays + 1, sizeof(*host->bytes));
    host->nr = xcalloc(task->nr_arrays + 1, sizeof(*host->nr));
    for (unsigned i = 0; i < task->nr_arrays; i++) {
        if (!array_elems(&task->arrays[i], env, &host->nr[i], err)) {
            host_finish(host);
            return false;
        }
        host->bytes[i] = xcalloc(1, array_bytes(&task->arrays[i], host->nr[i]) + 8);
    }
    return true;
}

void host_finish(struct host_arrays *host)
{
    for (unsigned i = 0; host->bytes && i < host->nr_arrays; i++)
        free(host->bytes[i]);
    free(host->bytes);
    free(host->nr);
    *host = (struct host_arrays){0};
}

/* The largest floating-point input. */
static unsigned lead_array(const struct task *task, const struct host_arrays *host)
{
    unsigned lead = UINT32_MAX;

    for (unsigned i = 0; i < task->nr_arrays; i++)
        if (task->arrays[i].role != ROLE_OUT && elem_is_float(task->arrays[i].elem) &&
            (lead == UINT32_MAX || host->nr[i] > host->nr[lead]))
            lead = i;
    return lead;
}

static uint64_t row_of(const struct task_array *array, const struct env *env)
{
    struct err ignored;
    int64_t row = 1;

    if (array->nr_dims > 0 &&
        (!expr_eval(array->dims[array->nr_dims - 1], env, &row, &ignored) || row < 1))
        row = 1;
    return (uint64_t)row;
}

bool host_fill(struct host_arrays *host, const struct task *task, const struct env *env,
    const struct input_set *set, bool timed, const char *folder, struct err *err)
{
    struct arena *arena = arena_create();
    const unsigned lead = lead_array(task, host);
    bool ok = true;

    for (unsigned i = 0; ok && i < task->nr_arrays; i++) {
        struct task_array array = task->arrays[i];

        if (array.role == ROLE_OUT)
            continue;
        if (array.gen.kind == GEN_FILE && !timed)
            array.gen = array.gen.elsewhere ? *array.gen.elsewhere : gen_default(array.elem);
        if (array.gen.kind == GEN_FILE)
            array.gen.path = file_of(arena, task, array.gen.path, folder);
        ok =
            inputs_fill(&array, env, "", set->seed, set->scale, host->bytes[i], host->nr[i], err) &&
            inputs_restyle(&array, env, set->style, i == lead, set->seed, row_of(&array, env),
                host->bytes[i], host->nr[i], err);
    }
    arena_destroy(arena);
    return ok;
}

const char *file_of(
    struct arena *arena, const struct task *task, const char *path, const char *folder)
{
    const char *beside = dirname(arena_strdup(arena, task->path));

    if (folder)
        return folder[0] == '/' ? arena_printf(arena, "%s/%s", folder, file_name(path))
                                : arena_printf(arena, "%s/%s/%s", beside, folder, file_name(path));
    return path[0] == '/' ? path : arena_printf(arena, "%s/%s", beside, path);
}

const char *element_name(
    struct arena *arena, const struct task_array *array, const struct env *env, uint64_t index)
{
    const char *text = "";
    struct err ignored;
    int64_t dim;

    if (array->record) {
        text = arena_printf(
            arena, ", value %u of its struct", (unsigned)(index % array->record->nr) + 1);
        index /= array->record->nr;
    }
    for (unsigned i = array->nr_dims; i-- > 0;) {
        if (!expr_eval(array->dims[i], env, &dim, &ignored) || dim < 1)
            dim = 1;
        text = arena_printf(arena, "[%" PRIu64 "]%s", i ? index % (uint64_t)dim : index, text);
        index /= (uint64_t)dim;
    }
    return arena_printf(arena, "%s%s", array->name, text);
}

const char *element_text(
    struct arena *arena, const struct task_array *array, const void *elems, uint64_t index)
{
    enum elem elem;
    const void *at = (const unsigned char *)elems + array_place(array, index, &elem);

    if (elem == ELEM_U64)
        return arena_printf(arena, "%" PRIu64, (uint64_t)elem_get_int(elem, at, 0));
    if (!elem_is_float(elem))
        return arena_printf(arena, "%" PRId64, elem_get_int(elem, at, 0));
    return arena_printf(arena, elem == ELEM_F64 ? "%.17g" : "%.9g", elem_get(elem, at, 0));
}

static bool write_inputs(
    const struct check_run *run, const struct run_buffers *buffers, struct err *err)
{
    for (unsigned i = 0; i < buffers->nr; i++) {
        const struct run_buffer *b = &buffers->buffers[i];

        if (b->array->role == ROLE_IN || b->array->role == ROLE_INOUT) {
            if (!device_write(run->device, b->address, run->inputs->bytes[i], b->bytes, err))
                return false;
        } else if (!device_fill(run->device, b->address, run->poison, b->bytes, false, err)) {
            return false;
        }
    }
    return true;
}

/* The kernel must not change arrays of role `in`. */
static bool inputs_unchanged(const struct check_run *run, unsigned i, const void *now,
    struct arena *arena, struct device_result *result)
{
    const struct task_array *array = &run->task->arrays[i];
    const void *before = run->inputs->bytes[i];
    struct env env = plan_env(arena, run->plan, run->shape);
    enum elem elem;

    for (uint64_t at = 0; at < run->inputs->nr[i]; at++) {
        const uint64_t place = array_place(array, at, &elem);

        if (memcmp((const char *)before + place, (const char *)now + place, elem_bytes(elem)) == 0)
            continue;
        result->verdict = VERDICT_WRONG;
        result->line = 0;
        snprintf(result->text, sizeof(result->text),
            "%s is an input, and the kernel changed it from %s to %s",
            element_name(arena, array, &env, at), element_text(arena, array, before, at),
            element_text(arena, array, now, at));
        return false;
    }
    return true;
}

/* *same: the buffer holds these bytes. Pieces that stay in the host's caches are read. */
static bool holds(struct device *device, const struct run_buffer *b, const char *bytes, bool *same,
    struct err *err)
{
    char *piece = xmalloc(READ_PIECE);
    bool ok = true;

    *same = true;
    for (uint64_t at = 0; ok && *same && at < b->bytes; at += READ_PIECE) {
        const uint64_t left = b->bytes - at, nr = left < READ_PIECE ? left : READ_PIECE;

        ok = device_read(device, b->address + at, piece, nr, err);
        *same = ok && memcmp(piece, bytes + at, nr) == 0;
    }
    free(piece);
    return ok;
}

static bool read_back(const struct check_run *run, const struct run_buffers *buffers,
    struct host_arrays *outputs, struct arena *arena, struct device_result *result, struct err *err)
{
    for (unsigned i = 0; i < run->task->nr_arrays; i++) {
        const struct run_buffer *b = &buffers->buffers[i];
        bool same = false;

        if (b->array->role == ROLE_IN && !holds(run->device, b, run->inputs->bytes[i], &same, err))
            return false;
        if (!same && !device_read(run->device, b->address, outputs->bytes[i], b->bytes, err))
            return false;
        if (b->array->role == ROLE_IN && !same &&
            !inputs_unchanged(run, i, outputs->bytes[i], arena, result))
            return true;
    }
    return true;
}

static bool guard_intact(const unsigned char *zone, uint64_t bytes, uint64_t *at)
{
    for (*at = 0; *at < bytes; ++*at) {
        if (zone[*at] != RUN_GUARD_BYTE)
            return false;
    }
    return true;
}

static bool check_guards(const struct check_run *run, const struct run_buffers *buffers,
    struct device_result *result, struct err *err)
{
    unsigned char zone[2 * GUARD_BYTES];
    uint64_t at;

    for (unsigned i = 0; i < buffers->nr; i++) {
        const struct run_buffer *b = &buffers->buffers[i];

        if (b->guard_bytes == 0 || b->guard_bytes > sizeof(zone))
            continue;
        for (int side = 0; side < 2; side++) {
            uint64_t from = side ? b->address + b->bytes : b->base;

            if (!device_read(run->device, from, zone, b->guard_bytes, err))
                return false;
            if (guard_intact(zone, b->guard_bytes, &at))
                continue;
            result->verdict = VERDICT_FAULT;
            result->line = 0;
            snprintf(result->text, sizeof(result->text),
                "out of bounds: a write %" PRIu64 " bytes %s of %s (%" PRIu64 " bytes)",
                side ? at : b->guard_bytes - at, side ? "past the end" : "before the start",
                b->array->name, b->bytes);
            return true;
        }
    }
    return true;
}

static bool run_in(const struct check_run *run, struct run_buffers *buffers, const struct env *env,
    struct arena *arena, struct host_arrays *outputs, struct device_result *result, struct err *err)
{
    struct device_launch *launches;
    uint64_t (*reset)(struct device *, struct device_module *) = run->device->ops->reset;

    if (!run->keep_state)
        reset(run->device, run->module);
    if (!write_inputs(run, buffers, err) || !run_bind(run->task, run->plan, run->compilation, env,
                                                buffers, arena, &launches, result, err))
        return false;
    if (result->verdict != VERDICT_OK)
        return true;
    for (unsigned i = 0; i < run->plan->nr_launches; i++) {
        launches[i].sanitize = run->sanitize;
        launches[i].lenient_init = run->lenient_init;
        launches[i].poison = run->hidden_poison;
        launches[i].findings = run->races;
        launches[i].checks = run->races ? 1u << DEVICE_CHECK_RACE : 0;
        launches[i].max_findings = run->races ? 1 : 0;
        launches[i].step_limit = run->step_limit;
        launches[i].seed = run->seed;
        launches[i].blocks = run->blocks ? run->blocks->blocks : NULL;
        launches[i].nr_blocks = run->blocks ? run->blocks->nr : 0;
    }
    if (!run_launches(run->device, run->module, launches, run->plan->nr_launches, result, err))
        return false;
    if (run->left_behind)
        *run->left_behind = reset(run->device, run->module);
    if (result->verdict == VERDICT_OK && !check_guards(run, buffers, result, err))
        return false;
    return result->verdict != VERDICT_OK || read_back(run, buffers, outputs, arena, result, err);
}

bool check_run(const struct check_run *run, struct arena *arena, struct host_arrays *outputs,
    struct device_result *result, struct err *err)
{
    struct env env = plan_env(arena, run->plan, run->shape);
    uint64_t guard = run->device->ops->catches_stray ? 0 : GUARD_BYTES;
    struct run_buffers buffers = {0};
    bool ok;

    memset(result, 0, sizeof(*result));
    if (!run_temps_fit(run->plan, &env, result))
        return true;
    if (!run_alloc(run->device, run->task, run->plan, &env, guard, arena, &buffers, result, err))
        return false;
    if (result->verdict != VERDICT_OK)
        return true;
    ok = run_in(run, &buffers, &env, arena, outputs, result, err);
    run_free(run->device, &buffers);
    return ok;
}

bool check_series_open(const struct check_run *run, struct arena *arena,
    struct check_series *series, struct device_result *result, struct err *err)
{
    memset(result, 0, sizeof(*result));
    *series = (struct check_series){.env = plan_env(arena, run->plan, run->shape)};
    run->device->ops->reset(run->device, run->module);
    return run_temps_fit(run->plan, &series->env, result) &&
           run_alloc(run->device, run->task, run->plan, &series->env, 0, arena, &series->buffers,
               result, err) &&
           result->verdict == VERDICT_OK;
}

bool check_series_step(const struct check_run *run, struct check_series *series,
    struct arena *arena, struct host_arrays *outputs, struct device_result *result, struct err *err)
{
    memset(result, 0, sizeof(*result));
    return run_in(run, &series->buffers, &series->env, arena, outputs, result, err);
}

void check_series_close(const struct check_run *run, struct check_series *series)
{
    run_free(run->device, &series->buffers);
}
