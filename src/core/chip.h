/* A device profile: the published figures of a chip, each with its source in chip.c. */
#ifndef KEET_CORE_CHIP_H
#define KEET_CORE_CHIP_H

#include "core/work.h"

#include <stdint.h>

/* Peak rates of one kind of operation; 0: the unit has no instruction for it. */
struct peak {
    double vector_per_clk_sm; /* operations per clock and SM of the vector pipe */
    double tensor_per_s;      /* of the whole chip's tensor cores, dense */
};

struct chip {
    const char *name; /* "NVIDIA H100 SXM5 (emulated)" */
    const char *key;  /* "h100", "h200" */
    const char *arch; /* "sm_90a" */
    unsigned nr_sms, schedulers_per_sm;
    double clock_hz;
    unsigned max_threads_per_block, max_warps_per_sm, max_blocks_per_sm;
    unsigned registers_per_sm, max_registers_per_thread, register_alloc_unit; /* per warp */
    unsigned smem_per_sm_bytes, smem_per_block_max_bytes, smem_per_block_static_max_bytes,
        smem_reserved_bytes;
    unsigned l1_bytes; /* L1 and shared memory together */
    uint64_t l2_bytes, dram_bytes;
    double dram_bytes_per_s, l2_bytes_per_s, l1_bytes_per_clk_sm;
    double dram_achievable; /* share of dram_bytes_per_s that kernels reach which only write */
    /* What is read takes so many times as long; and what is written among as many reads so much
     * longer, as the bus turns round. */
    double dram_read_cost, dram_turn_cost;
    /* operations per clock and SM */
    double fp32_per_clk, fp64_per_clk, half2_per_clk, int_per_clk, imul_per_clk, sfu_per_clk,
        cvt_per_clk, cvt64_per_clk, shuffle_per_clk, shared_bytes_per_clk;
    double tensor_fp16_flops, tensor_tf32_flops; /* dense, per second */
    struct peak peak[NR_WORKS];                  /* by kind of operation; that of WORK_FLOPS is 0 */
    /* latencies in cycles */
    double lat_alu, lat_fp64, lat_sfu, lat_shared, lat_l1, lat_l2, lat_dram, lat_atomic;
    double launch_overhead_ns; /* what one more launch of a stream takes, beyond its blocks */
};

/* As long as DRAM takes to write so many bytes (or sectors) it takes to read and write these. */
double chip_dram_cost(const struct chip *chip, double read, double written);

const struct chip *chip_find(const char *key); /* NULL when unknown */
const struct chip *chip_default(void);         /* h100 */

/* Resident blocks per SM, and each of its limits (CUDA programming guide, compute capability 9.0:
 * registers are allocated per warp in units of register_alloc_unit). */
struct occupancy {
    unsigned blocks, limit_blocks, limit_registers, limit_smem, limit_warps;
    unsigned warps_per_block;
};
struct occupancy chip_occupancy(
    const struct chip *chip, unsigned threads, unsigned registers, unsigned smem_bytes);

#endif
