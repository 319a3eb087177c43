/* An experience: what a whole run came to on a kernel, as an expert would tell it, with the code of
 * its best version where that is short. A memory file keeps experiences over runs; prompts show
 * those of kernels that are alike, by what the contracts say and not by names. */
#ifndef KEET_CORE_EXPERIENCE_H
#define KEET_CORE_EXPERIENCE_H

#include "core/candidate.h"

struct experience {
    const char *kernel, *device; /* file name of the task; "emu:h100" */
    const char *shape;           /* experience_shape of the task */
    double intensity;            /* operations a byte, as `work` says; 0: not known */
    double speedup, time_ns;     /* of the best version, over the original; its time */
    const char *story;           /* sentences: where the run ended, and by which moves */
    const char *source;          /* of the best version; "": too long to be shown */
};

/* The arrays of a task with their extents as letters, equal letters for equal extents: "in
 * f16[a][b], in f16[b][c], out f32[a][c]" is a product of matrices under any names. Arena memory.
 */
const char *experience_shape(struct arena *arena, const struct task *task);
/* Operations a byte of the `work` line; 0: not known. */
double experience_intensity(const struct task *task);

/* How much the experience says about a task with this shape and intensity on this device: 0..1. The
 * arrays in common over all arrays count 0.7, where an array that differs in its elements only is
 * 0.7 of one in common; the intensity counts 0.3, less a quarter of that for each factor of two;
 * the whole is 0.8 times that on another device. All are choices, none is fitted. */
double experience_fit(
    const struct experience *experience, const char *shape, double intensity, const char *device);

#endif
