/* When kernels ran, by CUPTI's activity records. Events give the time of a whole run; records give
 * the begin and the end of each kernel, and so the time for which the GPU stood idle between
 * launches.
 *
 *     struct trace trace;
 *     if (cupti_trace(cupti, nr_launches, &work, &trace, err)) {
 *         struct trace_span span = trace_span(&trace);
 *         ... span.span_ns: the largest end minus the smallest start ...
 *         trace_finish(&trace);
 *     }
 *
 * Recording makes each launch a little slower on the host, so nothing is timed meanwhile. */
#ifndef KEET_NV_CUPTI_TRACE_H
#define KEET_NV_CUPTI_TRACE_H

#include "nv/cupti.h"

struct trace_kernel {
    uint64_t start_ns, end_ns; /* on CUPTI's clock */
    char name[128];            /* the symbol, cut when longer */
};

struct trace {
    struct trace_kernel *kernels; /* by rising start; heap */
    unsigned nr, capacity;
};
void trace_finish(struct trace *trace);

/* Runs all launches once, as one piece of work (launch number 0 of `work`), and records the
 * kernels. An error: records were lost or have no times, or their number is not nr_kernels. */
bool cupti_trace(const struct cupti *cupti, unsigned nr_kernels, struct cupti_work *work,
    struct trace *trace, struct err *err);

/* What the GPU did in the time that the records cover. */
struct trace_span {
    double span_ns;             /* largest end - smallest start */
    double busy_ns;             /* while at least one kernel ran */
    double gap_ns;              /* span - busy: while no kernel ran */
    double longest_gap_ns;      /* of one gap */
    unsigned longest_gap_after; /* number of the kernel before it */
};
struct trace_span trace_span(const struct trace *trace);

/* Two clocks of one card: do the kernels take as long by the records as by events around a graph of
 * the same launches? Events include the way to the first kernel and the graph's own small gaps:
 * 10% and 5 us are allowed. */
bool trace_agrees(double span_ns, double gap_ns, double event_ns);

#endif
