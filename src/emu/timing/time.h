/* The time model's own types. Private to emu/time*.c.
 *
 * A few blocks of a launch are traced (time_trace.c): each warp's instructions with the sectors and
 * wavefronts of its memory accesses. What each instruction costs on the chip is a table by pc
 * (time_cost.c), after what ptxas makes of the PTX: short branches become predicates (predicate.c),
 * sums of scaled operands one instruction, neighbouring loads of shared memory one wide load, and
 * loads move up within basic blocks. One SM is then simulated running as many copies of those
 * blocks as the busiest SM would get (time_sim.c): warps issue in order behind a register
 * scoreboard, four schedulers, greedy and then youngest first, pipes with their widths, one LSU, a
 * sectored L1 whose hits pass misses (l1.c), and the SM's share of L2 and DRAM as latency plus
 * bandwidth. time.c turns the outcome and the exact counts into metrics. */
#ifndef KEET_EMU_TIMING_TIME_H
#define KEET_EMU_TIMING_TIME_H

#include "emu/watch/event.h"

/* --- traces --- */

struct trace_access {
    uint32_t first; /* into block_trace.sectors */
    uint16_t nr_sectors, lines;
    uint16_t wavefronts; /* of the data stage */
    uint16_t ideal;      /* sectors, of shared memory wavefronts, that the bytes need at least */
    uint8_t space;       /* enum ptx_space */
    bool is_write, is_atomic;
    uint8_t same_address; /* atomics: the most lanes on one address */
    bool apart;           /* the lines that it touches are not one unbroken run */
    bool bulk;            /* by a bulk or tensor copy: past the LSU and L1 */
    bool past_l1;         /* ld.cg, volatile and ordered loads ask L2 every time */
    bool away;            /* shared memory, by an address of the cluster */
    uint8_t bytes;        /* of a lane */
    uint8_t wide;         /* head of a merged load: wavefronts of the wide load, 0: not aligned */
    uint8_t to;           /* away: the rank of the block, plus 1; 0: of several */
    uint8_t blocks;       /* of the cluster, that get it by a multicast; 1: this one alone */
    uint16_t traffic;     /* into traffic.of, plus 1; 0: none. Filled in before the simulation */
    uint32_t next;        /* receipts: another one of the phase, plus 1; 0: none */
    float slice_cycles;   /* global atomics: what they cost slices of L2 */
};

struct trace_event {
    uint32_t pc;
    uint32_t access; /* first of nr_accesses, in block_trace.accesses */
    uint32_t meet;   /* the first of its meetings, plus 1; 0: none */
    uint16_t nr_accesses;
    uint8_t lanes; /* past the guard */
};

/* An event arrives at a phase of a barrier, or waits until it is over: see meet.c. */
struct trace_meeting {
    uint32_t phase, next; /* next: another one of the event, plus 1; 0: none */
    bool waits;
};
enum meet_kind { MEET_MBARRIER, MEET_CLUSTER, MEET_BARRIER };
struct phase {
    uint32_t arrivals;
    uint32_t received; /* copies of other blocks to this one until its end; 0: it waits for none */
    uint32_t receipts; /* the first access by which a multicast of another block reads what the
                        * phase waits for, plus 1; 0: none */
    uint8_t kind;      /* enum meet_kind */
};
struct meet_place;

struct warp_trace {
    struct trace_event *events;
    size_t nr, cap;
    uint64_t nr_all;     /* executed or skipped; more than nr when the trace was cut short */
    uint64_t nr_skipped; /* predicated off in all lanes (pc_cost.skip_to) */
    uint64_t nr_dropped; /* of the events, those that unrolling saves: see time_unroll */
    uint32_t last_pc;    /* plus 1; 0: none */
};

/* A sector of a trace: its number (address / 32), and whether this access is the first of the block
 * to it (reads) or the first write of the block to it (writes). */
#define TRACE_FIRST (UINT64_C(1) << 63)
#define TRACE_SHARED (UINT64_C(1) << 62) /* other blocks of the SM touch it too */
/* Of a repeated read: the binary logarithm of the number of sectors that the block touched since,
 * repeats and those of other buffers included. */
#define TRACE_DISTANCE(bits) ((uint64_t)(bits) << 57)
#define TRACE_DISTANCE_OF(s) ((unsigned)((s) >> 57) & 31)
#define TRACE_SECTOR(s) ((s) & (TRACE_DISTANCE(1) - 1))
enum { TRACE_DISTANCES = 32 };
/* What one SM can draw from L2, bytes per cycle: the width of its port. */
enum { SM_PORT_BYTES = 64 };
/* Of a first read: the block does not touch the other half of its 64 bytes. */
#define TRACE_ODD TRACE_DISTANCE(1)
#define TRACE_IS_ODD(s) (((s) & (TRACE_FIRST | TRACE_ODD)) == (TRACE_FIRST | TRACE_ODD))

struct sector_set { /* open addressing; key 0 is an empty slot (sector + 1 is stored) */
    uint64_t *keys;
    uint8_t *flags;
    uint32_t *last; /* when the block touched it last, in touches */
    size_t nr, cap;
};
enum { SECTOR_READ = 1, SECTOR_WRITTEN = 2, SECTOR_ATOMIC = 4 };

/* Bytes of global memory that one slice of L2 has, and what the atomics of a block on them cost
 * that slice. */
struct atomic_chunk {
    uint64_t address;
    double cycles;
};
enum { ATOMIC_CHUNKS = 1024, ATOMIC_CHUNK = 256 };

struct block_trace {
    uint64_t block;
    unsigned rank; /* in its cluster */
    struct warp_trace *warps;
    unsigned nr_warps;
    struct trace_access *accesses;
    size_t nr_accesses, cap_accesses;
    uint64_t *sectors;
    size_t nr_sectors, cap_sectors;
    struct sector_set touched;
    uint64_t nr_read, nr_written; /* distinct sectors */
    uint32_t nr_touches;          /* of sectors of global memory */
    struct atomic_chunk *chunks;  /* ATOMIC_CHUNKS, by hash: of each slot the most used */
    struct trace_meeting *meetings;
    size_t nr_meetings, cap_meetings;
    struct phase *phases;
    size_t nr_phases, cap_phases;
    struct meet_place *places;
    unsigned nr_places;
    uint32_t nr_received; /* copies of other blocks of the cluster */
    uint32_t receipts;    /* as of a phase: those of which no phase knows yet */
};

/* What a warp did at an mbarrier or at the cluster's barrier, as its last event. */
void meet_tell(struct block_trace *trace, unsigned warp, uint64_t address, enum emu_mbarrier what);
/* Barriers of a part of the block's warps; where all of them meet nothing is noted. */
void meet_at_barrier(
    struct block_trace *trace, const struct program *program, const struct emu_barrier *barrier);

/* Neighbouring loads of shared memory of which ptxas makes one wide load: the first of them, the
 * head, stands for all. By pc. */
struct load_merge {
    uint32_t head; /* pc + 1; 0: not merged */
    uint8_t bytes; /* of the wide load: 8 or 16 */
    int8_t before; /* bytes from the wide load's start to this one */
};
struct load_merge *time_merges(const struct program *program); /* heap memory */

struct pc_cost;
struct time_listener {
    struct emu_listener base;
    const struct emu_run *run;
    struct load_merge *merges;
    struct pc_cost *costs; /* for skip_to; as of a program that was not traced */
    struct block_trace **traces;
    unsigned nr_traces;
    struct block_trace *
        *nearby; /* traces of blocks near traced ones: no events, only what the blocks touch */
    unsigned nr_nearby;
    struct block_trace *now;  /* NULL: the block is not traced */
    struct trace_event *last; /* the event of the instruction to which accesses belong */
    size_t events_per_warp;
};

/* Sorts the traces by rank, then block: so that one of each cluster comes before another one. */
void time_traces_sort(struct time_listener *listener);

bool sector_set_has(const struct sector_set *set, uint64_t sector);

/* --- costs --- */

enum time_pipe {
    PIPE_NONE,
    PIPE_FMA,
    PIPE_ALU,
    PIPE_IMUL,
    PIPE_FP64,
    PIPE_FP16,
    PIPE_XU,
    PIPE_TENSOR,
    PIPE_BRANCH,
    NR_PIPES
};
/* Why a warp did not issue. */
enum stall {
    STALL_LONG,
    STALL_SHORT,
    STALL_BARRIER,
    STALL_WAIT,
    STALL_MIO,
    STALL_MATH,
    STALL_OTHER,
    NR_STALLS
};

/* A predicate that decides whether an instruction executes or a branch is taken must be there so
 * many cycles earlier than one that is an operand: in 160 modules of machine code for sm_90a
 * (ptxas 13.0), 13 cycles at least lie between ISETP or FSETP and what the predicate guards, 4
 * between them and SEL, PLOP3 or another ISETP. */
enum { GUARD_CYCLES = 9 };

struct pc_cost {
    uint8_t pipe; /* enum time_pipe */
    uint8_t alt;  /* a second pipe that can execute the instruction, or PIPE_NONE */
    bool free;    /* the compiler removes the instruction, which only passes values on */
    bool barrier, async_copy, async_wait;
    bool wgmma;     /* handed to the tensor core, which makes products in their order */
    bool release;   /* waits first until the chip has seen what the warp wrote */
    bool acquire;   /* what L1 has is forgotten */
    bool lsu;       /* the instruction goes through the LSU without touching memory: shuffles */
    uint8_t reason; /* enum stall: why warps stall that wait for the result */
    uint16_t pipe_cycles, slots, latency;
    uint32_t head; /* the pc of the wide load of which this load is a part; its own pc: of none */
    uint16_t async_left; /* async_wait: groups that may remain in flight */
    bool async_commit;
    bool ends_block;   /* part of the instruction is a branch past a slow path */
    uint32_t guard;    /* register id plus 1 of its predicate, also of one in place of a branch */
    float part;        /* of the executions: these cost something. 1 but for cures */
    uint32_t body_end; /* where the body of an unrolled loop begins: its branch; 0: elsewhere */
    float rivals;      /* of an access away: blocks of the cluster that do the same to one block */
    bool constant;     /* loads from the constant bank */
    uint32_t place;    /* in the machine code, instructions from its start */
    bool once;         /* in such a loop: executed once in UNROLLED turns */
    uint32_t skip_to;  /* of a branch that becomes the predicate of what it skips: its target */
};

void time_set_cost(struct pc_cost *cost, enum time_pipe pipe, double cycles, double latency);
/* time_tensor.c: the share of the tensor peak that wgmma holds. Operands that a kernel makes itself
 * are taken to be zeros, which take less power. */
double time_wgmma_share(const struct chip *chip, const struct time_listener *traced);
/* time_tensor.c: of products; loads of matrices are the LSU's. */
void time_cost_tensor(struct pc_cost *cost, const struct inst *in, const struct ptx_inst *ptx,
    const struct chip *chip);

/* fence.c: does the instruction wait until the chip has seen what the warp wrote; does it empty L1?
 */
bool time_releases(const struct ptx_inst *ptx, const struct inst *in);
bool time_acquires(const struct ptx_inst *ptx, const struct inst *in);

/* Marks the branches for which ptxas predicates the few instructions that they skip: no branch is
 * issued, and warps issue the skipped instructions without an effect (predicate.c). */
void time_predicate(const struct program *program, struct pc_cost *costs);

/* Marks the loops that ptxas unrolls UNROLLED times: pc_cost.body_end and .once (unroll.c). starts:
 * where basic blocks begin. */
enum { UNROLLED = 4 };
void time_unroll(const struct program *program, const bool *starts, struct pc_cost *costs);

/* Per pc; heap memory. Merged loads whose traced addresses were not aligned are loads of their own;
 * traces may be NULL. */
struct pc_cost *time_costs(
    const struct program *program, const struct chip *chip, const struct time_listener *traced);

/* A static order of each basic block's instructions, as an optimising assembler would list them. */
struct inst_order {
    uint32_t *rank;     /* by pc, within its block */
    uint32_t *block;    /* by pc: the block's number */
    uint32_t *unrolled; /* by UNROLLED * pc + turn: rank within the unrolled loop */
};
/* Sets pc_cost.rivals. */
void meet_rivals(const struct time_listener *traced, struct pc_cost *costs);
struct inst_order time_schedule(const struct program *program, const struct pc_cost *costs);
/* Sets pc_cost.place; gives how many instructions the machine code has. */
uint32_t time_place(
    const struct program *program, const struct inst_order *order, struct pc_cost *costs);
void order_finish(struct inst_order *order);
/* Puts UNROLLED turns of a loop that begin at event `at` into that order, from event *to on, and
 * gives the event after them; `at`: there are not so many turns. Scratch is as of reorder. */
size_t time_unrolled(const struct pc_cost *costs, const uint32_t *unrolled, struct warp_trace *w,
    size_t at, size_t *to, struct trace_event *scratch);

/* --- behind L1 --- */

/* What L2 and DRAM see of a buffer. Shares are of 0..1. */
struct buffer_traffic {
    uint64_t begin, end;       /* sectors (address / 32) */
    uint64_t place;            /* the first sector's number in the model: see time_traces_share */
    unsigned buffer;           /* into the memory's buffers */
    double one, read, written; /* sectors that a block touches, on average */
    double all;                /* that the grid touches */
    double far;      /* share of a block's that the next block on its SM touches too; -1 unknown */
    double first;    /* of a block's first reads: for these DRAM delivers a sector */
    double late;     /* of the same: these wait for DRAM, first included */
    double write;    /* of a block's first writes: these reach DRAM */
    double evict;    /* for a sector that DRAM delivers so many go there that others had written */
    double dirty;    /* of the sectors that DRAM delivers: these take the place of a written one */
    double alone;    /* of a block's repeated reads that L2 has lost: DRAM delivers a sector; for
                      * the others it does so once for several blocks, which go in step */
    double far_half; /* of a block's first reads that L2 serves: these come from its other half */
};

struct traffic {
    const struct chip *chip;
    struct buffer_traffic *of; /* by address; the caller frees */
    unsigned nr;
    double blocks, drawn;   /* of the grid; those of them that ran */
    double wave;            /* blocks on the chip at a time */
    double usable;          /* sectors that L2 can hold of a working set */
    double of_wave, unique; /* sectors that a wave touches, that the grid touches */
    double reads, writes;   /* sectors from and to DRAM, whole launch */
    double unwritten;       /* sectors that L2 owes DRAM when the launch ends */
    /* by TRACE_DISTANCE: of a block's later reads that miss L1, L2 has lost so many */
    double again[TRACE_DISTANCES];
};

/* The buffer with a sector; NULL: none that the launch touched. */
struct buffer_traffic *time_traffic_at(const struct traffic *traffic, uint64_t sector);
/* Gives accesses their buffers. Blocks of one SM lie nr_sms apart in the grid, the traced ones
 * further: where those on one SM touch the same part of a buffer, all traces get the part of the
 * first one; and TRACE_SHARED marks the sectors that they share. Then sectors get the numbers that
 * they have in the model. There the buffers that the launch touches lie one after the other, each
 * on a boundary of 2 MiB, as cudaMalloc places large arrays: which sectors meet in a set of L1 must
 * not depend on what the emulator allocated earlier. */
void time_traces_share(struct time_listener *listener, const struct traffic *traffic);

struct traffic time_traffic(const struct time_listener *listener, double drawn, double resident);
/* What this launch leaves in L2 for the next: the sectors that it touched, as far as they fit; and
 * of other buffers what they do not push out. */
void time_leave_in_l2(const struct traffic *traffic, const struct emu_run *run);

/* chain[pc], true where a special function is executed, becomes true too where an instruction only
 * brings a function's argument into range or only works on results and numbers: what an exact
 * exponential has around the one instruction. */
void special_chain(const struct program *program, bool *chain);
/* bare[pc]: an approximate function with nothing around it. */
void special_bare(
    const struct program *program, const bool *special, const bool *chain, bool *bare);

/* --- what the model can take away: see time_cures.c --- */

#define SPARED(cure) (1u << CURE_##cure)

/* --- the SM --- */

/* Sectors in lines of four, eight ways, the line that was used least recently goes first. */
struct l1 {
    struct l1_line *lines;
    size_t sets;
    uint32_t age; /* lines of other ages were forgotten */
};
void l1_init(struct l1 *l1, double bytes);
void l1_finish(struct l1 *l1);
void l1_forget(struct l1 *l1); /* what it has */
/* When the sector is there, for the caller to set unless *hit. A sector that L1 does not have gets
 * a place. */
double *l1_sector(struct l1 *l1, uint64_t sector, double now, bool *hit);

struct sim_input {
    const struct emu_run *run;
    const struct pc_cost *costs;
    struct block_trace **traces;
    unsigned nr_traces;
    unsigned resident;                           /* blocks at a time */
    uint64_t nr_blocks;                          /* of the busiest SM */
    double l2_bytes_per_clk, dram_bytes_per_clk; /* this SM's share */
    double l1_bytes;
    double lat_l2, lat_dram, far_l2; /* the last: share by which L2's other half is later */
    const struct traffic *traffic;
    uint32_t nr_places; /* see time_place */
    double spill_rate;  /* spill accesses per instruction */
    double most_events; /* that the simulation may cost; more work is cut short and scaled */
    double turnover; /* of the time from a block's end to the next block's start: 1 but for cures */
    unsigned cured;  /* what is taken away: SPARED bits */
};

struct sim_output {
    double cycles;              /* for nr_blocks */
    double per_block;           /* cycles of the simulated part, by the blocks in it */
    double warp_cycles;         /* sum over warps of the time from start to end, simulated part */
    double stall[NR_STALLS];    /* warp cycles by reason, simulated part */
    double issued;              /* instructions, simulated part */
    double *stall_pc;           /* warp cycles that each pc waited; the caller frees */
    double l1_lookups, l1_hits; /* load sectors */
    double l2_sectors, dram_sectors, l2_read_sectors;
    double lsu_busy, pipe_busy[NR_PIPES]; /* cycles, summed over the schedulers */
    double simulated_blocks;              /* whole blocks' worth of work that the above covers */
    double resident_warps;                /* mean while anything ran */
};

/* Puts the events of all traces into the assembler's order: once, before the first simulation. */
void time_traces_reorder(const struct time_listener *listener, const struct pc_cost *costs,
    const struct inst_order *order);
/* The events that a block's trace has on average; *share: of those that the block had. */
double time_traces_mean(struct block_trace *const *traces, unsigned nr, double *share);
void time_simulate(const struct sim_input *input, struct sim_output *output);

/* --- a launch --- */

struct time_model {
    const struct emu_run *run;
    const struct emu_counts *counts;
    const struct chip *chip;
    struct time_listener *listener; /* with at least one trace, or NULL */
    struct pc_cost *costs;
    struct occupancy occ;
    unsigned resident;
    uint64_t blocks, blocks_sm; /* of the grid; of the busiest SM */
    /* A short simulation, for the ratio to another: the time of rough_blocks at the rate of the
     * simulated ones. 0: a whole one. */
    double rough_blocks;
    uint32_t nr_places; /* see time_place */
    struct traffic traffic;
    struct sim_output sim;
    double cycles;
    double most_events;
    double turnover; /* see sim_input */
    unsigned cured;  /* SPARED bits */
};

/* Simulates the SM, and sets m->cycles. The caller frees m->sim.stall_pc. */
void time_run(struct time_model *m);
/* What the launch that m has simulated is limited by. */
struct limit time_limit(const struct time_model *m);
/* Sets those metrics of core/cures.def that `cures` (bits, 1 << enum cure) names: how long the
 * launch would take without this and that. m has been run. */
void time_cures(
    const struct time_model *m, double ramp_ns, uint32_t cures, struct counters *counters);

#endif
