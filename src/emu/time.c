/* Owns the modelled time: for now only the roofline of what was counted. */
#include "emu/event.h"

const struct emu_listener_class *emu_time_class(void)
{
    return NULL;
}

void emu_time_model(const struct emu_run *run, const struct emu_counts *counts,
    struct emu_listener *listener, struct counters *counters)
{
    const struct chip *chip = run->chip;
    double warp_inst = counters_get(counters, METRIC_WARP_INST);
    double sectors = counters_get(counters, METRIC_GLOBAL_LD_SECTORS) +
                     counters_get(counters, METRIC_GLOBAL_ST_SECTORS);
    double issue = warp_inst / (chip->nr_sms * chip->schedulers_per_sm) / chip->clock_hz;
    double l1 = 32 * sectors / (chip->l1_bytes_per_clk_sm * chip->nr_sms) / chip->clock_hz;
    double dram = 32.0 * (double)counts->unique_sectors / chip->dram_bytes_per_s;
    double seconds = issue > l1 ? issue : l1;
    seconds = dram > seconds ? dram : seconds;
    counters_set(counters, METRIC_TIME_NS, seconds * 1e9 + chip->launch_overhead_ns, PROV_MODELLED);
}
