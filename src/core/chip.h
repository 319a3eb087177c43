/* A device profile: the published figures of a chip, each with its source in chips.c, or those of a
 * chip file of the user's (docs/reference/chip-file.md; the reader is chip_file.h).
 *
 *     const struct chip *chip = chip_open("a100", &err);          // or "cards/mine.chip"
 *     struct occupancy o = chip_occupancy(chip, threads, registers, smem_bytes);
 *
 * A chip lives as long as the process. */
#ifndef KEET_CORE_CHIP_H
#define KEET_CORE_CHIP_H

#include "base/err.h"
#include "core/work.h"

#include <stdbool.h>
#include <stdint.h>

/* Peak rates of one kind of operation; 0: the unit has no instruction for it. */
struct peak {
    double vector_per_clk_sm; /* operations per clock and SM of the vector pipe */
    double tensor_per_s;      /* of the whole chip's tensor cores, dense */
};

struct chip {
    const char *name;      /* "NVIDIA H100 SXM5 (emulated)" */
    const char *key;       /* "h100"; of a chip file its path: emu:KEY is the device */
    const char *arch;      /* "sm_90a": what the compiler makes code for */
    const char *validated; /* which of the figures and of the modelled times were held to a card */
    unsigned nr_sms, schedulers_per_sm;
    double clock_hz;
    unsigned max_threads_per_block, max_warps_per_sm, max_blocks_per_sm;
    unsigned registers_per_sm, max_registers_per_thread, register_alloc_unit; /* per warp */
    unsigned smem_per_sm_bytes, smem_per_block_max_bytes, smem_per_block_static_max_bytes,
        smem_reserved_bytes;
    unsigned l1_bytes; /* L1 and shared memory together */
    uint64_t l2_bytes, dram_bytes;
    double dram_bytes_per_s, l2_bytes_per_s, l1_bytes_per_clk_sm;
    double l2_usable; /* share of L2 that data of the whole chip can use */
    double l2_far;    /* the far part of L2 answers later by this share of lat_l2; 0: none is far */
    double dram_achievable; /* share of dram_bytes_per_s that kernels reach which only write */
    /* What is read takes so many times as long; and what is written among as many reads so much
     * longer, as the bus turns round. */
    double dram_read_cost, dram_turn_cost;
    /* operations per clock and SM */
    double fp32_per_clk, fp64_per_clk, half2_per_clk, int_per_clk, imul_per_clk, sfu_per_clk,
        cvt_per_clk, cvt64_per_clk, shuffle_per_clk, shared_bytes_per_clk;
    struct peak peak[NR_WORKS]; /* by kind of operation; that of WORK_FLOPS is 0 */
    double mma_share;           /* of the tensor peaks that mma.sync reaches */
    double wgmma_share;         /* of the tensor peaks that wgmma holds on data from memory */
    double f32_sum_share; /* of the tensor peaks of f16 and fp8 that remains with sums in f32 */
    /* latencies in cycles */
    double lat_alu, lat_fp64, lat_sfu, lat_shared, lat_l1, lat_l2, lat_dram, lat_atomic;
    double launch_overhead_ns; /* what one more launch of a stream takes, beyond its blocks */
};

/* As long as DRAM takes to write so many bytes (or sectors) it takes to read and write these. */
double chip_dram_cost(const struct chip *chip, double read, double written);

const struct chip *chip_find(const char *key); /* of the built-in chips; NULL when unknown */
const struct chip *chip_nth(unsigned nr);      /* of the built-in chips; NULL behind the last */
const struct chip *chip_default(void);         /* h100 */

/* A built-in chip, or the one of a chip file, where the name has a '/' or a '.'. A file is read
 * once. NULL: err says what there is, or what is wrong in which line of the file. */
const struct chip *chip_open(const char *name, struct err *err);

/* Of a device's name as databases have it: emu:h100, emu:FILE, gpu:h200. NULL: it names no chip, or
 * none that is known here. */
const struct chip *chip_of_device(const char *device);

/* The figures under the names of a chip file, peaks of zero left out. False behind the last. */
enum { CHIP_NAME_BYTES = 64 };
bool chip_figure(const struct chip *chip, unsigned nr, char name[CHIP_NAME_BYTES], double *value);

/* 90 of sm_90a: the compute capability. */
unsigned chip_capability(const struct chip *chip);
/* Clusters of blocks, and bulk and tensor copies: since 9.0. */
bool chip_has_clusters(const struct chip *chip);
/* wgmma: 9.0 alone. */
bool chip_has_wgmma(const struct chip *chip);

/* The largest of the tensor cores' peaks. */
double chip_tensor_peak(const struct chip *chip);

/* Resident blocks per SM, and each of its limits (CUDA programming guide: registers are
 * allocated per warp in units of register_alloc_unit). */
struct occupancy {
    unsigned blocks, limit_blocks, limit_registers, limit_smem, limit_warps;
    unsigned warps_per_block;
};
struct occupancy chip_occupancy(
    const struct chip *chip, unsigned threads, unsigned registers, unsigned smem_bytes);

#endif
