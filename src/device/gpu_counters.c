/* Owns the counters of a launch on a GPU. */
#include "device/gpu_state.h"

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
    c->blocks_all = c->blocks_run = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2];
}
