/* A station: one device of the workbench with the checker and the profiler of one task. Checker and
 * profiler are made when first needed: filling the inputs of a large task takes a while. */
#ifndef KEET_RUN_STATION_H
#define KEET_RUN_STATION_H

#include "check/check.h"
#include "profile/emulated.h"
#include "profile/profile.h"
#include "run/widen.h"
#include "run/workbench.h"

#include <stdbool.h>

struct station {
    const struct workbench_options *options;
    struct device *device;
    const struct task *task;
    const struct candidate *original;
    const struct compilation *reference;
    struct checker *checker;   /* NULL: not needed yet */
    struct profiler *profiler; /* NULL: not needed yet */
    struct emulated *emulated; /* of a GPU; NULL: not needed yet */
    struct widen widen;
    bool knows_original;  /* the profiler knows the original */
    bool searches;        /* many variants come: set after station_at */
    bool only_times;      /* there is no check, and no checker: set after station_at */
    uint64_t timed_insts; /* as checker_options has it; 0: for a search. Set after station_at */
};

/* All borrowed. */
struct station station_at(
    const struct workbench *bench, unsigned nr_device, const struct task *task);
void station_finish(struct station *station); /* fine on a station of zeros */

/* Set the compilation against which candidates are checked, and the original beside which
 * candidates are timed. The original counts once it has a time. Both are borrowed. Call before the
 * first check. */
void station_original(
    struct station *station, const struct candidate *original, const struct compilation *reference);

/* The stages check and profile. A candidate that is evaluated already passes untouched. */
bool station_check(struct station *station, struct candidate *c, struct err *err);
bool station_profile(struct station *station, struct candidate *c, struct err *err);

/* After these stages: the candidate is compared with the original at the timed sizes. Where the
 * comparison executes another number of instructions than the sampled profile says, the profile is
 * taken again from all blocks. */
bool station_confirm(struct station *station, struct candidate *c, struct err *err);

#endif
