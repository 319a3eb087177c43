/* Tests of runs on the emulator and of the profile stage, on a kernel written in PTX by hand:
 * Y[i] = 2 * X[i]. Expected counts are worked from its text. */
#include "core/elem.h"
#include "device/run.h"
#include "profile/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define TASK(work, block)                                                                          \
    "#pragma keet size N = 262144\n"                                                               \
    "#pragma keet check N = 1000\n"                                                                \
    "#pragma keet in X : f32[N] = iota(0, 1)\n"                                                    \
    "#pragma keet out Y : f32[N]\n"                                                                \
    "#pragma keet work " work "\n"                                                                 \
    "#pragma keet launch twice<<<ceil_div(N, 256), " block ">>>(X, Y, N)\n"                        \
    "__global__ void twice(const float *X, float *Y, int n)\n"                                     \
    "{\n"                                                                                          \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                         \
    "    if (i < n) Y[i] = 2 * X[i];\n"                                                            \
    "}\n"

static const char ptx[] = ".version 8.0\n"
                          ".target sm_90a\n"
                          ".address_size 64\n"
                          ".visible .entry twice(.param .u64 px, .param .u64 py, .param .u32 pn)\n"
                          "{\n"
                          ".reg .pred %p<2>;\n"
                          ".reg .b32 %r<8>;\n"
                          ".reg .f32 %f<4>;\n"
                          ".reg .b64 %d<8>;\n"
                          "ld.param.u64 %d1, [px];\n"
                          "ld.param.u64 %d2, [py];\n"
                          "ld.param.u32 %r1, [pn];\n"
                          "mov.u32 %r2, %ctaid.x;\n"
                          "mov.u32 %r3, %ntid.x;\n"
                          "mov.u32 %r4, %tid.x;\n"
                          "mad.lo.s32 %r5, %r2, %r3, %r4;\n"
                          "setp.ge.s32 %p1, %r5, %r1;\n"
                          "@%p1 bra DONE;\n"
                          "cvta.to.global.u64 %d3, %d1;\n"
                          "mul.wide.s32 %d4, %r5, 4;\n"
                          "add.s64 %d5, %d3, %d4;\n"
                          "ld.global.f32 %f1, [%d5];\n"
                          "add.f32 %f2, %f1, %f1;\n"
                          "cvta.to.global.u64 %d6, %d2;\n"
                          "add.s64 %d7, %d6, %d4;\n"
                          "st.global.f32 [%d7], %f2;\n"
                          "DONE:\n"
                          "ret;\n"
                          "}\n";

struct world {
    struct arena *arena;
    struct device *device;
    struct task task;
    struct kernel_facts facts;
    struct err err;
};

static void make_world(struct world *w, const char *source)
{
    struct device_options options = {.name = "emu", .nr_threads = 2};

    memset(w, 0, sizeof(*w));
    w->arena = arena_create();
    w->device = device_create(&options, &w->err);
    assert_non_null(w->device);
    if (!task_parse(&w->task, w->arena, "twice.cu", source, strlen(source), &w->err))
        fail_msg("%s", w->err.text);
    w->facts = (struct kernel_facts){.kernel = "twice", .lowered = "twice", .registers = 12};
}

static void end_world(struct world *w)
{
    device_destroy(w->device);
    arena_destroy(w->arena);
}

static struct candidate make_candidate(struct world *w)
{
    struct candidate c = {.arena = w->arena, .task = &w->task, .plan = w->task.plan};

    c.compilation = (struct compilation){
        .ptx = ptx, .ptx_bytes = sizeof(ptx) - 1, .kernels = &w->facts, .nr_kernels = 1};
    return c;
}

static void a_run_computes_between_guards(void **state)
{
    struct world w;
    struct candidate c;
    struct run_buffers buffers;
    struct device_module *module;
    struct device_launch *launches;
    struct device_result result;
    struct env env;
    float x[1000], y[1000];
    uint8_t guard[256];

    (void)state;
    make_world(&w, TASK("flops = N, bytes = 8*N", "256"));
    c = make_candidate(&w);
    env = plan_env(w.arena, &w.task.plan, &w.task.checks[0]);
    assert_true(
        run_alloc(w.device, &w.task, &w.task.plan, &env, 100, w.arena, &buffers, &result, &w.err));
    assert_int_equal(buffers.nr, 2);
    assert_int_equal(buffers.buffers[1].bytes, 4000);
    assert_int_equal(buffers.buffers[1].guard_bytes, 256);
    for (int i = 0; i < 1000; i++)
        x[i] = (float)i;
    assert_true(device_write(w.device, buffers.buffers[0].address, x, sizeof(x), &w.err));
    assert_true(device_load(w.device, &c.compilation, &module, &result, &w.err));
    assert_int_equal(result.verdict, VERDICT_OK);
    assert_true(run_bind(&w.task, &w.task.plan, &c.compilation, &env, &buffers, w.arena, &launches,
        &result, &w.err));
    launches[0].sanitize = true;
    assert_true(run_launches(w.device, module, launches, 1, &result, &w.err));
    if (result.verdict != VERDICT_OK)
        fail_msg("%s", result.text);
    assert_true(device_read(w.device, buffers.buffers[1].address, y, sizeof(y), &w.err));
    for (int i = 0; i < 1000; i++)
        assert_true(y[i] == 2.0f * (float)i);
    assert_true(device_read(w.device, buffers.buffers[1].address + 4000, guard, 256, &w.err));
    for (int i = 0; i < 256; i++)
        assert_int_equal(guard[i], RUN_GUARD_BYTE);
    device_unload(w.device, module);
    run_free(w.device, &buffers);
    end_world(&w);
}

/* 262144 elements in 1024 blocks of 256: 8192 warps, one load and one store request each of four
 * sectors. 2 MB from DRAM take 0.63 us at 3.35 TB/s; a launch of this size takes microseconds. */
static void a_profile_counts_and_models(void **state)
{
    struct profiler_options options = {0};
    struct profiler *profiler;
    struct world w;
    struct candidate first, again;

    (void)state;
    make_world(&w, TASK("flops = N, bytes = 8*N", "256"));
    profiler = profiler_create(w.device, &w.task, &options, &w.err);
    assert_non_null(profiler);
    first = make_candidate(&w);
    assert_true(profile_kernel(profiler, &first, &w.err));
    if (first.verdict != VERDICT_OK)
        fail_msg("%s", first.verdict_text);
    assert_true(first.profiled);
    assert_int_equal(first.profile.time_from, PROV_MODELLED);
    assert_true(first.profile.time_ns > 1000 && first.profile.time_ns < 10000);
    assert_float_equal(first.speedup, 1, 0);
    assert_float_equal(counters_get(&first.profile.total, METRIC_WARPS_LAUNCHED), 8192, 0);
    assert_float_equal(counters_get(&first.profile.total, METRIC_GLOBAL_LD_REQUESTS), 8192, 0);
    assert_float_equal(counters_get(&first.profile.total, METRIC_GLOBAL_LD_SECTORS), 4 * 8192, 0);
    assert_float_equal(counters_get(&first.profile.total, METRIC_GLOBAL_ST_BYTES), 1048576, 0);
    assert_float_equal(counters_get(&first.profile.total, METRIC_REGISTERS), 12, 0);
    assert_float_equal(counters_get(&first.profile.total, METRIC_OCCUPANCY_PCT), 100, 0);
    assert_float_equal(counters_get(&first.profile.total, METRIC_L1_HIT_PCT), 0, 0);
    assert_float_equal(counters_get(&first.profile.total, METRIC_DRAM_BYTES), 2097152, 131072);

    /* The same code again: the same time, and so half of a baseline of twice that. */
    profiler_baseline(profiler, 2 * first.profile.time_ns);
    again = make_candidate(&w);
    assert_true(profile_kernel(profiler, &again, &w.err));
    assert_float_equal(again.profile.time_ns, first.profile.time_ns, 0);
    assert_float_equal(again.speedup, 2, 1e-9);
    profiler_destroy(profiler);
    end_world(&w);
}

/* Two launches: counts and times add up. */
static void launches_take_their_times_one_after_another(void **state)
{
    struct profiler_options options = {0};
    struct profiler *profiler;
    struct world w;
    struct candidate c;

    (void)state;
    make_world(&w, "#pragma keet launch twice<<<ceil_div(N, 256), 256>>>(X, Y, N)\n" TASK(
                       "flops = N, bytes = 8*N", "256"));
    profiler = profiler_create(w.device, &w.task, &options, &w.err);
    c = make_candidate(&w);
    assert_true(profile_kernel(profiler, &c, &w.err));
    assert_int_equal(c.verdict, VERDICT_OK);
    assert_int_equal(c.profile.nr_launches, 2);
    assert_float_equal(counters_get(&c.profile.total, METRIC_WARPS_LAUNCHED), 2 * 8192, 0);
    assert_float_equal(c.profile.time_ns, counters_get(&c.profile.total, METRIC_TIME_NS), 1);
    /* The second launch finds X in L2. */
    assert_true(counters_get(&c.profile.launches[1], METRIC_DRAM_BYTES) <
                0.7 * counters_get(&c.profile.launches[0], METRIC_DRAM_BYTES));
    profiler_destroy(profiler);
    end_world(&w);
}

static void a_dead_candidate_passes_by(void **state)
{
    struct profiler_options options = {0};
    struct profiler *profiler;
    struct world w;
    struct candidate c;

    (void)state;
    make_world(&w, TASK("flops = N, bytes = 8*N", "256"));
    profiler = profiler_create(w.device, &w.task, &options, &w.err);
    c = make_candidate(&w);
    c.verdict = VERDICT_WRONG;
    assert_true(profile_kernel(profiler, &c, &w.err));
    assert_int_equal(c.verdict, VERDICT_WRONG);
    assert_false(c.profiled);
    profiler_destroy(profiler);
    end_world(&w);
}

/* Work that the chip would need a second for, done in microseconds. */
static void faster_than_the_roofline_is_suspicious(void **state)
{
    struct profiler_options options = {0};
    struct profiler *profiler;
    struct world w;
    struct candidate c;

    (void)state;
    make_world(&w, TASK("flops = 1000000000000000", "256"));
    profiler = profiler_create(w.device, &w.task, &options, &w.err);
    c = make_candidate(&w);
    assert_true(profile_kernel(profiler, &c, &w.err));
    assert_int_equal(c.verdict, VERDICT_SUSPICIOUS);
    assert_non_null(strstr(c.verdict_text, "too fast"));
    assert_float_equal(c.speedup, 0, 0);
    profiler_destroy(profiler);
    end_world(&w);
}

static void what_cannot_launch_is_a_verdict(void **state)
{
    struct profiler_options options = {0};
    struct profiler *profiler;
    struct world w;
    struct candidate c;

    (void)state;
    make_world(&w, TASK("flops = N, bytes = 8*N", "1024"));
    profiler = profiler_create(w.device, &w.task, &options, &w.err);
    c = make_candidate(&w);
    w.facts.registers = 128; /* 1024 threads of 128 registers: twice what an SM has */
    assert_true(profile_kernel(profiler, &c, &w.err));
    assert_int_equal(c.verdict, VERDICT_LAUNCH_FAILED);
    assert_int_equal(c.verdict_line, 6);
    assert_non_null(strstr(c.verdict_text, "registers"));
    profiler_destroy(profiler);
    end_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_computes_between_guards),
        cmocka_unit_test(a_profile_counts_and_models),
        cmocka_unit_test(launches_take_their_times_one_after_another),
        cmocka_unit_test(a_dead_candidate_passes_by),
        cmocka_unit_test(faster_than_the_roofline_is_suspicious),
        cmocka_unit_test(what_cannot_launch_is_a_verdict),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
