/* The device on which kernels run: one table of functions, filled by each backend. The emulator is
 * always there; a GPU (device_gpu.c with its worker process) fills the same table.
 *
 * Functions return false with err only for broken environments. A fault of the kernel is a verdict
 * in struct device_result. */
#ifndef KEET_DEVICE_DEVICE_H
#define KEET_DEVICE_DEVICE_H

#include "base/arena.h"
#include "base/err.h"
#include "core/candidate.h"
#include "core/chip.h"
#include "core/counters.h"
#include "device/findings.h"

#include <stdbool.h>
#include <stdint.h>

struct device; /* begins with const struct device_ops *ops */
struct device_module;

struct device_options {
    const char *name; /* "gpu", "gpu:1", "emu", "emu:h200"; NULL, "auto": a GPU if any, else emu */
    unsigned nr_threads; /* emulator; 0: one per core */
    /* A launch on a GPU, or a stage of an evaluation on the emulator (device_begin), that takes
     * longer hangs; 0: the device's default */
    double deadline_s;
    uint64_t worker_bytes; /* GPU: host memory for its worker process; 0: three quarters of it */
    bool no_sandbox;       /* GPU: the worker process keeps its rights */
};

/* A texture object over a buffer. */
struct device_texture {
    const struct texture_view *view;
    uint32_t size[3]; /* 1 behind view->nr_dims */
    unsigned nr_lanes;
    enum elem elem;
};

/* The fields of an ARG_STRUCT are the nr_fields that follow it in the list. */
struct device_arg {
    enum arg_kind kind;
    uint64_t address;                     /* ARG_ARRAY, ARG_TEXTURE, ARG_TENSOR_MAP */
    int64_t integer;                      /* ARG_INTEGER, and ARG_SCALAR of integer type */
    double real;                          /* ARG_SCALAR of floating type */
    enum elem elem;                       /* ARG_SCALAR, and ARG_INTEGER that is a field */
    unsigned nr_fields;                   /* ARG_STRUCT */
    const struct device_texture *texture; /* ARG_TEXTURE */
    const struct tensor_map *tensor;      /* ARG_TENSOR_MAP; its address is `address` */
    const char *name;                     /* for messages */
};

/* A variable of the module that gets the contents of a buffer before the launch. */
struct device_symbol {
    const char *name; /* as in the PTX */
    uint64_t address, bytes;
    bool gives_back; /* after the launch, the buffer gets the contents of the variable */
};

extern const char device_symbol_misfit[]; /* the text where buffer and variable do not fit */

struct device_launch {
    const struct launch_config *config;
    const struct kernel_facts *facts;
    const struct device_arg *args;
    unsigned nr_args;
    const struct device_symbol *symbols;
    unsigned nr_symbols;
    unsigned line; /* of the launch, for messages */
    bool sanitize; /* find races, uninitialised reads, missing syncs where the device can */
    /* Emulator: the launch goes on after a finding of `checks` (bits, 1 << enum device_check;
     * memory is always among them), and `findings` gets them all, at most max_findings of a kind.
     */
    struct device_findings *findings; /* NULL: the first fault is the verdict */
    unsigned checks, max_findings;
    uint64_t step_limit; /* 0: the device's default */
    uint64_t seed;
    bool strict_races;      /* several threads that store one value to one place race, too */
    bool lenient_init;      /* sanitize without reads of what nothing wrote */
    uint8_t poison;         /* emulator: as emu_launch's */
    const uint64_t *blocks; /* emulator: only these, rising; NULL: all */
    uint64_t nr_blocks;
};

struct device_result {
    enum verdict verdict;
    unsigned line;
    char text[640];
    bool float_atomics;
    bool oblivious; /* emulator: no value in memory decides what is touched, as emu_result's */
    uint64_t thread_insts; /* 0 when the device cannot tell */
};

struct device_rotation {
    uint64_t address, bytes; /* of the buffer; by how much, less than its size */
};

struct device_measure {
    const struct device_launch *launches;
    unsigned nr_launches;
    uint64_t sample_blocks; /* emulator: per launch; 0: the device decides what is affordable */
    bool quick_cures;       /* emulator: as emu_launch's */
    /* Emulator: asked when all else is in the profile that is filled in: which metrics of
     * core/cures.def to add (bits, 1 << enum cure). NULL: all. */
    uint32_t (*wanted)(void *owner);
    void *owner;         /* its argument */
    double time_limit_s; /* GPU */
    /* Where the device compares: the launches of the original. Their time is taken in turn with the
     * candidate's, so that profile->timing has a ratio. */
    struct device_module *baseline_module;
    const struct device_launch *baseline;
    unsigned nr_baseline;
    /* Addresses of buffers whose present contents every timed run finds, whatever the run before it
     * wrote. The emulator times a launch once and needs none. */
    const uint64_t *restore;
    unsigned nr_restore;
    /* Buffers whose contents mean the same in another order: each further set of buffers of the
     * timed runs has them rotated further. */
    const struct device_rotation *rotate;
    unsigned nr_rotate;
};

struct device_ops {
    const char *name;
    enum provenance time_from; /* MEASURED or MODELLED */
    bool compares;             /* measure takes a baseline, and gives a ratio */
    bool catches_stray; /* an access outside an allocation is a verdict: guards would hide it */
    void (*destroy)(struct device *device);
    bool (*load)(struct device *device, const struct compilation *compilation,
        struct device_module **module, struct device_result *result, struct err *err);
    void (*unload)(struct device *device, struct device_module *module);
    uint64_t (*alloc)(struct device *device, uint64_t bytes, const char *name, struct err *err);
    void (*free)(struct device *device, uint64_t address);
    bool (*write)(
        struct device *device, uint64_t address, const void *bytes, uint64_t nr, struct err *err);
    bool (*read)(
        struct device *device, uint64_t address, void *bytes, uint64_t nr, struct err *err);
    bool (*fill)(struct device *device, uint64_t address, uint8_t byte, uint64_t nr,
        bool initialised, struct err *err);
    /* The module's variables as after loading. Returns how many bytes launches had changed; a GPU
     * does not count them, and returns 0. */
    uint64_t (*reset)(struct device *device, struct device_module *module);
    /* NULL: device_repeat writes the copies */
    bool (*repeat)(struct device *device, uint64_t address, uint64_t nr, const void *bytes,
        uint64_t period, struct err *err);
    /* How many of nr elements of `each` bytes have no byte that anybody wrote, and the first of
     * them; known after launches that looked for DEVICE_CHECK_INIT. NULL: the device cannot tell.
     */
    uint64_t (*unwritten)(
        struct device *device, uint64_t address, uint64_t nr, unsigned each, uint64_t *first);
    bool (*launch)(struct device *device, struct device_module *module,
        const struct device_launch *launch, struct device_result *result, struct err *err);
    /* Takes time and counters of all launches in order, fills profile (arena memory), and calls
     * profile_sum. */
    bool (*measure)(struct device *device, struct device_module *module,
        const struct device_measure *measure, struct arena *arena, struct profile *profile,
        struct device_result *result, struct err *err);
    /* Runs all launches over and over for seconds, and puts their energy into profile->total. NULL:
     * the device has no energy counter. Where the measurement fails, the verdict stays OK, the
     * metrics stay absent, and the result's text says why. */
    bool (*energy)(struct device *device, struct device_module *module,
        const struct device_measure *measure, struct profile *profile, struct device_result *result,
        struct err *err);
};

struct device {
    const struct device_ops *ops;
    const struct chip *chip;
    double stage_s;   /* emulator: what a stage of an evaluation may take */
    uint64_t ends_ns; /* emulator: when the stage under way must have ended; 0: none is */
};

/* A stage of an evaluation begins. A launch on the emulator that still runs when the stage's time
 * is over has the verdict timeout. That is the last resort: limits on instructions, which do not
 * depend on the host, come first. */
void device_begin(struct device *device);

struct device *device_create(const struct device_options *options, struct err *err);
void device_destroy(struct device *device);

/* Calls through the table. */
bool device_load(struct device *device, const struct compilation *compilation,
    struct device_module **module, struct device_result *result, struct err *err);
void device_unload(struct device *device, struct device_module *module);
uint64_t device_alloc(struct device *device, uint64_t bytes, const char *name, struct err *err);
void device_free(struct device *device, uint64_t address);
bool device_write(
    struct device *device, uint64_t address, const void *bytes, uint64_t nr, struct err *err);
bool device_read(
    struct device *device, uint64_t address, void *bytes, uint64_t nr, struct err *err);
/* The bytes become copies of one period; a buffer that is filled whole this way may be larger than
 * the host's memory. */
bool device_repeat(struct device *device, uint64_t address, uint64_t nr, const void *bytes,
    uint64_t period, struct err *err);
bool device_fill(struct device *device, uint64_t address, uint8_t byte, uint64_t nr,
    bool initialised, struct err *err);
bool device_launch(struct device *device, struct device_module *module,
    const struct device_launch *launch, struct device_result *result, struct err *err);
bool device_measure(struct device *device, struct device_module *module,
    const struct device_measure *measure, struct arena *arena, struct profile *profile,
    struct device_result *result, struct err *err);

/* Ends what runs on the emulator in this process, now and later: such calls give false, with the
 * error "interrupted". Fine in a signal handler. */
void device_interrupt(void);
void device_go_on(void); /* calls to come work as before; not in a signal handler */

/* Puts arguments at a kernel's parameter offsets, for all backends. False, with verdict
 * launch_failed: the number of arguments is wrong, or one does not fit its parameter (a pointer in
 * 4 bytes, an integer out of range). */
bool device_pack(const struct device_launch *launch, unsigned nr_params, const uint32_t *bytes_each,
    const uint32_t *offsets, void *packed, uint32_t packed_bytes, struct device_result *result);

#endif
