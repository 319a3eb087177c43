/* The emulator: a Hopper made of software. It runs the PTX that NVRTC emits, exactly; counts what a
 * profiler counts; finds races and stray accesses; and models time.
 *
 *     struct emu *emu = emu_create(chip, 0);
 *     emu_load(emu, ptx, len, &module, &result) && emu_launch(...)
 *
 * Memory is an arena of buffers with red zones between them; addresses are 64-bit and fresh for
 * each allocation. Functions that return bool return false for broken environments only; what the
 * kernel did wrong is a verdict in the result. One emu is used by one thread; inside a launch it
 * spreads blocks over nr_threads threads, and results do not depend on how many. Blocks that learn
 * from each other (volatile or ordered loads of global memory, atomics there whose result is used)
 * run one after the other, in their order, where a launch is timed: else what they find, and how
 * often they ask, would depend on the host. Other launches of such kernels take all threads. */
#ifndef KEET_EMU_EMU_H
#define KEET_EMU_EMU_H

#include "base/arena.h"
#include "base/err.h"
#include "core/chip.h"
#include "core/counters.h"
#include "core/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu;
struct emu_module;

struct emu *emu_create(const struct chip *chip, unsigned nr_threads); /* 0: one per core */
void emu_destroy(struct emu *emu);

/* Global memory. Contents of a fresh buffer are the byte 0xAA ("poison") and count as uninitialised
 * until written; writes and fills from here initialise. The host's memory is taken when the buffer
 * is first written or launched with. Returns 0 with err set when the chip's
 * memory (or the host's) is exhausted. `name` appears in reports. */
uint64_t emu_alloc(struct emu *emu, uint64_t bytes, const char *name, struct err *err);
void emu_free(struct emu *emu, uint64_t address);
/* Zeros that the host reaches by the same address, until emu_free: managed memory. */
uint64_t emu_alloc_host(struct emu *emu, uint64_t bytes, const char *name, struct err *err);
/* Memory of the host that kernels reach at its own address, as pinned and managed memory on a card.
 * The memory stays the caller's, must outlive the buffer (emu_free), counts as written, and has
 * EMU_SHARED_SLACK bytes behind it that can be read. False: it overlaps another buffer. */
enum { EMU_SHARED_SLACK = 256 };
bool emu_share(struct emu *emu, void *host, uint64_t bytes, const char *name, struct err *err);
bool emu_write(struct emu *emu, uint64_t address, const void *bytes, uint64_t nr, struct err *err);
/* The bytes become copies of one period. A large buffer that is filled whole this way takes the
 * host's memory for one period, and for what launches write. */
bool emu_repeat(struct emu *emu, uint64_t address, uint64_t nr, const void *bytes, uint64_t period,
    struct err *err);
bool emu_read(struct emu *emu, uint64_t address, void *bytes, uint64_t nr, struct err *err);
/* Fill with a byte; `initialised` false marks the bytes as never written. */
bool emu_fill(struct emu *emu, uint64_t address, uint8_t byte, uint64_t nr, bool initialised,
    struct err *err);

/* How many of nr elements of `each` bytes from `address` on have no byte that the host or a launch
 * with find_uninit wrote; *first: the number of the first one. Launches without find_uninit count
 * as having written everything. */
uint64_t emu_unwritten(
    struct emu *emu, uint64_t address, uint64_t nr, unsigned each, uint64_t *first);

/* Whether the last launch stored into the buffer of an address, or changed it by atomics; stores of
 * what stood there count. */
bool emu_stored(const struct emu *emu, uint64_t address);

/* What sanitizers look for. Accesses out of bounds or misaligned are always found. */
enum emu_check {
    EMU_CHECK_MEMORY, /* out of bounds, misaligned, bad free, traps and assertions */
    EMU_CHECK_INIT,   /* reads of what nothing wrote: global, shared, local memory, registers */
    EMU_CHECK_RACE,   /* shared memory between and within warps, global between blocks */
    EMU_CHECK_SYNC,   /* barriers and shuffles in divergent code, bad masks, missing waits */
    EMU_CHECK_LEAK,   /* device malloc without free */
    NR_EMU_CHECKS
};

struct emu_report {
    enum emu_check check;
    enum verdict verdict;
    unsigned line;  /* 0 unknown */
    uint64_t block; /* the lowest block in which the fault was seen */
    uint64_t times; /* how often the fault was seen, in this block and in others, where that can be
                       counted */
    char text[512];
};

/* A texture or surface object over memory of the caller's: texels in rows of pitch_bytes, layers or
 * slices of layer_bytes. Kernels take the handle as cudaTextureObject_t; the handle stays valid
 * until the object is destroyed. The CUDA programming guide, appendix on texture fetching, says how
 * a fetch works. A cube map has square layers, six for each cube; filtering does not look beyond a
 * face. The emulator does not know anisotropy, multisampled and depth textures. */
enum emu_texel { EMU_TEXEL_UNSIGNED, EMU_TEXEL_SIGNED, EMU_TEXEL_FLOAT };
enum emu_address_mode {
    EMU_ADDRESS_WRAP,
    EMU_ADDRESS_CLAMP,
    EMU_ADDRESS_MIRROR,
    EMU_ADDRESS_BORDER
}; /* as CU_TR_ADDRESS_MODE_* */
enum { EMU_TEXTURE_LEVELS = 16 };
struct emu_texture {
    uint64_t address;
    unsigned nr_dims; /* 1 to 3, without layers */
    uint32_t size[3]; /* texels; with fewer than three dimensions, size[2]: layers, 0 or 1: one */
    uint64_t pitch_bytes, layer_bytes;
    bool cube;
    /* the mipmap levels after the first, each half as wide, high and deep: nr_levels - 1 of them */
    unsigned nr_levels; /* 0 or 1: no mipmap */
    struct emu_texture_level {
        uint64_t address, pitch_bytes, layer_bytes;
    } levels[EMU_TEXTURE_LEVELS - 1];
    bool linear_levels; /* filtered between levels; else the nearest */
    float level_bias, min_level, max_level;
    enum emu_texel kind;
    unsigned channel_bytes, nr_channels;
    bool normalized_coordinates; /* 0..1 over the whole */
    bool normalized_float;       /* integers read as 0..1 or -1..1 */
    bool linear;                 /* filtered; else the nearest texel */
    enum emu_address_mode address_mode[3];
};
uint64_t emu_texture_create(struct emu *emu, const struct emu_texture *texture);
void emu_texture_destroy(struct emu *emu, uint64_t handle);
bool emu_is_texture(const struct emu *emu, uint64_t handle);

struct emu_result {
    enum verdict verdict;
    unsigned line;  /* source line of the fault, 0 unknown */
    char text[512]; /* "out of bounds: 4-byte read 4 bytes past the end of A (16384 bytes) by
                       thread (5,0,0) of block (31,0,0)" */
    uint64_t thread_insts;
    bool float_atomics; /* a floating-point atomic add was executed: the result may depend on the
                           order */
    bool oblivious;     /* what the kernel touches, and where its threads go, depends on no value in
                           memory: sanitizers find the same on other inputs, with the same parameters */
    struct counters counters; /* when asked for; lines in the arena given */
    /* With launch->max_reports: all faults that were found, by block, and how many more of each
     * kind there were. */
    const struct emu_report *reports;
    unsigned nr_reports, nr_more[NR_EMU_CHECKS];
    /* what printf printed, in the order of the blocks, at most EMU_PRINT_BYTES of it; in the arena
     */
    const char *printed; /* "" nothing */
    bool print_cut;
    uint64_t leaked_bytes; /* by malloc of this launch, not freed at its end */
    unsigned nr_leaked;
    struct emu_model *model; /* with launch->keep_model, of a launch whose time was simulated; the
                                caller destroys it, also where emu_launch gives false */
};

enum { EMU_PRINT_BYTES = 1 << 16 };
/* The bytes that all mallocs of a launch may hold at a time; beyond them malloc gives NULL (the
 * default of cudaLimitMallocHeapSize). Each malloc takes EMU_HEAP_HEAD bytes more than it gives. */
enum { EMU_HEAP_BYTES = 8 << 20, EMU_HEAP_HEAD = 64 };
/* The bytes of a thread's local memory that alloca and recursive functions may take, the latter for
 * their variables and arguments and at least 16 bytes a call. On the chip cudaLimitStackSize sets
 * this limit. The registers that a recursive call saves are kept elsewhere, and do not count as
 * accesses of local memory. */
enum { EMU_STACK_BYTES = 64 << 10 };

/* Parse, verify, decode; place .global and .const variables. Text that is not PTX, or has something
 * unknown outside of functions, is a verdict here and *module is NULL. An unknown instruction is a
 * verdict of launching the kernel that can reach it, with opcode and source line; the other kernels
 * of the module run. */
bool emu_load(struct emu *emu, const char *ptx, size_t ptx_bytes, struct emu_module **module,
    struct emu_result *result, struct err *err);
void emu_unload(struct emu *emu, struct emu_module *module);

/* The module's variables as they were after loading. Returns how many bytes of them launches had
 * changed. */
uint64_t emu_reset(struct emu *emu, struct emu_module *module);

/* How many parameters a kernel takes and the bytes of each, so that callers can pack them. */
bool emu_params(const struct emu_module *module, const char *kernel, unsigned *nr,
    const uint32_t **bytes_each, const uint32_t **offsets, uint32_t *total_bytes);

/* The kernels of a module by number; false past the end. Names live as long as the module. */
struct emu_kernel {
    const char *name;
    uint32_t smem_static_bytes, local_bytes, params_bytes;
    uint32_t max_threads;    /* of a block, by .maxntid or .reqntid; 0: not given */
    uint32_t cluster[3];     /* .reqnctapercluster; 0: not given */
    const char *unsupported; /* NULL, or what in the kernel the emulator does not know: a launch
                                would have that verdict */
};
bool emu_kernel(const struct emu_module *module, unsigned nr, struct emu_kernel *kernel);

/* What the kernel touches, and where its threads go, depends on no value in memory, as
 * emu_result's. */
bool emu_oblivious(const struct emu_module *module, const char *kernel);

struct emu_global {
    const char *name;
    uint64_t address, bytes;
    bool constant;
};
bool emu_global(const struct emu_module *module, unsigned nr, struct emu_global *global);

struct emu_launch {
    const char *kernel; /* lowered name */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* blocks of a cluster; 0: as __cluster_dims__ says, else 1 */
    uint32_t smem_bytes; /* dynamic */
    const void *params;  /* packed at the kernel's parameter offsets */
    uint32_t params_bytes;
    unsigned registers;     /* from ptxas, for occupancy; 0: assume 32 */
    unsigned spill_bytes;   /* from ptxas, per thread; for the counters */
    unsigned machine_insts; /* in ptxas's code, for how long it takes to fetch; 0: not known */
    bool serial_products;   /* ptxas waits for each wgmma before the next */
    /* checks: out of bounds and misaligned are always on */
    bool find_races;   /* shared memory between barriers, and global between blocks */
    bool strict_races; /* several threads that store one value to one place race, too */
    bool find_uninit;  /* reads of memory or registers that nothing wrote */
    bool find_sync;    /* barriers in divergent warps, missing waits for asynchronous copies */
    bool find_leaks;   /* device malloc without free */
    /* 0: the first fault ends the launch and is its verdict. Else the launch goes on past those
     * faults for which one instruction or one block can be left out; result->reports lists at most
     * so many of each kind, and the verdict is that of the first. */
    unsigned max_reports;
    /* Warp instructions over the whole launch; 0: 2^36. printf, malloc and free count as the many
     * instructions that they stand for. */
    uint64_t step_limit;
    uint64_t
        ends_ns; /* by clock_ns: a launch that still runs then has the verdict timeout; 0: none */
    /* counting */
    bool count;       /* fill result->counters, time modelled included */
    bool untimed;     /* ... without time and the other modelled counters */
    bool idle;        /* ... and compute no data where no count depends on it: outputs are left as
                         they are. For kernels that emu_oblivious names */
    bool quick_cures; /* ... the metrics of core/cures.def by simulations a fifth as long */
    bool keep_model;  /* ... without these metrics, which emu_cures sets by result->model */
    /* Run only these blocks, rising numbers below the grid's; NULL: all, or a sample. Not for
     * cooperative grids. */
    const uint64_t *blocks;
    uint64_t nr_blocks;
    uint64_t sample_blocks; /* run only about this many blocks, stratified, or the first ones of a
                               kernel whose blocks may wait for each other; 0: all */
    /* Run only to learn what blocks cost. Where blocks learn from each other, memory is afterwards
     * as it was before: a ticket that the probe drew would be missing in the launch that counts. */
    bool probe;
    bool warm;      /* the launch before this one left L2 warm; else it starts empty */
    uint64_t seed;  /* picks sampled blocks; orders warps and, unless the launch counts, blocks */
    uint8_t poison; /* what shared and local memory and registers hold that nothing has written; 0:
                       0xAA in shared memory, zeros elsewhere */
};

bool emu_launch(struct emu *emu, const struct emu_module *module, const struct emu_launch *launch,
    struct arena *arena, struct emu_result *result, struct err *err);

/* Sets the metrics of so many of core/cures.def (bits, 1 << enum cure): how long the launch would
 * take without what they take away. The module must still be loaded. */
void emu_cures(const struct emu_model *model, uint32_t cures, struct counters *counters);
void emu_model_destroy(struct emu_model *model);

/* Ends all launches of this process, those that run and those to come, within some milliseconds:
 * emu_launch gives false, "interrupted". Fine in a signal handler. */
void emu_interrupt(void);
void emu_go_on(void); /* launches to come run as before; not in a signal handler */

#endif
