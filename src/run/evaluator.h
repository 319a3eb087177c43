/* Checks and profiles candidates at stations, one for each device of the workbench. With several
 * devices each station works in a thread of its own, and so with a worker process of its own.
 *
 *     evaluator_begin(e, c);                     // while evaluator_idle(e)
 *     ... evaluator_wait(e, c, 50, &done, err)   // done: verdict, check and profile are there
 *
 * With one device, evaluator_begin does the work before it returns. Nothing else may touch the
 * candidate or its arena until the candidate is done. */
#ifndef KEET_RUN_EVALUATOR_H
#define KEET_RUN_EVALUATOR_H

#include "run/station.h"
#include "run/workbench.h"

#include <stdbool.h>

struct evaluator;

/* The work on a candidate at a station. The thread on which the station works calls the
 * function. */
typedef bool evaluator_work_f(struct station *station, struct candidate *c, struct err *err);

/* A station for each device. Workbench and task are borrowed. NULL: err. */
struct evaluator *evaluator_create(const struct workbench *bench, const struct task *task,
    evaluator_work_f *work, struct err *err);
void evaluator_destroy(struct evaluator *e); /* waits for candidates under way; NULL is fine */

/* Calls station_original for all stations. Call before the first evaluator_begin. */
void evaluator_set_original(
    struct evaluator *e, const struct candidate *original, const struct compilation *reference);

bool evaluator_idle(const struct evaluator *e); /* one more candidate may be begun */
void evaluator_begin(struct evaluator *e, struct candidate *c);
bool evaluator_wait(
    struct evaluator *e, const struct candidate *c, double timeout_ms, bool *done, struct err *err);
/* Begin the candidate, and wait until the candidate is done. */
bool evaluator_run(struct evaluator *e, struct candidate *c, struct err *err);
/* Calls station_confirm, on this thread: only where there is one device, which has no thread of its
 * own. */
bool evaluator_confirm(struct evaluator *e, struct candidate *c, struct err *err);
/* Wait for all candidates under way, and forget their results. */
void evaluator_drain(struct evaluator *e);

#endif
