/* Owns the built-in chips.
 *
 * Sources, named in the comments below:
 *
 * - [WP] NVIDIA's architecture whitepapers, table of the chip's figures: H100 (2022), A100 (2020),
 *   Ada (2.01, 2022; appendix A)
 * - [DS] NVIDIA's datasheets of H100, H200, A100, L40S, HGX B200: memory, peak bandwidth, dense
 *   rates of the tensor cores
 * - [CPG] CUDA C++ Programming Guide: compute capabilities, "Technical Specifications" and
 *   "Throughput of Native Arithmetic Instructions", the column of the chip
 * - [LUO] Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture", arXiv
 *   2402.13499 and 2501.12084: instruction and memory latencies
 * - [SUN] Sun et al., "Dissecting Tensor Cores via Microbenchmarks", arXiv 2206.02874: mma.sync on
 *   A100 reaches the peak with enough warps (quoted second-hand)
 * - [CC] Chips and Cheese, "Nvidia's B200: Keeping the CUDA Juggernaut Rolling" (2025); its
 *   measured figures are quoted second-hand
 * - [OWN] measured by this project on an H100 SXM5: bench/card
 * - [BEN] te42kyfo/gpu-benches, measured tables: gpu-latency (H100 PCIe, A100 80 GB, L40),
 *   gpu-l2-cache, gpu-stream, gpu-strides, gpu-small-kernels (H200, A100 80 GB, L40)
 * - [AS H] taken over from the H100, because nothing is published
 *
 * bench/tables holds the modelled times against the measured rows of [BEN]: done for H100 and H200.
 */
#include "core/chip.h"

#include "base/mem.h"

#include <stddef.h>
#include <string.h>

/* What H100 SXM5 and H200 share: the same GH100 die with the same SMs enabled. */
// clang-format off
#define HOPPER_SXM \
    .arch = "sm_90a", \
    .nr_sms = 132, .schedulers_per_sm = 4, /* [WP] */ \
    .clock_hz = 1980e6, /* [BEN] held during all runs; gives the 66.9 TFLOP/s of [WP] */ \
    .max_threads_per_block = 1024, .max_warps_per_sm = 64, .max_blocks_per_sm = 32, /* [CPG] */ \
    .registers_per_sm = 65536, .max_registers_per_thread = 255, /* [CPG] */ \
    .register_alloc_unit = 256, /* CUDA occupancy calculator */ \
    .smem_per_sm_bytes = 228 * 1024, .smem_per_block_max_bytes = 227 * 1024, /* [CPG] */ \
    .smem_per_block_static_max_bytes = 48 * 1024, .smem_reserved_bytes = 1024, /* [CPG] */ \
    .l1_bytes = 256 * 1024, /* [WP] */ \
    .l2_bytes = UINT64_C(50) << 20, /* [WP] two partitions of 25 MB */ \
    .l2_bytes_per_s = 9.7e12, /* [BEN] gpu-l2-cache, H200, 17 to 28 MB */ \
    .l2_usable = 0.64, /* [BEN] gpu-l2-cache, H200: 9.7 TB/s at 28 MB, 6.5 at 53, 4.2 at 70 */ \
    .l2_far = 0.8, /* [BEN] gpu-latency: 265 cycles to 22 MB, 475 from 35 MB on */ \
    .dram_read_cost = 1.0345, .dram_turn_cost = 0.146, /* [OWN] see dram_achievable of the H100 */ \
    .l1_bytes_per_clk_sm = 126, /* [BEN] gpu-strides, float stride 1 */ \
    .fp32_per_clk = 128, .fp64_per_clk = 64, .half2_per_clk = 256, /* [CPG] */ \
    .int_per_clk = 64, .imul_per_clk = 64, .sfu_per_clk = 16, /* [CPG] */ \
    .cvt_per_clk = 64, .cvt64_per_clk = 16, .shuffle_per_clk = 32, /* [CPG] */ \
    .shared_bytes_per_clk = 128, /* [CPG] 32 banks of 4 bytes */ \
    /* Vector: two operations for each multiply-add of [CPG]; [WP] has the same as 33.5, 66.9, \
       133.8, 133.8 and 33.5 T/s. dp4a, which [CPG] does not list, is taken to be as fast as other \
       32-bit multiply-adds: four products and four sums. Tensor: [WP], peak rates, dense. */ \
    .peak = { \
        [WORK_F64] = {2 * 64, 66.9e12}, \
        [WORK_F32] = {2 * 128, 0}, \
        [WORK_TF32] = {0, 495e12}, \
        [WORK_F16] = {2 * 256, 989e12}, \
        [WORK_BF16] = {2 * 256, 989e12}, \
        [WORK_FP8] = {0, 1979e12}, \
        [WORK_INT8] = {8 * 64, 1979e12}, \
        [WORK_INT32] = {2 * 64, 0}, \
        [WORK_SPECIAL] = {16, 0}, \
    }, \
    .mma_share = 0.617, /* [OWN] bench/card, mma_16, mma_32: 609 T/s; only wgmma has all */ \
    /* [OWN] m64n256k16 of bf16 takes 71 ns an SM where all operands are zero (bench/card, \
       wgmma_256_2), 83 ns on normal data: results/ladders/hopper.md, step 12 at 8192, epilogues \
       taken off. Power: on A100 a product of zeros is 1.15 times as fast (H. He, "Strangely, \
       matrix multiplications run faster when given predictable data", thonking.ai, 2024) */ \
    .wgmma_share = 0.86, \
    .f32_sum_share = 1, \
    .lat_alu = 4, .lat_fp64 = 8, .lat_sfu = 23, .lat_shared = 29, /* [LUO] */ \
    /* [BEN] gpu-latency: the plateaus at 100 KB, at 10 MB and over 100 MB */ \
    .lat_l1 = 34, .lat_l2 = 265, .lat_dram = 650, \
    .lat_atomic = 300, /* a round trip to L2 and some 35 cycles in its ALU */ \
    .launch_overhead_ns = 950 /* [OWN] bench/card/events.cu: 2, 4, 8 empty kernels in a graph */
// clang-format on

/* What the SMs of all these chips have in common. */
// clang-format off
#define COMMON_SM \
    .schedulers_per_sm = 4, /* [WP] */ \
    .max_threads_per_block = 1024, /* [CPG] */ \
    .registers_per_sm = 65536, .max_registers_per_thread = 255, /* [CPG] */ \
    .register_alloc_unit = 256, /* CUDA occupancy calculator */ \
    .smem_per_block_static_max_bytes = 48 * 1024, .smem_reserved_bytes = 1024, /* [CPG] */ \
    .int_per_clk = 64, .imul_per_clk = 64, .sfu_per_clk = 16, .shuffle_per_clk = 32, /* [CPG] */ \
    .shared_bytes_per_clk = 128, /* [CPG] 32 banks of 4 bytes */ \
    .lat_alu = 4, .lat_sfu = 23, .lat_shared = 29 /* [LUO] much the same on A100, 4090 and H100 */

/* AD102 with 142 SMs (L40S) or 128 (RTX 4090). An L40 is an L40S with another clock. */
#define ADA \
    COMMON_SM, \
    .arch = "sm_89", \
    .clock_hz = 2520e6, /* [WP] boost clock, both */ \
    .max_warps_per_sm = 48, .max_blocks_per_sm = 24, /* [CPG] */ \
    .smem_per_sm_bytes = 100 * 1024, .smem_per_block_max_bytes = 99 * 1024, /* [CPG] */ \
    .l1_bytes = 128 * 1024, /* [WP] */ \
    .l2_bytes_per_s = 5.2e12, /* [BEN] gpu-l2-cache, L40, to 92 MB */ \
    .l2_usable = 1, .l2_far = 0, /* [BEN] L40: full rate to 92 of 96 MiB; 277 to 282 cycles */ \
    .dram_achievable = 0.979, /* [BEN] gpu-stream, L40: 846 GB/s when it only writes */ \
    .dram_read_cost = 1.002, .dram_turn_cost = 0.17, /* [BEN] L40: read 844, scale 778 GB/s */ \
    .l1_bytes_per_clk_sm = 128, /* [AS H] one wavefront of 128 bytes a clock */ \
    .fp32_per_clk = 128, .fp64_per_clk = 2, .half2_per_clk = 128, /* [CPG] */ \
    .cvt_per_clk = 64, .cvt64_per_clk = 2, /* [CPG] */ \
    .mma_share = 1, /* [SUN] says so of A100, which has no wgmma either */ \
    .wgmma_share = 1, \
    .lat_fp64 = 64, /* a warp's time in two lanes, and more: an estimate */ \
    /* [BEN] gpu-latency, L40: the plateaus at 50 KB, at 10 MB and over 185 MB */ \
    .lat_l1 = 36, .lat_l2 = 277, .lat_dram = 631, \
    .lat_atomic = 312, /* as on the H100: L2 and some 35 cycles */ \
    /* [BEN] gpu-small-kernels in graphs: 0.73 of an H200's time at 4096 elements */ \
    .launch_overhead_ns = 690
// clang-format on

static const struct chip chips[] = {
    {
        .name = "NVIDIA H100 SXM5 (emulated)",
        .key = "h100",
        .validated = "figures published and measured; times held to measured ones of this chip",
        .dram_bytes = UINT64_C(80) << 30, /* [DS] */
        .dram_bytes_per_s = 3.35e12,      /* [DS] HBM3 */
        /* [OWN] events.cu, 256 MiB to 1 GiB: writing gets 0.99, reading 0.956, copying 0.907 */
        .dram_achievable = 0.989,
        HOPPER_SXM,
    },
    {
        .name = "NVIDIA H200 (emulated)",
        .key = "h200",
        .validated = "figures published and measured; bandwidth and L2 held to measured ones of "
                     "this chip, all else as on the H100",
        .dram_bytes = UINT64_C(141) * 1000 * 1000 * 1000, /* [DS] */
        .dram_bytes_per_s = 4.8e12,                       /* [DS] HBM3e */
        /* [BEN] gpu-stream: 3.89 TB/s at most, reading; more when it only writes, as on H100 */
        .dram_achievable = 0.838,
        HOPPER_SXM,
    },
    {
        .name = "NVIDIA A100 SXM4 80 GB (emulated)",
        .key = "a100",
        .validated = "figures published; latencies, bandwidth and L2 from measurements of this "
                     "chip; modelled times held to none",
        COMMON_SM,
        .arch = "sm_80",
        .nr_sms = 108,      /* [WP] */
        .clock_hz = 1410e6, /* [WP] boost; [BEN] held during the runs */
        .max_warps_per_sm = 64,
        .max_blocks_per_sm = 32,                /* [CPG] */
        .smem_per_sm_bytes = 164 * 1024,        /* [CPG] */
        .smem_per_block_max_bytes = 163 * 1024, /* [CPG] */
        .l1_bytes = 192 * 1024,                 /* [WP] */
        .l2_bytes = UINT64_C(40) << 20,         /* [WP] two partitions */
        .l2_bytes_per_s = 5.4e12,               /* [BEN] gpu-l2-cache, to 25 MB */
        /* [BEN] gpu-l2-cache: 5.2 TB/s at 28 MB, 3.6 at 34, 2.5 at 40, 1.95 at 53 */
        .l2_usable = 0.6,
        .l2_far = 1.0, /* [BEN] gpu-latency: 211 cycles to 18 MB, 424 from 32 MB */
        .dram_bytes = UINT64_C(80) << 30, /* [DS] */
        .dram_bytes_per_s = 2.039e12,     /* [DS] HBM2e */
        /* [BEN] gpu-stream: writes 1892, reads 1769 (1800 to 1880 by gpu-l2-cache), scales 1732
           GB/s */
        .dram_achievable = 0.928,
        .dram_read_cost = 1.05,
        .dram_turn_cost = 0.135,
        .l1_bytes_per_clk_sm = 125, /* [BEN] gpu-strides, float block 32 */
        .fp32_per_clk = 64,         /* [CPG], as the next two lines */
        .fp64_per_clk = 32,
        .half2_per_clk = 256,
        .cvt_per_clk = 16, /* [CPG] all other type conversions */
        .cvt64_per_clk = 16,
        /* [WP] 9.7, 19.5, 19.5, 78 and 39 T/s of vectors; tensor cores, dense */
        .peak = {[WORK_F64] = {2 * 32, 19.5e12},
            [WORK_F32] = {2 * 64, 0},
            [WORK_TF32] = {0, 156e12},
            [WORK_F16] = {2 * 256, 312e12},
            [WORK_BF16] = {2 * 128, 312e12},
            [WORK_INT8] = {8 * 64, 624e12},
            [WORK_INT32] = {2 * 64, 0},
            [WORK_SPECIAL] = {16, 0}},
        .mma_share = 1, /* [SUN] */
        .wgmma_share = 1,
        .f32_sum_share = 1,
        .lat_fp64 = 8, /* [AS H] */
        /* [BEN] gpu-latency: the plateaus at 100 KB, at 10 MB and over 125 MB */
        .lat_l1 = 36,
        .lat_l2 = 211,
        .lat_dram = 571,
        .lat_atomic = 246, /* as on the H100: L2 and some 35 cycles */
        /* [BEN] gpu-small-kernels in graphs: 1.04 of an H200's time at 4096 elements */
        .launch_overhead_ns = 990,
    },
    {
        .name = "NVIDIA L40S (emulated)",
        .key = "l40s",
        .validated = "figures published; latencies, bandwidth and L2 from measurements of an L40; "
                     "modelled times held to none",
        ADA,
        .nr_sms = 142,                    /* [DS] 18,176 lanes of 128 an SM */
        .l2_bytes = UINT64_C(96) << 20,   /* [WP] AD102; [BEN] L40 */
        .dram_bytes = UINT64_C(48) << 30, /* [DS] */
        .dram_bytes_per_s = 864e9,        /* [DS] GDDR6 */
        /* [DS] 91.6 T/s of f32 vectors, and the tensor cores' dense rates; f64 is 1/64 of f32 */
        .peak = {[WORK_F64] = {2 * 2, 0},
            [WORK_F32] = {2 * 128, 0},
            [WORK_TF32] = {0, 183e12},
            [WORK_F16] = {2 * 128, 362.05e12},
            [WORK_BF16] = {2 * 128, 362.05e12},
            [WORK_FP8] = {0, 733e12},
            [WORK_INT8] = {8 * 64, 733e12},
            [WORK_INT32] = {2 * 64, 0},
            [WORK_SPECIAL] = {16, 0}},
        .f32_sum_share = 1, /* [DS] */
    },
    {
        .name = "NVIDIA GeForce RTX 4090 (emulated)",
        .key = "rtx4090",
        .validated =
            "figures published; latencies and the shares of bandwidth from measurements of "
            "an L40, which has the same die; modelled times held to none",
        ADA,
        .nr_sms = 128,                    /* [WP] */
        .l2_bytes = UINT64_C(72) << 20,   /* [WP] */
        .dram_bytes = UINT64_C(24) << 30, /* [WP] */
        .dram_bytes_per_s = 1008e9,       /* [WP] GDDR6X */
        /* [WP] 82.6 T/s of f32 vectors; tensor cores, dense: f16 330.3 with sums in f16 and 165.2
         * in f32, bf16 165.2, tf32 82.6, fp8 660.6 with sums in f16, int8 660.6 */
        .peak = {[WORK_F64] = {2 * 2, 0},
            [WORK_F32] = {2 * 128, 0},
            [WORK_TF32] = {0, 82.6e12},
            [WORK_F16] = {2 * 128, 330.3e12},
            [WORK_BF16] = {2 * 128, 165.2e12},
            [WORK_FP8] = {0, 660.6e12},
            [WORK_INT8] = {8 * 64, 660.6e12},
            [WORK_INT32] = {2 * 64, 0},
            [WORK_SPECIAL] = {16, 0}},
        .f32_sum_share = 0.5, /* [WP] */
    },
    {
        .name = "NVIDIA B200 (emulated)",
        .key = "b200",
        .validated = "figures of HGX B200; latencies partly second-hand, the rest as on the H100; "
                     "nothing held to this chip, and its own tensor instructions (tcgen05) are not "
                     "executed",
        COMMON_SM,
        .arch = "sm_100a",
        .nr_sms = 148,      /* [CC] 74 on each of two dies */
        .clock_hz = 1980e6, /* gives the 75 TFLOP/s of f32 of [DS] with 148 SMs */
        .max_warps_per_sm = 64,
        .max_blocks_per_sm = 32,                /* [CPG] */
        .smem_per_sm_bytes = 228 * 1024,        /* [CPG] */
        .smem_per_block_max_bytes = 227 * 1024, /* [CPG] */
        .l1_bytes = 256 * 1024,                 /* [CC] */
        .l2_bytes = UINT64_C(126) << 20,        /* [CC] */
        .l2_bytes_per_s = 11e12,                /* [AS H] as much a clock and SM: 37 bytes */
        .l2_usable = 0.64,                      /* [AS H] */
        .l2_far = 0.8,                          /* [AS H]; the far half is another die */
        .dram_bytes = UINT64_C(180) * 1000 * 1000 * 1000, /* [DS] */
        .dram_bytes_per_s = 7.7e12,                       /* [DS] HBM3e */
        .dram_achievable = 0.9, /* between H100's 0.989 and H200's 0.838: an estimate */
        .dram_read_cost = 1.0345,
        .dram_turn_cost = 0.146,    /* [AS H] */
        .l1_bytes_per_clk_sm = 126, /* [AS H] */
        .fp32_per_clk = 128,
        .fp64_per_clk = 64,
        .half2_per_clk = 256, /* [CPG] */
        .cvt_per_clk = 64,
        .cvt64_per_clk = 16, /* [CPG] */
        /* [DS] 37 and 75 T/s of f64 and f32; tensor cores, half of the rates with sparsity */
        .peak = {[WORK_F64] = {2 * 64, 37e12},
            [WORK_F32] = {2 * 128, 0},
            [WORK_TF32] = {0, 1100e12},
            [WORK_F16] = {2 * 256, 2250e12},
            [WORK_BF16] = {2 * 256, 2250e12},
            [WORK_FP8] = {0, 4500e12},
            [WORK_INT8] = {8 * 64, 4500e12},
            [WORK_INT32] = {2 * 64, 0},
            [WORK_SPECIAL] = {16, 0}},
        .mma_share = 0.31, /* as many products a clock and SM as on the H100: an estimate */
        .wgmma_share = 1,
        .f32_sum_share = 1,
        .lat_fp64 = 8,             /* [AS H] */
        .lat_l1 = 39,              /* [CC] 19.6 ns */
        .lat_l2 = 297,             /* [CC] 150 ns within a die */
        .lat_dram = 650,           /* [AS H] */
        .lat_atomic = 332,         /* as on the H100: L2 and some 35 cycles */
        .launch_overhead_ns = 950, /* [AS H] */
    },
};

const struct chip *chip_nth(unsigned nr)
{
    return nr < ARRAY_SIZE(chips) ? &chips[nr] : NULL;
}

const struct chip *chip_find(const char *key)
{
    for (size_t i = 0; i < ARRAY_SIZE(chips); i++)
        if (strcmp(chips[i].key, key) == 0)
            return &chips[i];
    return NULL;
}

const struct chip *chip_default(void)
{
    return &chips[0];
}
