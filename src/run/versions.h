/* Two versions of one kernel, at one station: the new one is checked against the old one's contract
 * and results, on the timed sizes too, and both are profiled and explained. */
#ifndef KEET_RUN_VERSIONS_H
#define KEET_RUN_VERSIONS_H

#include "run/workbench.h"

/* task: of the old version, which becomes node 0 of the two. Both candidates are initialised with
 * their arenas; the new one has its source, and a copy of the task under its own path. A new
 * version that is broken gets a verdict. False: the environment is broken, or (err->original) the
 * old version is, so that nothing can be compared. */
bool versions_evaluate(struct workbench *bench, const struct task *task, uint64_t seed,
    struct candidate *old_version, struct candidate *new_version, struct err *err);

#endif
