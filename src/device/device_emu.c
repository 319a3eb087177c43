/* Owns the emulator as a device: the checks of a driver before a launch, the packing of arguments,
 * and the number of blocks that a measurement runs. */
#include "device/device_emu.h"

#include "base/mem.h"
#include "emu/emu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct device_emu {
    struct device base;
    struct emu *emu;
};

/* Thread instructions that the measurement of one launch should cost, about; and a larger limit, up
 * to which more blocks may run so that neighbours meet in the caches. */
enum {
    PROBE_BLOCKS = 4, /* run first, to learn the cost of a block */
    LEAST_BLOCKS = 2  /* measured, however much each costs */
};
static const double measure_budget = 60e6, measure_budget_most = 100e6;
/* The measured run has a far larger shape than the checked one, and must not time out for that. */
static const uint64_t measure_step_limit = UINT64_C(1) << 31;

static struct emu *emu_of(struct device *device)
{
    return ((struct device_emu *)device)->emu;
}

/* A module of this device is the emulator's module. */
static struct emu_module *module_of(const struct device_module *module)
{
    return (struct emu_module *)(uintptr_t)module;
}

static void take_result(struct device_result *result, const struct emu_result *from)
{
    result->verdict = from->verdict;
    result->line = from->line;
    result->float_atomics = from->float_atomics;
    result->oblivious = from->oblivious;
    result->thread_insts = from->thread_insts;
    snprintf(result->text, sizeof(result->text), "%s", from->text);
}

static void emu_device_destroy(struct device *device)
{
    emu_destroy(emu_of(device));
    free(device);
}

static bool emu_device_load(struct device *device, const struct compilation *compilation,
    struct device_module **module, struct device_result *result, struct err *err)
{
    struct emu_result loaded = {0};
    struct emu_module *code = NULL;

    if (!emu_load(emu_of(device), compilation->ptx, compilation->ptx_bytes, &code, &loaded, err))
        return false;
    take_result(result, &loaded);
    if (code != NULL)
        *module = (struct device_module *)code;
    return true;
}

static void emu_device_unload(struct device *device, struct device_module *module)
{
    emu_unload(emu_of(device), module_of(module));
}

static uint64_t emu_device_reset(struct device *device, struct device_module *module)
{
    return emu_reset(emu_of(device), module_of(module));
}

static uint64_t emu_device_alloc(
    struct device *device, uint64_t bytes, const char *name, struct err *err)
{
    return emu_alloc(emu_of(device), bytes, name, err);
}

static void emu_device_free(struct device *device, uint64_t address)
{
    emu_free(emu_of(device), address);
}

static bool emu_device_write(
    struct device *device, uint64_t address, const void *bytes, uint64_t nr, struct err *err)
{
    return emu_write(emu_of(device), address, bytes, nr, err);
}

static bool emu_device_read(
    struct device *device, uint64_t address, void *bytes, uint64_t nr, struct err *err)
{
    return emu_read(emu_of(device), address, bytes, nr, err);
}

static uint64_t emu_device_unwritten(
    struct device *device, uint64_t address, uint64_t nr, unsigned each, uint64_t *first)
{
    return emu_unwritten(emu_of(device), address, nr, each, first);
}

static bool emu_device_repeat(struct device *device, uint64_t address, uint64_t nr,
    const void *bytes, uint64_t period, struct err *err)
{
    return emu_repeat(emu_of(device), address, nr, bytes, period, err);
}

static bool emu_device_fill(struct device *device, uint64_t address, uint8_t byte, uint64_t nr,
    bool initialised, struct err *err)
{
    return emu_fill(emu_of(device), address, byte, nr, initialised, err);
}

static bool refuse(
    struct device_result *result, const struct device_launch *launch, const char *why)
{
    result->verdict = VERDICT_LAUNCH_FAILED;
    result->line = launch->line;
    snprintf(result->text, sizeof(result->text), "%s cannot be launched: %s",
        launch->config->kernel, why);
    return false;
}

static bool refuse_smem(
    struct device_result *result, const struct device_launch *launch, const struct chip *chip)
{
    char why[80];

    snprintf(why, sizeof(why), "more than %u KB of shared memory in a block",
        chip->smem_per_block_max_bytes / 1024);
    return refuse(result, launch, why);
}

/* Refuses the launches that a driver refuses before anything runs. */
static bool launch_fits(
    const struct chip *chip, const struct device_launch *launch, struct device_result *result)
{
    const struct launch_config *c = launch->config;
    const struct kernel_facts *facts = launch->facts;
    uint64_t threads = (uint64_t)c->block[0] * c->block[1] * c->block[2];
    uint64_t smem = (uint64_t)c->smem_bytes + facts->smem_static_bytes;

    if (threads == 0 || c->grid[0] == 0 || c->grid[1] == 0 || c->grid[2] == 0)
        return refuse(result, launch, "an empty grid or block");
    if (threads > chip->max_threads_per_block)
        return refuse(result, launch, "more than 1024 threads in a block");
    if (c->block[2] > 64)
        return refuse(result, launch, "more than 64 threads in z");
    if (c->grid[0] > INT32_MAX || c->grid[1] > 65535 || c->grid[2] > 65535)
        return refuse(result, launch, "a grid over 2147483647 x 65535 x 65535");
    if (smem > chip->smem_per_block_max_bytes)
        return refuse_smem(result, launch, chip);
    if (chip_occupancy(chip, (unsigned)threads, facts->registers, (unsigned)smem).blocks == 0)
        return refuse(result, launch, "its threads need more registers than an SM has");
    return true;
}

static bool copy_bytes(struct device *device, uint64_t to, uint64_t from, uint64_t nr)
{
    void *bytes = xmalloc(nr + 1);
    struct err err;
    const bool ok = emu_read(emu_of(device), from, bytes, nr, &err) &&
                    emu_write(emu_of(device), to, bytes, nr, &err);

    free(bytes);
    return ok;
}

static bool find_global(
    const struct device_module *module, const struct device_symbol *s, struct emu_global *global)
{
    unsigned nr = 0;

    while (emu_global(module_of(module), nr, global))
        if (strcmp(global->name, s->name) == 0)
            return global->bytes >= s->bytes;
        else
            nr++;
    return false;
}

/* Copies buffers into the module's variables before the launch. False: the verdict says why not. */
static bool fill_symbols(struct device *device, const struct device_module *module,
    const struct device_launch *launch, struct device_result *result)
{
    struct emu_global global;

    for (unsigned i = 0; i < launch->nr_symbols; i++) {
        const struct device_symbol *s = &launch->symbols[i];

        if (!find_global(module, s, &global) ||
            !copy_bytes(device, global.address, s->address, s->bytes))
            return refuse(result, launch, device_symbol_misfit);
    }
    return true;
}

/* Copies variables back into their buffers after the launch, for outputs and for later launches. */
static void keep_symbols(
    struct device *device, const struct device_module *module, const struct device_launch *launch)
{
    struct emu_global global;

    for (unsigned i = 0; i < launch->nr_symbols; i++) {
        const struct device_symbol *s = &launch->symbols[i];

        if (s->gives_back && find_global(module, s, &global))
            copy_bytes(device, s->address, global.address, s->bytes);
    }
}

/* The texture objects of one launch: one for each argument that is a texture. */
struct textures {
    uint64_t *handles;
    unsigned nr;
};

static uint64_t make_texture(struct device *device, const struct device_arg *arg)
{
    static const enum emu_address_mode modes[] = {[TEXTURE_WRAP] = EMU_ADDRESS_WRAP,
        [TEXTURE_CLAMP] = EMU_ADDRESS_CLAMP,
        [TEXTURE_MIRROR] = EMU_ADDRESS_MIRROR,
        [TEXTURE_BORDER] = EMU_ADDRESS_BORDER};
    const struct device_texture *t = arg->texture;
    const struct texture_view *view = t->view;
    const unsigned layers = view->layered || view->cube;
    const enum emu_address_mode mode = modes[view->mode];
    const uint64_t pitch = (uint64_t)t->size[0] * t->nr_lanes * elem_bytes(t->elem);
    struct emu_texture texture = {.address = arg->address,
        .nr_dims = view->nr_dims - layers,
        .size = {t->size[0], t->size[1], t->size[2]},
        .pitch_bytes = pitch,
        .layer_bytes = pitch * t->size[1],
        .cube = view->cube,
        .kind = elem_is_float(t->elem)                      ? EMU_TEXEL_FLOAT
                : t->elem >= ELEM_I64 && t->elem <= ELEM_I8 ? EMU_TEXEL_SIGNED
                                                            : EMU_TEXEL_UNSIGNED,
        .channel_bytes = (unsigned)elem_bytes(t->elem),
        .nr_channels = t->nr_lanes,
        .normalized_coordinates = view->normalized,
        .normalized_float = view->floats,
        .linear = view->linear,
        .address_mode = {mode, mode, mode}};

    if (layers && texture.nr_dims == 1) { /* rows are layers */
        texture.size[1] = 1;
        texture.size[2] = t->size[1];
        texture.layer_bytes = pitch;
    }
    return emu_texture_create(emu_of(device), &texture);
}

/* The launch's arguments, with handles in place of the addresses of textures. */
static struct device_launch with_textures(struct device *device, const struct device_launch *launch,
    struct arena *arena, struct textures *textures)
{
    struct device_launch with = *launch;
    struct device_arg *args = arena_array(arena, launch->nr_args + 1, sizeof(*args));

    *textures = (struct textures){arena_array(arena, launch->nr_args + 1, sizeof(uint64_t)), 0};
    for (unsigned i = 0; i < launch->nr_args; i++) {
        args[i] = launch->args[i];
        if (args[i].kind == ARG_TEXTURE)
            args[i].address = textures->handles[textures->nr++] = make_texture(device, &args[i]);
    }
    with.args = args;
    return with;
}

static void drop_textures(struct device *device, const struct textures *textures)
{
    for (unsigned i = 0; i < textures->nr; i++)
        emu_texture_destroy(emu_of(device), textures->handles[i]);
}

/* Check and pack a launch. False: the verdict says why it cannot start. */
static bool prepare(struct device *device, const struct device_module *module,
    const struct device_launch *launch, struct arena *arena, struct emu_launch *prepared,
    struct textures *textures, struct device_result *result)
{
    const struct launch_config *c = launch->config;
    const uint32_t *bytes_each, *offsets;
    uint32_t total = 0;
    unsigned nr_params;
    void *packed;

    *textures = (struct textures){0};

    if (!launch_fits(device->chip, launch, result))
        return false;
    if (!emu_params(
            module_of(module), launch->facts->lowered, &nr_params, &bytes_each, &offsets, &total))
        return refuse(result, launch, "the compiled code has no such kernel");
    packed = arena_alloc(arena, total + 8);
    const struct device_launch with = with_textures(device, launch, arena, textures);

    if (!device_pack(&with, nr_params, bytes_each, offsets, packed, total, result) ||
        !fill_symbols(device, module, launch, result)) {
        drop_textures(device, textures);
        return false;
    }
    *prepared = (struct emu_launch){
        .kernel = launch->facts->lowered,
        .grid = {c->grid[0], c->grid[1], c->grid[2]},
        .block = {c->block[0], c->block[1], c->block[2]},
        .smem_bytes = c->smem_bytes,
        .params = packed,
        .params_bytes = total,
        .registers = launch->facts->registers,
        .spill_bytes = launch->facts->spill_store_bytes + launch->facts->spill_load_bytes,
        .machine_insts = launch->facts->machine_insts,
        .serial_products = launch->facts->serial_products,
        .step_limit = launch->step_limit,
        .ends_ns = device->ends_ns,
        .seed = launch->seed,
        .strict_races = launch->strict_races,
        .poison = launch->poison,
        .blocks = launch->blocks,
        .nr_blocks = launch->nr_blocks,
    };
    if (c->cluster[0] * c->cluster[1] * c->cluster[2] > 1)
        memcpy(prepared->cluster, c->cluster, sizeof(prepared->cluster));
    return true;
}

static void want_findings(const struct device_launch *launch, struct emu_launch *prepared)
{
    const unsigned checks = launch->checks;

    prepared->find_races = checks >> DEVICE_CHECK_RACE & 1;
    prepared->find_uninit = checks >> DEVICE_CHECK_INIT & 1;
    prepared->find_sync = checks >> DEVICE_CHECK_SYNC & 1;
    prepared->find_leaks = checks >> DEVICE_CHECK_LEAK & 1;
    prepared->max_reports = launch->max_findings ? launch->max_findings : 100;
}

static void take_findings(const struct device_launch *launch, const struct emu_result *ran)
{
    struct device_findings *findings = launch->findings;

    for (unsigned i = 0; i < ran->nr_reports; i++) {
        const struct emu_report *r = &ran->reports[i];
        struct device_finding f = {.check = (enum device_check)r->check,
            .line = r->line,
            .times = r->times,
            .kernel = launch->config->kernel};
        memcpy(f.text, r->text, sizeof(f.text));
        device_findings_add(findings, &f);
    }
    for (unsigned i = 0; i < NR_EMU_CHECKS; i++)
        findings->nr_more += ran->nr_more[i];
    if (ran->printed)
        str_add(&findings->printed, ran->printed);
    findings->print_cut |= ran->print_cut;
}

static bool emu_device_launch(struct device *device, struct device_module *module,
    const struct device_launch *launch, struct device_result *result, struct err *err)
{
    struct arena *arena = arena_create();
    struct emu_result ran = {0};
    struct emu_launch prepared;
    struct textures textures;
    bool ok = true;

    if (prepare(device, module, launch, arena, &prepared, &textures, result)) {
        prepared.find_races = prepared.find_uninit = prepared.find_sync = launch->sanitize;
        prepared.find_uninit &= !launch->lenient_init;
        if (launch->findings)
            want_findings(launch, &prepared);
        ok = emu_launch(emu_of(device), module_of(module), &prepared, arena, &ran, err);
        drop_textures(device, &textures);
        if (ok)
            take_result(result, &ran);
        if (ok && result->verdict == VERDICT_OK)
            keep_symbols(device, module, launch);
        if (ok && launch->findings)
            take_findings(launch, &ran);
    }
    arena_destroy(arena);
    return ok;
}

static uint64_t nr_blocks(const struct emu_launch *launch)
{
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

/* How many blocks to run, from the cost of a few of them; 0: all. All of them where that is cheap.
 * Else as many as the budget buys; but at least two sets of blocks that share an SM, where that is
 * affordable, since caches serve neighbours. */
static uint64_t affordable_blocks(const struct chip *chip, const struct emu_launch *launch,
    const struct kernel_facts *facts, const struct emu_result *probe)
{
    unsigned threads = launch->block[0] * launch->block[1] * launch->block[2];
    struct occupancy occ = chip_occupancy(
        chip, threads, facts->registers, launch->smem_bytes + facts->smem_static_bytes);
    uint64_t blocks = nr_blocks(launch);
    double each = (double)probe->thread_insts / PROBE_BLOCKS, nr;

    if (each < 1)
        each = 1;
    if (each * (double)blocks <= measure_budget)
        return 0;
    nr = measure_budget / each;
    if (nr < 2.0 * occ.blocks && 2.0 * occ.blocks * each <= measure_budget_most)
        nr = 2.0 * occ.blocks;
    if (nr < 4)
        nr = 4;
    return nr >= (double)blocks ? 0 : (uint64_t)nr;
}

/* The same for blocks so costly that PROBE_BLOCKS of them are too many; 0: they are not. */
static uint64_t few_blocks(const struct emu_result *one)
{
    const double nr = measure_budget_most / ((double)one->thread_insts + 1);

    return nr >= PROBE_BLOCKS ? 0 : nr < LEAST_BLOCKS ? LEAST_BLOCKS : (uint64_t)nr;
}

static bool probe(struct device *device, struct device_module *module, struct emu_launch *launch,
    uint64_t nr, struct arena *arena, struct emu_result *ran, struct err *err)
{
    launch->sample_blocks = nr;
    launch->probe = true;
    memset(ran, 0, sizeof(*ran));
    return emu_launch(emu_of(device), module_of(module), launch, arena, ran, err);
}

/* Runs one launch with counters on. Small grids run whole. Of larger grids one block and then a few
 * run first, to learn the cost of a block. It is harmless that these blocks run twice: nobody reads
 * the outputs of a measured run on the emulator, and where blocks read what others wrote, a probe
 * leaves nothing behind. */
static bool measure_launch(struct device *device, struct device_module *module,
    struct emu_launch *launch, const struct kernel_facts *facts, uint64_t sample_blocks,
    struct arena *arena, struct emu_result *ran, struct err *err)
{
    struct emu *emu = emu_of(device);

    launch->sample_blocks = sample_blocks;
    if (launch->step_limit == 0)
        launch->step_limit = measure_step_limit;
    if (sample_blocks == 0 && nr_blocks(launch) > PROBE_BLOCKS) {
        uint64_t nr;

        if (!probe(device, module, launch, 1, arena, ran, err))
            return false;
        nr = few_blocks(ran);
        if (nr == 0 && ran->verdict == VERDICT_OK) {
            if (!probe(device, module, launch, PROBE_BLOCKS, arena, ran, err))
                return false;
            nr = affordable_blocks(device->chip, launch, facts, ran);
        }
        if (ran->verdict != VERDICT_OK)
            return true;
        launch->sample_blocks = nr;
    }
    if (launch->sample_blocks >= nr_blocks(launch))
        launch->sample_blocks = 0;
    launch->count = true;
    launch->probe = false;
    memset(ran, 0, sizeof(*ran));
    return emu_launch(emu, module_of(module), launch, arena, ran, err);
}

/* Launches whose models are kept until it is known which cures are asked for: traces are large. Of
 * more launches all cures are simulated. */
enum { MOST_MODELS = 8 };

struct models {
    struct emu_model *of[MOST_MODELS]; /* by launch; NULL: nothing to ask */
    bool kept;
};

/* Nobody reads the outputs of a measured run; only a later launch may, to find its way. */
static bool is_idle(
    const struct device_module *module, const struct device_launch *launches, unsigned nr)
{
    for (unsigned i = 0; i < nr; i++)
        if (!emu_oblivious(module_of(module), launches[i].facts->lowered))
            return false;
    return true;
}

static bool measure_one(struct device *device, struct device_module *module,
    const struct device_measure *measure, unsigned i, struct models *models, struct arena *arena,
    struct profile *profile, struct device_result *result, struct err *err)
{
    const struct device_launch *launch = &measure->launches[i];
    struct emu_result ran = {0};
    struct emu_launch prepared;
    struct textures textures;
    uint64_t insts = result->thread_insts;

    if (!prepare(device, module, launch, arena, &prepared, &textures, result))
        return true;
    prepared.idle = is_idle(module, launch, measure->nr_launches - i);
    prepared.warm = i > 0;
    prepared.quick_cures = measure->quick_cures;
    prepared.keep_model = models->kept;
    const bool ok = measure_launch(
        device, module, &prepared, launch->facts, measure->sample_blocks, arena, &ran, err);

    drop_textures(device, &textures);
    if (models->kept)
        models->of[i] = ran.model;
    if (!ok)
        return false;
    take_result(result, &ran);
    if (ran.verdict != VERDICT_OK)
        return true;
    keep_symbols(device, module, launch);
    result->thread_insts += insts;
    profile->launches[i] = ran.counters;
    profile->configs[i] = *launch->config;
    return true;
}

static void add_cures(const struct device_measure *measure, const struct models *models,
    struct arena *arena, struct profile *profile)
{
    const uint32_t wanted = measure->wanted(measure->owner);

    for (unsigned i = 0; i < measure->nr_launches; i++)
        if (models->of[i])
            emu_cures(models->of[i], wanted, &profile->launches[i]);
    profile_sum(profile, arena);
}

static bool emu_device_measure(struct device *device, struct device_module *module,
    const struct device_measure *measure, struct arena *arena, struct profile *profile,
    struct device_result *result, struct err *err)
{
    struct models models = {.kept = measure->wanted && measure->nr_launches <= MOST_MODELS};
    bool ok = true;

    profile->nr_launches = measure->nr_launches;
    profile->launches = arena_array(arena, measure->nr_launches, sizeof(*profile->launches));
    profile->configs = arena_array(arena, measure->nr_launches, sizeof(*profile->configs));
    for (unsigned i = 0; ok && result->verdict == VERDICT_OK && i < measure->nr_launches; i++)
        ok = measure_one(device, module, measure, i, &models, arena, profile, result, err);
    if (ok && result->verdict == VERDICT_OK) {
        profile_sum(profile, arena);
        if (models.kept)
            add_cures(measure, &models, arena, profile);
    }
    for (unsigned i = 0; i < MOST_MODELS; i++)
        emu_model_destroy(models.of[i]);
    return ok;
}

static const struct device_ops ops = {
    .name = "emu",
    .time_from = PROV_MODELLED,
    .catches_stray = true,
    .destroy = emu_device_destroy,
    .load = emu_device_load,
    .unload = emu_device_unload,
    .reset = emu_device_reset,
    .alloc = emu_device_alloc,
    .free = emu_device_free,
    .write = emu_device_write,
    .read = emu_device_read,
    .fill = emu_device_fill,
    .repeat = emu_device_repeat,
    .unwritten = emu_device_unwritten,
    .launch = emu_device_launch,
    .measure = emu_device_measure,
};

struct device *device_emu_create(const struct chip *chip, unsigned nr_threads, struct err *err)
{
    struct device_emu *device;
    struct emu *emu = emu_create(chip, nr_threads);

    if (emu == NULL) {
        err_set(err, "the emulator could not be made");
        return NULL;
    }
    device = xcalloc(1, sizeof(*device));
    device->base.ops = &ops;
    device->base.chip = chip;
    device->emu = emu;
    return &device->base;
}

void device_emu_interrupt(void)
{
    emu_interrupt();
}

void device_emu_go_on(void)
{
    emu_go_on();
}
