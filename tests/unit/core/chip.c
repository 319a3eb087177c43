/* Tests of the device profiles, of occupancy and of chip files. Expected occupancies come from
 * NVIDIA's published occupancy header (cuda_occupancy.h, CUDA 13.0) for compute capability 9.0, and
 * those with a comment, and those of other chips, were worked by hand. */
#include "core/chip.h"

#include "base/file.h"
#include "base/str.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void occupancy_agrees_with_nvidia(void **state)
{
    static const struct {
        unsigned threads, registers, smem, blocks, by_registers, by_smem, by_warps;
    } rows[] = {
        {256, 32, 0, 8, 8, 228, 8}, /* 8 warps * 1024 registers: 65536 / 8192 = 8 */
        {256, 40, 0, 6, 6, 228, 8}, /* 1280 a warp: 12 per partition, 48 / 8 = 6 */
        {256, 64, 0, 4, 4, 228, 8},
        {256, 128, 0, 2, 2, 228, 8},
        {256, 255, 0, 1, 1, 228, 8},  /* 8160 -> 8192 a warp: 2 per partition, 8 / 8 */
        {128, 72, 0, 7, 7, 228, 16},  /* 2304 a warp: 7 per partition, 28 / 4 */
        {32, 24, 0, 32, 84, 228, 64}, /* the limit of 32 blocks */
        {96, 37, 0, 16, 16, 228, 21},
        {1024, 64, 0, 1, 1, 228, 2},
        {1024, 65, 0, 0, 0, 228, 2}, /* 2304 * 32 warps > 65536: cannot launch */
        {1024, 32, 49152, 2, 2, 4, 2},
        {256, 32, 49152, 4, 8, 4, 8}, /* 233472 / 50176 = 4.65 */
        {128, 32, 232448, 1, 16, 1, 16},
        {100, 50, 7000, 9, 9, 28, 16}, /* 7000 + 1024 -> 8064: 28.9 */
        {192, 168, 100, 2, 2, 202, 10},
        {64, 33, 1, 24, 24, 202, 32},
        {1, 16, 0, 32, 128, 228, 64},
        {160, 90, 20000, 4, 4, 11, 12},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct occupancy occ =
            chip_occupancy(chip_default(), rows[i].threads, rows[i].registers, rows[i].smem);

        assert_int_equal(occ.blocks, rows[i].blocks);
        assert_int_equal(occ.limit_blocks, 32);
        assert_int_equal(occ.limit_registers, rows[i].by_registers);
        assert_int_equal(occ.limit_smem, rows[i].by_smem);
        assert_int_equal(occ.limit_warps, rows[i].by_warps);
        assert_int_equal(occ.warps_per_block, (rows[i].threads + 31) / 32);
    }
}

static void what_cannot_launch_has_no_blocks(void **state)
{
    (void)state;
    assert_int_equal(chip_occupancy(chip_default(), 0, 32, 0).blocks, 0);
    assert_int_equal(chip_occupancy(chip_default(), 1025, 32, 0).blocks, 0);
    assert_int_equal(chip_occupancy(chip_default(), 128, 256, 0).blocks, 0);
    assert_int_equal(chip_occupancy(chip_default(), 128, 32, 227 * 1024 + 1).blocks, 0);
}

/* The datasheet's TFLOP/s follow from units, clock and SMs. */
static void figures_fit_together(void **state)
{
    const struct chip *h100 = chip_find("h100"), *h200 = chip_find("h200");

    (void)state;
    assert_ptr_equal(h100, chip_default());
    assert_null(chip_find("v100"));
    assert_float_equal(h100->fp32_per_clk * 2 * h100->nr_sms * h100->clock_hz / 1e12, 66.9, 0.1);
    assert_float_equal(h100->fp64_per_clk * 2 * h100->nr_sms * h100->clock_hz / 1e12, 33.5, 0.1);
    assert_float_equal(
        h200->dram_bytes_per_s * h200->dram_achievable / h200->dram_read_cost / 1e12, 3.89, 0.01);
    assert_true(h200->dram_bytes > h100->dram_bytes);
}

/* Other chips: an SM of A100 holds 64 warps, 32 blocks and 164 KB; of Ada 48, 24 and 100 KB; each
 * block takes 1 KB more. Of 65536 registers a partition has 16384. */
static void occupancy_of_other_chips(void **state)
{
    static const struct {
        const char *key;
        unsigned threads, registers, smem, blocks;
    } rows[] = {
        {"a100", 1024, 32, 0, 2},     /* 64 warps */
        {"a100", 256, 32, 49152, 3},  /* 167936 / 50176 = 3.3 */
        {"a100", 128, 64, 0, 8},      /* 2048 a warp: 8 in a partition, 32 warps */
        {"a100", 32, 16, 0, 32},      /* the limit of 32 blocks */
        {"a100", 128, 32, 166912, 1}, /* 163 KB */
        {"a100", 128, 32, 166913, 0},
        {"l40s", 1024, 32, 0, 1},   /* 48 warps */
        {"l40s", 256, 32, 0, 6},    /* 48 / 8; registers would allow 8 */
        {"rtx4090", 64, 32, 0, 24}, /* 48 / 2, and the limit of 24 blocks */
        {"rtx4090", 32, 32, 0, 24},
        {"rtx4090", 256, 32, 49152, 2}, /* 102400 / 50176 = 2.04 */
        {"l40s", 128, 32, 101376, 1},   /* 99 KB */
        {"l40s", 128, 32, 101377, 0},
        {"b200", 256, 32, 49152, 4}, /* 233472 / 50176 = 4.65 */
        {"b200", 128, 32, 232448, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(
            chip_occupancy(chip_find(rows[i].key), rows[i].threads, rows[i].registers, rows[i].smem)
                .blocks,
            rows[i].blocks);
}

static double vector_tera(const struct chip *chip, enum work work)
{
    return chip->peak[work].vector_per_clk_sm * chip->nr_sms * chip->clock_hz / 1e12;
}

/* What NVIDIA publishes (whitepapers and datasheets of A100, Ada, L40S and HGX B200), in T/s, from
 * lanes and clock; 0: no figure. */
static void rates_are_the_published_ones(void **state)
{
    static const struct {
        const char *key;
        unsigned lanes;
        double f64, f32, f16, int32;
    } rows[] = {
        {"h100", 16896, 33.5, 66.9, 133.8, 33.5},
        {"a100", 6912, 9.7, 19.5, 78, 19.5},
        {"l40s", 18176, 0, 91.6, 91.6, 0},
        {"rtx4090", 16384, 82.6 / 64, 82.6, 82.6, 41.3},
        {"b200", 18944, 37, 75, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct chip *chip = chip_find(rows[i].key);

        assert_true(chip->nr_sms * chip->fp32_per_clk == rows[i].lanes);
        assert_float_equal(vector_tera(chip, WORK_F32) / rows[i].f32, 1, 0.01);
        if (rows[i].f64 > 0)
            assert_float_equal(vector_tera(chip, WORK_F64) / rows[i].f64, 1, 0.02);
        if (rows[i].f16 > 0)
            assert_float_equal(vector_tera(chip, WORK_F16) / rows[i].f16, 1, 0.01);
        if (rows[i].int32 > 0)
            assert_float_equal(vector_tera(chip, WORK_INT32) / rows[i].int32, 1, 0.01);
        /* The vector peaks are two operations for each of the lanes that instructions have. */
        assert_true(chip->peak[WORK_F32].vector_per_clk_sm == 2 * chip->fp32_per_clk);
        assert_true(chip->peak[WORK_F64].vector_per_clk_sm == 2 * chip->fp64_per_clk);
        assert_true(chip->peak[WORK_F16].vector_per_clk_sm == 2 * chip->half2_per_clk);
    }
}

/* Bits of the bus times what a pin moves a second. */
static void bandwidth_is_that_of_bus_and_pins(void **state)
{
    static const struct {
        const char *key;
        double bits, pin_per_s;
    } rows[] = {
        {"h100", 5120, 5.24e9},  /* HBM3 */
        {"h200", 6144, 6.25e9},  /* HBM3e */
        {"a100", 5120, 3.186e9}, /* HBM2e at 1593 MHz, both edges */
        {"l40s", 384, 18e9},     /* GDDR6 */
        {"rtx4090", 384, 21e9},  /* GDDR6X */
        {"b200", 8192, 7.5e9},   /* HBM3e */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_float_equal(
            rows[i].bits * rows[i].pin_per_s / 8 / chip_find(rows[i].key)->dram_bytes_per_s, 1,
            0.01);
}

/* Products of halves that a tensor core makes in a clock, by the whitepapers: 256 on A100, 128 on
 * Ada (L40S; GeForce with sums in f16), 512 on H100. */
static void tensor_peaks_are_those_of_the_cores(void **state)
{
    static const struct {
        const char *key;
        double products;
    } rows[] = {{"a100", 256}, {"l40s", 128}, {"rtx4090", 128}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct chip *chip = chip_find(rows[i].key);

        assert_float_equal(2 * rows[i].products * 4 * chip->nr_sms * chip->clock_hz /
                               chip->peak[WORK_F16].tensor_per_s,
            1, 0.015);
    }
    assert_true(chip_find("rtx4090")->peak[WORK_BF16].tensor_per_s /
                    chip_find("rtx4090")->peak[WORK_F16].tensor_per_s <
                0.51); /* GeForce sums in f32 at half the rate */
    assert_true(chip_find("a100")->peak[WORK_FP8].tensor_per_s == 0);
    assert_true(
        chip_tensor_peak(chip_find("a100")) == chip_find("a100")->peak[WORK_INT8].tensor_per_s);
}

static void capabilities(void **state)
{
    static const struct {
        const char *key;
        unsigned capability;
        bool clusters, wgmma;
    } rows[] = {{"h100", 90, true, true}, {"h200", 90, true, true}, {"a100", 80, false, false},
        {"l40s", 89, false, false}, {"rtx4090", 89, false, false}, {"b200", 100, true, false}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct chip *chip = chip_nth((unsigned)i);

        assert_string_equal(chip->key, rows[i].key);
        assert_int_equal(chip_capability(chip), rows[i].capability);
        assert_true(chip_has_clusters(chip) == rows[i].clusters);
        assert_true(chip_has_wgmma(chip) == rows[i].wgmma);
        assert_true(strlen(chip->validated) > 20);
    }
    assert_null(chip_nth(sizeof(rows) / sizeof(rows[0])));
}

/* ---- chip files ---- */

static char path[] = "/tmp/keet_chip_XXXXXX";

static const struct chip *read_text(const char *text, struct err *err)
{
    static unsigned nr; /* a file is read once, so that each text needs a name of its own */
    char name[64];
    const struct chip *chip;

    snprintf(name, sizeof(name), "%s/%u.chip", path, nr++);
    assert_true(file_write(name, text, strlen(text), err));
    chip = chip_open(name, err);
    if (chip)
        assert_ptr_equal(chip, chip_open(name, err));
    unlink(name);
    return chip;
}

static void a_file_changes_what_it_says(void **state)
{
    struct err err;
    const struct chip *a100 = chip_find("a100");
    const struct chip *chip = read_text("# a card\n\nlike = a100 # Ampere\n"
                                        "name = NVIDIA A30\r\n"
                                        "  nr_sms=56\n"
                                        "dram_bytes = 24 GiB\n"
                                        "dram_bytes_per_s = 933e9\n"
                                        "f16_flops.tensor_per_s = 165e12\n"
                                        "arch = sm_80",
        &err);
    char name[CHIP_NAME_BYTES];
    double value;
    unsigned same = 0, others = 0;

    (void)state;
    assert_non_null(chip);
    assert_string_equal(chip->name, "NVIDIA A30");
    assert_int_equal(chip->nr_sms, 56);
    assert_true(chip->dram_bytes == UINT64_C(24) << 30);
    assert_true(chip->dram_bytes_per_s == 933e9);
    assert_true(chip->peak[WORK_F16].tensor_per_s == 165e12);
    for (unsigned i = 0; chip_figure(chip, i, name, &value); i++) {
        char name_there[CHIP_NAME_BYTES];
        double there;

        assert_true(chip_figure(a100, i, name_there, &there));
        assert_string_equal(name, name_there);
        same += value == there;
        others += value != there;
    }
    assert_int_equal(others, 4);
    assert_true(same > 40);
}

/* All figures of each chip, written as a file, are read back as that chip. */
static void figures_make_the_chip_again(void **state)
{
    (void)state;
    for (unsigned nr = 0; chip_nth(nr) != NULL; nr++) {
        const struct chip *from = chip_nth(nr), *chip;
        struct str text = {0};
        char name[CHIP_NAME_BYTES];
        struct err err;
        double value, back;

        str_addf(&text, "like = h100\nname = copy\narch = %s\n", from->arch);
        for (unsigned i = 0; chip_figure(from, i, name, &value); i++)
            str_addf(&text, "%s = %.17g\n", name, value);
        if (from->peak[WORK_FP8].tensor_per_s == 0)
            str_add(&text, "fp8_flops.tensor_per_s = 0\n");
        if (from->peak[WORK_F64].tensor_per_s == 0)
            str_add(&text, "f64_flops.tensor_per_s = 0\n");
        chip = read_text(str_text(&text), &err);
        if (chip == NULL)
            fail_msg("%s: %s", from->key, err.text);
        for (unsigned i = 0; chip_figure(from, i, name, &value); i++) {
            assert_true(chip_figure(chip, i, name, &back));
            assert_true(value == back);
        }
        str_finish(&text);
    }
}

static void bad_files_are_refused(void **state)
{
#define HEAD "like = h100\nname = X\n"
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "is empty"},
        {"# nothing\n", "is empty"},
        {"nr_sms = 5\n", ":1: the first line is like = KEY"},
        {"like = v100\n", "(h100, h200, a100, l40s, rtx4090, b200)"},
        {"like = h100\n", "no line name"},
        {HEAD "nr_smx = 5\n", ":3: nr_smx is no figure of a chip"},
        {HEAD "nr_sms 5\n", ":3: expected a line such as"},
        {HEAD "nr_sms =\n", ":3: nr_sms has no value"},
        {HEAD "nr_sms = many\n", "\"many\" is no number"},
        {HEAD "nr_sms = nan\n", "is no number"},
        {HEAD "nr_sms = 0\n", ":3: nr_sms = 0; expected 1 to 4096"},
        {HEAD "nr_sms = -1\n", "nr_sms = -1; expected 1 to 4096"},
        {HEAD "nr_sms = 1e30\n", "expected 1 to 4096"},
        {HEAD "nr_sms = 5.5\n", "expected a whole number"},
        {HEAD "l2_bytes = 5 MB\n", "a unit is KiB, MiB or GiB"},
        {HEAD "nr_sms = 5\nnr_sms = 6\n", ":4: nr_sms was given before"},
        {HEAD "arch = sm_70\n", "the oldest is sm_80"},
        {HEAD "arch = compute_90\n", "expected sm_80, sm_90a"},
        {HEAD "arch = sm_90; rm\n", "expected sm_80, sm_90a"},
        {HEAD "f16_flops.tensor_per_s = -1\n", "expected 0 to"},
        {HEAD "flops.tensor_per_s = 1\n", "is no figure"},
        {HEAD "f16_flops.speed = 1\n", "is no figure"},
        {HEAD "smem_per_sm_bytes = 100 KiB\n", "smem_per_block_max_bytes and smem_reserved_bytes"},
        {HEAD "l1_bytes = 64 KiB\n", "more than l1_bytes"},
        {HEAD "max_warps_per_sm = 16\n", "max_threads_per_block is more"},
        {HEAD "lat_l2 = 10\n", "lat_l1 <= lat_l2"},
        {HEAD "l2_bytes_per_s = 1e12\n", "less than dram_bytes_per_s"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct err err = {0};

        if (read_text(rows[i].text, &err) != NULL)
            fail_msg("taken: %s", rows[i].text);
        if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("%s\nsays: %s", rows[i].text, err.text);
    }
}

static void names_that_are_no_chip(void **state)
{
    struct err err = {0};

    (void)state;
    assert_null(chip_open("v100", &err));
    assert_non_null(strstr(err.text, "there are h100, h200, a100, l40s, rtx4090, b200"));
    assert_null(chip_open("/nowhere/x.chip", &err));
    assert_non_null(strstr(err.text, "/nowhere/x.chip"));
    assert_null(chip_open("/tmp", &err));
    assert_null(chip_of_device("gpu"));
    assert_ptr_equal(chip_of_device("emu:a100"), chip_find("a100"));
    assert_ptr_equal(chip_of_device("gpu:h200"), chip_find("h200"));
}

/* The page for users names each figure with its limits. */
static void the_page_has_all_figures(void **state)
{
    static const struct {
        const char *name, *meaning;
        double least, most;
    } fields[] = {
#define CHIP_FIELD(kind, name, least, most, meaning) {#name, meaning, least, most},
#include "core/chip_fields.def"
#undef CHIP_FIELD
    };
    char *page;
    size_t len;
    struct err err;

    (void)state;
    assert_true(
        file_read(KEET_SOURCE_DIR "/docs/reference/chip-file.md", 1 << 20, &page, &len, &err));
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct str row = {0};

        str_addf(&row, "| `%s` | %.15g to %.15g | %s |", fields[i].name, fields[i].least,
            fields[i].most, fields[i].meaning);
        if (strstr(page, str_text(&row)) == NULL)
            fail_msg("docs/reference/chip-file.md lacks: %s", str_text(&row));
        str_finish(&row);
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(occupancy_agrees_with_nvidia),
        cmocka_unit_test(what_cannot_launch_has_no_blocks),
        cmocka_unit_test(figures_fit_together),
        cmocka_unit_test(occupancy_of_other_chips),
        cmocka_unit_test(rates_are_the_published_ones),
        cmocka_unit_test(bandwidth_is_that_of_bus_and_pins),
        cmocka_unit_test(tensor_peaks_are_those_of_the_cores),
        cmocka_unit_test(capabilities),
        cmocka_unit_test(a_file_changes_what_it_says),
        cmocka_unit_test(figures_make_the_chip_again),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(names_that_are_no_chip),
        cmocka_unit_test(the_page_has_all_figures),
    };

    if (mkdtemp(path) == NULL)
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);

    rmdir(path);
    return failed;
}
