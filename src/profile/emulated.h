/* Counts of the emulator beside what a GPU measured. A driver gives no counts by source line, and
 * some counts not at all; the emulator's are exact, or scaled up from a sample of the blocks. They
 * are marked as the emulator's own (PROV_EMULATED, PROV_EMULATED_SAMPLE). What the GPU measured
 * stays, and so does its waiting by line: nothing that the emulator estimates is taken, but one
 * thing. Where the model's time of a launch is within a factor of 1.5 of the measured one, times
 * without a cause (core/cures.def) are taken, scaled to the measured time, as modelled.
 *
 *     struct emulated *emulated = emulated_create(device, &task, &options);
 *     ... profile_kernel(...); emulated_fill(emulated, &c) ...
 *     emulated_destroy(emulated);
 *
 * Where the emulator cannot run the task or a kernel, the profile stays as it is, and the log says
 * why, once. */
#ifndef KEET_PROFILE_EMULATED_H
#define KEET_PROFILE_EMULATED_H

#include "core/candidate.h"
#include "device/device.h"

#include <stdbool.h>

struct emulated;

struct emulated_options {
    unsigned nr_threads; /* 0: one per core */
    bool searches; /* many variants come: shorter simulations, and no long wait for one variant */
};

/* The emulated device is the one nearest to the GPU. Both pointers are borrowed. */
struct emulated *emulated_create(
    const struct device *gpu, const struct task *task, const struct emulated_options *options);
void emulated_destroy(struct emulated *emulated);

/* Adds to the profile of a candidate that a GPU has measured. */
void emulated_fill(struct emulated *emulated, struct candidate *c);

#endif
