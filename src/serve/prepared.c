/* Owns the originals of a helper process. */
#include "serve/prepared.h"

#include "base/mem.h"
#include "intake/intake.h"
#include "serve/judge.h"

#include <stdlib.h>
#include <string.h>

/* Each holds its inputs and outputs in memory. */
enum { MOST_PREPARED = 8 };
static const uint64_t most_bytes = UINT64_C(2) << 30;

/* What `keet-opt check` takes: so many warp instructions for a whole run at the timed sizes. */
static const uint64_t timed_insts = UINT64_C(1) << 28;

struct shelf {
    struct workbench *bench;
    struct prepared *all[MOST_PREPARED];
    unsigned nr;
    uint64_t now;
};

static bool read_task(struct prepared *p, const struct original_text *wanted, struct err *err)
{
    const char *name = arena_strdup(p->arena, wanted->name);

    if (wanted->bytes > TASK_MAX_BYTES)
        return err_original(
            err, "%s: a kernel file of more than %d MiB", name, TASK_MAX_BYTES >> 20);
    if (intake_needed(wanted->text, wanted->bytes))
        return err_original(err,
            "%s has no `#pragma keet` lines: `keet-opt init FILE.cu -o task.cu` reads them from "
            "the "
            "host code",
            name);
    if (task_parse(&p->task, p->arena, name, wanted->text, wanted->bytes, err))
        return true;
    err->original = true;
    return false;
}

static bool make_station(struct prepared *p, struct err *err)
{
    const struct device *shared = workbench_device(p->bench, 0);

    p->station = station_at(p->bench, 0, &p->task);
    p->station.timed_insts = timed_insts;
    if (strcmp(shared->ops->name, "emu") != 0)
        return true;
    p->device = device_create(&workbench_options(p->bench)->device, err);
    p->station.device = p->device;
    return p->device != NULL;
}

/* The original passes its own check, which also runs it on the inputs that the candidates get. */
static bool check_original(struct prepared *p, struct err *err)
{
    struct candidate *c = &p->original;

    candidate_begin(c, p->arena, &p->task, p->seed);
    if (!compile_kernel(workbench_compiler(p->bench), c, err))
        return false;
    if (c->verdict != VERDICT_OK)
        return err_original(err, "the original does not compile: %s", c->verdict_text);
    if (!workbench_oracle(p->bench, &p->task, &c->compilation, p->arena, &p->oracle, err))
        return false;
    station_original(&p->station, c, &p->oracle);
    if (!station_check(&p->station, c, err))
        return false;
    return c->verdict == VERDICT_OK ||
           err_original(err, "the original does not pass its own check (%s): %s",
               verdict_name(c->verdict), c->verdict_text);
}

struct prepared *prepared_create(
    struct workbench *bench, const struct original_text *wanted, struct err *err)
{
    struct prepared *p = xcalloc(1, sizeof(*p));

    p->bench = bench;
    p->arena = arena_create();
    p->seed = wanted->seed;
    p->key = hash_bytes(wanted->text, wanted->bytes, wanted->seed);
    if (read_task(p, wanted, err) && make_station(p, err) && check_original(p, err))
        return p;
    prepared_destroy(p);
    return NULL;
}

void prepared_destroy(struct prepared *p)
{
    if (!p)
        return;
    station_finish(&p->station);
    if (p->device)
        device_destroy(p->device);
    arena_destroy(p->arena);
    free(p);
}

bool prepared_time(struct prepared *p, struct err *err)
{
    struct candidate *c = &p->original;

    if (c->profiled)
        return true;
    if (!judge_time(p, c, err))
        return false;
    return c->verdict == VERDICT_OK ||
           err_original(err, "the original does not run at its timed sizes (%s): %s",
               verdict_name(c->verdict), c->verdict_text);
}

/* ---- the shelf ---- */

struct shelf *shelf_create(struct workbench *bench)
{
    struct shelf *shelf = xcalloc(1, sizeof(*shelf));

    shelf->bench = bench;
    return shelf;
}

void shelf_destroy(struct shelf *shelf)
{
    if (!shelf)
        return;
    for (unsigned i = 0; i < shelf->nr; i++)
        prepared_destroy(shelf->all[i]);
    free(shelf);
}

static void take_off(struct shelf *shelf, unsigned i)
{
    prepared_destroy(shelf->all[i]);
    shelf->all[i] = shelf->all[--shelf->nr];
}

static uint64_t bytes_of(const struct prepared *p)
{
    return task_bytes(&p->task, &p->task.timed.sizes);
}

/* Makes room for one more. */
static void tidy(struct shelf *shelf)
{
    for (;;) {
        uint64_t bytes = 0;
        unsigned oldest = 0;

        for (unsigned i = 0; i < shelf->nr; i++) {
            bytes += bytes_of(shelf->all[i]);
            if (shelf->all[i]->asked < shelf->all[oldest]->asked)
                oldest = i;
        }
        if (shelf->nr < MOST_PREPARED && bytes <= most_bytes)
            return;
        take_off(shelf, oldest);
    }
}

struct prepared *shelf_find(
    struct shelf *shelf, const struct original_text *wanted, struct err *err)
{
    const struct hash key = hash_bytes(wanted->text, wanted->bytes, wanted->seed);
    struct prepared *p;

    shelf->now++;
    for (unsigned i = 0; i < shelf->nr; i++) {
        p = shelf->all[i];
        if (p->key.high == key.high && p->key.low == key.low) {
            p->asked = shelf->now;
            return p;
        }
    }
    tidy(shelf);
    p = prepared_create(shelf->bench, wanted, err);
    if (!p)
        return NULL;
    p->asked = shelf->now;
    shelf->all[shelf->nr++] = p;
    return p;
}
