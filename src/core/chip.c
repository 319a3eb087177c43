/* Owns the device profiles and the occupancy rule.
 *
 * Sources, named in the comments below:
 *   [WP]   NVIDIA H100 Tensor Core GPU Architecture whitepaper, 2022: table of H100 SXM5 figures
 *   [DS]   NVIDIA H100 and H200 datasheets: memory size and peak bandwidth, dense tensor rates
 *   [CPG]  CUDA C++ Programming Guide: compute capabilities, "Technical Specifications" and
 *          "Throughput of Native Arithmetic Instructions", column 9.0
 *   [LUO]  Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture",
 *          arXiv 2402.13499 and 2501.12084: instruction and memory latencies
 *   [OWN]  measured by this project on an H100 SXM5: bench/card
 *   [BEN]  te42kyfo/gpu-benches, measured tables: gpu-latency (H100 PCIe), gpu-l2-cache,
 * gpu-stream, gpu-strides, gpu-small-kernels (H200) */
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
    .dram_read_cost = 1.0345, .dram_turn_cost = 0.146, /* [OWN] see dram_achievable of the H100 */ \
    .l1_bytes_per_clk_sm = 126, /* [BEN] gpu-strides, float stride 1 */ \
    .fp32_per_clk = 128, .fp64_per_clk = 64, .half2_per_clk = 256, /* [CPG] */ \
    .int_per_clk = 64, .imul_per_clk = 64, .sfu_per_clk = 16, /* [CPG] */ \
    .cvt_per_clk = 64, .cvt64_per_clk = 16, .shuffle_per_clk = 32, /* [CPG] */ \
    .shared_bytes_per_clk = 128, /* [CPG] 32 banks of 4 bytes */ \
    .tensor_fp16_flops = 989e12, .tensor_tf32_flops = 495e12, /* [DS] dense */ \
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
    .lat_alu = 4, .lat_fp64 = 8, .lat_sfu = 23, .lat_shared = 29, /* [LUO] */ \
    /* [BEN] gpu-latency: the plateaus at 100 KB, at 10 MB and over 100 MB */ \
    .lat_l1 = 34, .lat_l2 = 265, .lat_dram = 650, \
    .lat_atomic = 300, /* a round trip to L2 and some 35 cycles in its ALU */ \
    .launch_overhead_ns = 950 /* [OWN] bench/card/events.cu: 2, 4, 8 empty kernels in a graph */
// clang-format on

static const struct chip chips[] = {
    {
        .name = "NVIDIA H100 SXM5 (emulated)",
        .key = "h100",
        .dram_bytes = UINT64_C(80) << 30, /* [DS] */
        .dram_bytes_per_s = 3.35e12,      /* [DS] HBM3 */
        /* [OWN] events.cu, 256 MiB to 1 GiB: writing gets 0.99, reading 0.956, copying 0.907 */
        .dram_achievable = 0.989,
        HOPPER_SXM,
    },
    {
        .name = "NVIDIA H200 (emulated)",
        .key = "h200",
        .dram_bytes = UINT64_C(141) * 1000 * 1000 * 1000, /* [DS] */
        .dram_bytes_per_s = 4.8e12,                       /* [DS] HBM3e */
        /* [BEN] gpu-stream: 3.89 TB/s at most, reading; more when it only writes, as on H100 */
        .dram_achievable = 0.838,
        HOPPER_SXM,
    },
};

const struct chip *chip_find(const char *key)
{
    for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++)
        if (strcmp(chips[i].key, key) == 0)
            return &chips[i];
    return NULL;
}

const struct chip *chip_default(void)
{
    return &chips[0];
}

double chip_dram_cost(const struct chip *chip, double read, double written)
{
    const double turns = read < written ? read : written;

    return read * chip->dram_read_cost + written + turns * chip->dram_turn_cost;
}

static unsigned min2(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Registers belong to one of the four sub-partitions, so a warp must fit whole into one: the number
 * of warps per partition is rounded down, and a block is refused when its warps, rounded up to all
 * partitions, need more than a block may have (CUDA occupancy calculator). */
static unsigned register_limit(const struct chip *chip, unsigned warps, unsigned registers)
{
    unsigned per_warp, warps_per_partition;

    if (registers > chip->max_registers_per_thread)
        return 0;
    if (registers == 0)
        return chip->max_blocks_per_sm;
    per_warp = (unsigned)round_up(registers * 32, chip->register_alloc_unit);
    if (per_warp * round_up(warps, chip->schedulers_per_sm) > chip->registers_per_sm)
        return 0;
    warps_per_partition = chip->registers_per_sm / chip->schedulers_per_sm / per_warp;
    return warps_per_partition * chip->schedulers_per_sm / warps;
}

struct occupancy chip_occupancy(
    const struct chip *chip, unsigned threads, unsigned registers, unsigned smem_bytes)
{
    enum { SMEM_GRANULE = 128 }; /* shared memory is handed out in such pieces since cc 8.0 */
    struct occupancy occ = {0};
    unsigned warps = (threads + 31) / 32;

    occ.warps_per_block = warps;
    occ.limit_blocks = chip->max_blocks_per_sm;
    if (threads == 0 || threads > chip->max_threads_per_block)
        return occ;
    occ.limit_warps = chip->max_warps_per_sm / warps;
    occ.limit_registers = register_limit(chip, warps, registers);
    if (smem_bytes <= chip->smem_per_block_max_bytes)
        occ.limit_smem = chip->smem_per_sm_bytes /
                         round_up(smem_bytes + chip->smem_reserved_bytes, SMEM_GRANULE);
    occ.blocks =
        min2(min2(occ.limit_blocks, occ.limit_warps), min2(occ.limit_registers, occ.limit_smem));
    return occ;
}
