/* Owns the choice of a device, the calls through its table, and the packing of arguments. */
#include "device/device.h"

#include "core/tensor_map.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "core/elem.h"
#include "device/device_emu.h"
#include "device/device_gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EMULATOR_STAGE_S = 600 };

static struct device *create_gpu(
    const char *name, const struct device_options *options, struct err *err)
{
    unsigned long ordinal = 0;
    char *end = NULL;

    if (strcmp(name, "gpu") != 0) {
        ordinal = strtoul(name + strlen("gpu:"), &end, 10);
        if (end == name + strlen("gpu:") || *end != '\0' || ordinal > 255) {
            err_set(err, "device \"%s\": expected gpu or gpu:N, the first GPU being gpu:0", name);
            return NULL;
        }
    }
    return device_gpu_create((unsigned)ordinal, options, err);
}

struct device *device_create(const struct device_options *options, struct err *err)
{
    const char *name = options->name != NULL ? options->name : "auto";
    const struct chip *chip = chip_default();
    struct device *device;
    struct err why;

    if (strcmp(name, "gpu") == 0 || str_starts(name, "gpu:"))
        return create_gpu(name, options, err);
    if (strcmp(name, "auto") == 0) {
        device = create_gpu("gpu", options, &why);
        if (device != NULL)
            return device;
        log_note("no GPU, so kernels run on the emulator: %s", why.text);
    }
    if (str_starts(name, "emu:")) {
        chip = chip_open(name + strlen("emu:"), err);
        if (chip == NULL) {
            err_wrap(err, "device \"%s\"", name);
            return NULL;
        }
    } else if (strcmp(name, "emu") != 0 && strcmp(name, "auto") != 0) {
        err_set(err,
            "unknown device \"%s\"; there are auto, gpu, gpu:N, emu and emu:CHIP, as emu:h100",
            name);
        return NULL;
    }
    device = device_emu_create(chip, options->nr_threads, err);
    if (device)
        device->stage_s = options->deadline_s > 0 ? options->deadline_s : EMULATOR_STAGE_S;
    return device;
}

void device_destroy(struct device *device)
{
    if (device != NULL)
        device->ops->destroy(device);
}

const char device_symbol_misfit[] =
    "a `symbol` line of the contract has more elements than the variable in the code";

bool device_load(struct device *device, const struct compilation *compilation,
    struct device_module **module, struct device_result *result, struct err *err)
{
    memset(result, 0, sizeof(*result));
    *module = NULL;
    return device->ops->load(device, compilation, module, result, err);
}

void device_unload(struct device *device, struct device_module *module)
{
    if (module != NULL)
        device->ops->unload(device, module);
}

uint64_t device_alloc(struct device *device, uint64_t bytes, const char *name, struct err *err)
{
    return device->ops->alloc(device, bytes, name, err);
}

void device_free(struct device *device, uint64_t address)
{
    if (address != 0)
        device->ops->free(device, address);
}

bool device_write(
    struct device *device, uint64_t address, const void *bytes, uint64_t nr, struct err *err)
{
    return nr == 0 || device->ops->write(device, address, bytes, nr, err);
}

bool device_read(struct device *device, uint64_t address, void *bytes, uint64_t nr, struct err *err)
{
    return nr == 0 || device->ops->read(device, address, bytes, nr, err);
}

bool device_repeat(struct device *device, uint64_t address, uint64_t nr, const void *bytes,
    uint64_t period, struct err *err)
{
    bool ok = true;

    if (nr > 0 && device->ops->repeat != NULL)
        return device->ops->repeat(device, address, nr, bytes, period, err);
    for (uint64_t at = 0; ok && at < nr; at += period)
        ok = device_write(device, address + at, bytes, nr - at < period ? nr - at : period, err);
    return ok;
}

bool device_fill(struct device *device, uint64_t address, uint8_t byte, uint64_t nr,
    bool initialised, struct err *err)
{
    return nr == 0 || device->ops->fill(device, address, byte, nr, initialised, err);
}

bool device_launch(struct device *device, struct device_module *module,
    const struct device_launch *launch, struct device_result *result, struct err *err)
{
    memset(result, 0, sizeof(*result));
    return device->ops->launch(device, module, launch, result, err);
}

bool device_measure(struct device *device, struct device_module *module,
    const struct device_measure *measure, struct arena *arena, struct profile *profile,
    struct device_result *result, struct err *err)
{
    memset(result, 0, sizeof(*result));
    memset(profile, 0, sizeof(*profile));
    return device->ops->measure(device, module, measure, arena, profile, result, err);
}

/* One parameter of the launch: argument nr, the first of args. */
struct parameter {
    const struct device_launch *launch;
    const struct device_arg *args;
    unsigned nr;
    struct device_result *result;
};

static bool misfit(const struct parameter *p, const struct device_arg *arg, const char *why)
{
    p->result->verdict = VERDICT_LAUNCH_FAILED;
    p->result->line = p->launch->line;
    snprintf(p->result->text, sizeof(p->result->text), "argument %u (%s) of %s: %s", p->nr + 1,
        arg->name != NULL ? arg->name : "an expression", p->launch->config->kernel, why);
    return false;
}

/* Signed or unsigned, the value must be representable in that many bytes. */
static bool fits_integer(int64_t value, uint32_t bytes)
{
    int64_t span;

    if (bytes >= 8)
        return true;
    span = INT64_C(1) << (bytes * 8);
    return value >= -(span / 2) && value < span;
}

static bool pack_one(
    const struct parameter *p, const struct device_arg *arg, uint32_t bytes, uint8_t *at)
{
    struct tensor_map map;

    switch (arg->kind) {
    case ARG_ARRAY:
        if (bytes != 8)
            return misfit(p, arg, "an array, but the parameter is no pointer");
        memcpy(at, &arg->address, sizeof(arg->address));
        return true;
    case ARG_SCALAR:
        if (elem_bytes(arg->elem) != bytes)
            return misfit(p, arg, "the scalar's type and the parameter's differ in size");
        if (elem_is_float(arg->elem))
            elem_set(arg->elem, at, 0, arg->real);
        else
            elem_set_int(arg->elem, at, 0, arg->integer);
        return true;
    case ARG_INTEGER:
        if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
            return misfit(p, arg,
                "an integer, but the parameter is a structure; expected its fields, as in "
                "{n : i32, x}");
        if (!fits_integer(arg->integer, bytes))
            return misfit(p, arg, "the value does not fit the parameter");
        memcpy(at, &arg->integer, bytes); /* little endian, as the chip is */
        return true;
    case ARG_TEXTURE: /* the handle of the texture has replaced the address by now */
        if (bytes != 8)
            return misfit(p, arg, "a texture, but the parameter is no cudaTextureObject_t");
        memcpy(at, &arg->address, sizeof(arg->address));
        return true;
    case ARG_TENSOR_MAP:
        if (bytes != TENSOR_MAP_BYTES)
            return misfit(p, arg, "a tensor map, but the parameter is no CUtensorMap by value");
        map = *arg->tensor;
        map.address = arg->address;
        tensor_map_encode(&map, at);
        return true;
    case ARG_STRUCT:
        break;
    }
    return misfit(p, arg, "of unknown kind");
}

static bool pack_plain(const struct parameter *p, uint32_t bytes, uint8_t *at)
{
    return pack_one(p, p->args, bytes, at);
}

/* Lays out a struct as C does: each field at the next multiple of its size. */
static bool pack_struct(const struct parameter *p, uint32_t bytes, uint8_t *at)
{
    const struct device_arg *whole = p->args;
    uint32_t offset = 0, align = 1;
    char why[96];

    for (unsigned i = 0; i < whole->nr_fields; i++) {
        const struct device_arg *field = &whole[i + 1];
        const uint32_t size = field->kind == ARG_ARRAY ? 8 : (uint32_t)elem_bytes(field->elem);
        const uint32_t place = (uint32_t)round_up(offset, size);

        offset = place + size;
        align = size > align ? size : align;
        if (offset > bytes)
            break;
        if (!pack_one(p, field, size, at + place))
            return false;
    }
    offset =
        whole->nr_fields == 0 ? 1 : (uint32_t)round_up(offset, align); /* an empty one has a byte */
    if (offset == bytes)
        return true;
    snprintf(why, sizeof(why), "the fields come to %s %u bytes, the parameter has %u",
        offset > bytes ? "more than" : "only", offset > bytes ? bytes : offset, bytes);
    return misfit(p, whole, why);
}

bool device_pack(const struct device_launch *launch, unsigned nr_params, const uint32_t *bytes_each,
    const uint32_t *offsets, void *packed, uint32_t packed_bytes, struct device_result *result)
{
    struct parameter p = {.launch = launch, .result = result};
    unsigned nr = 0;

    memset(packed, 0, packed_bytes);
    for (unsigned i = 0; i < launch->nr_args; i += 1 + launch->args[i].nr_fields)
        nr++;
    if (nr != nr_params) {
        result->verdict = VERDICT_LAUNCH_FAILED;
        result->line = launch->line;
        snprintf(result->text, sizeof(result->text), "%s takes %u arguments, the launch gives %u",
            launch->config->kernel, nr_params, nr);
        return false;
    }
    for (p.args = launch->args; p.nr < nr_params; p.args += 1 + p.args->nr_fields, p.nr++) {
        const uint32_t bytes = bytes_each[p.nr], offset = offsets[p.nr];

        if (offset + bytes > packed_bytes)
            return misfit(&p, p.args, "lies outside the parameter space");
        if (!(p.args->kind == ARG_STRUCT ? pack_struct : pack_plain)(
                &p, bytes, (uint8_t *)packed + offset))
            return false;
    }
    return true;
}

void device_begin(struct device *device)
{
    device->ends_ns = device->stage_s > 0 ? clock_ns() + (uint64_t)(device->stage_s * 1e9) : 0;
}

void device_interrupt(void)
{
    device_emu_interrupt();
}

void device_go_on(void)
{
    device_emu_go_on();
}
