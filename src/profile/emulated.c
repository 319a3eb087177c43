/* Owns the emulator's counts in profiles that a GPU measured. */
#include "profile/emulated.h"

#include "base/log.h"
#include "base/mem.h"
#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A model of time that is further off than this knows little of what a cause costs. */
static const double most_off = 1.5;
/* What a search waits for the counts of a variant. */
static const double search_s = 5;
enum { MOST_FAILURES = 3, MEMORY_PARTS = 4 };

struct emulated {
    struct emulated_options options;
    const struct device *gpu;
    const struct task *task;
    struct device *device;     /* NULL: not needed yet */
    struct profiler *profiler; /* NULL: not needed yet */
    unsigned nr_failures;      /* in a row */
    bool off;
};

struct emulated *emulated_create(
    const struct device *gpu, const struct task *task, const struct emulated_options *options)
{
    struct emulated *e = xcalloc(1, sizeof(*e));

    e->options = *options;
    e->gpu = gpu;
    e->task = task;
    return e;
}

void emulated_destroy(struct emulated *e)
{
    if (e == NULL)
        return;
    profiler_destroy(e->profiler);
    device_destroy(e->device);
    free(e);
}

static void give_up(struct emulated *e, const char *why)
{
    log_note("no counts by line: on the emulator: %s", why);
    e->off = true;
}

/* The emulator keeps the arrays and what they begin with in the host's memory. */
static bool fits(const struct emulated *e)
{
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    double bytes = 0;

    for (unsigned i = 0; i < e->task->nr_arrays; i++) {
        struct err ignored;
        uint64_t nr;

        if (array_elems(&e->task->arrays[i], &e->task->timed.sizes, &nr, &ignored))
            bytes += (double)array_bytes(&e->task->arrays[i], nr);
    }
    return bytes < memory / MEMORY_PARTS;
}

static bool make_ready(struct emulated *e)
{
    const struct profiler_options profiler = {.quick_cures = e->options.searches};
    struct device_options options = {
        .nr_threads = e->options.nr_threads, .deadline_s = e->options.searches ? search_s : 0};
    struct str name = {0};
    struct err err;

    if (e->off || e->profiler)
        return !e->off;
    if (!fits(e)) {
        give_up(e, "the arrays take too much of this machine's memory");
        return false;
    }
    str_addf(&name, "emu:%s", e->gpu->chip->key);
    options.name = str_text(&name);
    e->device = device_create(&options, &err);
    str_finish(&name);
    e->profiler = e->device ? profiler_create(e->device, e->task, &profiler, &err) : NULL;
    if (e->profiler == NULL)
        give_up(e, err.text);
    return e->profiler != NULL;
}

/* ---- what is taken ---- */

static enum provenance mark(enum provenance from)
{
    return from == PROV_COUNTED   ? PROV_EMULATED
           : from == PROV_SAMPLED ? PROV_EMULATED_SAMPLE
                                  : PROV_ABSENT;
}

static double cure_scale(const struct counters *measured, const struct counters *emulated)
{
    const double ours = counters_get(emulated, METRIC_TIME_NS),
                 theirs = counters_get(measured, METRIC_TIME_NS);
    const bool near = ours > 0 && theirs <= most_off * ours && ours <= most_off * theirs;

    return near ? theirs / ours : 0;
}

static void take_metrics(struct counters *to, const struct counters *emulated)
{
    const double scale = cure_scale(to, emulated);

    for (int m = 0; m < NR_METRICS; m++) {
        const struct counter *c = &emulated->metric[m];

        if (counters_has(to, (enum metric)m))
            continue;
        if (metric_is_cure((enum metric)m) && c->from == PROV_MODELLED && scale > 0)
            counters_set(to, (enum metric)m, scale * c->value, PROV_MODELLED);
        else if (mark(c->from) != PROV_ABSENT)
            counters_set(to, (enum metric)m, c->value, mark(c->from));
    }
    memcpy(to->left, emulated->left, sizeof(to->left));
    to->blocks_run = emulated->blocks_run;
    to->blocks_all = emulated->blocks_all;
}

static void take_waiting(struct line_cost *line, const struct line_cost *from)
{
    line->stall_cycles = from ? from->stall_cycles : 0;
    for (unsigned i = 0; i < NR_WAITS; i++)
        line->stalls[i] = from ? from->stalls[i] : 0;
}

/* All lines of both, rising: the emulator's counts, and the waiting that the GPU has sampled. */
static void take_lines(struct counters *to, const struct counters *emulated, struct arena *arena)
{
    struct line_cost *lines =
        arena_array(arena, to->nr_lines + emulated->nr_lines + 1, sizeof(*lines));
    unsigned nr = 0, a = 0, b = 0;

    while (a < emulated->nr_lines || b < to->nr_lines) {
        const struct line_cost *counted = a < emulated->nr_lines ? &emulated->lines[a] : NULL;
        const struct line_cost *waited = b < to->nr_lines ? &to->lines[b] : NULL;

        if (counted && (!waited || counted->line <= waited->line)) {
            const bool same = waited && waited->line == counted->line;

            lines[nr] = *counted;
            take_waiting(&lines[nr++], same ? waited : NULL);
            a++;
            b += same;
        } else {
            lines[nr++] = to->lines[b++];
        }
    }
    to->lines = lines;
    to->nr_lines = nr;
}

static void take(struct profile *to, const struct profile *emulated, struct arena *arena)
{
    struct profile sum = *to;

    for (unsigned i = 0; i < to->nr_launches; i++) {
        take_metrics(&to->launches[i], &emulated->launches[i]);
        take_lines(&to->launches[i], &emulated->launches[i], arena);
    }
    /* Some metrics are known of all launches together only: these stay. */
    profile_sum(&sum, arena);
    for (int m = 0; m < NR_METRICS; m++)
        if (!counters_has(&to->total, (enum metric)m))
            to->total.metric[m] = sum.total.metric[m];
    to->total.lines = sum.total.lines;
    to->total.nr_lines = sum.total.nr_lines;
    to->total.blocks_run = sum.total.blocks_run;
    to->total.blocks_all = sum.total.blocks_all;
}

void emulated_fill(struct emulated *e, struct candidate *c)
{
    struct candidate shadow = *c;
    struct err err = {.text = ""};
    bool ok;

    if (c->verdict != VERDICT_OK || c->profile.nr_launches == 0 || !make_ready(e))
        return;
    shadow.profile = (struct profile){0};
    shadow.profiled = false;
    shadow.reused = false;
    device_begin(e->device);
    ok = profile_kernel(e->profiler, &shadow, &err);
    /* `suspicious` is about the model's time, which nobody asks for here. */
    if (ok && (shadow.verdict == VERDICT_OK || shadow.verdict == VERDICT_SUSPICIOUS) &&
        shadow.profile.nr_launches == c->profile.nr_launches) {
        e->nr_failures = 0;
        take(&c->profile, &shadow.profile, c->arena);
    } else if (++e->nr_failures == MOST_FAILURES || !ok) {
        give_up(e, ok ? shadow.verdict_text : err.text);
    }
}
