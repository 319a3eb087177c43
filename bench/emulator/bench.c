/* Measures the emulator: runs kernel files, each a complete task, and prints one line for each.
 *
 *     emulator_bench [--isa base|avx2|avx512] [--threads N] [--sanitize] [--no-count] [--time]
 *                    [--seconds S] [--blocks N] [--cache DIR] [--counters] [--scaling ROUNDS]
 *                    KERNEL.cu...
 *
 * The line: kernel, thread instructions, CPU time of the best run in ns, that of the thread that
 * took longest (the two differ with several threads), wall time of the best run, CPU time of the
 * best load (parsing, verifying, decoding), bytes of PTX, hash of the outputs. Times are of
 * emu_launch as a whole: everything that counting or sanitizing adds is in them, and with --time
 * the time model. With --seconds 0 each kernel runs once; with --blocks only about N blocks of each
 * launch run. --counters prints every counted and modelled value instead of times: equal texts
 * before and after a change mean that the change counts the same.
 *
 * With --scaling the line is: kernel, and how many times as fast as one thread are two threads, by
 * CPU time of the longer one and by wall time, and two emulators of one thread each side by side,
 * which is what the machine gives; what share of the latter two threads are, by wall time; and the
 * number of rounds. All three are run in turn and compared within a round, so that what a
 * processor's clock and its neighbours do meanwhile happens to all; medians of the rounds. A round
 * in which the machine's host took processors away (steal in /proc/stat) is done again, up to
 * MOST_TRIES times as often as asked for. */
#include "base/hash.h"
#include "base/mem.h"
#include "compile/compile.h"
#include "core/inputs.h"
#include "device/run.h"
#include "emu/emu.h"
#include "emu/sem/sem.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct settings {
    unsigned nr_threads;
    unsigned nr_rounds; /* of --scaling; 0: times instead */
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

static bool bench_open(struct bench *b, const struct settings *settings, unsigned nr_threads,
    const char *path, double *load_ns, struct err *err)
{
    *b = (struct bench){.settings = settings, .arena = arena_create()};
    b->emu = emu_create(chip_find("h100"), nr_threads);
    if (!task_load(&b->task, b->arena, path, err) || !compile(b, err))
        return false;
    b->env = plan_env(b->arena, &b->task.plan, &b->task.timed);
    return fill(b, err) && measure_load(b, load_ns, err) && prepare(b, err);
}

static void bench_close(struct bench *b)
{
    emu_unload(b->emu, b->module);
    emu_destroy(b->emu);
    arena_destroy(b->arena);
}

/* folder/NAME.cu */
static const char *kernel_name(const char *path, int *len)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

    *len = (int)strcspn(name, ".");
    return name;
}

static bool bench_file(const struct settings *settings, const char *path, struct err *err)
{
    struct bench b;
    int len;
    const char *name = kernel_name(path, &len);
    struct times best = {0};
    double load_ns = 0;
    uint64_t hash = 0;
    bool ok;

    if (settings->counters)
        printf("%.*s.cu\n", len, name);
    ok = bench_open(&b, settings, settings->nr_threads, path, &load_ns, err) &&
         measure(&b, &best, &hash, err);
    if (ok && settings->counters)
        printf("  outputs %016" PRIx64 "\n", hash);
    else if (ok)
        printf("%.*s\t%" PRIu64 "\t%.0f\t%.0f\t%.0f\t%.0f\t%zu\t%016" PRIx64 "\n", len, name,
            best.insts, best.cpu_ns, best.longest_ns, best.wall_ns, load_ns,
            b.compilation.ptx_bytes, hash);
    fflush(stdout);
    bench_close(&b);
    return ok || err_wrap(err, "%s", path);
}

/* ---- --scaling ---- */

struct side {
    struct bench *bench;
    pthread_barrier_t *both;
    struct times times;
    struct err err;
    bool ok;
};

static void *run_side(void *argument)
{
    struct side *side = argument;

    pthread_barrier_wait(side->both);
    side->ok = run(side->bench, &side->times, &side->err);
    return NULL;
}

/* Two emulators at the same time, on a processor each where there are two. */
static bool run_both(struct bench *a, struct bench *b, struct times times[2], struct err *err)
{
    const int cpu = sched_getcpu();
    pthread_barrier_t both;
    struct side sides[2] = {{.bench = a, .both = &both}, {.bench = b, .both = &both}};
    pthread_t thread;
    cpu_set_t others;

    if (pthread_barrier_init(&both, NULL, 2) != 0 ||
        pthread_create(&thread, NULL, run_side, &sides[1]) != 0)
        return err_set(err, "no second thread");
    if (sched_getaffinity(0, sizeof(others), &others) == 0 && CPU_COUNT(&others) > 1 && cpu >= 0) {
        CPU_CLR(cpu, &others);
        pthread_setaffinity_np(thread, sizeof(others), &others);
    }
    run_side(&sides[0]);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&both);
    for (unsigned i = 0; i < 2; i++) {
        if (!sides[i].ok)
            return err_set(err, "%s", sides[i].err.text);
        times[i] = sides[i].times;
    }
    return true;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, unsigned nr)
{
    qsort(values, nr, sizeof(*values), by_value);
    return (values[nr / 2] + values[(nr - 1) / 2]) / 2;
}

enum { LONGER, WALL, SIDES, SHARE, NR_RATIOS };

/* benches: one thread, one thread, two threads. */
static bool scaling_round(struct bench *benches, double ratios[NR_RATIOS], struct err *err)
{
    struct times alone, threads, sides[2];

    for (unsigned i = 0; i < 3; i++) {
        if (!reset(&benches[i], err))
            return false;
    }
    if (!run(&benches[0], &alone, err) || !run(&benches[2], &threads, err) ||
        !reset(&benches[0], err) || !run_both(&benches[0], &benches[1], sides, err))
        return false;
    ratios[LONGER] = alone.longest_ns / threads.longest_ns;
    ratios[WALL] = alone.wall_ns / threads.wall_ns;
    ratios[SIDES] = alone.wall_ns / sides[0].wall_ns + alone.wall_ns / sides[1].wall_ns;
    ratios[SHARE] = ratios[WALL] / ratios[SIDES];
    return true;
}

/* What hosts took from their guests so far, in ticks; 0 where nobody says. */
static unsigned long long stolen(void)
{
    unsigned long long steal = 0;
    FILE *stat = fopen("/proc/stat", "r");

    if (!stat)
        return 0;
    if (fscanf(stat, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) != 1)
        steal = 0;
    fclose(stat);
    return steal;
}

/* Rounds until enough of them were undisturbed; an error when none was. */
static bool scaling_rounds(
    struct bench *benches, unsigned wanted, double **ratios, unsigned *nr, struct err *err)
{
    enum { MOST_TRIES = 10 };
    double round[NR_RATIOS];

    *nr = 0;
    for (unsigned tries = 0; *nr < wanted && tries < MOST_TRIES * wanted; tries++) {
        const unsigned long long before = stolen();

        if (!scaling_round(benches, round, err))
            return false;
        if (stolen() != before)
            continue;
        for (unsigned i = 0; i < NR_RATIOS; i++)
            ratios[i][*nr] = round[i];
        ++*nr;
    }
    return *nr > 0 || err_set(err, "no round in which the host took nothing; try later");
}

static bool scaling_file(const struct settings *settings, const char *path, struct err *err)
{
    int len;
    const char *name = kernel_name(path, &len);
    struct bench benches[3];
    double *ratios[NR_RATIOS], load_ns, warm[NR_RATIOS];
    unsigned nr_open = 0, nr;
    bool ok = true;

    for (unsigned i = 0; i < NR_RATIOS; i++)
        ratios[i] = xcalloc(settings->nr_rounds, sizeof(*ratios[i]));
    for (unsigned i = 0; ok && i < ARRAY_SIZE(benches); i++)
        ok = bench_open(&benches[nr_open++], settings, i < 2 ? 1 : 2, path, &load_ns, err);
    ok = ok && scaling_round(benches, warm, err) &&
         scaling_rounds(benches, settings->nr_rounds, ratios, &nr, err);
    if (ok) {
        printf("%.*s", len, name);
        for (unsigned i = 0; i < NR_RATIOS; i++)
            printf("\t%.3f", median(ratios[i], nr));
        printf("\t%u\n", nr);
    }
    fflush(stdout);
    while (nr_open > 0)
        bench_close(&benches[--nr_open]);
    for (unsigned i = 0; i < NR_RATIOS; i++)
        free(ratios[i]);
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
        } else if (strcmp(argv[i], "--scaling") == 0) {
            s->nr_rounds = (unsigned)atoi(value);
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
        if (!(settings.nr_rounds ? scaling_file : bench_file)(&settings, argv[i], &err)) {
            fprintf(stderr, "%s\n", err.text);
            failed++;
        }
    }
    return !first || failed ? 1 : 0;
}
