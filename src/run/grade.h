/* Many candidates against one original: each is compiled, checked, and compared at the timed sizes.
 * What the original computes is computed once. On the emulator several processes share the work; a
 * candidate that takes its process down takes nothing else with it. */
#ifndef KEET_RUN_GRADE_H
#define KEET_RUN_GRADE_H

#include "run/workbench.h"

/* All texts in the arena of grade_all. */
struct grade {
    const char *path;
    const char *source; /* the kernel file; NULL: read from `path` */
    enum verdict verdict;
    const char *text; /* the reason with its place; NULL where right */
    unsigned line;
    const char *compared; /* what was compared, and what was not; NULL: it came to nothing */
    unsigned nr_runs, nr_shapes;
    double share; /* the largest error over what was allowed */
    double max_abs, max_rel;
    const char *worst_array; /* NULL: nothing was compared */
    uint64_t worst_index;
    double seconds, timed_seconds; /* of the processor, for the check without compiling; for the
                                      part at the timed sizes */
};

/* nr_processes 0: one for each core. grades: one for each path. False: the environment or the
 * original is broken. */
bool grade_all(struct workbench *bench, const struct task *task, uint64_t seed,
    unsigned nr_processes, struct grade *grades, unsigned nr, struct arena *arena, struct err *err);

#endif
