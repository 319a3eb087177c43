/* Owns the recorder's view of the emulator's memory. */
#include "swdriver/sw_record.h"

#include "base/mem.h"

#include <stdlib.h>

enum { POISON = 0xAA };

struct sw_view {
    struct record_view view;
    CUcontext ctx;
    const struct sw_op *op;
};

static bool read_memory(struct record_view *view, uint64_t address, void *bytes, uint64_t nr)
{
    const struct sw_view *v = (const struct sw_view *)view;
    struct err err;

    return emu_read(v->ctx->emu, address, bytes, nr, &err);
}

static bool variable(struct record_view *view, unsigned i, struct record_memory *found)
{
    const struct sw_view *v = (const struct sw_view *)view;
    struct emu_global global;

    if (!emu_global(v->op->function->module->module, i, &global))
        return false;
    *found = (struct record_memory){global.address, global.bytes,
        global.constant ? RECORD_CONSTANT : RECORD_VARIABLE, global.name};
    return true;
}

static bool find(struct record_view *view, uint64_t address, struct record_memory *found)
{
    static const enum record_kind kinds[] = {[SW_DEVICE] = RECORD_DEVICE,
        [SW_MANAGED] = RECORD_MANAGED,
        [SW_HOST] = RECORD_HOST,
        [SW_REGISTERED] = RECORD_REGISTERED};
    const struct sw_view *v = (const struct sw_view *)view;
    const struct sw_alloc *alloc = address != 0 ? sw_find(v->ctx, address) : NULL;

    if (alloc != NULL) {
        *found = (struct record_memory){alloc->address, alloc->bytes, kinds[alloc->memory], NULL};
        return true;
    }
    for (unsigned i = 0; variable(view, i, found); i++)
        if (address - found->address < found->bytes)
            return true;
    return false;
}

static bool is_texture(struct record_view *view, uint64_t handle)
{
    return emu_is_texture(((const struct sw_view *)view)->ctx->emu, handle);
}

static bool stored(struct record_view *view, uint64_t address)
{
    return emu_stored(((const struct sw_view *)view)->ctx->emu, address);
}

static struct sw_view view_of(CUcontext ctx, const struct sw_op *op)
{
    return (struct sw_view){{.read = read_memory,
                                .find = find,
                                .variable = variable,
                                .is_texture = is_texture,
                                .stored = stored,
                                .poison = record_is_dry() ? 0 : POISON},
        ctx, op};
}

struct record_shot *sw_record_begin(CUcontext ctx, const struct sw_op *op)
{
    struct sw_view view = view_of(ctx, op);
    struct record_launch launch = {.kernel = op->function->kernel.name,
        .device = ctx->device,
        .smem_bytes = op->smem_bytes,
        .stream = (uint64_t)(uintptr_t)op->stream};
    struct record_param *params;
    struct record_shot *shot;
    const uint32_t *each, *offsets;
    uint32_t all;

    for (unsigned d = 0; d < 3; d++) {
        launch.grid[d] = op->grid[d];
        launch.block[d] = op->block[d];
        launch.cluster[d] = op->cluster[d];
    }
    emu_params(
        op->function->module->module, launch.kernel, &launch.nr_params, &each, &offsets, &all);
    params = xcalloc(launch.nr_params + 1, sizeof(*params));
    for (unsigned i = 0; i < launch.nr_params; i++)
        params[i] =
            (struct record_param){offsets[i], each[i], (const uint8_t *)op->params + offsets[i]};
    launch.params = params;
    shot = record_begin(&launch, &view.view);
    free(params);
    return shot;
}

void sw_record_end(CUcontext ctx, const struct sw_op *op, struct record_shot *shot,
    const struct sw_time *time, const char *fault)
{
    struct sw_view view = view_of(ctx, op);
    const struct record_time took =
        time != NULL ? (struct record_time){time->time_ns, time->floor_ns, time->moved_bytes}
                     : (struct record_time){0};

    record_end(op->function->kernel.name, shot, &view.view, time != NULL ? &took : NULL, fault);
}
