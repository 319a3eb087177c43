/* The interpreter's own state: a worker thread, the block it runs, its warps and the sides into
 * which a warp splits. Private to emu/: exec.c runs, warp.c splits and joins, access.c touches
 * memory, sync.c waits, launch.c starts it all. */
#ifndef KEET_EMU_EXEC_EXEC_H
#define KEET_EMU_EXEC_EXEC_H

#include "base/str.h"
#include "emu/exec/sums.h"
#include "emu/state/memory.h"
#include "emu/state/windows.h"
#include "emu/watch/event.h"
#include "emu/watch/reports.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

/* exec.c, access.c, data.c, matrix.c and shape.c are compiled once per instruction set, like the
 * sem files: the names of what they export end in that of the set. variants.c chooses. */
#ifndef KEET_LANES
#define KEET_LANES base
#endif
#define EXEC_JOIN2(a, b) a##_##b
#define EXEC_JOIN(a, b) EXEC_JOIN2(a, b)
#define EXEC_NAME(name) EXEC_JOIN(name, KEET_LANES)
#define exec_block_here EXEC_NAME(exec_block)
#define access_memory EXEC_NAME(access_memory)
#define access_cp_async EXEC_NAME(access_cp_async)
#define access_copy_frame EXEC_NAME(access_copy_frame)
#define access_lanes EXEC_NAME(access_lanes)

#define NO_PC 0xffffffffu
#define NO_SPLIT 0xffffu
enum { MAX_BARRIERS = 16 };

/* The lanes of a warp form a tree of splits. Leaves execute. A split whose lanes diverged waits at
 * the pc where its sides meet again, or, for a call, at the return. When no side is left, the split
 * goes on with the lanes that came. Lanes that exit never come, so they hold nobody up. */
enum split_state {
    SPLIT_FREE,
    SPLIT_READY,
    SPLIT_AT_BARRIER,
    SPLIT_AT_SYNC,      /* waits for lanes of need */
    SPLIT_AT_WGMMA,     /* wgmma.fence, wait_group: waits for the other warps of the warpgroup */
    SPLIT_AT_REGISTERS, /* setmaxnreg.inc: waits for need registers a lane */
    SPLIT_AT_CLUSTER,   /* barrier.cluster.wait: waits for need to have arrived everywhere */
    SPLIT_PARENT        /* mask: the lanes that have come */
};

struct warp_split {
    uint32_t pc, rpc, mask, need;
    uint16_t parent, nr_sides;
    uint8_t state, barrier;
    bool is_call;
    bool counted; /* barrier with a thread count: arrivals are warps */
};

struct warp {
    uint8_t *file, *local;
    struct saved *saved; /* by lane, of programs with recursive functions; stack.c */
    struct warp_split *splits;
    size_t cap_splits;
    uint16_t nr_splits; /* those from here on are free */
    unsigned index;     /* in the block */
    uint32_t live;      /* lanes not exited */
    uint32_t counted;   /* lanes that the live threads of the block include */
    uint16_t current;
    uint16_t spins;    /* turns in a row in which the warp seemed to wait for another lane */
    uint32_t asked_at; /* pc of the last question to an mbarrier, 0: none */
    bool polled;  /* the mbarrier answered that the phase is not over, or waiting: the turn ends */
    bool waiting; /* wait.c: the last time round a loop changed nothing */
    uint32_t round_at,
        round_mask;      /* wait.c: the last time round ended at this pc; NO_PC: none ... */
    uint8_t *round_file; /* ... with these registers; NULL: never yet */
    uint32_t at_cluster, cluster_odd; /* lanes that arrived at the cluster's barrier and have not
                                         waited; those of them whose phase is odd */
    struct flight *flight;            /* flight.c; NULL: none yet */
    uint16_t registers;               /* a lane; setmaxnreg.c; 0: not known, or exited */
    bool done;
    bool parted; /* lanes went on alone (warp_part) and may not have met since */
};

struct barrier {
    unsigned arrived, expected; /* threads; expected 0: all live ones */
    unsigned waiting;           /* splits */
    unsigned true_threads, red_threads;
};

struct access_shape {
    uint16_t sectors, ideal, lines, wavefronts;
    uint16_t bytes; /* distinct ones; global memory only */
    uint16_t data;  /* 0: not asked for */
};

enum { ROW_BYTES = 4 * WARP_LANES }; /* so many bytes past the end of any memory may be read */

/* What an instruction's last access looked like. The accesses of a loop mostly look alike, and then
 * neither their extent nor their cost has to be found again. */
struct access_pattern {
    uint64_t rel[WARP_LANES];  /* addresses relative to the first active lane's; 0 for idle lanes */
    uint64_t low;              /* all rel or-ed: their common alignment */
    uint64_t lo_rel, hi_rel;   /* the least and the greatest of them, modulo 2^64 */
    uint32_t mask, bytes;      /* mask 0: nothing yet */
    uint8_t kind, space;       /* enum access_kind, enum ptx_space */
    bool matrices;             /* rows of 8x8 matrices, each matrix served by itself */
    bool indexed;              /* index is set */
    int32_t index[WARP_LANES]; /* in words, from the lowest lane's */
    /* what it costs, which depends on the first address modulo 128 at most */
    uint32_t shape_mod; /* the address modulo 128 for which the shape was found; NO_SHAPE: none */
    struct access_shape shape;
    uint32_t heads; /* lanes whose sector is not that of the active lane before */
    uint64_t hits;  /* accesses of this shape that the counts do not have yet: count_hits */
    /* the conditions under which the next access needs no look at anything: again() in access.c */
    uint32_t ready;          /* lanes, 0: none */
    uint64_t first, room;    /* the first active lane's address is at most room above first ... */
    uint64_t last, mod;      /* ... and like the last one in these bits */
    uintptr_t host, touched; /* where address 0 would be; touched 0: not to be noted */
};
#define NO_SHAPE 0xffffffffu

struct pc_cache { /* the buffer that this instruction used last: addresses within [first, end) */
    uint64_t first, end;
    struct mem_buffer *buffer;
    uint8_t *host; /* its first byte, or what stands for it: sums_host */
};

/* How often each instruction is executed follows from the stretches of instructions that lanes went
 * through: a stretch adds to its first instruction and subtracts behind its last. */
struct flow {
    uint64_t warps, lanes; /* sums up to and including this pc; modulo 2^64 */
};

struct exec { /* one launch, shared by its workers */
    struct emu_run run;
    const uint8_t *params;
    bool counting, listening, find_sync;
    bool together; /* all blocks side by side, on one thread */
    uint64_t step_limit, ends_ns;
    const struct block_choice *choice; /* the blocks that run */
    uint64_t nr_run;
    unsigned nr_workers;
    /* on a cache line of their own: the rest of the struct is read all the time */
    alignas(64) atomic_uint_fast64_t next_block;
    atomic_uint_fast64_t steps;
    atomic_bool stop;
    struct wait_council {
        pthread_mutex_t lock;
        uint64_t age;                  /* grows when a worker begins to wait, goes on, or is done */
        unsigned nr_agree, nr_workers; /* at this age: workers that wait, or are done */
        unsigned nr_done;
    } council;                        /* wait.c: does anybody still move? */
    atomic_uint_fast64_t fault_block; /* lowest so far */
};

enum { MAX_LISTENERS = 8, MOST_ANNOUNCED = 64 };

/* What a worker's blocks printed. The numbers of a worker's blocks rise, so the first
 * EMU_PRINT_BYTES of all output are among the first EMU_PRINT_BYTES of each worker's. */
struct print_log {
    struct str text;
    struct print_entry {
        uint64_t block;
        size_t at, bytes;
    } * entries;
    size_t nr, cap;
    bool cut;
};

/* Blocks that run side by side, in turns on one thread: cluster.c. A block without others is a
 * cluster of its own. */
struct cluster {
    struct block_worker *blocks;
    unsigned nr;
    uint32_t phase;                    /* of barrier.cluster */
    unsigned live, arrived;            /* threads; those that arrived in this phase */
    unsigned idle_rounds, wait_rounds; /* in a row */
    struct reach *reach;               /* reach.c; NULL: not looked for */
};

struct block_worker {
    struct exec *exec;
    struct cluster *cluster, own_cluster;
    unsigned rank;     /* in the cluster */
    char ended_at[32]; /* " (line 12)": where the block's last thread exited */
    const struct program *program;
    struct emu_memory *memory;
    struct emu_block block;
    struct warp *warps;
    unsigned nr_warps, nr_threads, nr_done;
    unsigned live_threads;
    unsigned first_warp; /* each round of turns begins with it */
    bool backwards;      /* and goes down from there */
    uint8_t *files, *locals, *shared;
    uint32_t shared_bytes;
    struct barrier barriers[MAX_BARRIERS];
    uint32_t spare_registers;        /* setmaxnreg.c */
    struct pc_count *counts;         /* without what `flow` tells, until the end */
    struct flow *flow;               /* nr_insts + 1 */
    struct pc_cache *caches;         /* by slot: pc_cache_of */
    struct access_pattern *patterns; /* by slot: pattern_of */
    bool one_round;   /* exec_block returns when each warp has had a turn; nr_done: warps done */
    bool idle, waits; /* ... and in that turn all warps only asked or waited; only waited */
    uint64_t steps, steps_checked;
    unsigned nr_looks; /* at limits */
    uint64_t charged;  /* steps that services stand for, besides */
    uint64_t paced;    /* steps' worth of time that an instruction took besides, for no limit */
    uint64_t contacts; /* atomics and volatile accesses: those by which a lane waits for another */
    struct announced { /* bytes, at an mbarrier of the block, last by this instruction */
        uint64_t address;
        uint32_t pc;
    } announced[MOST_ANNOUNCED];
    unsigned nr_announced;
    uint64_t moves;       /* operations on mbarriers, and barriers that opened */
    uint64_t polls;       /* lanes whose mbarrier was not ready */
    unsigned idle_rounds; /* rounds in a row in which all warps only asked or waited */
    bool alone;           /* no other worker runs blocks of this launch */
    bool counting, wants_insts, wants_access, float_atomics;
    struct hush *hush;    /* wait.c; NULL: never needed yet */
    unsigned wait_rounds; /* rounds in a row in which all warps only waited */
    bool agrees;          /* exec->council counts this worker */
    uint64_t council_age; /* when the worker last looked */
    struct emu_listener *listeners[MAX_LISTENERS];
    unsigned nr_listeners;
    struct emu_fault fault;  /* of the running block */
    struct emu_fault first;  /* of the first block in the order in which they run */
    uint64_t first_at;       /* its place in that order */
    struct reports *reports; /* NULL: the first fault ends the launch */
    struct print_log log;
    struct own_sums sums;
};

static inline struct access_pattern *pattern_of(const struct block_worker *k, uint32_t pc)
{
    return &k->patterns[k->program->insts[pc].slot];
}

static inline struct pc_cache *pc_cache_of(const struct block_worker *k, uint32_t pc)
{
    return &k->caches[k->program->insts[pc].slot];
}

/* sums.h. Any time between two instructions. */
static inline void sums_settle(struct block_worker *k)
{
    if (k->sums.waiting)
        sums_settle_now(k);
}

/* exec.c */
bool exec_block_here(struct block_worker *k); /* false: k->fault says why */

/* variants.c; shape_data is in event.h */
bool exec_block(struct block_worker *k);

/* fault.c */
bool exec_fault(struct block_worker *k, enum verdict verdict, uint32_t pc, const char *format, ...)
    __attribute__((format(printf, 4, 5))); /* always false */

/* Limits and interrupts are looked at once in so many warp instructions. Under watchers an
 * instruction may take 10 us (an atomic that joins the clocks of 512 warps): 40 ms in all. */
enum { STEPS_PER_CHECK = 1 << 12 };
static inline uint64_t exec_unchecked(const struct block_worker *k)
{
    return k->steps + k->charged - k->steps_checked;
}
static inline bool exec_is_due(const struct block_worker *k)
{
    return exec_unchecked(k) + k->paced > STEPS_PER_CHECK;
}
/* True: the launch is over one of its limits, or it is stopped; k->fault says so. */
bool exec_over_limit(struct block_worker *k, uint32_t pc);

/* Counts `steps` warp instructions more, for what a service does on the host. False: the launch is
 * over one of its limits, or it is stopped. */
bool exec_charge(struct block_worker *k, uint32_t pc, uint64_t steps);

/* After a fault, when the launch wants all faults: the fault is noted, and the instruction (or the
 * rest of the block) is left out. False: the fault stands. */
bool exec_note(struct block_worker *k);

/* Tells an access to every listener that wants accesses. False: a listener found a fault, and the
 * fault stands. */
bool exec_tell_access(struct block_worker *k, const struct emu_access *access);

/* The same to all listeners but the time model's. */
bool exec_tell_watchers(struct block_worker *k, const struct emu_access *access);
/* Tells the block's listeners of an access to shared memory by an address of the cluster. */
void exec_tell_away(struct block_worker *k, const struct emu_access *access);
/* Tells the listeners of the cluster's other blocks of the mask what a multicast reads for them. */
void exec_tell_received(struct block_worker *k, uint32_t ranks, const struct emu_access *access);
/* Tells the block's listeners what a warp did at an mbarrier, or at what stands for one. */
void exec_tell_mbarrier(
    struct block_worker *k, unsigned warp, uint64_t address, enum emu_mbarrier what);

/* warp.c */
void warp_start(struct warp *w, uint32_t live, uint32_t entry);
uint16_t warp_new_split(struct warp *w);
/* Divide split s: `taken` goes to `target`, the rest of s to `fall`; they meet at `meet`. */
void warp_diverge(
    struct warp *w, uint16_t s, uint32_t taken, uint32_t target, uint32_t fall, uint32_t meet);
void warp_arrive(struct warp *w, uint16_t s); /* s is at its rpc */
void warp_call(struct warp *w, uint16_t s, uint32_t mask, uint32_t target, uint32_t back);
void warp_return(struct warp *w, uint16_t s, uint32_t mask); /* to the nearest call */
void warp_exit(struct warp *w, uint16_t s, uint32_t mask);
/* The lanes that wait for split s to meet them go on without s: one of them may hold what s waits
 * for. */
void warp_part(struct warp *w, uint16_t s);
uint16_t warp_ready(const struct warp *w, uint16_t after); /* a ready leaf, NO_SPLIT when none */
/* The warp's, or the block's, first split in this state, and its warp; NULL: none. */
const struct warp_split *warp_split_at(const struct warp *w, enum split_state state);
const struct warp_split *warp_waiting(
    const struct block_worker *k, enum split_state state, const struct warp **w);

/* access.c: loads, stores, atomics; copies */
bool access_memory(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);
bool access_cp_async(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);
/* One request of a matrix instruction: gives the host memory of each lane in `at`; the caller moves
 * the data. In shared memory 8 lanes are served at a time when each asks for 16 bytes. */
bool access_lanes(struct block_worker *k, struct warp *w, uint32_t pc, enum ptx_space space,
    uint32_t mask, unsigned bytes, bool write, const uint64_t *address, uint8_t **at);
void access_copy_frame(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t mask);

/* Host memory of an offset in one lane's frame. The offset counts from the top of the lane's stack
 * when `row` holds such tops, else from the beginning of the lane's local memory. */
static inline uint8_t *frame_at(const struct block_worker *k, const struct warp *w, unsigned lane,
    uint32_t row, uint32_t offset)
{
    uint64_t top = 0;
    if (row != NO_ROW)
        __builtin_memcpy(&top, w->file + row + (size_t)lane * 8, 8);
    return w->local + (size_t)lane * k->program->local_bytes + top + (int32_t)offset;
}

/* stack.c: the stacks of functions that call themselves */
void stack_init(struct block_worker *k);
void stack_finish(struct block_worker *k);
void stack_start(struct block_worker *k); /* of a block */
bool stack_call(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);
void stack_return(struct block_worker *k, struct warp *w, const struct inst *in, uint32_t mask);
bool stack_alloca(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);
bool stack_back(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);
void stack_save(struct warp *w, const struct inst *in, uint32_t mask);
void stack_restore(struct warp *w, const struct inst *in, uint32_t mask);

/* services.c: the functions of the system that device code calls */
bool service_assert(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);
bool service_print(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);
bool service_malloc(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);
bool service_free(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);
/* All workers' logs into the result. */
void service_printed(
    struct block_worker *workers, unsigned nr, struct arena *arena, struct emu_result *result);

/* mbarrier.c */
enum { MBARRIER_IDLE_ROUNDS = 4096 };
bool mbarrier_step(struct block_worker *k, struct warp *w, uint32_t pc, uint32_t mask);
/* A copy by a lane of k brought bytes for which the mbarrier at an address waits. */
bool mbarrier_complete(struct block_worker *k, const struct warp *w, unsigned lane, uint32_t pc,
    uint64_t address, uint32_t bytes);
bool mbarrier_deadlock(struct block_worker *k); /* always false */

/* wait.c: loops that wait for another block, by asking global memory again and again.
 *
 * How often such a loop asks in vain depends on when other blocks run here, which says nothing
 * about the chip. So a time round such a loop (INST_AGAIN) that leaves all registers of the warp as
 * they were is a wait, and the rule is: of a wait, the first two times round are counted and
 * traced, and the others happen unnoticed, the one that ends the wait included. A wait so costs the
 * model one latency of the memory asked more than no wait. Between times round other warps and
 * blocks go on. */
bool wait_in_vain(struct block_worker *k); /* always false: a fault that says so */
bool wait_round(
    struct block_worker *k, struct warp *w, uint32_t pc, uint32_t mask); /* true: a wait */
/* Between these, nothing is counted or told to the time model. */
void wait_hush(struct block_worker *k, const struct warp *w);
void wait_unhush(struct block_worker *k);
void wait_finish(struct block_worker *k);
/* After a round of the block's warps. waits: all of them only waited. False: they have done so for
 * long, and so have the blocks of all other workers, so that nobody can end it: a verdict. */
bool wait_on(struct block_worker *k, bool waits);
void wait_done(struct block_worker *k); /* the worker runs no more blocks */

/* cluster.c */
/* Runs the blocks of a cluster to their end. False: a block has a fault, which its `fault` has, or
 * the rest can never go on, which the fault of the first block in question says. */
bool cluster_run(struct cluster *cluster);
/* The number, in the grid, of a cluster's block. */
uint64_t cluster_block(const struct emu_run *run, uint64_t cluster, unsigned rank);

/* seeded.c: in which order warps, blocks and turns come, by the launch's seed. */
void seeded_warps(struct block_worker *k); /* sets first_warp, backwards */
uint64_t seeded_unit(
    const struct exec *x, uint64_t i); /* the i-th cluster to run; without clusters, block */
bool seeded_turn(const struct block_worker *k, unsigned round); /* or does the block fall behind? */
void cluster_start(struct cluster *cluster);                    /* before its blocks start */
bool cluster_barrier(
    struct block_worker *k, struct warp *w, uint16_t s, uint32_t pc, uint32_t mask);
void cluster_lanes_left(struct block_worker *k, struct warp *w, uint32_t gone);
bool cluster_deadlock(struct block_worker *k); /* false: k waits at no barrier of the cluster */
/* Tells who watches of an access to the memory of block `to`, which may be k itself. */
bool cluster_tell(struct block_worker *k, const struct warp *w, uint32_t pc, unsigned lane,
    struct block_worker *to, uint64_t offset, unsigned bytes, bool write, bool atomic);
/* The block to whose shared memory an address of k's thread belongs; *offset: within it. NULL:
 * there is no such block, or it has ended, and k->fault says so. */
struct block_worker *cluster_at(struct block_worker *k, const struct warp *w, unsigned lane,
    uint32_t pc, uint64_t address, uint64_t *offset);

/* reach.c: blocks that end too early for others of their cluster */
void reach_start(struct cluster *cluster);
void reach_finish(struct cluster *cluster);
void reach_access(struct block_worker *k, const struct block_worker *to, uint32_t pc);
/* At an mbarrier of the block `owner`, or at CLUSTER_BARRIER. */
void reach_meet(struct block_worker *k, unsigned owner, uint64_t address, enum emu_mbarrier what);
bool reach_end(struct block_worker *k, uint32_t pc); /* the last thread exits; false: too early */

/* matrix.c */
#define matrix_step EXEC_NAME(matrix_step)
bool matrix_step(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);

/* flight.c: what asynchronous units do that has not been waited for */
void flight_add(struct warp *w, const struct emu_access *access, bool bulk);
bool flight_issue(struct block_worker *k, struct warp *w); /* a wgmma, behind its reads */
/* Groups of products and of bulk copies, and wgmma.fence, at which a warpgroup meets. */
bool flight_group(struct block_worker *k, struct warp *w, uint16_t s, const struct inst *in);
bool flight_is_crossed(struct block_worker *k); /* warps of a warpgroup wait for each other */
bool flight_deadlock(struct block_worker *k);   /* false: no warp waits for a wgmma */
void flight_start(struct warp *w);
void flight_finish(struct warp *w);

/* setmaxnreg.c: setmaxnreg */
void registers_start(struct block_worker *k);
bool registers_set(struct block_worker *k, struct warp *w, uint16_t s, const struct inst *in);
void registers_left(struct block_worker *k, struct warp *w); /* the warp's last lane exits */
bool registers_deadlock(struct block_worker *k); /* false: no warp waits for registers */

/* wgmma.c */
#define wgmma_step EXEC_NAME(wgmma_step)
bool wgmma_step(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);

/* atom.c */
enum {
    ATOM_ALONE = 1, /* no other thread is at this memory */
    ATOM_FLUSH = 2  /* an f32 sum in global memory: PTX ISA 9.0, atom: subnormals are zeros there */
};
void atom_lane(
    const struct inst *in, uint8_t *at, const uint64_t operand[2], uint64_t *old, unsigned how);

/* shape.c: finds the shape of an access like the pattern, whose first active lane is at `start`.
 * With `data` it also finds the wavefronts of the data stage. */
#define shape_find EXEC_NAME(shape_find)
#define shape_data_here EXEC_NAME(shape_data)
void shape_find(struct access_pattern *p, uint64_t start, bool data);
unsigned shape_data_here(
    enum access_kind kind, uint32_t mask, unsigned bytes, const uint64_t *address);

/* count.c: adds p->hits, which become 0. */
void count_some_hits(struct pc_count *count, struct access_pattern *p);
static inline void count_hits(struct pc_count *count, struct access_pattern *p)
{
    if (p->hits)
        count_some_hits(count, p);
}
bool count_fill(const struct exec *x, const struct pc_count *counts, double scale,
    struct arena *arena, struct emu_result *result);

/* tensor_copy.c */
bool tensor_map_step(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);

/* bulk.c */
bool bulk_copy(
    struct block_worker *k, struct warp *w, const struct inst *in, uint32_t pc, uint32_t mask);

/* sync.c */
/* Each returns with the split ready (done, go on) or waiting; false: fault. */
bool sync_barrier(struct block_worker *k, struct warp *w, uint16_t s, uint32_t pc, uint32_t mask);
bool sync_collective(
    struct block_worker *k, struct warp *w, uint16_t s, uint32_t pc, uint32_t mask);
/* After an exit. False: the block ended too early. */
bool sync_lanes_left(struct block_worker *k, struct warp *w, uint32_t pc);
bool sync_deadlock(struct block_worker *k);
sem_fn *sync_find(const struct ptx_inst *ptx, struct inst *in);

#endif
