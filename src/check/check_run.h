/* Private to check/: one run of a plan on one shape with given inputs, in fresh memory, and the
 * look at outputs, inputs and guard zones afterwards. */
#ifndef KEET_CHECK_CHECK_RUN_H
#define KEET_CHECK_CHECK_RUN_H

#include "check/check_sets.h"
#include "device/run.h"

/* Host copies of arrays, one per array of the task, in order. */
struct host_arrays {
    void **bytes;
    uint64_t *nr; /* elements */
    unsigned nr_arrays;
};

/* Heap memory for all arrays of a shape; host_finish frees it. */
bool host_init(
    struct host_arrays *host, const struct task *task, const struct env *env, struct err *err);
void host_finish(struct host_arrays *host);

/* Fills inputs as the set says. timed: reads file("x.npy") inputs, from the case's folder unless
 * that is NULL; else such inputs get the default of their type. */
bool host_fill(struct host_arrays *host, const struct task *task, const struct env *env,
    const struct input_set *set, bool timed, const char *folder, struct err *err);

/* The path of a file that the task names: beside the task, or in a case's folder there. */
const char *file_of(
    struct arena *arena, const struct task *task, const char *path, const char *folder);

/* Array i as "C[128][64]" for one flat index. */
const char *element_name(
    struct arena *arena, const struct task_array *array, const struct env *env, uint64_t index);
const char *element_text(
    struct arena *arena, const struct task_array *array, const void *elems, uint64_t index);

struct check_run {
    struct device *device;
    const struct task *task;
    const struct plan *plan;
    const struct compilation *compilation;
    struct device_module *module;
    const struct shape *shape;
    const struct host_arrays *inputs;
    uint8_t poison; /* fills outputs and scratch before the run */
    bool sanitize;
    struct device_findings *races; /* NULL, or gets the first race that the emulator finds */
    uint64_t step_limit, seed;
    bool lenient_init; /* sanitize without uninitialised reads */
    uint8_t
        hidden_poison; /* emulator: what shared memory and the like hold at first; 0: as usual */
    bool keep_state;   /* the module's variables stay as the launch before left them */
    uint64_t *left_behind;           /* NULL, or gets how many bytes of them the launches changed */
    const struct block_list *blocks; /* of the plan's one launch; NULL: all */
};

/* Blocks of a grid, by rising numbers. */
struct block_list {
    uint64_t *blocks;
    uint64_t nr;
};

/* Runs the plan and reads the outputs (out and inout) into *outputs. A changed input gives verdict
 * wrong in *result, a changed guard zone verdict fault. False: the environment is broken. */
bool check_run(const struct check_run *run, struct arena *arena, struct host_arrays *outputs,
    struct device_result *result, struct err *err);

/* The same at the same addresses again and again, each time with the inputs of run->inputs:
 * `check_series_open` takes the memory, which check_series_close gives back. False with a verdict
 * in *result other than ok, or with err. */
struct check_series {
    struct run_buffers buffers;
    struct env env;
};
bool check_series_open(const struct check_run *run, struct arena *arena,
    struct check_series *series, struct device_result *result, struct err *err);
bool check_series_step(const struct check_run *run, struct check_series *series,
    struct arena *arena, struct host_arrays *outputs, struct device_result *result,
    struct err *err);
void check_series_close(const struct check_run *run, struct check_series *series);

#endif
