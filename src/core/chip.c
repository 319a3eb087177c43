/* Owns what follows from a profile: capabilities, occupancy, the cost of DRAM traffic. */
#include "core/chip.h"

#include "base/mem.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

unsigned chip_capability(const struct chip *chip)
{
    return (unsigned)strtoul(chip->arch + strlen("sm_"), NULL, 10);
}

bool chip_has_clusters(const struct chip *chip)
{
    return chip_capability(chip) >= 90;
}

bool chip_has_wgmma(const struct chip *chip)
{
    return chip_capability(chip) == 90;
}

double chip_tensor_peak(const struct chip *chip)
{
    double most = 0;

    for (unsigned i = 0; i < NR_WORKS; i++)
        most = chip->peak[i].tensor_per_s > most ? chip->peak[i].tensor_per_s : most;
    return most;
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
