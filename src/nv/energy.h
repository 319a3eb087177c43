/* Energy per launch from a card's energy counter.
 *
 * The counter is NVML's total energy (mJ since the driver was loaded). Two things make it
 * treacherous (Yang, Adamek, Armour, "Part-time power measurements", 2023): it moves in steps of up
 * to 100 ms, and on Hopper and Ampere the sensor behind it looks only at about a quarter of each
 * step, so that what is measured is the power of a sample of the time. Both average out over a long
 * run of the same launch back to back: load is steady, so the part that was looked at is like the
 * part that was not. Hence: seconds of continuous launches, the start cut off until power has
 * settled, only readings at which the counter has just moved (between steps it is stale), and an
 * interval from blocks of time that are longer than a step.
 *
 * Numbers that grow from launch to launch draw another power in the end: whoever runs the launches
 * puts back what they read and write, often enough, and so seldom that it takes little of the time.
 *
 * Not corrected: a load whose own period is close to the sensor's (launches of tens of ms), which
 * the sensor can alias. Such a launch should be interleaved with random pauses by the caller. */
#ifndef KEET_NV_ENERGY_H
#define KEET_NV_ENERGY_H

#include <stdbool.h>
#include <stdint.h>

struct energy_sample {
    double time_s;      /* on the host's clock, rising */
    double nr_launches; /* completed by then */
    double energy_j;    /* the counter */
};

struct energy_options {
    double settle_s; /* cut off at the start */
    double block_s;  /* at least one step of the counter */
    double confidence;
    unsigned nr_resamples;
    uint64_t seed;
};
struct energy_options energy_defaults(void); /* 1 s, 0.25 s, 0.95, 1000, 1 */

struct energy_estimate {
    bool known;
    double joules, low, high; /* per launch, everything the card drew; bootstrap interval */
    double power_w, seconds;  /* mean power of what was used, and how long that was */
    unsigned nr_blocks;
    char reason[160]; /* why it is not known */
};

/* At least 8 blocks are needed: about 3 s of samples with the defaults, a sample every 10 ms. */
void energy_estimate(const struct energy_sample *samples, unsigned nr,
    const struct energy_options *options, struct energy_estimate *estimate);

#endif
