/* Owns the table from canonical metrics to a Hopper's. */
#include "nv/metrics_map.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

#define ONE(id, text)                                                                              \
    {                                                                                              \
        .metric = METRIC_##id, .terms = { {text, 1} }                                              \
    }
/* Shares of the time in which warps were resident; smsp__warps_active is that time. */
#define ACTIVE "smsp__warps_active.sum"
#define STALLED(reason) "smsp__warps_issue_stalled_" reason ".sum"
#define STALL(id, reason)                                                                          \
    {                                                                                              \
        .metric = METRIC_##id, .terms = {{STALLED(reason), 100}}, .over = ACTIVE                   \
    }
#define PIPE_TENSOR "sm__inst_executed_pipe_tensor.sum"
#define PIPE_TENSOR_HALVES "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum"
#define THREAD(op) "smsp__sass_thread_inst_executed_op_" op "_pred_on.sum"

static const struct metrics_map_row rows[] = {
    ONE(TIME_NS, "gpu__time_duration.sum"),
    ONE(CYCLES, "sm__cycles_elapsed.max"),
    ONE(WARPS_LAUNCHED, "smsp__warps_launched.sum"),
    ONE(WARP_INST, "sm__inst_executed.sum"), /* of all four parts, at one pass less */
    ONE(THREAD_INST, "smsp__thread_inst_executed_pred_on.sum"),
    ONE(INST_FP32, THREAD("fp32")),
    ONE(INST_FP64, THREAD("fp64")),
    ONE(INST_FP16, THREAD("fp16")),
    ONE(INST_INTEGER, THREAD("integer")),
    ONE(INST_CONVERSION, THREAD("conversion")),
    ONE(INST_CONTROL, THREAD("control")),
    ONE(INST_MEMORY, THREAD("memory")),
    /* ptxas moves constants by HFMA2, which the tensor pipe executes: one a warp in plain f32 code.
     */
    {.metric = METRIC_INST_TENSOR, .terms = {{PIPE_TENSOR, 1}, {PIPE_TENSOR_HALVES, -1}}},
    /* SASS computes in halves by twos: HADD2, HMUL2, HFMA2. */
    {.metric = METRIC_FLOPS,
        .terms = {{THREAD("fadd"), 1}, {THREAD("fmul"), 1}, {THREAD("ffma"), 2},
            {THREAD("dadd"), 1}, {THREAD("dmul"), 1}, {THREAD("dfma"), 2}, {THREAD("hadd"), 2},
            {THREAD("hmul"), 2}, {THREAD("hfma"), 4}}},
    ONE(BRANCHES, "smsp__sass_branch_targets.sum"),
    ONE(BRANCHES_DIVERGENT, "smsp__sass_branch_targets_threads_divergent.sum"),
    ONE(GLOBAL_LD_REQUESTS, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
    ONE(GLOBAL_ST_REQUESTS, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"),
    ONE(GLOBAL_LD_SECTORS, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"),
    ONE(GLOBAL_ST_SECTORS, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
    ONE(GLOBAL_LD_BYTES, "smsp__sass_data_bytes_mem_global_op_ld.sum"),
    ONE(GLOBAL_ST_BYTES, "smsp__sass_data_bytes_mem_global_op_st.sum"),
    /* An atomic whose result nobody reads is compiled to a reduction. */
    {.metric = METRIC_GLOBAL_ATOMICS,
        .terms = {{"l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", 1},
            {"l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", 1}}},
    ONE(SHARED_LD_REQUESTS, "smsp__sass_inst_executed_op_shared_ld.sum"),
    ONE(SHARED_ST_REQUESTS, "smsp__sass_inst_executed_op_shared_st.sum"),
    ONE(SHARED_LD_WAVEFRONTS, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"),
    ONE(SHARED_ST_WAVEFRONTS, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"),
    ONE(SHARED_LD_CONFLICTS, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"),
    ONE(SHARED_ST_CONFLICTS, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"),
    ONE(SHARED_ATOMICS, "smsp__sass_inst_executed_op_shared_atom.sum"),
    ONE(LOCAL_LD_REQUESTS, "smsp__sass_inst_executed_op_local_ld.sum"),
    ONE(LOCAL_ST_REQUESTS, "smsp__sass_inst_executed_op_local_st.sum"),
    ONE(LOCAL_BYTES, "smsp__sass_data_bytes_mem_local.sum"),
    ONE(L1_HIT_PCT, "l1tex__t_sector_hit_rate.pct"),
    ONE(L2_SECTORS, "lts__t_sectors_op_read.sum"),
    {.metric = METRIC_L2_HIT_PCT,
        .terms = {{"lts__t_sectors_lookup_hit.sum", 100}},
        .over = "lts__t_sectors.sum"},
    ONE(DRAM_BYTES, "dram__bytes.sum"),
    ONE(DRAM_PCT, "dram__throughput.avg.pct_of_peak_sustained_elapsed"),
    ONE(L2_PCT, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed"),
    ONE(LSU_PCT, "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"),
    ONE(FMA_PCT, "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"),
    ONE(ALU_PCT, "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active"),
    ONE(FP64_PCT, "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"),
    ONE(XU_PCT, "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"),
    ONE(TENSOR_PCT, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"),
    ONE(ISSUE_PCT, "smsp__issue_active.avg.pct_of_peak_sustained_active"),
    ONE(OCCUPANCY_ACHIEVED_PCT, "sm__warps_active.avg.pct_of_peak_sustained_active"),
    STALL(STALL_LONG_PCT, "long_scoreboard"),
    STALL(STALL_SHORT_PCT, "short_scoreboard"),
    STALL(STALL_BARRIER_PCT, "barrier"),
    STALL(STALL_WAIT_PCT, "wait"),
    STALL(STALL_MIO_PCT, "mio_throttle"),
    STALL(STALL_MATH_PCT, "math_pipe_throttle"),
    /* A resident warp is in one state each cycle: selected, not selected, or stalled for one
     * reason. What the rows above and those two leave is the other reasons. */
    {.metric = METRIC_STALL_OTHER_PCT,
        .terms = {{ACTIVE, 100}, {STALLED("selected"), -100}, {STALLED("not_selected"), -100},
            {STALLED("long_scoreboard"), -100}, {STALLED("short_scoreboard"), -100},
            {STALLED("barrier"), -100}, {STALLED("wait"), -100}, {STALLED("mio_throttle"), -100},
            {STALLED("math_pipe_throttle"), -100}},
        .over = ACTIVE},
};

const struct metrics_map_row *metrics_map_rows(unsigned *nr)
{
    *nr = ARRAY_SIZE(rows);
    return rows;
}

static void add_name(const char *names[METRICS_MAP_NAMES], unsigned *nr, const char *name)
{
    for (unsigned i = 0; i < *nr; i++) {
        if (strcmp(names[i], name) == 0)
            return;
    }
    if (*nr < METRICS_MAP_NAMES)
        names[(*nr)++] = name;
}

unsigned metrics_map_names(const char *names[METRICS_MAP_NAMES])
{
    unsigned nr = 0;

    for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
        for (unsigned t = 0; t < METRICS_MAP_TERMS && rows[r].terms[t].name; t++)
            add_name(names, &nr, rows[r].terms[t].name);
        if (rows[r].over)
            add_name(names, &nr, rows[r].over);
    }
    return nr;
}

/* A sum with a NaN is NaN. */
double metrics_map_value(
    const char *name, const char *const *names, const double *values, unsigned nr)
{
    for (unsigned i = 0; i < nr; i++) {
        if (strcmp(names[i], name) == 0)
            return values[i];
    }
    return NAN;
}

void metrics_map_apply(
    const char *const *names, const double *values, unsigned nr, struct counters *counters)
{
    const double tensor = metrics_map_value(PIPE_TENSOR, names, values, nr) -
                          metrics_map_value(PIPE_TENSOR_HALVES, names, values, nr);

    for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
        double value = 0;

        for (unsigned t = 0; t < METRICS_MAP_TERMS && rows[r].terms[t].name; t++)
            value += rows[r].terms[t].weight *
                     metrics_map_value(rows[r].terms[t].name, names, values, nr);
        if (rows[r].over)
            value /= metrics_map_value(rows[r].over, names, values, nr);
        /* The states of a warp are counted in different passes, so their sum is nearly exact. */
        if (rows[r].metric == METRIC_STALL_OTHER_PCT && value < 0)
            value = 0;
        if (rows[r].metric == METRIC_FLOPS && !(tensor <= 0))
            continue;
        if (isfinite(value))
            counters_set(counters, rows[r].metric, value, PROV_MEASURED);
    }
}
