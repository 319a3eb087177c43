/* Owns the stations of a run, and the threads that keep several stations busy. */
#include "run/evaluator.h"

#include "base/mem.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct evaluator_slot {
    struct evaluator *evaluator;
    struct station station;
    struct candidate *c; /* NULL: idle */
    bool done, ok;
    struct err err;
    pthread_t thread;
};

struct evaluator {
    evaluator_work_f *work;
    struct evaluator_slot slots[WORKBENCH_MOST_DEVICES];
    unsigned nr;
    bool threaded, ending;
    pthread_mutex_t mutex; /* of c, done, ok and err of all slots, and of ending */
    pthread_cond_t changed;
};

/* ---- several devices: a thread each ---- */

/* The thread lives as long as its device: a worker process dies with the thread that forked it. */
static void *run_slot(void *argument)
{
    struct evaluator_slot *slot = argument;
    struct evaluator *e = slot->evaluator;

    pthread_mutex_lock(&e->mutex);
    while (!e->ending) {
        if (slot->c == NULL || slot->done) {
            pthread_cond_wait(&e->changed, &e->mutex);
            continue;
        }
        pthread_mutex_unlock(&e->mutex);
        slot->ok = e->work(&slot->station, slot->c, &slot->err);
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
        const int failed = pthread_create(&e->slots[i].thread, NULL, run_slot, &e->slots[i]);

        if (failed != 0) {
            e->nr = i; /* the threads that run are ended as usual */
            return err_set(err, "no thread for a GPU: %s", strerror(failed));
        }
        e->threaded = true;
    }
    return true;
}

static struct evaluator_slot *slot_of(const struct evaluator *e, const struct candidate *c)
{
    for (unsigned i = 0; i < e->nr; i++)
        if (e->slots[i].c == c)
            return (struct evaluator_slot *)(uintptr_t)&e->slots[i];
    return NULL;
}

/* ---- making and unmaking ---- */

struct evaluator *evaluator_create(
    const struct workbench *bench, const struct task *task, evaluator_work_f *work, struct err *err)
{
    struct evaluator *e = xcalloc(1, sizeof(*e));
    pthread_condattr_t attr;

    e->work = work;
    pthread_mutex_init(&e->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&e->changed, &attr);
    pthread_condattr_destroy(&attr);
    e->nr = workbench_nr_devices(bench);
    for (unsigned i = 0; i < e->nr; i++) {
        e->slots[i].evaluator = e;
        e->slots[i].station = station_at(bench, i, task);
        e->slots[i].station.searches = true;
    }
    if (e->nr == 1 || start_threads(e, err))
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
    for (unsigned i = 0; i < WORKBENCH_MOST_DEVICES; i++)
        station_finish(&e->slots[i].station);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->mutex);
    free(e);
}

void evaluator_set_original(
    struct evaluator *e, const struct candidate *original, const struct compilation *reference)
{
    for (unsigned i = 0; i < e->nr; i++)
        station_original(&e->slots[i].station, original, reference);
}

/* ---- work ---- */

bool evaluator_idle(const struct evaluator *e)
{
    return slot_of(e, NULL) != NULL; /* only the caller's thread makes slots idle or busy */
}

void evaluator_begin(struct evaluator *e, struct candidate *c)
{
    struct evaluator_slot *slot = slot_of(e, NULL);

    pthread_mutex_lock(&e->mutex);
    slot->c = c;
    slot->done = false;
    if (!e->threaded) {
        slot->ok = e->work(&slot->station, c, &slot->err);
        slot->done = true;
    }
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->mutex);
}

static void wait_for(struct evaluator *e, const struct evaluator_slot *slot, double timeout_ms)
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
    struct evaluator_slot *slot = slot_of(e, c);
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

bool evaluator_confirm(struct evaluator *e, struct candidate *c, struct err *err)
{
    return station_confirm(&e->slots[0].station, c, err);
}

void evaluator_drain(struct evaluator *e)
{
    bool done;
    struct err ignored;

    for (unsigned i = 0; i < e->nr; i++)
        while (e->slots[i].c != NULL)
            evaluator_wait(e, e->slots[i].c, 1000, &done, &ignored);
}
