/* Owns the emulator object and its modules: memory for callers, loading, launching. */
#include "emu/emu.h"

#include "base/mem.h"
#include "emu/decode/decode.h"
#include "emu/exec/launch.h"
#include "emu/exec/texture.h"
#include "emu/state/memory.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 256, BARRIER_BYTES = 64 };

struct emu {
    const struct chip *chip;
    unsigned nr_threads;
    struct emu_memory memory;
    struct mem_buffer *params, *barrier; /* barrier: the grid's, for cooperative groups */
    struct texture_table textures;
};

struct module_kernel {
    const struct ptx_func *func;
    struct program *program; /* NULL: problem says why */
    struct decode_problem problem;
    uint32_t *param_bytes, *param_offsets;
};

struct emu_module {
    struct arena *arena;
    struct ptx_module *ptx;
    uint64_t *addresses; /* of ptx->globals */
    uint8_t **images;    /* their first contents; NULL for constants */
    struct module_kernel *kernels;
    uint32_t nr_kernels;
};

struct emu *emu_create(const struct chip *chip, unsigned nr_threads)
{
    struct emu *emu = xcalloc(1, sizeof(*emu));
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    emu->chip = chip;
    emu->nr_threads = nr_threads ? nr_threads : cores > 0 ? (unsigned)cores : 1;
    emu->nr_threads = emu->nr_threads < MAX_THREADS ? emu->nr_threads : MAX_THREADS;
    memory_init(&emu->memory, chip->dram_bytes);
    emu->memory.textures = &emu->textures;
    struct err err;
    emu->params = memory_alloc(&emu->memory, LAUNCH_PARAM_BYTES + 4, "the kernel parameters", &err);
    emu->barrier = memory_alloc(&emu->memory, BARRIER_BYTES, "the grid's barrier", &err);
    if (!emu->params || !emu->barrier)
        mem_die(LAUNCH_PARAM_BYTES + BARRIER_BYTES);
    emu->params->all_init = emu->params->constant = true;
    emu->barrier->all_init = true;
    return emu;
}

uint64_t emu_texture_create(struct emu *emu, const struct emu_texture *texture)
{
    return texture_add(&emu->textures, texture);
}

void emu_texture_destroy(struct emu *emu, uint64_t handle)
{
    texture_remove(&emu->textures, handle);
}

bool emu_is_texture(const struct emu *emu, uint64_t handle)
{
    return texture_find(&emu->textures, handle) != NULL;
}

void emu_destroy(struct emu *emu)
{
    if (!emu)
        return;
    memory_finish(&emu->memory);
    free(emu->textures.textures);
    free(emu);
}

uint64_t emu_alloc(struct emu *emu, uint64_t bytes, const char *name, struct err *err)
{
    struct mem_buffer *buffer = memory_reserve(&emu->memory, bytes, name, err);
    return buffer ? buffer->base : 0;
}

uint64_t emu_alloc_host(struct emu *emu, uint64_t bytes, const char *name, struct err *err)
{
    struct mem_buffer *buffer = memory_alloc_host(&emu->memory, bytes, name, err);
    return buffer ? buffer->base : 0;
}

bool emu_share(struct emu *emu, void *host, uint64_t bytes, const char *name, struct err *err)
{
    return memory_share(&emu->memory, host, bytes, name, err) != NULL;
}

void emu_free(struct emu *emu, uint64_t address)
{
    memory_free(&emu->memory, address);
}

static struct mem_buffer *range(
    struct emu *emu, uint64_t address, uint64_t nr, const char *what, struct err *err)
{
    struct mem_buffer *buffer = memory_find(&emu->memory, address, nr);
    if (!buffer)
        err_set(err, "%s of %llu bytes at 0x%llx: not within one buffer of the emulator", what,
            (unsigned long long)nr, (unsigned long long)address);
    return buffer;
}

/* The bytes around the nr ones that are about to be written are poison by then. */
static void before_write(struct mem_buffer *buffer, uint64_t nr)
{
    if (nr < buffer->bytes)
        memory_settle(buffer);
    else if (buffer->pending)
        memset(buffer->host + buffer->bytes, MEMORY_POISON, MEMORY_SLACK);
}

bool emu_write(struct emu *emu, uint64_t address, const void *bytes, uint64_t nr, struct err *err)
{
    struct mem_buffer *buffer = range(emu, address, nr, "write", err);
    if (!buffer)
        return false;
    before_write(buffer, nr);
    if (nr)
        memcpy(buffer->host + (address - buffer->base), bytes, nr);
    memory_set_init(buffer, address - buffer->base, nr, true);
    return true;
}

bool emu_repeat(struct emu *emu, uint64_t address, uint64_t nr, const void *bytes, uint64_t period,
    struct err *err)
{
    struct mem_buffer *buffer = range(emu, address, nr, "repeat", err);
    if (!buffer)
        return false;
    before_write(buffer, nr);
    memory_repeat(buffer, address - buffer->base, nr, bytes, period);
    return true;
}

bool emu_read(struct emu *emu, uint64_t address, void *bytes, uint64_t nr, struct err *err)
{
    struct mem_buffer *buffer = range(emu, address, nr, "read", err);
    if (buffer && buffer->pending)
        memset(bytes, MEMORY_POISON, nr);
    else if (buffer && nr)
        memcpy(bytes, buffer->host + (address - buffer->base), nr);
    return buffer != NULL;
}

bool emu_fill(
    struct emu *emu, uint64_t address, uint8_t byte, uint64_t nr, bool initialised, struct err *err)
{
    struct mem_buffer *buffer = range(emu, address, nr, "fill", err);
    if (!buffer)
        return false;
    if (buffer->fresh && byte == MEMORY_POISON && !initialised)
        return true;
    before_write(buffer, nr);
    memory_fill(buffer, address - buffer->base, nr, byte);
    memory_set_init(buffer, address - buffer->base, nr, initialised);
    return true;
}

uint64_t emu_unwritten(
    struct emu *emu, uint64_t address, uint64_t nr, unsigned each, uint64_t *first)
{
    const struct mem_buffer *buffer = memory_find(&emu->memory, address, nr * each);
    uint64_t nr_unwritten = 0;

    for (uint64_t i = 0; buffer && !buffer->all_init && i < nr; i++) {
        const uint64_t at = address - buffer->base + i * each;
        unsigned written = 0;
        for (unsigned b = 0; b < each && !written; b++)
            written = memory_is_init(buffer, at + b, 1);
        if (!written && nr_unwritten++ == 0)
            *first = i;
    }
    return nr_unwritten;
}

bool emu_stored(const struct emu *emu, uint64_t address)
{
    const struct mem_buffer *buffer = memory_find(&emu->memory, address, 1);

    return buffer && buffer->stored;
}

/* --- modules --- */

static void keep_images(struct emu *emu, struct emu_module *m)
{
    m->images = arena_array(m->arena, m->ptx->nr_globals + 1, sizeof(*m->images));
    for (uint32_t i = 0; i < m->ptx->nr_globals; i++) {
        const struct mem_buffer *b = memory_find(&emu->memory, m->addresses[i], 0);

        if (b->constant)
            continue;
        m->images[i] = arena_alloc(m->arena, b->bytes + 1);
        memcpy(m->images[i], b->host, b->bytes);
    }
}

/* A module's variables are whole in the host's memory, and their first contents as well; several
 * modules and processes have theirs at a time. */
static bool globals_fit(const struct emu *emu, const struct ptx_module *ptx, struct err *err)
{
    const uint64_t most = emu->memory.host_limit / 16;
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < ptx->nr_globals; i++) {
        bytes += ptx->globals[i]->bytes < most ? ptx->globals[i]->bytes : most + 1;
        if (bytes > most)
            return err_set(err,
                "out of host memory: the variables of the code, such as %s, take more than the "
                "%llu "
                "MiB that they may",
                ptx->globals[i]->name, (unsigned long long)(most >> 20));
    }
    return true;
}

static bool place_globals(struct emu *emu, struct emu_module *m, struct err *err)
{
    const struct ptx_module *ptx = m->ptx;

    if (!globals_fit(emu, ptx, err))
        return false;
    m->addresses = arena_array(m->arena, ptx->nr_globals + 1, sizeof(*m->addresses));
    for (uint32_t i = 0; i < ptx->nr_globals; i++) {
        const struct ptx_symbol *s = ptx->globals[i];
        struct mem_buffer *b = s->managed ? memory_alloc_host(&emu->memory, s->bytes, s->name, err)
                                          : memory_alloc(&emu->memory, s->bytes, s->name, err);
        if (!b)
            return false;
        m->addresses[i] = b->base;
        memset(b->host, 0, s->bytes);
        if (s->init)
            memcpy(b->host, s->init, s->bytes);
        b->all_init = true;
        b->constant = s->space == PTX_CONST;
    }
    for (uint32_t i = 0; i < ptx->nr_globals; i++) {
        const struct ptx_symbol *s = ptx->globals[i];
        uint8_t *host = memory_find(&emu->memory, m->addresses[i], 0)->host;
        for (uint32_t j = 0; j < s->nr_init_symbols; j++) {
            for (uint32_t g = 0; g < ptx->nr_globals; g++) {
                uint64_t addend;
                if (ptx->globals[g] != s->init_symbol[j])
                    continue;
                memcpy(&addend, host + s->init_at[j], 8);
                addend += m->addresses[g];
                memcpy(host + s->init_at[j], &addend, 8);
            }
        }
    }
    keep_images(emu, m);
    return true;
}

uint64_t emu_reset(struct emu *emu, struct emu_module *m)
{
    uint64_t nr_changed = 0;

    for (uint32_t i = 0; i < m->ptx->nr_globals; i++) {
        struct mem_buffer *b = memory_find(&emu->memory, m->addresses[i], 0);

        if (!m->images[i] || memcmp(b->host, m->images[i], b->bytes) == 0)
            continue;
        for (uint64_t at = 0; at < b->bytes; at++)
            nr_changed += b->host[at] != m->images[i][at];
        memcpy(b->host, m->images[i], b->bytes);
    }
    return nr_changed;
}

static void fill_params(struct emu_module *m, struct module_kernel *k)
{
    k->param_bytes = arena_array(m->arena, k->func->nr_params + 1, sizeof(uint32_t));
    k->param_offsets = arena_array(m->arena, k->func->nr_params + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < k->func->nr_params; i++) {
        k->param_bytes[i] = (uint32_t)k->func->params[i].bytes;
        k->param_offsets[i] = (uint32_t)k->func->params[i].offset;
    }
}

static void decode_all(struct emu *emu, struct emu_module *m)
{
    const struct ptx_module *ptx = m->ptx;
    struct decode_env env = {.module = ptx,
        .param_address = emu->params->base,
        .symbols = ptx->globals,
        .addresses = m->addresses,
        .nr_symbols = ptx->nr_globals};
    m->kernels = arena_array(m->arena, ptx->nr_funcs + 1, sizeof(*m->kernels));
    for (uint32_t i = 0; i < ptx->nr_funcs; i++) {
        if (!ptx->funcs[i]->is_entry || (ptx->funcs[i]->external && !ptx->funcs[i]->problem))
            continue;
        struct module_kernel *k = &m->kernels[m->nr_kernels++];
        *k = (struct module_kernel){.func = ptx->funcs[i]};
        k->program = decode_kernel(k->func, &env, m->arena, &k->problem);
        fill_params(m, k);
    }
}

void emu_unload(struct emu *emu, struct emu_module *module)
{
    if (!module)
        return;
    for (uint32_t i = 0; module->addresses && i < module->ptx->nr_globals; i++)
        memory_free(&emu->memory, module->addresses[i]);
    memory_sweep(&emu->memory, true);
    ptx_destroy(module->ptx);
    arena_destroy(module->arena);
    free(module);
}

bool emu_load(struct emu *emu, const char *ptx, size_t ptx_bytes, struct emu_module **module,
    struct emu_result *result, struct err *err)
{
    struct ptx_problem problem = {0};
    *module = NULL;
    *result = (struct emu_result){.verdict = VERDICT_OK};
    struct ptx_module *parsed = ptx_parse(ptx, ptx_bytes, &problem);
    if (!parsed) {
        result->verdict = problem.unsupported ? VERDICT_UNSUPPORTED : VERDICT_NO_COMPILE;
        result->line = problem.line;
        snprintf(result->text, sizeof(result->text), "%s: %s (line %u of the PTX)",
            problem.unsupported ? "unsupported" : "bad PTX", problem.text, problem.text_line);
        return true;
    }
    struct emu_module *m = xcalloc(1, sizeof(*m));
    m->arena = arena_create();
    m->ptx = parsed;
    bool placed = place_globals(emu, m, err);
    if (!placed) {
        emu_unload(emu, m);
        return false;
    }
    decode_all(emu, m);
    *module = m;
    return true;
}

static const struct module_kernel *find_kernel(const struct emu_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->nr_kernels; i++) {
        if (strcmp(m->kernels[i].func->name, name) == 0)
            return &m->kernels[i];
    }
    return NULL;
}

bool emu_params(const struct emu_module *module, const char *kernel, unsigned *nr,
    const uint32_t **bytes_each, const uint32_t **offsets, uint32_t *total_bytes)
{
    const struct module_kernel *k = find_kernel(module, kernel);
    if (!k)
        return false;
    *nr = k->func->nr_params;
    *bytes_each = k->param_bytes;
    *offsets = k->param_offsets;
    *total_bytes = k->func->param_bytes;
    return true;
}

bool emu_oblivious(const struct emu_module *module, const char *kernel)
{
    const struct module_kernel *k = find_kernel(module, kernel);
    return k && k->program && k->program->oblivious;
}

bool emu_kernel(const struct emu_module *module, unsigned nr, struct emu_kernel *kernel)
{
    if (nr >= module->nr_kernels)
        return false;
    const struct ptx_func *f = module->kernels[nr].func;
    const uint32_t *most = f->reqntid[0] ? f->reqntid : f->maxntid;
    *kernel = (struct emu_kernel){.name = f->name,
        .smem_static_bytes = f->shared_static_bytes,
        .local_bytes = f->local_bytes,
        .params_bytes = f->param_bytes,
        .unsupported = module->kernels[nr].program ? NULL : module->kernels[nr].problem.text};
    if (most[0])
        kernel->max_threads = most[0] * (most[1] ? most[1] : 1) * (most[2] ? most[2] : 1);
    memcpy(kernel->cluster, f->reqnctapercluster, sizeof(kernel->cluster));
    return true;
}

bool emu_global(const struct emu_module *module, unsigned nr, struct emu_global *global)
{
    if (nr >= module->ptx->nr_globals)
        return false;
    const struct ptx_symbol *s = module->ptx->globals[nr];
    *global = (struct emu_global){.name = s->name,
        .address = module->addresses[nr],
        .bytes = s->bytes,
        .constant = s->space == PTX_CONST};
    return true;
}

/* The shape of the launch's clusters. */
static void set_cluster(
    struct emu_run *run, const struct ptx_func *f, const struct emu_launch *launch)
{
    run->cluster_blocks = 1;
    for (int i = 0; i < 3; i++) {
        const uint32_t said = launch->cluster[i] ? launch->cluster[i] : f->reqnctapercluster[i];
        run->explicit_cluster |= said != 0;
        run->cluster[i] = said ? said : 1;
        run->cluster_blocks *= run->cluster[i];
    }
}

bool emu_launch(struct emu *emu, const struct emu_module *module, const struct emu_launch *launch,
    struct arena *arena, struct emu_result *result, struct err *err)
{
    const struct module_kernel *k = find_kernel(module, launch->kernel);
    if (!k)
        return err_set(err, "no kernel named %s in the module", launch->kernel);
    *result = (struct emu_result){.verdict = VERDICT_OK};
    if (launch_interrupted())
        return err_set(err, "interrupted");
    if (!k->program) {
        result->verdict = VERDICT_UNSUPPORTED;
        result->line = k->problem.line;
        snprintf(result->text, sizeof(result->text), "unsupported: %s", k->problem.text);
        return true;
    }
    if (!launch_check(emu->chip, k->program, launch, result))
        return true;
    if (k->func->param_bytes)
        memcpy(emu->params->host, launch->params, k->func->param_bytes);
    const uint32_t *g = launch->grid, *b = launch->block;
    const bool idle = launch->idle && k->program->oblivious;
    struct emu_run run = {.chip = emu->chip,
        .program = idle ? decode_idle(k->program, arena) : k->program,
        .launch = launch,
        .memory = &emu->memory,
        .nr_threads = b[0] * b[1] * b[2],
        .shared_bytes = k->program->shared_dynamic_offset + launch->smem_bytes,
        .nr_blocks = (uint64_t)g[0] * g[1] * g[2],
        .grid_barrier = emu->barrier->base};
    set_cluster(&run, k->func, launch);
    memset(emu->barrier->host, 0, BARRIER_BYTES);
    /* RESERVED_SMEM_BYTES follow the kernel's own shared memory; on the chip they precede it. Only
     * offsets show the difference. */
    if (k->program->uses_reserved)
        run.shared_bytes = (run.shared_bytes + 15) / 16 * 16 + RESERVED_SMEM_BYTES;
    run.nr_warps = (run.nr_threads + WARP_LANES - 1) / WARP_LANES;
    for (size_t i = 0; i < emu->memory.nr; i++) {
        memory_settle(emu->memory.buffers[i]);
        emu->memory.buffers[i]->fresh = false;
    }
    const bool undo = launch->probe && k->program->learns;
    size_t nr_saved = 0;
    struct saved_buffer *saved = undo ? memory_save(&emu->memory, &nr_saved) : NULL;
    launch_run(&run, emu->nr_threads, arena, result);
    if (undo)
        memory_restore(&emu->memory, saved, nr_saved);
    return !launch_interrupted() || err_set(err, "interrupted");
}

void emu_interrupt(void)
{
    launch_interrupt();
}

void emu_go_on(void)
{
    launch_go_on();
}
