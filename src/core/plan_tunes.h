/* The tuning parameters of a source, and nothing else of its plan. */
#ifndef KEET_CORE_PLAN_TUNES_H
#define KEET_CORE_PLAN_TUNES_H

#include "core/task.h"

/* plan->tunes of a source that plan_parse (task.h) has taken before, in a fraction of plan_parse's
 * time. In the arena. False: the source has no such lines as plan_parse takes. */
bool plan_parse_tunes(struct plan *plan, const struct task *task, struct arena *arena,
    const char *source, size_t source_bytes);

#endif
