/* Measures the emulator: runs kernel files, each a complete task, and prints one line for each.
 *
 *     emulator_bench [--isa base|avx2|avx512] [--threads N] [--sanitize] [--no-count] [--time]
 *                    [--seconds S] [--blocks N] [--cache DIR] [--counters] KERNEL.cu...
 *
 * The line: kernel, thread instructions, CPU time of the best run in ns, that of the thread that
 * took longest (the two differ with several threads), wall time of the best run, CPU time of the
 * best load (parsing, verifying, decoding), bytes of PTX, hash of the outputs. Times are of
 * emu_launch as a whole: everything that counting or sanitizing adds is in them, and with --time
 * the time model. With --seconds 0 each kernel runs once; with --blocks only about N blocks of each
 * launch run. --counters prints every counted and modelled value instead of times: equal texts
 * before and after a change mean that the change counts the same. */
#include "base/hash.h"
#include "base/mem.h"
#include "compile/compile.h"
#include "core/inputs.h"
#include "device/run.h"
#include "emu/emu.h"
#include "emu/sem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct settings {
    unsigned nr_threads;
    bool sanitize, count, time, counters;
    double seconds;  /* of CPU time per kernel */
    uint64_t blocks; /* 0: all */
    const char *cache_dir;
};

struct bench {
    const struct settings *settings;
    struct arena *arena;
    struct task task;
    struct env env;
    struct emu *emu;
    struct compilation compilation;
    struct emu_module *module;
    struct run_buffers buffers;
    void **inputs; /* per buffer; NULL: not an input */
    struct emu_launch *launches;
    unsigned nr_launches;
};

struct times {
    uint64_t insts;
    double cpu_ns, longest_ns, wall_ns, load_ns;
};

static double now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static bool compile(struct bench *b, struct err *err)
{
    const struct plan *plan = &b->task.plan;
    const struct compiler_options options = {
        .arch = chip_find("h100")->arch, .cache_dir = b->settings->cache_dir};
    struct compiler *compiler = compiler_create(&options, err);
    const char **kernels = arena_array(b->arena, plan->nr_launches, sizeof(*kernels));
    const char *text = NULL;
    enum verdict verdict = VERDICT_OK;
    unsigned line = 0;
    char *code;
    bool ok;

    if (!compiler)
        return false;
    for (unsigned i = 0; i < plan->nr_launches; i++)
        kernels[i] = plan->launches[i].kernel;
    code = task_code(b->task.source, b->task.source_bytes);
    ok = compile_source(compiler,
        &(struct compile_input){.source = code,
            .name = b->task.path,
            .kernels = kernels,
            .nr_kernels = plan->nr_launches,
            .tunes = plan->tunes,
            .nr_tunes = plan->nr_tunes},
        b->arena, &b->compilation, &verdict, &line, &text, err);
    free(code);
    compiler_destroy(compiler);
    if (ok && verdict != VERDICT_OK)
        return err_set(err, "line %u: %s", line, text);
    return ok;
}

static bool load(struct bench *b, struct err *err)
{
    struct emu_result result;

    if (!emu_load(b->emu, b->compilation.ptx, b->compilation.ptx_bytes, &b->module, &result, err))
        return false;
    return b->module || err_set(err, "%s: %s", verdict_name(result.verdict), result.text);
}

static bool fill(struct bench *b, struct err *err)
{
    const struct plan *plan = &b->task.plan;
    unsigned nr = b->task.nr_arrays + plan->nr_temps;

    b->buffers.buffers = arena_array(b->arena, nr + 1, sizeof(*b->buffers.buffers));
    b->inputs = arena_array(b->arena, nr + 1, sizeof(*b->inputs));
    b->buffers.nr = nr;
    for (unsigned i = 0; i < nr; i++) {
        struct run_buffer *buffer = &b->buffers.buffers[i];
        const struct task_array *array =
            i < b->task.nr_arrays ? &b->task.arrays[i] : &plan->temps[i - b->task.nr_arrays];
        buffer->array = array;
        if (!array_elems(array, &b->env, &buffer->nr, err))
            return false;
        buffer->bytes = buffer->nr * elem_bytes(array->elem);
        buffer->address = emu_alloc(b->emu, buffer->bytes, array->name, err);
        if (!buffer->address)
            return false;
        if (array->role != ROLE_IN && array->role != ROLE_INOUT)
            continue;
        b->inputs[i] = arena_alloc(b->arena, buffer->bytes + 1);
        if (!inputs_fill(array, &b->env, b->task.path, 1 + i, 1, b->inputs[i], buffer->nr, err))
            return false;
    }
    return true;
}

/* Every run starts from the same memory. */
static bool reset(struct bench *b, struct err *err)
{
    for (unsigned i = 0; i < b->buffers.nr; i++) {
        const struct run_buffer *buffer = &b->buffers.buffers[i];
        bool ok = b->inputs[i]
                      ? emu_write(b->emu, buffer->address, b->inputs[i], buffer->bytes, err)
                      : emu_fill(b->emu, buffer->address, 0xAA, buffer->bytes, false, err);
        if (!ok)
            return false;
    }
    return true;
}

static bool prepare_launch(
    struct bench *b, const struct device_launch *bound, struct emu_launch *launch, struct err *err)
{
    const struct launch_config *c = bound->config;
    const uint32_t *bytes_each, *offsets;
    uint32_t total = 0;
    unsigned nr_params;
    struct device_result result = {0};
    void *packed;

    if (!emu_params(b->module, bound->facts->lowered, &nr_params, &bytes_each, &offsets, &total))
        return err_set(err, "no kernel %s", bound->facts->lowered);
    packed = arena_alloc(b->arena, total + 8);
    if (!device_pack(bound, nr_params, bytes_each, offsets, packed, total, &result))
        return err_set(err, "%s", result.text);
    *launch = (struct emu_launch){.kernel = bound->facts->lowered,
        .grid = {c->grid[0], c->grid[1], c->grid[2]},
        .block = {c->block[0], c->block[1], c->block[2]},
        .smem_bytes = c->smem_bytes,
        .params = packed,
        .params_bytes = total,
        .registers = bound->facts->registers,
        .count = b->settings->count,
        .untimed = !b->settings->time,
        .find_races = b->settings->sanitize,
        .find_uninit = b->settings->sanitize,
        .find_sync = b->settings->sanitize,
        .find_leaks = b->settings->sanitize,
        .sample_blocks = b->settings->blocks};
    return true;
}

static bool prepare(struct bench *b, struct err *err)
{
    const struct plan *plan = &b->task.plan;
    struct device_launch *bound;
    struct device_result result;

    if (!run_bind(
            &b->task, plan, &b->compilation, &b->env, &b->buffers, b->arena, &bound, &result, err))
        return false;
    if (result.verdict != VERDICT_OK)
        return err_set(err, "%s", result.text);
    b->nr_launches = plan->nr_launches;
    b->launches = arena_array(b->arena, plan->nr_launches, sizeof(*b->launches));
    for (unsigned i = 0; i < plan->nr_launches; i++) {
        if (!prepare_launch(b, &bound[i], &b->launches[i], err))
            return false;
    }
    return true;
}

static void print_counters(const struct counters *c)
{
    for (unsigned m = 0; m < NR_METRICS; m++) {
        if (counters_has(c, m))
            printf("  %s %.17g %s\n", metric_name(m), c->metric[m].value,
                provenance_name(c->metric[m].from));
    }
    for (unsigned i = 0; i < c->nr_lines; i++) {
        const struct line_cost *l = &c->lines[i];
        printf("  line %u: %.17g %.17g | %.17g %.17g %.17g %.17g %u | %.17g %.17g %.17g | %.17g "
               "%.17g %.17g | %.17g %.17g | %.17g %.17g %.17g %.17g | %.17g\n",
            l->line, l->warp_inst, l->thread_inst, l->global_requests, l->global_sectors,
            l->global_sectors_ideal, l->global_bytes, l->access_bytes, l->shared_requests,
            l->shared_wavefronts, l->shared_wavefronts_ideal, l->local_requests, l->atomics,
            l->barriers, l->branches, l->branches_divergent, l->fp64_inst, l->special_inst,
            l->integer_inst, l->conversion_inst, l->stall_cycles);
    }
}

/* All launches once. */
static bool run(struct bench *b, struct times *times, struct err *err)
{
    *times = (struct times){0};
    for (unsigned i = 0; i < b->nr_launches; i++) {
        struct arena *arena = arena_create();
        struct emu_result result;
        const double cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID), own = now_ns(CLOCK_THREAD_CPUTIME_ID),
                     wall = now_ns(CLOCK_MONOTONIC);
        bool ok = emu_launch(b->emu, b->module, &b->launches[i], arena, &result, err);
        const double cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu,
                     own_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - own, others_ns = cpu_ns - own_ns;
        if (ok && result.verdict != VERDICT_OK)
            ok = err_set(err, "%s: %s", verdict_name(result.verdict), result.text);
        if (ok && b->settings->counters)
            print_counters(&result.counters);
        arena_destroy(arena);
        if (!ok)
            return false;
        times->insts += result.thread_insts;
        times->cpu_ns += cpu_ns;
        times->longest_ns += own_ns > others_ns ? own_ns : others_ns;
        times->wall_ns += now_ns(CLOCK_MONOTONIC) - wall;
    }
    return true;
}

static bool hash_outputs(struct bench *b, uint64_t *hash, struct err *err)
{
    *hash = 0;
    for (unsigned i = 0; i < b->buffers.nr; i++) {
        const struct run_buffer *buffer = &b->buffers.buffers[i];
        void *bytes;
        bool ok;
        if (buffer->array->role == ROLE_IN)
            continue;
        bytes = xmalloc(buffer->bytes + 1);
        ok = emu_read(b->emu, buffer->address, bytes, buffer->bytes, err);
        *hash = hash_bytes(bytes, buffer->bytes, *hash).low;
        free(bytes);
        if (!ok)
            return false;
    }
    return true;
}

/* The best of as many runs as there is time for; the first one warms up. */
static bool measure(struct bench *b, struct times *best, uint64_t *hash, struct err *err)
{
    double spent_ns = 0;

    for (unsigned nr = 0; nr < 2 || spent_ns < 1e9 * b->settings->seconds; nr++) {
        struct times times;
        if (!reset(b, err) || !run(b, &times, err))
            return false;
        if (nr == 0 && !hash_outputs(b, hash, err))
            return false;
        spent_ns += times.cpu_ns;
        if (nr == 0) {
            *best = times;
        } else {
            best->cpu_ns = times.cpu_ns < best->cpu_ns ? times.cpu_ns : best->cpu_ns;
            best->longest_ns =
                times.longest_ns < best->longest_ns ? times.longest_ns : best->longest_ns;
            best->wall_ns = times.wall_ns < best->wall_ns ? times.wall_ns : best->wall_ns;
        }
        if (b->settings->seconds <= 0)
            break;
    }
    return true;
}

static bool measure_load(struct bench *b, double *best_ns, struct err *err)
{
    unsigned nr = b->settings->seconds > 0 ? 5 : 1;

    for (unsigned i = 0; i < nr; i++) {
        const double start = now_ns(CLOCK_THREAD_CPUTIME_ID);
        double ns;
        if (!load(b, err))
            return false;
        ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
        *best_ns = i == 0 || ns < *best_ns ? ns : *best_ns;
        if (i + 1 < nr)
            emu_unload(b->emu, b->module);
    }
    return true;
}

static bool bench_file(const struct settings *settings, const char *path, struct err *err)
{
    struct bench b = {.settings = settings, .arena = arena_create()};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct times best = {0};
    double load_ns = 0;
    uint64_t hash = 0;
    bool ok;

    b.emu = emu_create(chip_find("h100"), settings->nr_threads);
    ok = task_load(&b.task, b.arena, path, err) && compile(&b, err);
    if (ok) {
        b.env = plan_env(b.arena, &b.task.plan, &b.task.timed);
        if (settings->counters)
            printf("%s\n", name);
        ok = fill(&b, err) && measure_load(&b, &load_ns, err) && prepare(&b, err) &&
             measure(&b, &best, &hash, err);
    }
    if (ok && settings->counters)
        printf("  outputs %016" PRIx64 "\n", hash);
    else if (ok)
        printf("%.*s\t%" PRIu64 "\t%.0f\t%.0f\t%.0f\t%.0f\t%zu\t%016" PRIx64 "\n",
            (int)strcspn(name, "."), name, best.insts, best.cpu_ns, best.longest_ns, best.wall_ns,
            load_ns, b.compilation.ptx_bytes, hash);
    fflush(stdout);
    emu_unload(b.emu, b.module);
    emu_destroy(b.emu);
    arena_destroy(b.arena);
    return ok || err_wrap(err, "%s", path);
}

static bool choose_isa(const char *name)
{
    static const char *const names[] = {
        [SEM_BASE] = "base", [SEM_AVX2] = "avx2", [SEM_AVX512] = "avx512"};

    for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
        if (strcmp(names[i], name) == 0)
            return sem_use(i);
    }
    return false;
}

/* Options; the index of the first file, 0 when something is wrong. */
static int parse(int argc, char **argv, struct settings *s)
{
    int i = 1;

    for (; i < argc && argv[i][0] == '-'; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--sanitize") == 0) {
            s->sanitize = true;
            continue;
        }
        if (strcmp(argv[i], "--no-count") == 0) {
            s->count = false;
            continue;
        }
        if (strcmp(argv[i], "--time") == 0) {
            s->time = true;
            continue;
        }
        if (strcmp(argv[i], "--counters") == 0) {
            s->counters = s->time = true;
            s->seconds = 0;
            continue;
        }
        if (strcmp(argv[i], "--isa") == 0) {
            if (!choose_isa(value)) {
                fprintf(stderr, "this machine has no instruction set %s\n", value);
                return 0;
            }
        } else if (strcmp(argv[i], "--threads") == 0) {
            s->nr_threads = (unsigned)atoi(value);
        } else if (strcmp(argv[i], "--seconds") == 0) {
            s->seconds = atof(value);
        } else if (strcmp(argv[i], "--blocks") == 0) {
            s->blocks = (uint64_t)atoll(value);
        } else if (strcmp(argv[i], "--cache") == 0) {
            s->cache_dir = value;
        } else {
            fprintf(stderr, "unknown option %s; see the head of bench.c\n", argv[i]);
            return 0;
        }
        i++;
    }
    return i;
}

int main(int argc, char **argv)
{
    struct settings settings = {.nr_threads = 1, .count = true, .seconds = 0.3};
    int first = parse(argc, argv, &settings), failed = 0;

    for (int i = first; first && i < argc; i++) {
        struct err err = {0};
        if (!bench_file(&settings, argv[i], &err)) {
            fprintf(stderr, "%s\n", err.text);
            failed++;
        }
    }
    return !first || failed ? 1 : 0;
}
