/* Listeners: those who watch a launch as it runs (races, uninitialised reads, the time model).
 * Private to emu/.
 *
 * A launch makes one listener of each class per worker thread. A worker runs its blocks one after
 * another: block_begin, then inst / access / barrier / warp_sync as they happen (the warps of a
 * block interleave: each runs until it blocks), then block_end. Blocks of different workers run at
 * the same time, so a listener touches only its own memory. At the end the launch merges every
 * listener into the first one of its class and destroys the others. Any op may be NULL except
 * create and destroy.
 *
 * Without listeners the interpreter pays one branch per instruction. */
#ifndef KEET_EMU_WATCH_EVENT_H
#define KEET_EMU_WATCH_EVENT_H

#include "core/chip.h"
#include "core/counters.h"
#include "core/verdict.h"
#include "emu/emu.h"
#include "emu/state/inst.h"

struct order;
struct emu_memory; /* memory.h: buffers, names, initialised bits */

/* What went wrong first: the fault with the lowest block number is the one reported. */
struct emu_fault {
    enum verdict verdict; /* VERDICT_OK: none */
    uint64_t block;
    unsigned line;
    enum emu_check check;
    uint32_t pc, other; /* other: of the other side of a race; 0 none */
    char text[512];
};

struct reports; /* reports.h */

struct emu_run { /* what a launch has fixed before it starts */
    const struct chip *chip;
    const struct program *program;
    const struct emu_launch *launch;
    struct emu_memory *memory;
    unsigned nr_threads, nr_warps; /* of one block */
    uint32_t shared_bytes;         /* of one block, static and dynamic */
    uint64_t nr_blocks;            /* of the grid */
    struct order *order;           /* watch/order.h; NULL: blocks do not speak to each other */
    uint32_t cluster[3];           /* blocks of a cluster along each axis */
    unsigned cluster_blocks;       /* all of them */
    bool explicit_cluster;         /* the kernel or the launch asked for it */
    uint64_t grid_barrier;         /* address of what cooperative groups meet at */
};

struct emu_block {
    uint64_t index; /* x fastest */
    uint32_t ctaid[3];
    const uint8_t *shared; /* its shared memory */
    double weight;         /* how many blocks of the grid the block stands for: 1 unless sampled */
    bool traced;           /* one of the few for the time model */
    bool ended;            /* at block_end: all threads ran to their end */
    bool nearby;           /* near a traced block: only what it touches matters to the time model */
};

enum access_kind { ACCESS_UNIFORM, ACCESS_CONTIGUOUS, ACCESS_OTHER };

/* One memory instruction of one warp. A cp.async makes two of these: the global read and the shared
 * write. */
struct emu_access {
    unsigned warp; /* within the block */
    uint32_t pc;
    uint32_t mask;        /* lanes */
    enum ptx_space space; /* GLOBAL, SHARED, LOCAL or CONST: never generic. One instruction whose
                             lanes go to several spaces gives one access for each */
    bool is_write, is_atomic; /* atomic: reads and writes */
    bool again;               /* a read by an asynchronous unit, which has been waited for now */
    unsigned bytes;           /* per lane */
    const uint64_t *address;  /* 32; GLOBAL, CONST: addresses. SHARED: bytes from the start of the
                                 block's shared memory. LOCAL: bytes within the thread's own */
    enum access_kind kind;    /* of the active lanes: one address; lane l at the first's plus
                                 (l - first) * bytes; neither */
    uint64_t lo, hi;          /* lowest and highest address of an active lane */
    const uint8_t *file;      /* the warp's registers: what a store is about to write */
    /* As counted; 0 unless the launch counts or the block is traced. */
    unsigned sectors,
        lines;           /* distinct 32-byte sectors, 128-byte lines (global, local as laid out) */
    unsigned wavefronts; /* shared data wavefronts */
    unsigned ideal;  /* GLOBAL: the fewest sectors that hold so many bytes, SHARED: wavefronts */
    unsigned data;   /* GLOBAL, SHARED: what shape_data says; only when the block is traced */
    unsigned blocks; /* GLOBAL: of the cluster, that get it by a multicast; 0: no multicast */
};

/* Wavefronts of the data stage for lanes `mask` at these 32 addresses. The stage moves as many
 * lanes at a time as 128 bytes serve. */
unsigned shape_data(enum access_kind kind, uint32_t mask, unsigned bytes, const uint64_t *address);

struct emu_barrier {
    unsigned id;           /* 0-15 */
    const uint32_t *lanes; /* per warp of the block: who took part; all meet here */
    uint32_t pc;           /* of one of them */
};

/* What happens at an mbarrier: threads of a warp arrive; a phase ends; threads of a warp see that
 * the phase for which they ask is over; a copy by another block of the cluster has come. */
enum emu_mbarrier { MBARRIER_ARRIVE, MBARRIER_COMPLETE, MBARRIER_PASS, MBARRIER_FROM_FAR };
/* The address under which listeners hear of the cluster's barrier. */
#define CLUSTER_BARRIER UINT64_MAX
/* ... and, less the number of the warpgroup, of the meetings of its warps at wgmma. */
#define WARPGROUP_BARRIER (UINT64_MAX - 1)

struct emu_listener {
    const struct emu_listener_class *class;
    bool wants_insts; /* set by the listener in block_begin: deliver inst() for this block */
    bool wants_access;
    struct reports *reports; /* NULL: the first fault ends the launch */
};

struct emu_listener_class {
    const char *name;
    enum emu_check check; /* the check as which its faults are reported */
    struct emu_listener *(*create)(const struct emu_run *run);
    void (*destroy)(struct emu_listener *listener);
    void (*merge)(struct emu_listener *into, struct emu_listener *from);
    /* the block stays where it is until block_end */
    void (*block_begin)(struct emu_listener *listener, const struct emu_block *block);
    /* one warp instruction, before it executes; mask: lanes that pass the guard (may be 0). The
     * access events of a memory instruction follow directly, with the same warp and pc. */
    void (*inst)(struct emu_listener *listener, unsigned warp, uint32_t pc, uint32_t mask);
    /* false: stop the launch, *fault says why (block and line are filled in by the caller) */
    bool (*access)(
        struct emu_listener *listener, const struct emu_access *access, struct emu_fault *fault);
    /* lanes name shared memory by an address of the cluster; `address` as they have it, counts not
     * filled in. Beside access(), which tells of those lanes that name the block's own memory. Also
     * a copy to another block, whose lines are the sectors that come out of shared memory */
    void (*away)(struct emu_listener *listener, const struct emu_access *access);
    /* what a multicast by another block of the cluster reads from global memory for this one, too;
     * before mbarrier() tells of MBARRIER_FROM_FAR */
    void (*received)(struct emu_listener *listener, const struct emu_access *access);
    void (*barrier)(struct emu_listener *listener, const struct emu_barrier *barrier);
    void (*warp_sync)(struct emu_listener *listener, unsigned warp, uint32_t mask);
    void (*mbarrier)(struct emu_listener *listener, unsigned warp, uint64_t address,
        enum emu_mbarrier what); /* address: in the block's shared memory */
    /* another block of the cluster wrote to the block's shared memory */
    void (*written)(struct emu_listener *listener, uint64_t offset, uint64_t bytes);
    /* cp.async.commit_group, .wait_group, .wait_all, .mbarrier.arrive */
    void (*copy_group)(struct emu_listener *listener, unsigned warp, uint32_t pc, uint32_t mask);
    void (*block_end)(struct emu_listener *listener);
    /* after all blocks and merging; may add to the result (the time model fills metrics here) */
    void (*finish)(struct emu_listener *listener, struct emu_result *result);
};

/* races.c, uninit.c: made when launch->find_races, find_uninit. */
const struct emu_listener_class *emu_races_class(void);
const struct emu_listener_class *emu_uninit_class(void);
/* registers.c: when launch->find_uninit. copies.c: when launch->find_sync, and the program copies.
 */
const struct emu_listener_class *emu_registers_class(void);
const struct emu_listener_class *emu_copies_class(void);
bool emu_copies_wanted(const struct program *program);
/* async.c: when launch->find_sync, and the program has wgmma or bulk copies. */
const struct emu_listener_class *emu_async_class(void);
bool emu_async_wanted(const struct program *program);
/* barriers.c: when launch->find_sync, and the program has barriers for all threads. */
const struct emu_listener_class *emu_barriers_class(void);
bool emu_barriers_wanted(const struct program *program);

/* --- counts: filled by the interpreter itself, per pc (count.c) --- */
struct pc_count {
    uint64_t warps, lanes;                  /* executions, lanes past the guard */
    uint64_t requests;                      /* memory instructions with at least one lane */
    uint64_t sectors, sectors_ideal, lines; /* global */
    uint64_t wavefronts, wavefronts_ideal;  /* shared */
    uint64_t data_wavefronts;               /* global */
    uint64_t bytes;                         /* asked for by lanes */
    uint64_t global_bytes;                  /* each once that an instruction of a warp asks for */
    uint64_t global, shared, local;         /* requests by where they went */
    uint64_t divergent;                     /* branches that split */
};

/* What the time model gets when all blocks are done. Counts are those of the blocks run, each block
 * weighted by emu_block.weight when sampled (then already scaled to the whole grid). */
struct emu_counts {
    const struct pc_count *pc; /* program->nr_insts */
    uint64_t blocks_run, blocks_all;
    double scale;            /* pc counts * scale = the whole grid */
    uint64_t unique_sectors; /* distinct 32-byte sectors of global memory touched, unscaled */
};

/* time.c. The class is a listener that sees the traced blocks (NULL: no tracing); the model is
 * called once at the end of a counted launch, with the merged listener (NULL without a class),
 * after the counted metrics are in `counters`; it adds the modelled ones (TIME_NS, CYCLES, hit
 * rates, stalls, utilisation) and line_cost.stall_cycles. With launch->keep_model it gives what
 * emu_cures needs, and the listener belongs to that; else, and where nothing was simulated, NULL.
 */
enum { EMU_TRACED_BLOCKS = 4 };
const struct emu_listener_class *emu_time_class(void);
struct emu_model *emu_time_model(const struct emu_run *run, const struct emu_counts *counts,
    struct emu_listener *listener, struct counters *counters);

#endif
