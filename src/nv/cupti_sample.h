/* Where warps wait, and why: CUPTI's samples of the program counter. At a fixed number of cycles
 * the hardware notes one warp of a scheduler: its instruction, and the reason why it does not
 * issue. The line table that -lineinfo leaves in the cubin gives the source line of the
 * instruction.
 *
 *     struct samples samples;
 *     if (cupti_sample(cupti, ctx, period, nr_launches, &work, &samples, err)) {
 *         cupti_sample_lines(cupti, &samples, "kernel", cubin, bytes, &lines, &nr_lines, err);
 *         samples_finish(&samples);
 *     }
 *
 * CUPTI knows the symbol of a sampled kernel only if it saw the module being loaded. So
 * cupti_sample enables sampling, has the work load its module, and then runs the launches. The
 * lookup of lines needs neither driver nor GPU. */
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
    unsigned period_log2;          /* a sample stands for 2^period_log2 cycles of one scheduler */
};
void samples_finish(struct samples *samples);

/* Log2 of the sampling period that gives about a hundred samples per SM in this many cycles, within
 * the limits of the hardware (5 to 31). */
unsigned cupti_sample_period(double cycles);

bool cupti_sample(const struct cupti *cupti, void *cu_context, unsigned period_log2,
    unsigned nr_launches, struct cupti_work *work, struct samples *samples, struct err *err);

/* The samples of one source line. Warps that issue are in nr_all only. Code that was inlined from
 * another file counts for the line that calls it. */
struct sample_line {
    unsigned line; /* 0: the line is not known */
    double stalled[NR_WAITS];
    double nr_stalled, nr_all;
};

/* The lines of one function, in heap memory, by rising line. Our own reader of cubins (nv/cubin.h)
 * looks them up; where it finds nothing, CUPTI does. False: neither knows any lines. */
bool cupti_sample_lines(const struct cupti *cupti, const struct samples *samples,
    const char *function, const void *cubin, size_t cubin_bytes, struct sample_line **lines,
    unsigned *nr_lines, struct err *err);

/* The same by CUPTI's lookup alone. `source` is the file whose lines are meant; NULL: the file in
 * which the function begins. Code that was inlined from another file counts for the line before it,
 * since CUPTI does not tell the line of the call. */
bool cupti_sample_lines_by_cupti(const struct cupti *cupti, const struct samples *samples,
    const char *function, const void *cubin, size_t cubin_bytes, const char *source,
    struct sample_line **lines, unsigned *nr_lines, struct err *err);

/* The reason of CUPTI's name: "smsp__pcsamp_warps_issue_stalled_long_scoreboard" is WAIT_LONG.
 * False: samples of that name are part of another reason, and must not count again. */
bool cupti_sample_reason(const char *name, enum wait_reason *reason);

#endif
