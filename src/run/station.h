/* A station: one device of the workbench with the checker and the profiler of one task. What is not
 * needed is not made: to fill the inputs of a large task takes a while. */
#ifndef KEET_RUN_STATION_H
#define KEET_RUN_STATION_H

#include "check/check.h"
#include "profile/profile.h"
#include "run/workbench.h"

#include <stdbool.h>

struct station {
    const struct workbench_options *options;
    struct device *device;
    const struct task *task;
    const struct candidate *original;
    const struct compilation *reference;
    struct checker *checker;   /* NULL: not needed yet */
    struct profiler *profiler; /* likewise */
    bool knows_original;       /* the profiler does */
};

/* All borrowed. */
struct station station_at(
    struct device *device, const struct workbench_options *options, const struct task *task);
void station_finish(struct station *station); /* fine on a station of zeros */

/* The compilation that candidates are checked against, and the original that candidates are timed
 * beside; the original counts once it has a time. Both borrowed; before the first check. */
void station_original(
    struct station *station, const struct candidate *original, const struct compilation *reference);

/* The stages check and profile. A candidate that is evaluated already passes untouched. */
bool station_check(struct station *station, struct candidate *c, struct err *err);
bool station_profile(struct station *station, struct candidate *c, struct err *err);

#endif
