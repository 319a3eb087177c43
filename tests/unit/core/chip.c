/* Tests of the device profiles and of occupancy. Expected occupancies come from NVIDIA's published
 * occupancy header (cuda_occupancy.h, CUDA 13.0) for compute capability 9.0, and those with a
 * comment were worked by hand. */
#include "core/chip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(occupancy_agrees_with_nvidia),
        cmocka_unit_test(what_cannot_launch_has_no_blocks),
        cmocka_unit_test(figures_fit_together),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
