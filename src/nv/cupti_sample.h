/* Where warps wait, and for what: CUPTI's samples of the program counter. At every so many cycles
 * the hardware notes one warp of a scheduler: the instruction at which it is, and why it does not
 * issue. Through the line table that -lineinfo leaves in the cubin, an instruction is a line.
 *
 *     struct samples samples;
 *     if (cupti_sample(cupti, ctx, period, nr_launches, &work, &samples, err)) {
 *         cupti_sample_lines(cupti, &samples, "kernel", cubin, bytes, &lines, &nr_lines, err);
 *         samples_finish(&samples);
 *     }
 *
 * CUPTI tells the symbol of a sampled kernel where it saw its module being loaded: cupti_sample
 * enables sampling, has the work load its module, and runs the launches. The lookup of lines needs
 * neither driver nor GPU. */
#ifndef KEET_NV_CUPTI_SAMPLE_H
#define KEET_NV_CUPTI_SAMPLE_H

#include "core/counters.h"
#include "nv/cupti.h"

struct sample {
    char *function;          /* symbol; heap */
    uint64_t pc_offset;      /* in the function, in bytes */
    enum wait_reason reason; /* NR_WAITS: the warp issued, or could have */
    uint32_t nr;
};

struct samples {
    struct sample *samples;
    unsigned nr, capacity;
    uint64_t nr_total, nr_dropped; /* of all reasons and kernels, as the hardware says */
    unsigned period_log2;          /* a sample stands for 2 to that many cycles of one scheduler */
};
void samples_finish(struct samples *samples);

/* Log2 of the sampling period that gives about a hundred samples per SM in so many cycles, within
 * what the hardware takes (5 to 31). */
unsigned cupti_sample_period(double cycles);

bool cupti_sample(const struct cupti *cupti, void *cu_context, unsigned period_log2,
    unsigned nr_launches, struct cupti_work *work, struct samples *samples, struct err *err);

/* Samples that stand for a stall, by source line; warps that issue are in nr_all only. Code that
 * was inlined from another file counts for the line that calls it. */
struct sample_line {
    unsigned line; /* 0: no line of the source is known for it */
    double stalled[NR_WAITS];
    double nr_stalled, nr_all;
};

/* Of one function; lines is heap memory, by rising line. By our own reader of cubins (nv/cubin.h),
 * and where that finds nothing by CUPTI's. False where neither knows of lines. */
bool cupti_sample_lines(const struct cupti *cupti, const struct samples *samples,
    const char *function, const void *cubin, size_t cubin_bytes, struct sample_line **lines,
    unsigned *nr_lines, struct err *err);

/* By CUPTI's alone. Source: the file whose lines are meant; NULL: the one in which the function
 * begins. What was inlined from another file counts for the line before it: CUPTI does not tell
 * where it was inlined at. */
bool cupti_sample_lines_by_cupti(const struct cupti *cupti, const struct samples *samples,
    const char *function, const void *cubin, size_t cubin_bytes, const char *source,
    struct sample_line **lines, unsigned *nr_lines, struct err *err);

/* What CUPTI's name of a reason means here: "smsp__pcsamp_warps_issue_stalled_long_scoreboard" is
 * WAIT_LONG. False: it is not to be counted, being a part of another. */
bool cupti_sample_reason(const char *name, enum wait_reason *reason);

#endif
