/* Tests of timing: synthetic clocks with a known effect, noise, drift and clocks. */
#include "device/timing.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum noise { NOISE_NONE, NOISE_NORMAL, NOISE_LOGNORMAL, NOISE_OUTLIERS };

struct synthetic {
    struct timing_source base;
    struct rng rng;
    enum noise noise;
    double sigma;
    double time_ns[NR_TIMING_SIDES];
    double drift; /* relative, reached after drift_samples, then it stays */
    double drift_samples;
    double clock_mhz[NR_TIMING_SIDES];
    double odd_clock_mhz; /* of every fourth candidate sample; 0: the same */
    double cold_factor;   /* of the first cold_samples samples */
    unsigned cold_samples, nr_samples, nr_of[NR_TIMING_SIDES];
    uint64_t now_ns, step_ns;
    bool broken;
    char order[64];
};

static double noise_of(struct synthetic *s)
{
    switch (s->noise) {
    case NOISE_NORMAL:
        return 1 + s->sigma * rng_normal(&s->rng);
    case NOISE_LOGNORMAL:
        return exp(s->sigma * rng_normal(&s->rng));
    case NOISE_OUTLIERS: /* one in twenty takes up to ten times as long */
        return (1 + s->sigma * rng_normal(&s->rng)) *
               (rng_below(&s->rng, 20) ? 1 : 1 + 9 * rng_unit(&s->rng));
    default:
        return 1;
    }
}

static bool sample(
    struct timing_source *base, enum timing_side side, struct timing_sample *out, struct err *err)
{
    struct synthetic *s = (struct synthetic *)base;
    double factor = noise_of(s);

    if (s->broken)
        return err_set(err, "the clock is gone");
    if (s->drift_samples > 0)
        factor *= 1 + s->drift * fmin(1, s->nr_samples / s->drift_samples);
    if (s->nr_samples < s->cold_samples)
        factor *= s->cold_factor;
    if (s->nr_samples < sizeof(s->order) - 1)
        s->order[s->nr_samples] = side == TIMING_CANDIDATE ? 'c' : 'b';
    out->time_ns = s->time_ns[side] * factor;
    out->sm_clock_mhz = s->clock_mhz[side];
    if (side == TIMING_CANDIDATE && s->odd_clock_mhz > 0 && s->nr_of[side] % 4 == 3)
        out->sm_clock_mhz = s->odd_clock_mhz;
    s->nr_samples++;
    s->nr_of[side]++;
    s->now_ns += s->step_ns;
    return true;
}

static uint64_t now(struct timing_source *base)
{
    return ((struct synthetic *)base)->now_ns;
}

static struct synthetic synthetic(enum noise noise, double sigma, double speedup, uint64_t seed)
{
    struct synthetic s = {
        .base = {sample, now},
        .noise = noise,
        .sigma = sigma,
        .time_ns = {[TIMING_CANDIDATE] = 1e5 / speedup, [TIMING_BASELINE] = 1e5},
    };

    rng_seed(&s.rng, seed, noise + 1);
    return s;
}

static struct timing_result run(struct synthetic *s, const struct timing_options *options)
{
    struct timing_result result;
    struct err err;

    assert_true(timing_run(&s->base, options, &result, &err));
    return result;
}

/* ---- the interval keeps its promise ---- */

enum { NR_TRIALS = 2000 };

struct coverage {
    unsigned covered, excludes_one;
    double nr_pairs;
};

static struct coverage trials(enum noise noise, double sigma, double speedup, double drift)
{
    struct timing_options options = timing_defaults();
    struct coverage c = {0};

    options.nr_resamples = 300; /* for speed */
    for (unsigned t = 0; t < NR_TRIALS; t++) {
        struct synthetic s = synthetic(noise, sigma, speedup, 1000 + t);
        struct timing_result r;

        s.drift = drift;
        s.drift_samples = drift != 0 ? 80 : 0;
        options.seed = t;
        r = run(&s, &options);
        assert_false(r.refused);
        assert_true(r.ratio.low <= r.ratio.value && r.ratio.value <= r.ratio.high);
        c.covered += r.ratio.low <= speedup && speedup <= r.ratio.high;
        c.excludes_one += r.ratio.low > 1 || r.ratio.high < 1;
        c.nr_pairs += r.nr_pairs;
    }
    c.nr_pairs /= NR_TRIALS;
    print_message("noise %d sigma %.3f speedup %.3f drift %.2f: covered %.2f%%, excludes 1 in "
                  "%.2f%%, %.1f pairs\n",
        noise, sigma, speedup, drift, 100.0 * c.covered / NR_TRIALS,
        100.0 * c.excludes_one / NR_TRIALS, c.nr_pairs);
    return c;
}

static void assert_covers(struct coverage c)
{
    assert_in_range(c.covered, 0.93 * NR_TRIALS, 0.97 * NR_TRIALS);
}

static void test_coverage_normal(void **state)
{
    (void)state;
    assert_covers(trials(NOISE_NORMAL, 0.02, 1.10, 0));
}

static void test_coverage_lognormal(void **state)
{
    (void)state;
    assert_covers(trials(NOISE_LOGNORMAL, 0.02, 1.10, 0));
}

static void test_coverage_outliers(void **state)
{
    (void)state;
    assert_covers(trials(NOISE_OUTLIERS, 0.02, 1.10, 0));
}

static void test_coverage_with_drift(void **state)
{
    (void)state;
    assert_covers(trials(NOISE_NORMAL, 0.02, 1.10, 0.05));
}

static void test_no_effect_is_rarely_seen(void **state)
{
    struct coverage c = trials(NOISE_LOGNORMAL, 0.02, 1.0, 0.05);

    (void)state;
    assert_in_range(c.excludes_one, 1, 0.07 * NR_TRIALS);
    assert_covers(c);
}

static void test_effect_is_found(void **state)
{
    struct coverage c = trials(NOISE_NORMAL, 0.02, 1.03, 0);

    (void)state;
    assert_in_range(c.excludes_one, 0.98 * NR_TRIALS, NR_TRIALS);
}

/* ---- what is done about a machine that is not ideal ---- */

static void test_exact_without_noise(void **state)
{
    struct timing_options options = timing_defaults();
    struct synthetic s = synthetic(NOISE_NONE, 0, 1.25, 1);
    struct timing_result r = run(&s, &options);

    (void)state;
    assert_int_equal(r.end, TIMING_PRECISE);
    assert_int_equal(r.nr_pairs, options.min_pairs);
    assert_float_equal(r.ratio.value, 1.25, 1e-12);
    assert_float_equal(r.ratio.low, 1.25, 1e-12);
    assert_float_equal(r.time[TIMING_CANDIDATE].value, 8e4, 1e-6);
    assert_float_equal(r.time[TIMING_BASELINE].value, 1e5, 1e-6);
    /* A tick of 800 ns is 1% of 80 us and 0.8% of 100 us: half of each is in doubt. */
    options.resolution_ns = 800;
    s = synthetic(NOISE_NONE, 0, 1.25, 1);
    r = run(&s, &options);
    assert_float_equal(r.ratio.high, 1.25 * 1.009, 1e-9);
    assert_float_equal(r.ratio.low, 1.25 * 0.991, 1e-9);
}

static void test_order_alternates_after_warm_up(void **state)
{
    struct timing_options options = timing_defaults();
    struct synthetic s = synthetic(NOISE_NONE, 0, 1.25, 1);
    struct timing_result r;

    (void)state;
    /* Cold samples are five times as slow; all are within the warm-up. */
    options.nr_warmups = 2;
    s.cold_factor = 5;
    s.cold_samples = 4;
    r = run(&s, &options);
    assert_memory_equal(s.order,
        "cbcb"
        "cbbc"
        "cbbc",
        12);
    assert_float_equal(r.time[TIMING_CANDIDATE].high, 8e4, 1e-6);
}

/* 5% of drift over the whole measurement moves the times, and not the ratio; candidates first and
 * baselines afterwards would have been wrong by about half of it. */
static void test_drift_cancels(void **state)
{
    struct timing_options options = timing_defaults();
    struct synthetic s = synthetic(NOISE_NORMAL, 0.001, 1.02, 7);
    struct timing_result r;

    (void)state;
    options.min_pairs = 100;
    options.max_pairs = 100;
    s.drift = 0.05;
    s.drift_samples = 200;
    r = run(&s, &options);
    assert_float_equal(r.ratio.value, 1.02, 0.0005);
    assert_true(r.ratio.low <= 1.02 && 1.02 <= r.ratio.high);
    assert_true(r.time[TIMING_BASELINE].value > 1.02e5);
}

static void test_outliers_do_not_move_it(void **state)
{
    struct timing_options options = timing_defaults();
    struct synthetic s = synthetic(NOISE_OUTLIERS, 0.005, 1.05, 3);
    struct timing_result r = run(&s, &options);

    (void)state;
    assert_int_equal(r.end, TIMING_PRECISE);
    assert_float_equal(r.ratio.value, 1.05, 0.01);
}

static void test_more_noise_more_pairs(void **state)
{
    struct timing_options options = timing_defaults();
    struct synthetic quiet = synthetic(NOISE_NORMAL, 0.01, 1.05, 3);
    struct synthetic loud = synthetic(NOISE_NORMAL, 0.05, 1.05, 3);
    struct timing_result q = run(&quiet, &options), l = run(&loud, &options);

    (void)state;
    /* sqrt(2) * 0.05 * 1.2533 / sqrt(n) = 0.005 at n = 314. */
    assert_in_range(l.nr_pairs, 200, 500);
    assert_in_range(q.nr_pairs, 30, 40);
    assert_true(l.standard_error < 0.005 && q.standard_error < 0.005);
}

static void test_limits(void **state)
{
    struct timing_options options = timing_defaults();
    struct synthetic s = synthetic(NOISE_NORMAL, 0.3, 1.05, 3);
    struct timing_result r;

    (void)state;
    options.max_pairs = 50;
    r = run(&s, &options);
    assert_int_equal(r.end, TIMING_MAX_PAIRS);
    assert_int_equal(r.nr_pairs, 50);
    /* 0.1 s per sample: 6 of warm-up, then pairs until 3 s are over. */
    s = synthetic(NOISE_NORMAL, 0.3, 1.05, 3);
    s.step_ns = 100000000;
    options.time_limit_s = 3;
    r = run(&s, &options);
    assert_int_equal(r.end, TIMING_TIME_LIMIT);
    assert_int_equal(r.nr_pairs, 12);
    assert_false(r.refused);
    /* Too few to say anything, and said so. */
    s = synthetic(NOISE_NORMAL, 0.3, 1.05, 3);
    s.step_ns = 1000000000;
    r = run(&s, &options);
    assert_true(r.refused);
    assert_true(r.ratio.value == 0);
    assert_non_null(strstr(r.reason, "too few"));
}

static void test_clocks(void **state)
{
    struct timing_options options = timing_defaults();
    struct synthetic s = synthetic(NOISE_NORMAL, 0.01, 1.05, 3);
    struct timing_result r;

    (void)state;
    options.max_pairs = 100;
    s.clock_mhz[TIMING_CANDIDATE] = 1965;
    s.clock_mhz[TIMING_BASELINE] = 1980; /* 0.76% */
    r = run(&s, &options);
    assert_false(r.refused);
    assert_int_equal(r.nr_dropped, 0);
    assert_true(r.clock_mhz[TIMING_CANDIDATE].low == 1965);
    /* Every fourth pair ran at other clocks: those are left out. */
    s = synthetic(NOISE_NORMAL, 0.01, 1.05, 3);
    s.clock_mhz[TIMING_CANDIDATE] = s.clock_mhz[TIMING_BASELINE] = 1980;
    s.odd_clock_mhz = 1700;
    r = run(&s, &options);
    assert_false(r.refused);
    assert_true(r.nr_dropped >= 9 && r.nr_pairs >= 30);
    assert_true(r.clock_mhz[TIMING_CANDIDATE].low == 1700);
    /* All of them: no ratio, but the times are there. */
    s = synthetic(NOISE_NORMAL, 0.01, 1.05, 3);
    s.clock_mhz[TIMING_CANDIDATE] = 1950; /* 1.5% */
    s.clock_mhz[TIMING_BASELINE] = 1980;
    r = run(&s, &options);
    assert_true(r.refused);
    assert_true(r.ratio.value == 0 && r.ratio.low == 0);
    assert_int_equal(r.nr_dropped, 100);
    assert_non_null(strstr(r.reason, "1950"));
    assert_float_equal(r.time[TIMING_BASELINE].value, 1e5, 1e3);
}

static void test_alone(void **state)
{
    struct timing_options options = timing_defaults();
    struct synthetic s = synthetic(NOISE_NORMAL, 0.01, 1.25, 3);
    struct timing_result r;

    (void)state;
    options.alone = true;
    r = run(&s, &options);
    assert_int_equal(r.end, TIMING_PRECISE);
    assert_int_equal(s.nr_of[TIMING_BASELINE], 0);
    assert_float_equal(r.time[TIMING_CANDIDATE].value, 8e4, 800);
    assert_true(r.time[TIMING_CANDIDATE].low < r.time[TIMING_CANDIDATE].high);
    assert_false(r.refused);
}

static void test_errors(void **state)
{
    struct timing_options options = timing_defaults();
    struct synthetic s = synthetic(NOISE_NONE, 0, 1, 3);
    struct timing_result r;
    struct err err;

    (void)state;
    s.broken = true;
    assert_false(timing_run(&s.base, &options, &r, &err));
    assert_string_equal(err.text, "the clock is gone");
    s = synthetic(NOISE_NONE, 0, 1, 3);
    s.time_ns[TIMING_CANDIDATE] = 0;
    assert_false(timing_run(&s.base, &options, &r, &err));
    assert_non_null(strstr(err.text, "clock"));
}

/* Medians and order statistics that can be had by hand. */
static void test_median(void **state)
{
    double odd[] = {5, 1, 3}, even[] = {4, 1, 2, 3}, one[] = {7}, equal[] = {2, 2, 2, 2, 2};
    struct timing_estimate e;

    (void)state;
    assert_true(timing_median(odd, 3, 0.95, 500, 1).value == 3);
    assert_true(timing_median(even, 4, 0.95, 500, 1).value == 2.5);
    e = timing_median(one, 1, 0.95, 500, 1);
    assert_true(e.value == 7 && e.low == 7 && e.high == 7);
    e = timing_median(equal, 5, 0.95, 500, 1);
    assert_true(e.low == 2 && e.high == 2);
    /* Of three values, the resampled median is the smallest with 7/27: inside the 2.5% tail, it is
     * the end of the interval. */
    e = timing_median(odd, 3, 0.95, 500, 1);
    assert_true(e.low == 1 && e.high == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage_normal),
        cmocka_unit_test(test_coverage_lognormal),
        cmocka_unit_test(test_coverage_outliers),
        cmocka_unit_test(test_coverage_with_drift),
        cmocka_unit_test(test_no_effect_is_rarely_seen),
        cmocka_unit_test(test_effect_is_found),
        cmocka_unit_test(test_exact_without_noise),
        cmocka_unit_test(test_order_alternates_after_warm_up),
        cmocka_unit_test(test_drift_cancels),
        cmocka_unit_test(test_outliers_do_not_move_it),
        cmocka_unit_test(test_more_noise_more_pairs),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_median),
    };

    return cmocka_run_group_tests_name("timing", tests, NULL, NULL);
}
