/* Owns the devices of a run with their checkers and profilers, and the threads that keep several of
 * them busy. */
#include "run/evaluator.h"

#include "base/mem.h"
#include "check/check.h"
#include "profile/profile.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_DEVICES = 16 };

struct slot {
    struct evaluator *evaluator;
    struct device *device;
    struct checker *checker;   /* NULL: not needed yet */
    struct profiler *profiler; /* likewise */
    bool knows_original;
    struct candidate *c; /* NULL: idle */
    bool done, ok;
    struct err err;
    pthread_t thread;
};

struct evaluator {
    const struct options *options;
    const struct task *task;
    const struct candidate *original;
    const struct compilation *reference;
    struct slot slots[MOST_DEVICES];
    unsigned nr;
    bool threaded, ending;
    pthread_mutex_t mutex; /* of c, done, ok and err of all slots, and of ending */
    pthread_cond_t changed;
};

/* ---- one device ---- */

static bool know_original(struct slot *slot, struct err *err)
{
    const struct candidate *original = slot->evaluator->original;

    if (slot->knows_original || original->profile.time_ns <= 0)
        return true;
    profiler_baseline(slot->profiler, original->profile.time_ns);
    slot->knows_original = profiler_original(slot->profiler, original, err);
    return slot->knows_original;
}

/* What is not needed is not made: filling the inputs of a large task takes a while. */
static bool make_ready(struct slot *slot, struct err *err)
{
    const struct evaluator *e = slot->evaluator;
    const struct checker_options checker = {
        .screen = !e->options->no_screen, .nr_threads = e->options->nr_threads};
    const struct profiler_options profiler = {.energy = e->options->objective != OBJECTIVE_TIME};

    if (slot->checker == NULL)
        slot->checker = checker_create(slot->device, e->task, e->reference, &checker, err);
    if (slot->checker != NULL && slot->profiler == NULL)
        slot->profiler = profiler_create(slot->device, e->task, &profiler, err);
    return slot->profiler != NULL && know_original(slot, err);
}

static bool evaluate(struct slot *slot, struct candidate *c, struct err *err)
{
    return candidate_evaluated(c) ||
           (make_ready(slot, err) && check_kernel(slot->checker, c, err) &&
               profile_kernel(slot->profiler, c, err));
}

static void finish_slot(struct slot *slot)
{
    profiler_destroy(slot->profiler);
    checker_destroy(slot->checker);
    device_destroy(slot->device);
}

/* ---- several: a thread each ---- */

/* The thread lives as long as its device: a worker process dies with the thread that forked it. */
static void *work(void *argument)
{
    struct slot *slot = argument;
    struct evaluator *e = slot->evaluator;

    pthread_mutex_lock(&e->mutex);
    while (!e->ending) {
        if (slot->c == NULL || slot->done) {
            pthread_cond_wait(&e->changed, &e->mutex);
            continue;
        }
        pthread_mutex_unlock(&e->mutex);
        slot->ok = evaluate(slot, slot->c, &slot->err);
        pthread_mutex_lock(&e->mutex);
        slot->done = true;
        pthread_cond_broadcast(&e->changed);
    }
    pthread_mutex_unlock(&e->mutex);
    return NULL;
}

static bool start_threads(struct evaluator *e, struct err *err)
{
    for (unsigned i = 0; i < e->nr; i++) {
        const int failed = pthread_create(&e->slots[i].thread, NULL, work, &e->slots[i]);

        if (failed != 0) {
            e->nr = i; /* those that run are ended as usual */
            return err_set(err, "no thread for a GPU: %s", strerror(failed));
        }
        e->threaded = true;
    }
    return true;
}

static struct slot *slot_of(const struct evaluator *e, const struct candidate *c)
{
    for (unsigned i = 0; i < e->nr; i++)
        if (e->slots[i].c == c)
            return (struct slot *)(uintptr_t)&e->slots[i];
    return NULL;
}

/* ---- making and unmaking ---- */

struct device_options evaluator_device_options(const struct options *o)
{
    return (struct device_options){.name = o->device,
        .nr_threads = o->nr_threads,
        .deadline_s = o->deadline_s,
        .worker_bytes = o->worker_bytes,
        .no_sandbox = o->no_sandbox};
}

static bool add_device(struct evaluator *e, const char *name, struct err *err)
{
    struct device_options options = evaluator_device_options(e->options);
    struct slot *slot = &e->slots[e->nr];

    if (e->nr == MOST_DEVICES)
        return err_set(err, "more than %d GPUs", MOST_DEVICES);
    options.name = name;
    slot->evaluator = e;
    slot->device = device_create(&options, err);
    if (slot->device == NULL)
        return err_wrap(err, "%s", name);
    e->nr++;
    if (strcmp(slot->device->chip->name, e->slots[0].device->chip->name) != 0)
        return err_set(err, "--gpus: %s and %s are of different kinds, whose times do not compare",
            e->slots[0].device->chip->name, slot->device->chip->name);
    return true;
}

static bool add_devices(struct evaluator *e, struct err *err)
{
    const char *at = e->options->gpus;
    char name[32];

    if (at == NULL) {
        const struct device_options options = evaluator_device_options(e->options);

        e->slots[0].evaluator = e;
        e->slots[0].device = device_create(&options, err);
        e->nr = e->slots[0].device != NULL;
        return e->nr == 1;
    }
    for (;; at++) { /* checked by options_parse */
        snprintf(name, sizeof(name), "gpu:%lu", strtoul(at, (char **)(uintptr_t)&at, 10));
        if (!add_device(e, name, err))
            return false;
        if (*at == '\0')
            return e->nr == 1 || start_threads(e, err);
    }
}

struct evaluator *evaluator_create(
    const struct options *options, const struct task *task, struct err *err)
{
    struct evaluator *e = xcalloc(1, sizeof(*e));
    pthread_condattr_t attr;

    e->options = options;
    e->task = task;
    pthread_mutex_init(&e->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&e->changed, &attr);
    pthread_condattr_destroy(&attr);
    if (add_devices(e, err))
        return e;
    evaluator_destroy(e);
    return NULL;
}

void evaluator_destroy(struct evaluator *e)
{
    if (e == NULL)
        return;
    pthread_mutex_lock(&e->mutex);
    e->ending = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->mutex);
    for (unsigned i = 0; e->threaded && i < e->nr; i++)
        pthread_join(e->slots[i].thread, NULL);
    for (unsigned i = 0; i < MOST_DEVICES; i++)
        finish_slot(&e->slots[i]);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->mutex);
    free(e);
}

unsigned evaluator_nr_devices(const struct evaluator *e)
{
    return e->nr;
}

struct device *evaluator_device(const struct evaluator *e)
{
    return e->slots[0].device;
}

void evaluator_set_original(
    struct evaluator *e, const struct candidate *original, const struct compilation *reference)
{
    e->original = original;
    e->reference = reference;
}

/* ---- work ---- */

bool evaluator_idle(const struct evaluator *e)
{
    return slot_of(e, NULL) != NULL; /* only the caller's thread makes slots idle or busy */
}

void evaluator_begin(struct evaluator *e, struct candidate *c)
{
    struct slot *slot = slot_of(e, NULL);

    pthread_mutex_lock(&e->mutex);
    slot->c = c;
    slot->done = false;
    if (!e->threaded) {
        slot->ok = evaluate(slot, c, &slot->err);
        slot->done = true;
    }
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->mutex);
}

static void wait_for(struct evaluator *e, const struct slot *slot, double timeout_ms)
{
    struct timespec until;
    uint64_t ns;

    clock_gettime(CLOCK_MONOTONIC, &until);
    ns = (uint64_t)until.tv_nsec + (uint64_t)(timeout_ms * 1e6);
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    while (!slot->done)
        if (pthread_cond_timedwait(&e->changed, &e->mutex, &until) == ETIMEDOUT)
            return;
}

bool evaluator_wait(
    struct evaluator *e, const struct candidate *c, double timeout_ms, bool *done, struct err *err)
{
    struct slot *slot = slot_of(e, c);
    bool ok = true;

    pthread_mutex_lock(&e->mutex);
    wait_for(e, slot, timeout_ms);
    *done = slot->done;
    if (slot->done) {
        ok = slot->ok;
        if (!ok)
            *err = slot->err;
        slot->c = NULL;
    }
    pthread_mutex_unlock(&e->mutex);
    return ok;
}

bool evaluator_run(struct evaluator *e, struct candidate *c, struct err *err)
{
    bool done = false, ok = true;

    evaluator_begin(e, c);
    while (ok && !done)
        ok = evaluator_wait(e, c, 1000, &done, err);
    return ok;
}

void evaluator_drain(struct evaluator *e)
{
    bool done;
    struct err ignored;

    for (unsigned i = 0; i < e->nr; i++)
        while (e->slots[i].c != NULL)
            evaluator_wait(e, e->slots[i].c, 1000, &done, &ignored);
}
