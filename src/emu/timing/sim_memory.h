/* The memory path of the simulated SM (time_sim.c): the LSU, L1, and the SM's share of L2 and DRAM.
 * A warp's access enters the LSU, which takes one at a time. Times are in cycles.
 *
 *     sim_memory_init(&memory, &in, &out);
 *     value_there = sim_access(&memory, block, access, now, &reason);   // enum stall: why one
 * waits for it sim_memory_finish(&memory); */
#ifndef KEET_EMU_TIMING_SIM_MEMORY_H
#define KEET_EMU_TIMING_SIM_MEMORY_H

#include "emu/timing/time.h"

/* Fitted. Global loads that L1 holds at a time: to what tiling in shared memory gains over the
 * naive f32 matrix product (1.5 times, siboehm's SGEMM tutorial on GA102). */
enum { L1_QUEUE = 512 };

/* From SM to SM in a cluster, cycles: 32% less than to L2 (Luo et al., arXiv 2402.13499). */
enum { NET_LATENCY = 180 };

/* fmax and fmin without their care for NaN, which takes most of their time. */
static inline double later(double a, double b)
{
    return a > b ? a : b;
}

static inline double sooner(double a, double b)
{
    return a < b ? a : b;
}

/* Fractions of a sector that the accesses to a buffer owe to DRAM; and when its address has been
 * translated, 0: not yet asked for. */
struct debt {
    double first, late, again, again_late, write, translated;
    /* under SCATTER: first touches that narrower accesses left to later ones */
    uint32_t unread, unwritten;
};

struct sim_phase {
    uint32_t left; /* arrivals */
    bool asked;    /* for what other blocks have L2 send to this one */
    double at;     /* the last arrival so far, of what is asked for, too */
};

enum { SENT_KEPT = 64 };
struct sim_block {
    const struct block_trace *trace;
    struct sim_phase *phases;
    uint64_t space; /* added to sectors that only this copy of the trace touches */
    unsigned nr_live, nr_waiting, nr_held; /* warps; at barriers of all, of some */
    double end;
    double sent[SENT_KEPT]; /* when copies to other blocks are there, the last ones of nr_sent */
    uint64_t nr_sent;
};

/* The data stage's cycles that are taken, by periods. */
enum { DATA_PERIOD = 32, DATA_PERIODS = 1024 };
struct data_period {
    uint64_t nr;
    double taken;
};

struct sim_memory {
    const struct sim_input *in;
    const struct chip *chip;
    struct sim_output *out;
    double rivals;             /* of the next access away */
    double net_free;           /* towards other SMs of the cluster */
    double performed;          /* when all of the chip knows of the last access */
    double dram_asked;         /* last time */
    double lsu_free, lsu_line; /* the LSU is done with what it has; with what waits for it, too */
    struct data_period data[DATA_PERIODS]; /* of the data stage, for loads whose data came late */
    double l2_free, dram_free, dram_busy;
    double dram_read, dram_written;     /* sectors */
    double evicting;                    /* of the next sector that must be written before */
    double answers[L1_QUEUE], answered; /* when loads under way are answered; the last of them */
    uint64_t nr_answers;
    struct l1 l1;
    struct debt *debts; /* by buffer */
};

void sim_memory_init(struct sim_memory *memory, const struct sim_input *in, struct sim_output *out);
void sim_memory_finish(struct sim_memory *memory);

/* The cycles for which an access occupies the LSU. */
double sim_lsu_cycles(const struct sim_memory *memory, const struct trace_access *access);
/* Occupies the LSU; gives the last cycle. */
double sim_lsu_enter(struct sim_memory *memory, double now, double cycles);
/* Does the cure take the access away altogether? */
bool sim_is_gone(const struct sim_memory *memory, const struct trace_access *access);
/* Makes one access; gives the time when its value is there. spared: it costs the LSU nothing. */
double sim_access(struct sim_memory *memory, const struct sim_block *block,
    const struct trace_access *access, bool spared, double now, uint8_t *reason);

#endif
