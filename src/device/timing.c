/* Owns the statistics of timing: pairs of samples in, medians, a ratio and its interval out. */
#include "device/timing.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With fewer pairs an interval covers less than it says, whatever the method: the range of 5 values
 * misses the true median once in 16. */
enum { FEWEST_PAIRS = 5 };

struct pair_sampling {
    struct timing_source *source;
    const struct timing_options *options;
    struct timing_result *result;
    double *time[NR_TIMING_SIDES]; /* of all pairs taken */
    double *log_ratio;             /* of the pairs that count; of the candidate's time when alone */
    double *scratch;
    unsigned nr_taken, nr_counted;
};

struct timing_options timing_defaults(void)
{
    return (struct timing_options){
        .nr_warmups = 3,
        .min_pairs = 30,
        .max_pairs = 2000,
        .standard_error = 0.005,
        .time_limit_s = 10,
        .clock_tolerance = 0.01,
        .confidence = 0.95,
        .nr_resamples = 1000,
        .seed = 1,
    };
}

/* ---- medians and their intervals ---- */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_of_sorted(const double *sorted, unsigned n)
{
    return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

static double median_of(double *values, unsigned n)
{
    qsort(values, n, sizeof(*values), compare_doubles);
    return median_of_sorted(values, n);
}

/* The two middle values of n draws with replacement; one value when n is odd. Draws are ranks, so
 * we find the middle by counting, without sorting. */
static void resample(
    const double *sorted, unsigned *counts, unsigned n, struct rng *rng, double *low, double *high)
{
    const unsigned lower = (n - 1) / 2, upper = n / 2;
    unsigned seen = 0, i = 0;

    memset(counts, 0, n * sizeof(*counts));
    for (unsigned k = 0; k < n; k++)
        counts[rng_below(rng, n)]++;
    while (seen + counts[i] <= lower)
        seen += counts[i++];
    *low = sorted[i];
    while (seen + counts[i] <= upper)
        seen += counts[i++];
    *high = sorted[i];
}

struct timing_estimate timing_median(
    double *values, unsigned n, double confidence, unsigned nr_resamples, uint64_t seed)
{
    struct timing_estimate estimate = {.value = median_of(values, n)};
    double *lows = xcalloc(nr_resamples, sizeof(*lows));
    double *highs = xcalloc(nr_resamples, sizeof(*highs));
    unsigned *counts = xcalloc(n, sizeof(*counts));
    const unsigned tail = (unsigned)((1 - confidence) / 2 * nr_resamples);
    struct rng rng;

    rng_seed(&rng, seed, 0);
    for (unsigned r = 0; r < nr_resamples; r++)
        resample(values, counts, n, &rng, &lows[r], &highs[r]);
    qsort(lows, nr_resamples, sizeof(*lows), compare_doubles);
    qsort(highs, nr_resamples, sizeof(*highs), compare_doubles);
    estimate.low = fmin(estimate.value, lows[tail]);
    estimate.high = fmax(estimate.value, highs[nr_resamples - 1 - tail]);
    free(counts);
    free(highs);
    free(lows);
    return estimate;
}

/* A quantile of sorted values, by linear interpolation between neighbours. */
static double quantile(const double *sorted, unsigned n, double q)
{
    const double at = q * (n - 1);
    const unsigned below = (unsigned)at;

    return below + 1 < n ? sorted[below] + (at - below) * (sorted[below + 1] - sorted[below])
                         : sorted[n - 1];
}

/* The standard error of the median of the logarithms so far, which is the relative standard error
 * of the ratio. The middle 80% of a normal distribution are 2 * 1.28155 deviations wide. */
static double standard_error(const struct pair_sampling *s)
{
    const unsigned n = s->nr_counted;
    double deviation;

    memcpy(s->scratch, s->log_ratio, n * sizeof(*s->scratch));
    qsort(s->scratch, n, sizeof(*s->scratch), compare_doubles);
    deviation = (quantile(s->scratch, n, 0.9) - quantile(s->scratch, n, 0.1)) / (2 * 1.28155);
    return 1.2533 * deviation / sqrt(n);
}

/* ---- sampling ---- */

static void widen(struct timing_range *range, double value)
{
    if (value <= 0)
        return;
    if (range->low <= 0 || value < range->low)
        range->low = value;
    if (value > range->high)
        range->high = value;
}

static bool take(
    struct pair_sampling *s, enum timing_side side, struct timing_sample *sample, struct err *err)
{
    *sample = (struct timing_sample){0};
    if (!s->source->sample(s->source, side, sample, err))
        return false;
    if (!(sample->time_ns > 0) || !isfinite(sample->time_ns))
        return err_set(err,
            "the clock gave a time of %g ns for one run: it is of no use for timing",
            sample->time_ns);
    return true;
}

static void record(
    struct pair_sampling *s, enum timing_side side, const struct timing_sample *sample)
{
    s->time[side][s->nr_taken] = sample->time_ns;
    widen(&s->result->clock_mhz[side], sample->sm_clock_mhz);
    widen(&s->result->temperature_c, sample->temperature_c);
    s->result->throttle |= sample->throttle;
}

static bool clocks_agree(
    const struct timing_sample *a, const struct timing_sample *b, double tolerance)
{
    if (a->sm_clock_mhz <= 0 || b->sm_clock_mhz <= 0)
        return true;
    return fabs(a->sm_clock_mhz - b->sm_clock_mhz) <=
           tolerance * fmax(a->sm_clock_mhz, b->sm_clock_mhz);
}

static bool take_alone(struct pair_sampling *s, struct err *err)
{
    struct timing_sample sample;

    if (!take(s, TIMING_CANDIDATE, &sample, err))
        return false;
    record(s, TIMING_CANDIDATE, &sample);
    s->log_ratio[s->nr_counted++] = log(sample.time_ns);
    s->nr_taken++;
    return true;
}

static bool take_pair(struct pair_sampling *s, struct err *err)
{
    const enum timing_side first = s->nr_taken % 2 ? TIMING_BASELINE : TIMING_CANDIDATE;
    const enum timing_side second = first == TIMING_BASELINE ? TIMING_CANDIDATE : TIMING_BASELINE;
    struct timing_sample sample[NR_TIMING_SIDES];

    if (!take(s, first, &sample[first], err) || !take(s, second, &sample[second], err))
        return false;
    record(s, first, &sample[first]);
    record(s, second, &sample[second]);
    s->nr_taken++;
    if (clocks_agree(&sample[0], &sample[1], s->options->clock_tolerance))
        s->log_ratio[s->nr_counted++] =
            log(sample[TIMING_BASELINE].time_ns / sample[TIMING_CANDIDATE].time_ns);
    else
        s->result->nr_dropped++;
    return true;
}

static bool warm_up(struct pair_sampling *s, struct err *err)
{
    struct timing_sample sample;

    for (unsigned i = 0; i < s->options->nr_warmups; i++) {
        if (!take(s, TIMING_CANDIDATE, &sample, err) ||
            (!s->options->alone && !take(s, TIMING_BASELINE, &sample, err)))
            return false;
    }
    return true;
}

static uint64_t now(const struct pair_sampling *s)
{
    return s->source->now_ns ? s->source->now_ns(s->source) : clock_ns();
}

/* The number of pairs at which the standard error should be small enough, if it falls as one over
 * the root of n. At most twice the present number, since a few outliers can make the estimate from
 * few pairs much too large. */
static unsigned next_look(const struct pair_sampling *s, double error)
{
    const double n = s->nr_counted, times = error / s->options->standard_error;
    const double needed = ceil(fmin(fmax(n * times * times, n * 1.25), n * 2));

    return needed < s->options->max_pairs ? (unsigned)needed : s->options->max_pairs;
}

static bool collect(struct pair_sampling *s, struct err *err)
{
    const struct timing_options *o = s->options;
    const uint64_t start = now(s);
    unsigned look_at = o->min_pairs;

    if (!warm_up(s, err))
        return false;
    s->result->end = TIMING_MAX_PAIRS;
    while (s->nr_taken < o->max_pairs) {
        if (!(o->alone ? take_alone(s, err) : take_pair(s, err)))
            return false;
        if (s->nr_counted >= look_at) {
            const double error = standard_error(s);

            if (error < o->standard_error) {
                s->result->end = TIMING_PRECISE;
                break;
            }
            look_at = next_look(s, error);
        }
        if (o->time_limit_s > 0 && (double)(now(s) - start) * 1e-9 >= o->time_limit_s) {
            s->result->end = TIMING_TIME_LIMIT;
            break;
        }
    }
    return true;
}

/* ---- the result ---- */

/* An interval cannot be narrower than one tick of the clock. */
static void spread(struct timing_estimate *e, double by)
{
    e->low = fmin(e->low, e->value - by);
    e->high = fmax(e->high, e->value + by);
}

static void conclude_times(struct pair_sampling *s)
{
    const struct timing_options *o = s->options;

    for (unsigned side = 0; side < (o->alone ? 1 : NR_TIMING_SIDES); side++) {
        struct timing_estimate *e = &s->result->time[side];

        *e = timing_median(s->time[side], s->nr_taken, o->confidence, o->nr_resamples, o->seed);
        spread(e, 0.5 * o->resolution_ns);
    }
}

static void conclude_ratio(struct pair_sampling *s)
{
    const struct timing_options *o = s->options;
    struct timing_result *r = s->result;
    struct timing_estimate e;
    double ticks;

    if (s->nr_counted < (o->exact ? 1 : FEWEST_PAIRS) ||
        (r->nr_dropped > s->nr_counted && s->nr_counted < o->min_pairs)) {
        r->refused = true;
        return;
    }
    e = timing_median(s->log_ratio, s->nr_counted, o->confidence, o->nr_resamples, o->seed);
    r->ratio = (struct timing_estimate){exp(e.value), exp(e.low), exp(e.high)};
    ticks = 0.5 * o->resolution_ns *
            (1 / r->time[TIMING_CANDIDATE].value + 1 / r->time[TIMING_BASELINE].value);
    spread(&r->ratio, r->ratio.value * ticks);
}

static void give_reason(const struct pair_sampling *s)
{
    static const char *const ends[] = {
        [TIMING_PRECISE] = "precise enough",
        [TIMING_MAX_PAIRS] = "as many samples as were allowed",
        [TIMING_TIME_LIMIT] = "out of time",
    };
    struct timing_result *r = s->result;
    const struct timing_range *clock = r->clock_mhz;

    if (r->refused && r->nr_dropped > s->nr_counted)
        snprintf(r->reason, sizeof(r->reason),
            "the clocks of candidate (%.0f to %.0f MHz) and baseline (%.0f to %.0f MHz) differ by "
            "more than %.3g%% in %u of %u pairs: their times cannot be compared",
            clock[0].low, clock[0].high, clock[1].low, clock[1].high,
            100 * s->options->clock_tolerance, r->nr_dropped, s->nr_taken);
    else if (r->refused)
        snprintf(r->reason, sizeof(r->reason),
            "%s after %u pair%s that count%s: too few to compare anything", ends[r->end],
            s->nr_counted, s->nr_counted == 1 ? "" : "s", s->nr_counted == 1 ? "s" : "");
    else
        snprintf(r->reason, sizeof(r->reason), "%s: standard error %.2g%% after %u %s%s",
            ends[r->end], 100 * r->standard_error, s->nr_counted,
            s->options->alone ? "sample" : "pair", s->nr_counted == 1 ? "" : "s");
}

bool timing_run(struct timing_source *source, const struct timing_options *options,
    struct timing_result *result, struct err *err)
{
    struct pair_sampling s = {.source = source, .options = options, .result = result};
    bool ok;

    *result = (struct timing_result){0};
    if (!options->max_pairs || !options->nr_resamples)
        return err_set(err, "timing with no samples was asked for");
    for (unsigned side = 0; side < NR_TIMING_SIDES; side++)
        s.time[side] = xcalloc(options->max_pairs, sizeof(double));
    s.log_ratio = xcalloc(options->max_pairs, sizeof(double));
    s.scratch = xcalloc(options->max_pairs, sizeof(double));
    ok = collect(&s, err);
    if (ok) {
        result->nr_pairs = s.nr_counted;
        result->standard_error = s.nr_counted ? standard_error(&s) : 0;
        conclude_times(&s);
        if (!options->alone)
            conclude_ratio(&s);
        give_reason(&s);
    }
    for (unsigned side = 0; side < NR_TIMING_SIDES; side++)
        free(s.time[side]);
    free(s.log_ratio);
    free(s.scratch);
    return ok;
}
