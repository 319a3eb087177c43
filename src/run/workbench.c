/* Owns the devices, the compiler and CUTLASS of a process, and the evaluation of one kernel. */
#include "run/workbench.h"

#include "base/file.h"
#include "base/mem.h"
#include "explain/explain.h"
#include "run/cutlass.h"
#include "run/station.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct workbench {
    struct workbench_options options;
    struct device *devices[WORKBENCH_MOST_DEVICES];
    unsigned nr_devices;
    struct compiler *compiler;
    char *cutlass_root; /* NULL: there is none */
};

static bool add_device(struct workbench *bench, const char *name, struct err *err)
{
    struct device_options options = bench->options.device;
    struct device *device;

    if (bench->nr_devices == WORKBENCH_MOST_DEVICES)
        return err_set(err, "more than %d GPUs", WORKBENCH_MOST_DEVICES);
    options.name = name;
    device = device_create(&options, err);
    if (!device)
        return bench->options.gpus ? err_wrap(err, "%s", name) : false;
    bench->devices[bench->nr_devices++] = device;
    if (strcmp(device->chip->name, bench->devices[0]->chip->name) != 0)
        return err_set(err, "--gpus: %s and %s are of different kinds, whose times do not compare",
            bench->devices[0]->chip->name, device->chip->name);
    return true;
}

static bool add_devices(struct workbench *bench, struct err *err)
{
    const char *at = bench->options.gpus;
    char name[32];

    if (!at)
        return add_device(bench, bench->options.device.name, err);
    for (;; at++) { /* digits and commas only: the command line was checked */
        snprintf(name, sizeof(name), "gpu:%lu", strtoul(at, (char **)(uintptr_t)&at, 10));
        if (!add_device(bench, name, err))
            return false;
        if (*at == '\0')
            return true;
    }
}

static bool open_parts(struct workbench *bench, struct err *err)
{
    struct compiler_options options = {.cache_dir = bench->options.cache_dir};

    if (!add_devices(bench, err) ||
        !cutlass_find(bench->options.cutlass_dir, &bench->cutlass_root, err))
        return false;
    options.cutlass_dir = bench->cutlass_root;
    options.arch = workbench_chip(bench)->arch;
    options.by_kernel = bench->devices[0]->ops->catches_stray;
    bench->compiler = compiler_create(&options, err);
    return bench->compiler != NULL;
}

struct workbench *workbench_open(const struct workbench_options *options, struct err *err)
{
    struct workbench *bench = xcalloc(1, sizeof(*bench));

    bench->options = *options;
    if (open_parts(bench, err))
        return bench;
    workbench_close(bench);
    return NULL;
}

void workbench_close(struct workbench *bench)
{
    if (!bench)
        return;
    compiler_destroy(bench->compiler);
    for (unsigned i = 0; i < bench->nr_devices; i++)
        device_destroy(bench->devices[i]);
    free(bench->cutlass_root);
    free(bench);
}

const struct workbench_options *workbench_options(const struct workbench *bench)
{
    return &bench->options;
}

unsigned workbench_nr_devices(const struct workbench *bench)
{
    return bench->nr_devices;
}

struct device *workbench_device(const struct workbench *bench, unsigned i)
{
    return bench->devices[i];
}

const struct chip *workbench_chip(const struct workbench *bench)
{
    return bench->devices[0]->chip;
}

struct compiler *workbench_compiler(const struct workbench *bench)
{
    return bench->compiler;
}

const char *workbench_cutlass(const struct workbench *bench)
{
    return bench->cutlass_root;
}

/* ---- one kernel ---- */

bool workbench_oracle(struct workbench *bench, const struct task *task,
    const struct compilation *original, struct arena *arena, struct compilation *oracle,
    struct err *err)
{
    const struct launch *launch = task->reference;
    struct compile_input input = {.name = file_name(task->path),
        .tunes = task->plan.tunes,
        .nr_tunes = task->plan.nr_tunes,
        .nr_kernels = 1};
    enum verdict verdict = VERDICT_OK;
    unsigned line = 0;
    const char *text = NULL;
    char *code;
    bool ok;

    *oracle = *original;
    if (!launch)
        return true;
    code = task_code(task->source, task->source_bytes);
    input.source = code;
    input.kernels = &launch->kernel;
    ok = compile_source(bench->compiler, &input, arena, oracle, &verdict, &line, &text, err);
    free(code);
    if (ok && verdict != VERDICT_OK)
        return err_set(err, "the reference kernel does not compile: %s", text);
    return ok;
}

bool workbench_measure(
    struct workbench *bench, const struct task *task, struct candidate *c, struct err *err)
{
    struct station station = station_at(bench, 0, task);
    struct compilation oracle = c->compilation;
    bool ok = c->verdict != VERDICT_OK ||
              workbench_oracle(bench, task, &c->compilation, c->arena, &oracle, err);

    station_original(&station, c, &oracle);
    ok = ok && station_check(&station, c, err) && station_profile(&station, c, err) &&
         explain_kernel(workbench_chip(bench), c, err);
    station_finish(&station);
    return ok;
}

bool workbench_time(
    struct workbench *bench, const struct task *task, struct candidate *c, struct err *err)
{
    struct station station = station_at(bench, 0, task);
    struct compilation oracle;
    bool ok = compile_kernel(bench->compiler, c, err);

    oracle = c->compilation;
    station.searches = true; /* no long simulations of what is not asked */
    station.only_times = true;
    station_original(&station, c, &oracle);
    ok = ok && station_profile(&station, c, err);
    station_finish(&station);
    return ok;
}

bool workbench_evaluate(
    struct workbench *bench, const struct task *task, struct candidate *c, struct err *err)
{
    return compile_kernel(bench->compiler, c, err) && workbench_measure(bench, task, c, err);
}
