/* Owns the counters, spans and costs of lines that a GPU measures. A second worker with CUPTI in it
 * takes them, apart from the worker that times, so that profiling can neither slow down nor break a
 * timing. */
#include "device/gpu_state.h"

#include "base/log.h"
#include "base/mem.h"
#include "nv/cupti_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The time beyond that of the launches: for the configuration, and for saving and restoring memory
 * once per launch and pass. */
static const double setup_s = 30, save_s = 1;
enum { MOST_FAILURES = 3, PASSES = 16 };

struct gpu_profiler {
    struct device_gpu shadow; /* the same GPU with another worker and its own buffers there */
    unsigned nr_failures;     /* in a row, of the worker */
    bool off;
    struct worker_counts *counts; /* of the last launches that were counted */
    bool counted;
    char said[3][WORKER_WHY_BYTES];
};

void gpu_profiler_destroy(struct gpu_profiler *p)
{
    if (p == NULL)
        return;
    gpu_drop_worker(&p->shadow);
    free(p->counts);
    free(p);
}

static struct gpu_profiler *profiler_of(struct device_gpu *gpu)
{
    const char *chosen = getenv("KEET_CUPTI");

    if (gpu->profiler != NULL)
        return gpu->profiler;
    gpu->profiler = xcalloc(1, sizeof(*gpu->profiler));
    gpu->profiler->counts = xcalloc(1, sizeof(*gpu->profiler->counts));
    gpu->profiler->shadow = *gpu;
    gpu->profiler->shadow.profiler = NULL;
    gpu->profiler->shadow.worker = NULL;
    gpu->profiler->shadow.generation = 0;
    gpu->profiler->shadow.options.counts = true;
    /* A software driver has no counters, and CUPTI would take it for a real one. */
    gpu->profiler->off = gpu->info.software && (chosen == NULL || chosen[0] == '\0');
    return gpu->profiler;
}

/* ---- a shadow of the launches' modules and buffers ---- */

static void copy_buffers(struct device_gpu *shadow, const struct device_gpu *gpu)
{
    shadow->nr_buffers = gpu->nr_buffers;
    shadow->buffers = xcalloc(gpu->nr_buffers + 1, sizeof(struct gpu_buffer *));
    for (size_t i = 0; i < gpu->nr_buffers; i++) {
        const struct gpu_buffer *b = gpu->buffers[i];

        shadow->buffers[i] = xcalloc(1, sizeof(*b));
        *shadow->buffers[i] = (struct gpu_buffer){
            .address = b->address, .bytes = b->bytes, .contents = b->contents, .fill = b->fill};
    }
}

/* The contents are the original's. */
static void drop_buffers(struct device_gpu *shadow)
{
    struct worker_reply reply;
    struct err ignored;

    for (size_t i = 0; i < shadow->nr_buffers; i++) {
        const struct gpu_buffer *b = shadow->buffers[i];

        if (shadow->worker != NULL && b->generation == shadow->generation && b->generation > 0)
            gpu_plain_call(shadow, &(struct worker_request){.op = WORKER_FREE, .address = b->real},
                &reply, &ignored);
        free(shadow->buffers[i]);
    }
    free(shadow->buffers);
    shadow->buffers = NULL;
    shadow->nr_buffers = 0;
}

static struct device_module *copy_module(const struct device_module *m)
{
    struct device_module *copy = xcalloc(1, sizeof(*copy));

    *copy = *m;
    copy->generation = 0;
    copy->image = aligned_alloc(64, (m->image_bytes + 63) / 64 * 64);
    if (copy->image == NULL) {
        free(copy);
        return NULL;
    }
    memcpy(copy->image, m->image, m->image_bytes);
    return copy;
}

/* ---- reasons ---- */

/* Keeps a reason for later, and says it once. */
static void say_once(char said[WORKER_WHY_BYTES], const char *what, const char *why)
{
    if (why[0] != '\0' && strcmp(said, why) != 0) {
        log_note("%s: %s", what, why);
        snprintf(said, WORKER_WHY_BYTES, "%s", why);
    }
}

static void say_reasons(struct gpu_profiler *p)
{
    const struct worker_counts *c = p->counts;

    say_once(p->said[0], "no hardware counters", c->counters_why);
    say_once(p->said[1], "no gaps between launches", c->trace_why);
    say_once(p->said[2], "no stalls by line", c->lines_why);
    /* Where no counts can be had, a request for each candidate only takes time. */
    if (c->counters_why[0] != '\0' && c->trace_why[0] != '\0' && c->lines_why[0] != '\0')
        p->off = true;
    else if (c->counters_why[0] != '\0' && c->nr_lines == 0 && c->span_ns == 0)
        p->off = true;
}

static void worker_failed(struct gpu_profiler *p, const char *why)
{
    snprintf(p->counts->counters_why, WORKER_WHY_BYTES, "%.500s", why);
    say_once(p->said[0], "no hardware counters", p->counts->counters_why);
    gpu_drop_worker(&p->shadow);
    if (++p->nr_failures == MOST_FAILURES)
        p->off = true;
}

/* ---- counting ---- */

static bool count(
    struct device_gpu *gpu, struct gpu_profiler *p, const struct gpu_job *job, double time_ns)
{
    struct worker_request request = {
        .op = WORKER_COUNT, .cycles = time_ns * 1e-9 * gpu->chip.clock_hz};
    const double launch_s = gpu->info.software ? gpu->launch_s : save_s + 10 * time_ns * 1e-9;
    const double deadline_s = setup_s + PASSES * (double)job->nr_launches * launch_s;
    struct device_result result = {0};
    struct err err = {.text = ""};
    const bool ran = gpu_run(&p->shadow, job, &request, deadline_s, &result, &err);

    if (!ran || result.verdict != VERDICT_OK || p->shadow.worker == NULL) {
        worker_failed(p, ran ? result.text : err.text);
        return false;
    }
    memcpy(p->counts, worker_window(p->shadow.worker), sizeof(*p->counts));
    p->nr_failures = 0;
    say_reasons(p);
    return true;
}

void gpu_count(struct device_gpu *gpu, const struct gpu_job *job, double time_ns)
{
    struct gpu_profiler *p = profiler_of(gpu);
    struct gpu_job copy = {.launches = job->launches, .nr_launches = job->nr_launches};
    struct worker_reply reply;
    struct err ignored;

    p->counted = false;
    memset(p->counts, 0, sizeof(*p->counts));
    if (p->off)
        return;
    copy.module = copy_module(job->module);
    if (copy.module == NULL)
        return;
    copy_buffers(&p->shadow, gpu);
    p->counted = count(gpu, p, &copy, time_ns);
    if (p->shadow.worker != NULL && copy.module->generation == p->shadow.generation)
        gpu_plain_call(&p->shadow,
            &(struct worker_request){.op = WORKER_UNLOAD, .module = copy.module->number}, &reply,
            &ignored);
    drop_buffers(&p->shadow);
    free(copy.module->image);
    free(copy.module);
}

/* ---- the counts ---- */

static const char *kernel_of(const struct device_module *m, uint32_t number)
{
    return ((const struct worker_load *)(const void *)m->image)->kernels[number].name;
}

static unsigned nr_launches_of(const struct gpu_job *job, const char *lowered)
{
    unsigned nr = 0;

    for (unsigned i = 0; i < job->nr_launches; i++)
        nr += strcmp(job->launches[i].facts->lowered, lowered) == 0;
    return nr;
}

/* Warp-cycles of waiting at each line: the share of the kernel's samples that waited there, times
 * `resident`, the time in which warps were resident. Where that was not counted (0), a sample
 * stands for its period. */
static void fill_lines(const struct gpu_profiler *p, const struct gpu_job *job, const char *lowered,
    double resident, struct arena *arena, struct counters *c)
{
    const struct worker_counts *from = p->counts;
    double all = 0;
    unsigned nr = 0;

    for (uint32_t i = 0; i < from->nr_lines; i++) {
        if (strcmp(kernel_of(job->module, from->lines[i].kernel), lowered) == 0) {
            all += from->lines[i].nr_all;
            nr++;
        }
    }
    if (nr == 0 || all <= 0)
        return;
    if (!(resident > 0))
        resident = all * from->sample_cycles / nr_launches_of(job, lowered);
    c->lines = arena_array(arena, nr, sizeof(*c->lines));
    for (uint32_t i = 0; i < from->nr_lines; i++) {
        const struct worker_line *line = &from->lines[i];
        struct line_cost *to = &c->lines[c->nr_lines];

        if (strcmp(kernel_of(job->module, line->kernel), lowered) != 0)
            continue;
        *to = (struct line_cost){.line = line->line};
        for (unsigned s = 0; s < NR_WAITS; s++) {
            to->stalls[s] = line->stalled[s] / all * resident;
            to->stall_cycles += to->stalls[s];
        }
        c->nr_lines++;
    }
}

void gpu_fill_counts(struct device_gpu *gpu, const struct gpu_job *job, unsigned i,
    struct arena *arena, struct counters *c)
{
    const struct gpu_profiler *p = gpu->profiler;
    const char *names[METRICS_MAP_NAMES];
    const unsigned nr = metrics_map_names(names);
    double resident = 0;

    if (p == NULL || !p->counted)
        return;
    if (p->counts->nr_names == nr) {
        metrics_map_apply(names, p->counts->values[i], nr, c);
        resident = metrics_map_value("smsp__warps_active.sum", names, p->counts->values[i], nr);
    }
    /* The software GPU measures nothing. */
    for (unsigned m = 0; m < NR_METRICS; m++)
        if (gpu->info.software && c->metric[m].from == PROV_MEASURED)
            c->metric[m].from = PROV_MODELLED;
    fill_lines(p, job, job->launches[i].facts->lowered, resident, arena, c);
}

void gpu_fill_spans(struct device_gpu *gpu, struct arena *arena, struct profile *profile)
{
    const struct gpu_profiler *p = gpu->profiler;
    const enum provenance from = gpu->ops.time_from;
    const double time_ns = profile->time_ns;

    if (p != NULL && p->said[0][0] != '\0' && (!p->counted || p->counts->nr_names == 0))
        profile->no_counters = arena_strdup(arena, p->said[0]);
    if (p == NULL || !p->counted || p->counts->span_ns <= 0)
        return;
    counters_set(&profile->total, METRIC_SPAN_NS, p->counts->span_ns, from);
    counters_set(&profile->total, METRIC_GAP_NS, p->counts->gap_ns, from);
    if (!trace_agrees(p->counts->span_ns, p->counts->gap_ns, time_ns))
        profile->timing.note = arena_printf(arena,
            "%s%skernels ran for %.3g us by activity records, and for %.3g us by events: one of "
            "them was disturbed",
            profile->timing.note ? profile->timing.note : "", profile->timing.note ? "; " : "",
            (p->counts->span_ns - p->counts->gap_ns) / 1e3, time_ns / 1e3);
}
