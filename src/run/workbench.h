/* The workbench: all that is needed to evaluate a kernel. The devices, the compiler for their chip,
 * and CUTLASS where there is one are opened here and nowhere else.
 *
 *     struct workbench *bench = workbench_open(&options, err);
 *     ... workbench_evaluate(bench, &task, &c, err) ...   // a kernel by itself
 *     ... evaluator_create(bench, &task), loop_run(...)   // a search over its variants
 *     workbench_close(bench);
 */
#ifndef KEET_RUN_WORKBENCH_H
#define KEET_RUN_WORKBENCH_H

#include "compile/compile.h"
#include "core/candidate.h"
#include "core/task.h"
#include "device/device.h"

#include <stdbool.h>

enum { WORKBENCH_MOST_DEVICES = 16 };

/* All borrowed for the workbench's life. */
struct workbench_options {
    struct device_options device;
    const char *gpus;        /* "0,1": these GPUs instead of the device; NULL: the device */
    const char *cache_dir;   /* of the compiler, as compile.h has it */
    const char *cutlass_dir; /* as cutlass.h has it */
    bool no_screen;          /* GPU: candidates go to the card unseen */
    bool energy;             /* the profiler measures energy too */
};

struct workbench;

/* NULL: err. GPUs of different kinds are refused. To be called before the program has threads. */
struct workbench *workbench_open(const struct workbench_options *options, struct err *err);
void workbench_close(struct workbench *bench); /* NULL is fine */

const struct workbench_options *workbench_options(const struct workbench *bench);
unsigned workbench_nr_devices(const struct workbench *bench);
struct device *workbench_device(const struct workbench *bench, unsigned i);
const struct chip *workbench_chip(const struct workbench *bench);
struct compiler *workbench_compiler(const struct workbench *bench);
const char *workbench_cutlass(const struct workbench *bench); /* its folder; NULL: there is none */

/* What candidates are compared with: the file's `reference` kernel, compiled, where there is one;
 * else the original itself. Arena memory. */
bool workbench_oracle(struct workbench *bench, const struct task *task,
    const struct compilation *original, struct arena *arena, struct compilation *oracle,
    struct err *err);

/* A kernel by itself, on the first device: compile, then check against the oracle, profile and
 * explain. A broken kernel gets a verdict; false means that the environment is broken. */
bool workbench_evaluate(
    struct workbench *bench, const struct task *task, struct candidate *c, struct err *err);
/* Compiles and profiles alone: of a kernel that is known to be right, at another size or on other
 * contents. */
bool workbench_time(
    struct workbench *bench, const struct task *task, struct candidate *c, struct err *err);
/* The same for a candidate that is compiled already. */
bool workbench_measure(
    struct workbench *bench, const struct task *task, struct candidate *c, struct err *err);

#endif
