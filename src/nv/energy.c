/* Owns the estimate of energy per launch from readings of a counter that moves in steps. */
#include "nv/energy.h"

#include "base/mem.h"
#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>

enum { FEWEST_BLOCKS = 8 };

struct energy_block {
    double joules, launches, seconds;
};

struct energy_options energy_defaults(void)
{
    return (struct energy_options){
        .settle_s = 1, .block_s = 0.25, .confidence = 0.95, .nr_resamples = 1000, .seed = 1};
}

/* Finds the readings at which the counter had just moved, after settling; returns their number. */
static unsigned find_steps(
    const struct energy_sample *samples, unsigned nr, double settle_s, struct energy_sample *steps)
{
    unsigned nr_steps = 0;

    for (unsigned i = 1; i < nr; i++) {
        if (samples[i].energy_j > samples[i - 1].energy_j &&
            samples[i].time_s - samples[0].time_s >= settle_s)
            steps[nr_steps++] = samples[i];
    }
    return nr_steps;
}

/* Joins steps to blocks of at least block_s. */
static unsigned find_blocks(const struct energy_sample *steps, unsigned nr_steps, double block_s,
    struct energy_block *blocks)
{
    unsigned nr = 0, start = 0;

    for (unsigned i = 1; i < nr_steps; i++) {
        const double seconds = steps[i].time_s - steps[start].time_s;
        const double launches = steps[i].nr_launches - steps[start].nr_launches;

        if (seconds < block_s || launches <= 0)
            continue;
        blocks[nr++] =
            (struct energy_block){steps[i].energy_j - steps[start].energy_j, launches, seconds};
        start = i;
    }
    return nr;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The bootstrap over blocks of the ratio of sums, in which long blocks weigh more. */
static void find_interval(const struct energy_block *blocks, unsigned nr,
    const struct energy_options *options, struct energy_estimate *estimate)
{
    double *ratios = xcalloc(options->nr_resamples, sizeof(*ratios));
    const unsigned tail = (unsigned)((1 - options->confidence) / 2 * options->nr_resamples);
    struct rng rng;

    rng_seed(&rng, options->seed, 0);
    for (unsigned r = 0; r < options->nr_resamples; r++) {
        double joules = 0, launches = 0;

        for (unsigned i = 0; i < nr; i++) {
            const struct energy_block *block = &blocks[rng_below(&rng, nr)];
            joules += block->joules;
            launches += block->launches;
        }
        ratios[r] = joules / launches;
    }
    qsort(ratios, options->nr_resamples, sizeof(*ratios), compare_doubles);
    estimate->low = ratios[tail];
    estimate->high = ratios[options->nr_resamples - 1 - tail];
    free(ratios);
}

static void conclude(const struct energy_block *blocks, unsigned nr,
    const struct energy_options *options, struct energy_estimate *estimate)
{
    double joules = 0, launches = 0;

    estimate->nr_blocks = nr;
    if (nr < FEWEST_BLOCKS || !options->nr_resamples) {
        snprintf(estimate->reason, sizeof(estimate->reason),
            "%u stretches of %.3g s in which the energy counter moved, %d are needed: run longer",
            nr, options->block_s, FEWEST_BLOCKS);
        return;
    }
    for (unsigned i = 0; i < nr; i++) {
        joules += blocks[i].joules;
        launches += blocks[i].launches;
        estimate->seconds += blocks[i].seconds;
    }
    estimate->known = true;
    estimate->joules = joules / launches;
    estimate->power_w = joules / estimate->seconds;
    find_interval(blocks, nr, options, estimate);
}

void energy_estimate(const struct energy_sample *samples, unsigned nr,
    const struct energy_options *options, struct energy_estimate *estimate)
{
    struct energy_sample *steps = xcalloc(nr + 1, sizeof(*steps));
    struct energy_block *blocks = xcalloc(nr + 1, sizeof(*blocks));
    unsigned nr_steps;

    *estimate = (struct energy_estimate){0};
    nr_steps = find_steps(samples, nr, options->settle_s, steps);
    conclude(blocks, find_blocks(steps, nr_steps, options->block_s, blocks), options, estimate);
    free(blocks);
    free(steps);
}
