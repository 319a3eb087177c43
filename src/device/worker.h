/* The process that owns a GPU. Damage that a candidate kernel does to a context (a sticky error, a
 * hang, a crash in the driver) ends this process and nothing else; the next worker starts in
 * milliseconds of our own time. Private to device/: device_gpu.c is the only user, and keeps all
 * state that must survive.
 *
 *     struct worker *worker = worker_start(&options, &info, err);
 *     worker_call(worker, &request, &reply, deadline_s, why) == WORKER_OK
 *
 * The worker is a fork of the caller. Once it has its context, it can open no file and no
 * connection of its own: Landlock, seccomp and limits hold, and its environment has only the
 * variables that the driver reads. It dies when its parent does. The caller must not have
 * initialised CUDA.
 *
 * Requests and replies are small and of fixed size, over a socket; bulk data lies in a window of
 * memory that both share. One request at a time. */
#ifndef KEET_DEVICE_WORKER_H
#define KEET_DEVICE_WORKER_H

#include "base/err.h"
#include "core/counters.h"
#include "device/timing.h"
#include "nv/energy.h"
#include "nv/metrics_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    WORKER_WINDOW_BYTES = 64 << 20,
    WORKER_PARAM_BYTES = 32764, /* CUDA 12.1 and later, sm_70 and up */
    WORKER_MAX_PARAMS = 256,
    WORKER_MAX_KERNELS = 64,
    WORKER_MAX_LAUNCHES = 256,
    WORKER_MAX_SETS = 3,
    WORKER_MAX_LINES = 8192,
    WORKER_WHY_BYTES = 512,
    WORKER_NAME_BYTES = 2048
};

struct worker_options {
    unsigned ordinal;      /* which GPU */
    double start_s;        /* deadline of the start; a driver may take seconds */
    uint64_t memory_bytes; /* of host memory; 0: no limit */
    /* For COUNT: the worker loads CUPTI before the driver starts. Nobody knows which files CUPTI
     * opens, so this worker may open all. It still cannot leave its process. */
    bool counts;
    bool no_sandbox; /* the worker keeps the rights of its parent */
};

/* What the driver says of the GPU. */
struct worker_info {
    char name[128], uuid[33], driver[64];
    uint64_t memory_bytes;
    int major, minor; /* compute capability */
    int nr_sms, clock_khz, l2_bytes, memory_clock_khz, memory_bus_bits;
    bool software;  /* the software driver: times are modelled */
    bool sandboxed; /* Landlock and seccomp both took hold */
    bool clocks;    /* NVML tells clocks, temperature and throttling of this GPU */
};

enum worker_op {
    WORKER_ALLOC,  /* bytes -> address */
    WORKER_FREE,   /* address */
    WORKER_WRITE,  /* window -> address, bytes */
    WORKER_READ,   /* address, bytes -> window */
    WORKER_FILL,   /* address, bytes, value */
    WORKER_COPY,   /* from -> address, bytes, on the device */
    WORKER_LOAD,   /* struct worker_load in the window -> module; layouts of parameters there */
    WORKER_UNLOAD, /* module */
    WORKER_RESET,  /* module: its variables as after loading */
    WORKER_SYMBOL, /* name of a variable in the window, module -> address, bytes */
    WORKER_LAUNCH, /* struct worker_launch[nr_launches] in the window, of one module; waits */
    /* nr_sets times struct worker_launch[nr_launches] of `module`, then [nr_baseline] of
     * `baseline`; then nr_sets times struct worker_copy[nr_copies] -> struct worker_time. Each set
     * is the same work on other buffers; the copies of a set are made before each run of it. */
    WORKER_MEASURE,
    WORKER_COUNT, /* as LAUNCH, counted by CUPTI -> struct worker_counts */
    /* As MEASURE without a baseline, on the first set only, over and over for time_limit_s ->
     * struct energy_estimate. */
    WORKER_ENERGY,
};

struct worker_request {
    enum worker_op op;
    uint32_t module, nr_launches, value;
    uint32_t baseline, nr_baseline; /* MEASURE; 0 launches: no baseline */
    uint32_t nr_sets, nr_copies;    /* MEASURE */
    uint64_t address, bytes, from;
    double time_limit_s; /* MEASURE, ENERGY */
    double cycles;       /* COUNT: of all launches, about; sets the sampling period */
    uint64_t seed;
};

/* A kernel of a module that is being loaded. The worker fills in the parameters. */
struct worker_kernel {
    char name[WORKER_NAME_BYTES]; /* symbol */
    uint32_t registers, spill_bytes;
    uint32_t nr_params, bytes_each[WORKER_MAX_PARAMS], offsets[WORKER_MAX_PARAMS], total_bytes;
};

/* At the start of the window; the cubin and then the PTX (with its NUL) follow at `data`. */
struct worker_load {
    uint32_t nr_kernels;
    uint32_t nr_variables; /* that kernels may write; the worker fills it in */
    uint64_t cubin_bytes, ptx_bytes;
    struct worker_kernel kernels[WORKER_MAX_KERNELS];
    _Alignas(64) uint8_t data[];
};

enum { WORKER_MAX_MAPS = 16 };

struct worker_launch {
    _Alignas(8) uint32_t kernel; /* index in the module's list; aligned: copies lie behind */
    uint32_t grid[3], block[3], cluster[3], smem_bytes, params_bytes;
    /* Where tensor maps lie in `params`, in the emulator's form; the worker asks the driver for its
     * own, once. */
    uint32_t nr_maps, maps[WORKER_MAX_MAPS];
    uint8_t params[WORKER_PARAM_BYTES + 4];
};

struct worker_copy {
    uint64_t to, from, bytes;
};

struct worker_time {
    struct timing_result result;
    double launch_ns[WORKER_MAX_LAUNCHES]; /* each launch's share, when there are several */
};

/* Samples of the program counter that fell on a source line of one kernel. */
struct worker_line {
    uint32_t kernel, line;            /* index in the module's list; 0: no line is known */
    double stalled[NR_WAITS], nr_all; /* by reason; and with those that issued */
};

/* The counts of all launches; a part that could not be had has a reason instead. */
struct worker_counts {
    uint32_t nr_names; /* as metrics_map_names; 0: none */
    double values[WORKER_MAX_LAUNCHES][METRICS_MAP_NAMES];
    double span_ns, gap_ns, longest_gap_ns; /* as struct trace_span; span 0: none */
    double sample_cycles;                   /* a sample stands for so many cycles */
    uint32_t nr_lines;
    struct worker_line lines[WORKER_MAX_LINES];
    char counters_why[WORKER_WHY_BYTES], trace_why[WORKER_WHY_BYTES], lines_why[WORKER_WHY_BYTES];
};

/* The outcome of a request. Every outcome but GOOD has a text. */
enum worker_outcome {
    WORKER_GOOD,
    WORKER_NO_MEMORY, /* of the device */
    WORKER_REFUSED,   /* launch or module not acceptable; the context is as before */
    WORKER_NOT_KNOWN, /* this driver does not support a feature of the module */
    WORKER_FAULTED,   /* a kernel broke the context: end this worker */
    WORKER_TIMED_OUT, /* the driver's own watchdog ended the kernel: end this worker */
    WORKER_BROKEN     /* an error that no kernel explains: end this worker */
};

struct worker_reply {
    enum worker_outcome outcome;
    uint32_t module;
    uint64_t address, bytes;
    char text[512];
};

enum worker_end {
    WORKER_OK,       /* the worker answered and lives; in all other cases it is dead and reaped */
    WORKER_DIED,     /* by itself: exit or signal */
    WORKER_DEADLINE, /* killed */
    WORKER_MEMORY    /* killed: over its limit of host memory */
};

struct worker;

/* NULL with err: no driver, no such GPU, no process. */
struct worker *worker_start(
    const struct worker_options *options, struct worker_info *info, struct err *err);
void worker_stop(struct worker *worker); /* kills and reaps; NULL is fine */
pid_t worker_pid(const struct worker *worker);
void *worker_window(const struct worker *worker);

/* Sends, waits, receives. Where the end is not WORKER_OK, why->text says how the worker ended, and
 * only worker_stop may follow. */
enum worker_end worker_call(struct worker *worker, const struct worker_request *request,
    struct worker_reply *reply, double deadline_s, struct err *why);

/* The other side: worker_child.c. Never returns. */
struct worker_hello {
    bool ok;
    struct worker_info info;
    char text[1024]; /* when not ok */
};
_Noreturn void worker_child(int fd, void *window, const struct worker_options *options);

#endif
