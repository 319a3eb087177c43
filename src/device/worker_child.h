/* The worker's side: its state and the functions of its files. Private to worker_child.c and the
 * child_*.c beside it. */
#ifndef KEET_DEVICE_WORKER_CHILD_H
#define KEET_DEVICE_WORKER_CHILD_H

#include "device/worker.h"
#include "nv/driver.h"
#include "nv/nvml.h"

#include <stdbool.h>
#include <stdint.h>

enum { MAX_MODULES = 256 };

struct child_profiler; /* child_profile.c */

/* A variable of a module that kernels may write, and copies of it on the device. */
struct child_variable {
    CUdeviceptr address;
    CUdeviceptr loaded; /* as after loading */
    CUdeviceptr marked; /* as when child_variables_mark was called; 0: not yet */
    uint64_t bytes;
};

struct child_module {
    struct worker_load *load; /* the code; NULL: not kept, this worker does not count */
    CUmodule handle;
    CUfunction functions[WORKER_MAX_KERNELS];
    unsigned nr_functions;
    struct child_variable *variables;
    unsigned nr_variables;
    bool used;
    bool from_cubin; /* the driver took the cubin; else it compiled the PTX */
};

struct child {
    int fd;
    uint8_t *window;
    struct driver *driver;
    CUdevice device;
    CUcontext ctx;
    CUstream stream;
    CUevent start, end;
    struct nvml *nvml; /* NULL: clocks are not known */
    unsigned nvml_device;
    struct child_profiler *profiler;     /* NULL: this worker does not count */
    uint64_t flush_address, flush_bytes; /* 0: not made yet */
    bool software;
    struct child_module modules[MAX_MODULES];
};

/* Fills the reply by a code of the driver; true: the code is success. */
bool child_reply(const struct child *child, struct worker_reply *reply, CUresult code);
int child_attribute(const struct child *child, CUdevice_attribute which);

/* The module of a number, for nr_launches launches; NULL: there is none, or the launches are too
 * many; the reply says so. */
struct child_module *child_module(
    struct child *child, uint32_t number, uint32_t nr_launches, struct worker_reply *reply);
CUresult child_enqueue(
    struct child *child, struct child_module *m, struct worker_launch *l, CUstream stream);
CUresult child_enqueue_all(
    struct child *child, struct child_module *m, struct worker_launch *launches, unsigned nr);

/* child_variables.c: the variables that the PTX defines, just after loading. */
CUresult child_variables_find(struct child *child, struct child_module *m, const char *ptx);
void child_variables_forget(struct child *child, struct child_module *m);
CUresult child_variables_reset(struct child *child, const struct child_module *m);
/* Keeps what they hold now; to_mark gives it back, in the child's stream. */
CUresult child_variables_mark(struct child *child, struct child_module *m);
CUresult child_variables_to_mark(struct child *child, const struct child_module *m);

/* Loads the module's kept code anew. */
CUresult child_reload(struct child *child, struct child_module *m);
/* Makes one graph of all launches. */
CUresult child_make_graph(struct child *child, struct child_module *m,
    struct worker_launch *launches, unsigned nr, CUgraphExec *exec);

/* WORKER_COUNT: child_profile.c. The profiler is made before the driver starts. */
struct child_profiler *child_profiler_create(void);
void child_count(
    struct child *child, const struct worker_request *request, struct worker_reply *reply);

/* WORKER_ENERGY: child_energy.c. */
void child_energy(
    struct child *child, const struct worker_request *request, struct worker_reply *reply);

/* WORKER_MEASURE: child_time.c. */
void child_measure(
    struct child *child, const struct worker_request *request, struct worker_reply *reply);

#endif
