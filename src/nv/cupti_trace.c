/* Owns the recording of kernels by CUPTI's activity records, and the arithmetic of gaps. */
#include "nv/cupti_trace.h"

#include "base/mem.h"
#include "nv/cupti_inside.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER_BYTES = 1 << 20, BUFFER_ALIGN = 8 };

/* CUPTI hands buffers to callbacks without a pointer of ours, from a thread of its own. So there is
 * one recording at a time, in this variable. */
static struct recording {
    pthread_mutex_t lock;
    const struct cupti *cupti; /* NULL: none */
    struct trace *trace;
    unsigned nr_timeless; /* kernels without times */
    size_t nr_dropped;
    CUptiResult failed;
} recording = {.lock = PTHREAD_MUTEX_INITIALIZER};

void trace_finish(struct trace *trace)
{
    free(trace->kernels);
    *trace = (struct trace){0};
}

static void give_buffer(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
    *buffer = aligned_alloc(BUFFER_ALIGN, BUFFER_BYTES);
    *bytes = *buffer ? BUFFER_BYTES : 0;
    *max_records = 0; /* as many as fit */
}

static void add_kernel(struct recording *r, const CUpti_ActivityKernel10 *record)
{
    struct trace *trace = r->trace;
    struct trace_kernel *kernel;

    if (record->start == 0 || record->end < record->start) {
        r->nr_timeless++;
        return;
    }
    if (trace->nr == trace->capacity) {
        trace->capacity = trace->capacity ? 2 * trace->capacity : 64;
        trace->kernels = xrealloc(trace->kernels, trace->capacity * sizeof(*trace->kernels));
    }
    kernel = &trace->kernels[trace->nr++];
    kernel->start_ns = record->start;
    kernel->end_ns = record->end;
    snprintf(kernel->name, sizeof(kernel->name), "%s", record->name ? record->name : "");
}

static void read_records(struct recording *r, uint8_t *buffer, size_t valid)
{
    CUpti_Activity *record = NULL;
    CUptiResult result;
    size_t dropped = 0;

    while ((result = r->cupti->activity_next(buffer, valid, &record)) == CUPTI_SUCCESS) {
        if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
            record->kind == CUPTI_ACTIVITY_KIND_KERNEL)
            add_kernel(r, (const CUpti_ActivityKernel10 *)(const void *)record);
    }
    if (result != CUPTI_ERROR_MAX_LIMIT_REACHED)
        r->failed = result;
    result = r->cupti->activity_dropped(NULL, 0, &dropped);
    if (result != CUPTI_SUCCESS)
        r->failed = result;
    r->nr_dropped += dropped;
}

static void take_buffer(
    CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
    (void)context, (void)stream, (void)bytes;
    pthread_mutex_lock(&recording.lock);
    if (recording.cupti && valid > 0)
        read_records(&recording, buffer, valid);
    pthread_mutex_unlock(&recording.lock);
    free(buffer);
}

static void set_recording(const struct cupti *cupti, struct trace *trace)
{
    pthread_mutex_lock(&recording.lock);
    recording.cupti = cupti;
    recording.trace = trace;
    recording.nr_timeless = 0;
    recording.nr_dropped = 0;
    recording.failed = CUPTI_SUCCESS;
    pthread_mutex_unlock(&recording.lock);
}

static bool record(const struct cupti *cupti, struct cupti_work *work, struct err *err)
{
    CUptiResult ended, flushed;

    if (!cupti_check(cupti, cupti->activity_callbacks(give_buffer, take_buffer),
            "registering for activity records", err) ||
        !cupti_check(cupti, cupti->activity_enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
            "enabling activity records", err))
        return false;
    const bool ran = work->launch(work, 0, err);
    /* Without a flush, records come when a buffer is full, or never. */
    flushed = cupti->activity_flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    ended = cupti->activity_disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    return ran && cupti_check(cupti, flushed, "flushing activity records", err) &&
           cupti_check(cupti, ended, "disabling activity records", err);
}

static int by_start(const void *a, const void *b)
{
    const struct trace_kernel *x = a, *y = b;

    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

bool cupti_trace(const struct cupti *cupti, unsigned nr_kernels, struct cupti_work *work,
    struct trace *trace, struct err *err)
{
    bool ok;

    *trace = (struct trace){0};
    set_recording(cupti, trace);
    ok = record(cupti, work, err);
    if (ok)
        ok = cupti_check(cupti, recording.failed, "reading activity records", err);
    if (ok && (recording.nr_dropped || recording.nr_timeless))
        ok = err_set(err, "CUPTI dropped %zu activity records, and %u have no times",
            recording.nr_dropped, recording.nr_timeless);
    if (ok && trace->nr != nr_kernels)
        ok = err_set(err, "CUPTI recorded %u kernels of %u", trace->nr, nr_kernels);
    set_recording(NULL, NULL);
    if (!ok)
        trace_finish(trace);
    else
        qsort(trace->kernels, trace->nr, sizeof(*trace->kernels), by_start);
    return ok;
}

bool trace_agrees(double span_ns, double gap_ns, double event_ns)
{
    return fabs(span_ns - gap_ns - event_ns) <= 0.1 * event_ns + 5e3;
}

struct trace_span trace_span(const struct trace *trace)
{
    struct trace_span span = {0};
    uint64_t end_ns, busy_ns = 0;

    if (!trace->nr)
        return span;
    end_ns = trace->kernels[0].start_ns;
    for (unsigned i = 0; i < trace->nr; i++) {
        const struct trace_kernel *k = &trace->kernels[i];
        const uint64_t from_ns = k->start_ns > end_ns ? k->start_ns : end_ns;

        if (i > 0 && (double)(from_ns - end_ns) > span.longest_gap_ns) {
            span.longest_gap_ns = (double)(from_ns - end_ns);
            span.longest_gap_after = i - 1;
        }
        if (k->end_ns > from_ns) {
            busy_ns += k->end_ns - from_ns;
            end_ns = k->end_ns;
        }
    }
    span.span_ns = (double)(end_ns - trace->kernels[0].start_ns);
    span.busy_ns = (double)busy_ns;
    span.gap_ns = span.span_ns - span.busy_ns;
    return span;
}
