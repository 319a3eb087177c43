/* Owns the counters of a launch on a GPU. */
#include "device/gpu_state.h"

/* The counters that follow from the launch and the chip alone. */
static void fill_occupancy(const struct chip *chip, const struct device_launch *launch,
    unsigned threads, struct counters *c)
{
    const struct launch_config *config = launch->config;
    const unsigned smem_bytes = launch->facts->smem_static_bytes + config->smem_bytes;
    const struct occupancy o = chip_occupancy(chip, threads, launch->facts->registers, smem_bytes);
    const double blocks = (double)config->grid[0] * config->grid[1] * config->grid[2];

    counters_set(c, METRIC_GRID_BLOCKS, blocks, PROV_COUNTED);
    counters_set(c, METRIC_OCC_LIMIT_BLOCKS, o.limit_blocks, PROV_COUNTED);
    counters_set(c, METRIC_OCC_LIMIT_REGISTERS, o.limit_registers, PROV_COUNTED);
    counters_set(c, METRIC_OCC_LIMIT_SMEM, o.limit_smem, PROV_COUNTED);
    counters_set(c, METRIC_OCC_LIMIT_WARPS, o.limit_warps, PROV_COUNTED);
    counters_set(c, METRIC_OCCUPANCY_PCT,
        100.0 * o.blocks * o.warps_per_block / chip->max_warps_per_sm, PROV_COUNTED);
    if (o.blocks > 0)
        counters_set(c, METRIC_WAVES, blocks / o.blocks / chip->nr_sms, PROV_COUNTED);
}

void gpu_counters(
    struct device_gpu *gpu, const struct device_launch *launch, double time_ns, struct counters *c)
{
    const struct launch_config *config = launch->config;
    const struct kernel_facts *facts = launch->facts;
    const unsigned threads = config->block[0] * config->block[1] * config->block[2];

    counters_set(c, METRIC_TIME_NS, time_ns, gpu->ops.time_from);
    counters_set(c, METRIC_REGISTERS, facts->registers, PROV_COUNTED);
    counters_set(c, METRIC_SMEM_STATIC, facts->smem_static_bytes, PROV_COUNTED);
    counters_set(c, METRIC_SMEM_DYNAMIC, config->smem_bytes, PROV_COUNTED);
    counters_set(
        c, METRIC_SPILL_BYTES, facts->spill_store_bytes + facts->spill_load_bytes, PROV_COUNTED);
    counters_set(c, METRIC_BLOCK_THREADS, threads, PROV_COUNTED);
    fill_occupancy(gpu->base.chip, launch, threads, c);
    c->blocks_all = c->blocks_run = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2];
}
