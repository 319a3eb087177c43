/* Where candidates are checked and profiled: one device, or one per GPU of --gpus, each in a thread
 * of its own with a checker, a profiler and a worker process of its own.
 *
 *     evaluator_begin(e, c);                     // while evaluator_idle(e)
 *     ... evaluator_wait(e, c, 50, &done, err)   // done: verdict, check and profile are there
 *
 * With one device, evaluator_begin does the work before it returns. Nothing else may touch the
 * candidate or its arena until it is done. */
#ifndef KEET_RUN_EVALUATOR_H
#define KEET_RUN_EVALUATOR_H

#include "cli/options.h"
#include "core/candidate.h"
#include "core/task.h"
#include "device/device.h"

#include <stdbool.h>

struct evaluator;

/* What --device, --deadline and their like ask for. */
struct device_options evaluator_device_options(const struct options *options);

/* Opens the devices. The task is borrowed. NULL: err. */
struct evaluator *evaluator_create(
    const struct options *options, const struct task *task, struct err *err);
void evaluator_destroy(struct evaluator *e); /* waits for what is under way */

unsigned evaluator_nr_devices(const struct evaluator *e);
struct device *evaluator_device(const struct evaluator *e); /* the first */

/* The compilation that candidates are checked against, and the original that they are timed beside;
 * the latter counts once it has a time. Both borrowed; before anything is begun. */
void evaluator_set_original(
    struct evaluator *e, const struct candidate *original, const struct compilation *reference);

bool evaluator_idle(const struct evaluator *e); /* one more may be begun */
void evaluator_begin(struct evaluator *e, struct candidate *c);
bool evaluator_wait(
    struct evaluator *e, const struct candidate *c, double timeout_ms, bool *done, struct err *err);
/* Begin, and wait to the end. */
bool evaluator_run(struct evaluator *e, struct candidate *c, struct err *err);
/* Wait for all that is under way, and forget what came of it. */
void evaluator_drain(struct evaluator *e);

#endif
