/* Tests of energy per launch, on synthetic counters; and of NVML's texts. */
#include "nv/energy.h"

#include "base/rng.h"
#include "nv/nvml.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 4000 };
static struct energy_sample samples[MOST];

struct card {
    double power_w, wander; /* wander: deviation of the power of one step, relative */
    double step_s;          /* the counter moves this often, and counts what the sensor saw */
    double launch_s;
    double ramp_s; /* at the start power rises from nothing to all of it */
    uint64_t seed;
};

/* Readings every 10 ms for so long. */
static unsigned record(const struct card *card, double seconds)
{
    double counter = 1e6, stepped_at = 0;
    unsigned nr = 0;
    struct rng rng;

    rng_seed(&rng, card->seed, 7);
    for (double t = 0; t < seconds && nr < MOST; t += 0.01) {
        while (card->step_s > 0 && t >= stepped_at + card->step_s) {
            const double power = card->power_w * (1 + card->wander * rng_normal(&rng));

            counter += power * card->step_s *
                       fmin(1, (stepped_at + card->step_s) / fmax(card->ramp_s, 1e-9));
            stepped_at += card->step_s;
        }
        samples[nr++] =
            (struct energy_sample){t, floor(t / card->launch_s), floor(counter * 1e3) / 1e3};
    }
    return nr;
}

static struct energy_estimate estimate(const struct card *card, double seconds)
{
    struct energy_options options = energy_defaults();
    struct energy_estimate e;

    options.seed = card->seed;
    energy_estimate(samples, record(card, seconds), &options, &e);
    return e;
}

static void test_known_power(void **state)
{
    /* 400 W for 2 ms each: 0.8 J, whatever the counter's steps. */
    const double steps[] = {0.02, 0.1};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const struct card card = {.power_w = 400, .step_s = steps[i], .launch_s = 0.002, .seed = 1};
        struct energy_estimate e = estimate(&card, 6);

        assert_true(e.known);
        assert_float_equal(e.joules, 0.8, 0.004);
        assert_float_equal(e.power_w, 400, 2);
        assert_true(e.low <= 0.8 && 0.8 <= e.high);
        assert_true(e.high - e.low < 0.04);
        assert_true(e.seconds > 4 && e.seconds < 5.1);
    }
}

/* The first half second, when power has not settled, is left out; with it, the estimate would be
 * too low by several percent. */
static void test_ramp_is_cut_off(void **state)
{
    const struct card card = {
        .power_w = 400, .step_s = 0.1, .launch_s = 0.002, .ramp_s = 0.8, .seed = 1};
    struct energy_options options = energy_defaults();
    struct energy_estimate with, without;
    const unsigned nr = record(&card, 4);

    (void)state;
    energy_estimate(samples, nr, &options, &with);
    options.settle_s = 0;
    energy_estimate(samples, nr, &options, &without);
    assert_float_equal(with.joules, 0.8, 0.008);
    assert_true(without.joules < 0.77);
}

/* A sensor that looks at a part of the time sees a power that wanders. */
static void test_coverage(void **state)
{
    unsigned covered = 0;
    enum { NR = 500 };

    (void)state;
    for (unsigned t = 0; t < NR; t++) {
        const struct card card = {
            .power_w = 350, .wander = 0.05, .step_s = 0.1, .launch_s = 0.001, .seed = 50 + t};
        struct energy_estimate e = estimate(&card, 11);

        assert_true(e.known);
        covered += e.low <= 0.35 && 0.35 <= e.high;
    }
    print_message("covered %.1f%%\n", 100.0 * covered / NR);
    assert_in_range(covered, 0.91 * NR, NR);
}

static void test_what_cannot_be_known(void **state)
{
    struct card card = {.power_w = 400, .step_s = 0.1, .launch_s = 0.002, .seed = 1};
    struct energy_estimate e = estimate(&card, 2);

    (void)state;
    assert_false(e.known);
    assert_non_null(strstr(e.reason, "run longer"));
    card.step_s = 0; /* a counter that stands still */
    e = estimate(&card, 6);
    assert_false(e.known);
    assert_int_equal(e.nr_blocks, 0);
    card.step_s = 0.1;
    card.launch_s = 100; /* nothing ever completes */
    e = estimate(&card, 6);
    assert_false(e.known);
    energy_estimate(samples, 0, &(struct energy_options){.nr_resamples = 10}, &e);
    assert_false(e.known);
}

static void test_throttle_text(void **state)
{
    char text[200];

    (void)state;
    nvml_throttle_text(0, text);
    assert_string_equal(text, "none");
    nvml_throttle_text(0x1, text); /* idle */
    assert_string_equal(text, "none");
    nvml_throttle_text(0x24, text);
    assert_string_equal(text, "power cap, thermal slowdown");
    nvml_throttle_text(UINT64_MAX, text);
    assert_non_null(strstr(text, "display clocks"));
}

/* With a driver it answers, without one it says what is missing. */
static void test_open(void **state)
{
    struct err err = {.text = ""};
    struct nvml *nvml = nvml_open(&err);
    struct nvml_reading reading;
    struct nvml_info info;

    (void)state;
    if (!nvml) {
        assert_non_null(strstr(err.text, "NVML"));
        return;
    }
    for (unsigned i = 0; i < nvml_nr_devices(nvml); i++) {
        assert_true(nvml_info(nvml, i, &info, &err));
        assert_true(nvml_read(nvml, i, &reading, &err));
        assert_true(info.name[0]);
    }
    assert_false(nvml_info(nvml, nvml_nr_devices(nvml), &info, &err));
    nvml_close(nvml);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_power),
        cmocka_unit_test(test_ramp_is_cut_off),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_what_cannot_be_known),
        cmocka_unit_test(test_throttle_text),
        cmocka_unit_test(test_open),
    };

    return cmocka_run_group_tests_name("energy", tests, NULL, NULL);
}
