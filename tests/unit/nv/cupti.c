/* Tests of CUPTI's host half, which needs no GPU. Where the library cannot be opened the whole
 * program says so and counts as skipped. */
#include "nv/cupti.h"
#include "nv/cupti_sample.h"
#include "nv/metrics_map.h"
#include "nv/nvrtc.h"
#include "tests/sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct cupti *cupti;

static void test_all_names_are_known(void **state)
{
    const char *names[METRICS_MAP_NAMES], *unknown;
    unsigned nr = metrics_map_names(names), on_chip;
    struct err err;

    (void)state;
    assert_true(cupti_chip_knows(cupti, "GH100", names, nr, &on_chip, &unknown, &err));
    if (unknown)
        print_message("unknown: %s\n", unknown);
    assert_null(unknown);
    assert_in_range(on_chip, 3000, 10000);
    print_message("CUPTI %u: GH100 has %u base metrics\n", cupti_api_version(cupti), on_chip);
}

static void test_names_that_are_not(void **state)
{
    /* A base without a rollup is no value; a rollup that the base has not is none either. */
    static const char *const wrong[] = {"sm__no_such_thing.sum", "smsp__inst_executed",
        "smsp__inst_executed.pct", "l1tex__t_sector_hit_rate.sum", "", ".sum"};
    const char *unknown;
    unsigned on_chip;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const char *names[] = {"sm__cycles_elapsed.max", wrong[i]};

        assert_true(cupti_chip_knows(cupti, "GH100", names, 2, &on_chip, &unknown, &err));
        assert_ptr_equal(unknown, wrong[i]);
        assert_null(cupti_config_create(cupti, "GH100", names, 2, &err));
        assert_non_null(strstr(err.text, "has no metric"));
        assert_non_null(strstr(err.text, wrong[i]));
    }
    assert_false(cupti_chip_knows(cupti, "GX999", NULL, 0, &on_chip, &unknown, &err));
    assert_non_null(strstr(err.text, "GX999"));
    assert_null(cupti_config_create(cupti, "GX999", wrong, 1, &err));
    assert_null(cupti_config_create(cupti, "GH100", wrong, 0, &err));
}

static void test_configuration_of_all(void **state)
{
    const char *names[METRICS_MAP_NAMES];
    const unsigned nr = metrics_map_names(names);
    struct cupti_config *config;
    const uint8_t *image;
    unsigned nr_rows;
    size_t bytes;
    struct err err;

    (void)state;
    metrics_map_rows(&nr_rows);
    config = cupti_config_create(cupti, "GH100", names, nr, &err);
    if (!config)
        print_message("%s\n", err.text);
    assert_non_null(config);
    image = cupti_config_image(config, &bytes);
    print_message("%u canonical metrics from %u of the chip's: %u passes, %zu bytes\n", nr_rows, nr,
        cupti_config_nr_passes(config), bytes);
    assert_in_range(nr, 36, METRICS_MAP_NAMES - 1);
    assert_in_range(nr_rows, 36, NR_METRICS);
    assert_in_range(cupti_config_nr_passes(config), 1, 8);
    assert_non_null(image);
    assert_in_range(bytes, 1000, 1 << 20);
    cupti_config_destroy(config);
}

/* One by one they would take a pass each; after a refusal the next configuration works. */
static void test_objects_are_independent(void **state)
{
    const char *one[] = {"smsp__inst_executed.sum"}, *bad[] = {"nonsense.sum"};
    struct cupti_config *a, *b;
    struct err err;

    (void)state;
    a = cupti_config_create(cupti, "GH100", one, 1, &err);
    assert_non_null(a);
    assert_null(cupti_config_create(cupti, "GH100", bad, 1, &err));
    b = cupti_config_create(cupti, "GH100", one, 1, &err);
    assert_non_null(b);
    assert_int_equal(cupti_config_nr_passes(a), 1);
    assert_int_equal(cupti_config_nr_passes(b), 1);
    cupti_config_destroy(a);
    cupti_config_destroy(b);
}

static void test_image_that_is_none(void **state)
{
    unsigned nr;
    struct err err;

    (void)state;
    assert_false(cupti_nr_ranges(cupti, NULL, 0, &nr, &err));
    assert_non_null(strstr(err.text, "counter data"));
}

/* Instructions of a real cubin belong to the lines that they were compiled from, and what a
 * header's function does to the line that calls it. */
static void test_lines_of_a_cubin(void **state)
{
    static const char text[] = "#include \"wave.h\"\n"
                               "extern \"C\" __global__ void k(float *a, int n) {\n"
                               "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "  if (i >= n) return;\n"
                               "  a[i] =\n"
                               "    wave(a[i]);\n"
                               "}\n";
    const struct nvrtc_header header = {
        "wave.h", "__device__ float wave(float x) {\n\n\n\n\n\n\n\n\n return sqrtf(x) + 1.0f; }\n"};
    const char *const options[] = {"-lineinfo", "--gpu-architecture=sm_90a"};
    const char *const kernels[] = {"k"};
    const struct nvrtc_request request = {.source = text,
        .name = "k.cu",
        .options = options,
        .nr_options = 2,
        .headers = &header,
        .nr_headers = 1,
        .kernels = kernels,
        .nr_kernels = 1};
    struct sample all[64];
    const struct samples samples = {.samples = all, .nr = 64};
    struct nvrtc_answer answer;
    struct nvrtc *nvrtc;
    struct sample_line *lines;
    double found[2][8] = {{0}}, moved = 0;
    unsigned nr_lines;
    struct err err;

    (void)state;
    nvrtc = nvrtc_open(&err);
    assert_non_null(nvrtc);
    nvrtc_compile(nvrtc, &request, &answer);
    assert_int_equal(answer.outcome, NVRTC_GOOD);
    /* As if every instruction had been sampled once: by CUPTI's reader, and by ours. */
    for (unsigned i = 0; i < 64; i++)
        all[i] = (struct sample){(char *)"k", 16 * (uint64_t)i, WAIT_FIXED, 1};
    for (unsigned by = 0; by < 2; by++) {
        double nr = 0, of_wave = 0;
        const bool ok = by == 0 ? cupti_sample_lines_by_cupti(cupti, &samples, "k", answer.cubin,
                                      answer.cubin_bytes, NULL, &lines, &nr_lines, &err)
                                : cupti_sample_lines(cupti, &samples, "k", answer.cubin,
                                      answer.cubin_bytes, &lines, &nr_lines, &err);

        if (!ok)
            fail_msg("%s", err.text);
        for (unsigned i = 0; i < nr_lines; i++) {
            assert_in_range(lines[i].line, 2, 7); /* line 10 is the header's */
            nr += lines[i].nr_all;
            of_wave += lines[i].line == 6 ? lines[i].nr_stalled : 0;
            found[by][lines[i].line] = lines[i].nr_all;
        }
        assert_in_range(nr_lines, 4, 6);
        assert_true(nr == 64);
        assert_true(of_wave > 8); /* a square root is a dozen instructions of the header's */
        free(lines);
    }
    /* They differ in what was inlined at most, where ours knows the caller. */
    for (unsigned line = 0; line < 8; line++)
        moved += fabs(found[0][line] - found[1][line]) / 2;
    print_message("%.0f of 64 instructions on another line by CUPTI's reader\n", moved);
    assert_true(moved <= 8);
    assert_false(cupti_sample_lines(cupti, &samples, "k", "no cubin", 8, &lines, &nr_lines, &err));
    nvrtc_answer_finish(&answer);
    nvrtc_close(nvrtc);
}

/* AddressSanitizer ends a process that opens a library with RTLD_DEEPBIND, as CUPTI does. */
static bool open_library(struct err *why)
{
    if (KEET_SANITIZED)
        return err_set(why, "CUPTI cannot be opened under AddressSanitizer");
    cupti = cupti_open(why);
    return cupti != NULL;
}

enum { SKIPPED = 77 };

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_names_are_known),
        cmocka_unit_test(test_names_that_are_not),
        cmocka_unit_test(test_configuration_of_all),
        cmocka_unit_test(test_objects_are_independent),
        cmocka_unit_test(test_image_that_is_none),
        cmocka_unit_test(test_lines_of_a_cubin),
    };
    struct err why;
    int failed;

    if (!open_library(&why)) {
        printf("skipped: %s\n", why.text);
        return SKIPPED;
    }
    failed = cmocka_run_group_tests_name("cupti", tests, NULL, NULL);
    cupti_close(cupti);
    return failed;
}
