/* Energy per launch from a card's energy counter.
 *
 * The counter is NVML's total energy (mJ since the driver was loaded). Two things make the counter
 * treacherous (Yang, Adamek, Armour, "Part-time power measurements", 2023). It moves in steps of up
 * to 100 ms. On Hopper and Ampere the sensor behind it looks at about a quarter of each step only,
 * so that it measures the power of a sample of the time. Both effects average out over a long run
 * of the same launch back to back, where the load is steady. Hence four rules: seconds of
 * continuous launches; no readings from the start, until power has settled; only readings at which
 * the counter has just moved (between steps it is stale); an interval from blocks of time longer
 * than a step.
 *
 * Numbers that grow from launch to launch change the power that they draw. So the caller must put
 * back the arrays of the launches: often enough, but so seldom that it takes little of the time.
 *
 * Not corrected: the sensor can alias a load whose own period is close to the sensor's (launches of
 * tens of ms). The caller should put random pauses between such launches. */
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
    double joules, low, high; /* per launch, of the whole card; with the bootstrap interval */
    double power_w, seconds;  /* mean power over the readings in use, and the time they cover */
    unsigned nr_blocks;
    char reason[160]; /* why the energy is not known */
};

/* At least 8 blocks are needed: about 3 s of samples with the defaults, a sample every 10 ms. */
void energy_estimate(const struct energy_sample *samples, unsigned nr,
    const struct energy_options *options, struct energy_estimate *estimate);

#endif
