/* The software driver: the CUDA driver API, exported by libkeet-cuda.so under its real names, on
 * the emulator of one H100. Private to swdriver/; what the functions do is NVIDIA's manual.
 *
 * Where it differs from a card, and knowingly so:
 *   - Work runs in the thread that submits it, at once, in order, whatever the stream. What a
 *     kernel did wrong still shows as on a card: the launch succeeds, and every later call in the
 *     context fails with the error until the context is destroyed or reset.
 *   - A kernel that does not end never returns from its launch: nobody but the process's end helps,
 *     as on a card. After KEET_CUDA_STEPS warp instructions (2^36) it stops using the processor.
 *   - Every access outside an allocation is an error, and so is a warp synchronisation that waits
 * for lanes that never come; a card lets many of them pass.
 *   - What kernels print is written at once, not at the next synchronisation.
 *   - Events carry modelled time, one clock for all streams of a context.
 *   - Modules are PTX text: machine code is refused with CUDA_ERROR_NO_BINARY_FOR_GPU. What the
 *     emulator does not know is refused with CUDA_ERROR_NOT_SUPPORTED and a line in the JIT log.
 *   - The linker takes PTX only, and the "cubin" that it gives back is PTX too.
 *   - Libraries (cuLibrary*) belong to the context that they were loaded in.
 *   - Addresses are a context's own, where a card's devices share one space: those of different
 * devices may be equal, and nothing is copied between them.
 *   - Pinned, registered and managed memory has one address for the host and the kernels of the
 *     context that made it. Managed memory never moves, and counts as written.
 *   - There is one memory pool, which keeps nothing.
 *   - Mipmapped arrays, IPC, virtual memory and the rest of sw_refused.def are refused with
 *     CUDA_ERROR_NOT_SUPPORTED.
 *
 * Every exported function is a pair sw_begin ... sw_end around its work: they lock the driver. */
#ifndef KEET_SWDRIVER_SW_STATE_H
#define KEET_SWDRIVER_SW_STATE_H

#include "emu/emu.h"

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sw_memory { SW_DEVICE, SW_MANAGED, SW_HOST, SW_REGISTERED };

struct sw_alloc {
    uint64_t address, bytes;
    enum sw_memory memory;
    unsigned flags; /* of cuMemHostAlloc, cuMemHostRegister */
};

/* What was submitted to a stream: run at once, or recorded into a graph. */
enum sw_kind { SW_LAUNCH, SW_COPY_IN, SW_COPY_OUT, SW_COPY, SW_COPY_3D, SW_SET, SW_CALL };

struct sw_op {
    enum sw_kind kind;
    /* launch */
    CUfunction function;
    CUstream stream; /* for the recorder */
    uint32_t grid[3], block[3], smem_bytes;
    uint32_t cluster[3]; /* by launch attribute; 0: none */
    void *params;        /* heap, packed; SW_COPY_3D: a CUDA_MEMCPY3D */
    size_t params_bytes;
    /* the others */
    uint64_t to, from, bytes;
    void *host;
    uint32_t value, value_bytes; /* SW_SET: bytes is the number of bytes, of such values */
    uint64_t pitch, height;      /* SW_SET: so many rows; 0: one */
    CUhostFn call;               /* SW_CALL, with `host` */
};

struct CUfunc_st {
    CUmodule module;
    struct emu_kernel kernel;
    uint32_t max_dynamic_bytes;      /* opted in to */
    bool large_clusters;             /* opted in to: over 8 blocks */
    unsigned registers, spill_bytes; /* told by keet_software_driver_facts; else 0 ... */
    unsigned machine_insts;
    bool serial_products;          /* ... and false */
    uint32_t block[3], smem_bytes; /* sw_old_launch.c: of the next launch ... */
    uint8_t *params;               /* ... packed; NULL: none was set */
};

struct CUmod_st {
    CUmodule next;
    CUcontext ctx;
    struct emu_module *module;
    CUfunction functions;
    unsigned nr_functions;
};

/* Texels in rows; layers or slices. */
struct CUarray_st {
    CUarray next;
    CUcontext ctx;
    CUDA_ARRAY3D_DESCRIPTOR shape;
    uint64_t address, bytes, pitch_bytes, layer_bytes;
    unsigned texel_bytes;
};

struct CUstream_st {
    CUstream next;
    CUcontext ctx;
    unsigned flags;
    CUgraph capture; /* being recorded; NULL: not capturing */
};

struct CUevent_st {
    CUevent next;
    CUcontext ctx;
    unsigned flags;
    bool recorded;
    CUgraph capture; /* recorded into; NULL: none */
    double time_ns;
};

/* What a node does. */
struct sw_part {
    CUgraphNode node;
    CUgraphNodeType type;
    struct sw_op *ops;
    size_t nr, cap;
};

struct CUgraphNode_st {
    CUgraph graph;
    struct sw_part part;
    CUgraphNode *after; /* what it depends on */
    size_t nr_after, cap_after;
    bool placed;      /* while an order is looked for */
    CUgraphNode copy; /* in the latest clone */
};

struct CUgraph_st {
    CUgraph next;
    CUgraphNode *nodes;
    size_t nr, cap;
    CUgraphNode filled; /* gets what is appended; NULL: each operation is a node of its own */
};

struct CUgraphExec_st {
    CUgraphExec next;
    struct sw_part *parts; /* in their order */
    size_t nr;
};

/* A modelled time, kept because the same launch is likely to come again. floor_ns is what the bytes
 * that it must move and its operations take at the chip's best rates. */
struct sw_time {
    CUfunction function;
    uint32_t grid[3], block[3], cluster[3], smem_bytes;
    double time_ns, floor_ns, moved_bytes;
};

enum { SW_NR_LIMITS = 16 };

struct CUctx_st {
    CUcontext next;
    struct emu *emu;
    CUresult sticky; /* the fault of a kernel; every call from then on returns it */
    bool primary;
    CUdevice device;
    unsigned flags;
    struct CUstream_st null_stream, feeder; /* feeder: what fills a node goes through it */
    CUgraphExec refilled;                   /* whose node is filled anew; NULL: the graph's */
    struct sw_part kept;                    /* ... and what the node had */
    CUmodule modules;
    CUstream streams;
    CUevent events;
    CUgraph graphs;
    CUgraphExec execs;
    CUarray arrays;
    struct sw_alloc *allocs;
    size_t nr_allocs, cap_allocs;
    struct sw_time *times;
    size_t nr_times, cap_times;
    size_t limits[SW_NR_LIMITS];
    bool timed;    /* an event was made: launches are modelled from now on */
    double now_ns; /* the modelled clock */
};

enum { SW_MOST_DEVICES = 16 };
unsigned sw_nr_devices(void); /* KEET_CUDA_DEVICES, all alike; 1 */
bool sw_is_device(CUdevice dev);
const struct chip *sw_chip(void);
unsigned sw_nr_threads(void); /* KEET_CUDA_THREADS; 0: one per core */
uint64_t sw_step_limit(void); /* KEET_CUDA_STEPS */
/* A card tells nothing but the code of what goes wrong; here KEET_CUDA_VERBOSE=1 prints it. */
void sw_tell(const char *what, const char *why);

/* Locks the driver and gives the context of the calling thread. Not SUCCESS: not initialised, no
 * context, or the context's sticky error. sw_begin_any asks for no context. sw_end unlocks and
 * hands the code through. */
CUresult sw_begin(CUcontext *ctx);
CUresult sw_begin_any(void);
CUresult sw_end(CUresult code);

/* For calls that destroy a handle: gives the context that owns the handle, or else does what
 * sw_begin does. */
typedef bool sw_owns_fn(CUcontext ctx, const void *handle);
CUresult sw_begin_owner(CUcontext *ctx, sw_owns_fn *owns, const void *handle);

CUcontext sw_current(void);

/* Is the handle one of the context's? NULL, legacy and per-thread streams give the null stream. */
CUstream sw_stream(CUcontext ctx, CUstream stream);              /* NULL when it is not */
const struct sw_alloc *sw_find(CUcontext ctx, uint64_t address); /* the allocation it is in */
/* In an allocation, or in a variable of a module? What is in neither is the host's. */
bool sw_is_ours(CUcontext ctx, uint64_t address);

/* Notes an allocation, and forgets the one that begins at the address: false when none does. */
void sw_note(CUcontext ctx, const struct sw_alloc *alloc);
bool sw_forget(CUcontext ctx, uint64_t address);
bool sw_owns_address(CUcontext ctx, const void *address);
uint64_t sw_bytes_free(CUcontext ctx);

/* Destroys everything of a context but the object itself, which is fit for use again. */
void sw_clear(CUcontext ctx);
void sw_module_free(CUcontext ctx, CUmodule module);
bool sw_is_machine_code(const void *image);                  /* of the first four bytes */
void sw_graph_append(CUgraph graph, const struct sw_op *op); /* takes over op->params */
void sw_graph_free(CUgraph graph);
void sw_exec_free(CUgraphExec exec);
void sw_ops_free(struct sw_op *ops, size_t nr);

/* Runs or records the operation; takes over op->params. */
CUresult sw_submit(CUcontext ctx, CUstream stream, struct sw_op *op);
CUresult sw_run(CUcontext ctx, const struct sw_op *op);
CUresult sw_run_launch(CUcontext ctx, const struct sw_op *op);
bool sw_run_copy_3d(CUcontext ctx, const CUDA_MEMCPY3D *copy);
/* As sw_submit, for calls that do nothing else. */
CUresult sw_submit_op(CUstream stream, struct sw_op op);

#endif
