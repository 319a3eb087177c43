/* How a GPU's times are taken, seen through the software driver and a library that plays NVML:
 * which buffers each run finds, the ratio to the original, clocks on record, ratios refused. */
#include "base/file.h"
#include "device/device.h"

#include "faults_ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NR = 1000, CANDIDATE_STEP = 3, ORIGINAL_STEP = 5 };

static char folder[] = "/tmp/keet-timing-XXXXXX";
static struct kernel_facts facts[] = {{.kernel = "add", .lowered = "add", .registers = 10}};
static const struct compilation compiled = {
    .ptx = faults_ptx, .ptx_bytes = sizeof(faults_ptx), .kernels = facts, .nr_kernels = 1};

/* A candidate that adds 3 with one launch, an original that adds 5 with each of two. */
struct fixture {
    struct device *device;
    struct device_module *candidate, *original;
    struct arena *arena;
    uint64_t array;
    struct launch_config config;
    struct device_arg args[2][3];
    struct device_launch launches[3];
};

/* settings: of tests/fake/fake_nvml.c; NULL: no NVML. */
static void play_nvml(const char *settings)
{
    char path[128], *library;
    size_t bytes;
    struct err err;

    snprintf(path, sizeof(path), "%s/libnvidia-ml.so", folder);
    setenv("KEET_NVML", settings != NULL ? path : "/nowhere/libnvidia-ml.so", 1);
    if (settings == NULL)
        return;
    assert_true(file_read(KEET_FAKE_NVML, 64 << 20, &library, &bytes, &err));
    assert_true(file_write(path, library, bytes, &err));
    free(library);
    snprintf(path, sizeof(path), "%s/fake.txt", folder);
    assert_true(file_write(path, settings, strlen(settings), &err));
}

static struct device_module *load(struct device *device)
{
    struct device_module *module;
    struct device_result result;
    struct err err;

    if (!device_load(device, &compiled, &module, &result, &err))
        fail_msg("%s", err.text);
    assert_int_equal(result.verdict, VERDICT_OK);
    return module;
}

static void begin(struct fixture *f, const char *nvml)
{
    const struct device_options options = {.name = "gpu"};
    const uint32_t words[NR] = {100};
    struct err err;

    play_nvml(nvml);
    *f = (struct fixture){.config = {.kernel = "add", .grid = {8, 1, 1}, .block = {128, 1, 1}}};
    f->device = device_create(&options, &err);
    if (f->device == NULL)
        fail_msg("%s", err.text);
    f->candidate = load(f->device);
    f->original = load(f->device);
    f->arena = arena_create();
    f->array = device_alloc(f->device, sizeof(words), "words", &err);
    assert_true(device_write(f->device, f->array, words, sizeof(words), &err));
    for (unsigned i = 0; i < 2; i++) {
        f->args[i][0] =
            (struct device_arg){.kind = ARG_ARRAY, .address = f->array, .name = "words"};
        f->args[i][1] =
            (struct device_arg){.kind = ARG_INTEGER, .integer = i ? ORIGINAL_STEP : CANDIDATE_STEP};
        f->args[i][2] = (struct device_arg){.kind = ARG_INTEGER, .integer = NR};
    }
    for (unsigned i = 0; i < 3; i++)
        f->launches[i] = (struct device_launch){
            .config = &f->config, .facts = facts, .args = f->args[i > 0], .nr_args = 3, .seed = 1};
}

static void end(struct fixture *f)
{
    arena_destroy(f->arena);
    device_unload(f->device, f->candidate);
    device_unload(f->device, f->original);
    device_destroy(f->device);
}

static struct profile measure(struct fixture *f, bool compare, bool restore)
{
    const struct device_measure what = {
        .launches = f->launches,
        .nr_launches = 1,
        .baseline_module = f->original,
        .baseline = f->launches + 1,
        .nr_baseline = compare ? 2 : 0,
        .restore = &f->array,
        .nr_restore = restore,
    };
    struct device_result result;
    struct profile profile;
    struct err err;

    if (!device_measure(f->device, f->candidate, &what, f->arena, &profile, &result, &err))
        fail_msg("%s", err.text);
    if (result.verdict != VERDICT_OK)
        fail_msg("%s", result.text);
    return profile;
}

static uint32_t first_word(struct fixture *f)
{
    uint32_t word;
    struct err err;

    assert_true(device_read(f->device, f->array, &word, sizeof(word), &err));
    return word;
}

static void a_ratio_by_turns(void **state)
{
    struct fixture f;
    struct profile p;

    (void)state;
    begin(&f, NULL);
    assert_true(f.device->ops->compares);
    p = measure(&f, true, false);
    assert_int_equal(p.time_from, PROV_MODELLED);
    assert_false(p.timing.refused);
    assert_true(p.timing.baseline_ns > 1.2 * p.time_ns); /* one launch more */
    assert_float_equal(p.timing.ratio, p.timing.baseline_ns / p.time_ns, 1e-9);
    assert_float_equal(p.timing.ratio_low, p.timing.ratio, 1e-9); /* modelled times are all equal */
    assert_float_equal(p.timing.ratio_high, p.timing.ratio, 1e-9);
    assert_true(p.timing.clock_high_mhz == 0 && p.timing.temperature_high_c == 0);
    /* The candidate ran on the buffer itself, the original on the next set of buffers. */
    assert_int_equal(first_word(&f), 100 + CANDIDATE_STEP);
    p = measure(&f, false, false);
    assert_true(p.timing.ratio == 0 && p.timing.baseline_ns == 0 && !p.timing.refused);
    assert_int_equal(first_word(&f), 100 + 2 * CANDIDATE_STEP);
    end(&f);
}

/* With five pairs in the order CO OC CO OC CO and three sets of buffers in turn, the buffer itself
 * is used by samples 0, 3, 6 and 9: by C, C, O and O, where the original adds twice. */
static void buffers_rotate(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "mhz 1755");
    measure(&f, true, false);
    assert_int_equal(first_word(&f), 100 + 2 * CANDIDATE_STEP + 2 * 2 * ORIGINAL_STEP);
    end(&f);
}

/* A kernel that counts down from its first word takes another time on the next set of buffers,
 * where another word is the first one; unless the order of the words means something. */
static void contents_rotate(void **state)
{
    static struct kernel_facts counts[] = {
        {.kernel = "counted", .lowered = "counted", .registers = 10}};
    static const struct compilation code = {
        .ptx = faults_ptx, .ptx_bytes = sizeof(faults_ptx), .kernels = counts, .nr_kernels = 1};
    const uint32_t words[NR] = {500};
    struct fixture f;
    struct device_module *modules[2]; /* the driver models a kernel once */
    struct device_rotation rotate;
    struct device_result result;
    struct err err;

    (void)state;
    begin(&f, NULL);
    f.config = (struct launch_config){.kernel = "counted", .grid = {1, 1, 1}, .block = {1, 1, 1}};
    assert_true(device_write(f.device, f.array, words, sizeof(words), &err));
    for (unsigned i = 0; i < 2; i++) {
        f.launches[i].facts = counts;
        f.launches[i].args = f.args[0];
        f.launches[i].nr_args = 1;
    }
    rotate = (struct device_rotation){f.array, sizeof(words) / 4};
    for (unsigned nr = 0; nr < 2; nr++) {
        struct device_measure what = {.launches = f.launches,
            .nr_launches = 1,
            .baseline = f.launches + 1,
            .nr_baseline = 1,
            .rotate = &rotate,
            .nr_rotate = nr};
        struct profile profile;

        for (unsigned i = 0; i < 2; i++)
            assert_true(device_load(f.device, &code, &modules[i], &result, &err));
        what.baseline_module = modules[1];
        assert_true(device_measure(f.device, modules[0], &what, f.arena, &profile, &result, &err));
        assert_int_equal(result.verdict, VERDICT_OK);
        if (nr == 0)
            assert_float_equal(profile.timing.ratio, 1, 1e-9);
        else
            assert_true(profile.timing.ratio < 0.9);
        for (unsigned i = 0; i < 2; i++)
            device_unload(f.device, modules[i]);
    }
    end(&f);
}

/* Each run finds the contents as they were before the first: only the last one's work is seen. */
static void contents_are_restored(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, "mhz 1755");
    measure(&f, true, true);
    assert_int_equal(first_word(&f), 100 + 2 * ORIGINAL_STEP);
    measure(&f, true, true);
    assert_int_equal(first_word(&f), 100 + 4 * ORIGINAL_STEP);
    end(&f);
}

static void clocks_are_recorded(void **state)
{
    struct fixture f;
    struct profile p;

    (void)state;
    begin(&f, "mhz 1755 throttle 4 swing 10"); /* 0.6% */
    p = measure(&f, true, true);
    assert_false(p.timing.refused);
    assert_true(p.timing.ratio > 1);
    assert_int_equal(p.timing.nr_samples, 5);
    assert_int_equal(p.timing.nr_dropped, 0);
    assert_true(p.timing.clock_low_mhz == 1755 && p.timing.clock_high_mhz == 1765);
    assert_true(
        p.timing.baseline_clock_low_mhz == 1755 && p.timing.baseline_clock_high_mhz == 1765);
    assert_true(p.timing.temperature_low_c == 45 && p.timing.temperature_high_c == 45);
    assert_int_equal(p.timing.throttle, 4);
    end(&f);
}

static void other_clocks_give_no_ratio(void **state)
{
    struct fixture f;
    struct profile p;

    (void)state;
    begin(&f, "mhz 1755 swing 25"); /* 1.4% */
    p = measure(&f, true, true);
    assert_true(p.timing.refused);
    assert_true(p.timing.ratio == 0 && p.timing.ratio_low == 0);
    assert_int_equal(p.timing.nr_dropped, 5);
    assert_non_null(strstr(p.timing.note, "1780 MHz"));
    assert_true(p.time_ns > 0); /* the time itself is there */
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ratio_by_turns),
        cmocka_unit_test(buffers_rotate),
        cmocka_unit_test(contents_rotate),
        cmocka_unit_test(contents_are_restored),
        cmocka_unit_test(clocks_are_recorded),
        cmocka_unit_test(other_clocks_give_no_ratio),
    };
    char command[64];
    int failed;

    if (mkdtemp(folder) == NULL)
        return 1;
    setenv("KEET_LOCK_DIR", folder, 1);
    setenv("KEET_CUDA_DRIVER", KEET_SOFTWARE_DRIVER, 1);
    setenv("KEET_CUDA_THREADS", "1", 1);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) != 0 || failed;
}
