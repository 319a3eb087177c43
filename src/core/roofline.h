/* The roofline: the least time that a chip needs for the work of a task (Williams, Waterman and
 * Patterson, CACM 52(4), 2009), by the peak rates of core/chip.h.
 *
 *     struct roofline r = task_roofline(chip, task, &c.profile);
 *     if (r.source == ROOFLINE_STATED && time_ns < r.least_ns) ...   // too fast to be right
 *
 * Two limits stand beside each other, since a task does not say how its arithmetic is done:
 * - compute_ns: by plain code of the work's type: the vector pipe for f64, f32, 32-bit integers and
 *   special functions, the tensor cores for the types that they are made for.
 * - fastest_ns: by the fastest unit whose result may still be right. A product of 16-bit halves has
 *   11 bits, so that tensor cores do f32 or f64 work at the rate of f16 where the tolerance is
 *   2^-11 or more. Three products of halves of split operands have about 21 bits (Markidis and
 *   others, "NVIDIA Tensor Core Programmability, Performance & Precision", IPDPSW 2018): a third of
 *   that rate, down to 2^-21. 32-bit integers may hold values of 8 bits. Special functions can be
 *   computed by the FMA pipe too.
 * No unit goes below fastest_ns, so that is what may stop a search. Less arithmetic than the task
 * states (Strassen, Winograd, separable filters) still can.
 *
 * The type of `flops` is that of the arrays that are read. Small ones (less than a 16th of the
 * largest: scales, biases) do not count, and integers beside floats are indices. Where integers
 * of 32 bits are read and floats written, the work is the floats', and may be the integers'. Of
 * several types the slowest counts for compute_ns, the fastest for fastest_ns.
 *
 * Bytes: what a launch reads is in DRAM when the clock starts (the model begins with an empty L2; a
 * card's is flushed). The model writes all results back, and DRAM reaches the chip's achievable
 * share of its peak. A card's clock stops while up to an L2 of results is still there, and its DRAM
 * is held against the peak. Nothing is faster than L2. A task that states more bytes than its
 * arrays have, or than a whole count found distinct, needs only these. */
#ifndef KEET_CORE_ROOFLINE_H
#define KEET_CORE_ROOFLINE_H

#include "base/str.h"
#include "core/chip.h"
#include "core/counters.h"
#include "core/task.h"

enum roofline_source {
    ROOFLINE_NONE,
    ROOFLINE_STATED, /* by the `work` line */
    ROOFLINE_COUNTED /* no `work` line: by the distinct bytes that this kernel moved; another
                        kernel may move fewer */
};

struct roofline {
    enum roofline_source source;
    enum provenance counted; /* ROOFLINE_COUNTED: PROV_SAMPLED where not all blocks ran */
    double flops;            /* stated operations of all kinds but special functions */
    double bytes;            /* that must move */
    enum work type;          /* of the work that takes plain code longest */
    double vector_ns;        /* ... on the vector pipe; 0: it has no instruction for the type */
    double tensor_ns;        /* ... on the tensor cores within the tolerance; 0: not possible */
    double compute_ns, fastest_ns, memory_ns; /* of all work */
    double least_ns;                          /* of fastest_ns and memory_ns the larger */
};

/* Zeros where nothing is known. The profile says what was counted and whether the time is modelled;
 * NULL: nothing is counted, and the time will be modelled. */
struct roofline task_roofline(
    const struct chip *chip, const struct task *task, const struct profile *profile);

/* Bytes per second that no kernel exceeds: of a modelled time, the achievable share of DRAM's peak.
 */
double roofline_dram_rate(const struct chip *chip, bool modelled);

/* "32.1 us", "1.15 ms" */
void roofline_say_time(double ns, struct str *out);

/* "at least 32.1 us by f32 FMA, 4.08 us where tensor cores do it within the tolerance": least
 * times, by the units for the work, or by the bytes where these take longer. */
void roofline_say(const struct roofline *r, struct str *out);

/* "f32 FMA": the instruction of the vector pipe for the type. */
const char *roofline_vector_name(enum work type);

#endif
