/* Counters against values counted by hand. */
#include "emu_harness.h"

#include <math.h>

#include "base/mem.h"

#define HEAD                                                                                       \
    PTX_HEAD ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n.reg .b32 %r<20>;\n"           \
             ".reg .b64 %rd<20>;\n.reg .f32 %f<8>;\n.reg .f64 %d<4>;\n.reg .pred %p<8>;\n"         \
             "ld.param.u64 %rd1, [p0];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"            \
             "mov.u32 %r3, %ntid.x;\nmad.lo.s32 %r2, %r2, %r3, %r1;\n"
enum { HEAD_INSTS = 5, BYTES = 1 << 20 };
#define TAIL "\n.file 1 \"kernel.cu\"\n"

static void run(struct bench *b, const char *ptx, uint32_t grid, uint32_t block, uint64_t sample)
{
    static uint8_t zero[BYTES];
    bench_init(b, ptx, 2);
    bench_buffer(b, zero, BYTES);
    bench_buffer(b, zero, BYTES);
    struct emu_launch launch = {.grid = {grid, 1, 1},
        .block = {block, 1, 1},
        .count = true,
        .sample_blocks = sample,
        .registers = 32,
        .seed = 3};
    if (bench_launch(b, launch) != VERDICT_OK)
        fail_msg("%s", b->result.text);
}

static void want(const struct bench *b, enum metric metric, double value)
{
    assert_true(counters_has(&b->result.counters, metric));
    double got = counters_get(&b->result.counters, metric);
    if (fabs(got - value) > 1e-12 * fabs(value)) /* a scaled sample is rounded */
        fail_msg("%s is %.17g, counted by hand %g", metric_name(metric), got, value);
}

static void global(const char *address, const char *access, double requests, double sectors,
    double ideal, double unique)
{
    char ptx[2048];
    struct bench b;
    snprintf(ptx, sizeof(ptx),
        "%s%s\nadd.s64 %%rd2, %%rd1, %%rd3;\nld.global.%s [%%rd2];\nret;\n}\n", HEAD, address,
        access);
    run(&b, ptx, 2, 64, 0); /* 4 warps */
    want(&b, METRIC_GLOBAL_LD_REQUESTS, requests);
    want(&b, METRIC_GLOBAL_LD_SECTORS, sectors);
    want(&b, METRIC_GLOBAL_LD_SECTORS_IDEAL, ideal);
    want(&b, METRIC_GLOBAL_UNIQUE_BYTES, unique);
    bench_finish(&b);
}

static void sectors_of_global_accesses(void **state)
{
    (void)state;
    /* 32 lanes x 4 bytes in a row: 4 sectors a warp */
    global("mul.wide.u32 %rd3, %r2, 4;", "u32 %r5,", 4, 16, 16, 512);
    global("mul.wide.u32 %rd3, %r2, 8;", "u64 %rd5,", 4, 32, 32, 1024);
    global("mul.wide.u32 %rd3, %r2, 16;", "v4.u32 {%r5, %r6, %r7, %r8},", 4, 64, 64, 2048);
    /* one word each 128 bytes: a sector a lane, 128 bytes asked for */
    global("mul.wide.u32 %rd3, %r2, 128;", "u32 %r5,", 4, 128, 16, 4096);
    /* one word each 8 bytes: half of each sector */
    global("mul.wide.u32 %rd3, %r2, 8;", "u32 %r5,", 4, 32, 16, 1024);
    /* all lanes the same word */
    global("mul.wide.u32 %rd3, %r3, 4;", "u32 %r5,", 4, 4, 4, 32);
    /* in a row, but 4 bytes off a sector: a fifth sector, shared with the next warp */
    global("mul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd3, %rd3, 4;", "u32 %r5,", 4, 20, 16, 512 + 32);
    /* backwards: the same sectors as forwards */
    global("xor.b32 %r2, %r2, 31;\nmul.wide.u32 %rd3, %r2, 4;", "u32 %r5,", 4, 16, 16, 512);
    /* pairs of lanes share a word */
    global("shr.u32 %r2, %r2, 1;\nmul.wide.u32 %rd3, %r2, 4;", "u32 %r5,", 4, 8, 8, 256);
    /* the two halves of a warp read the same 16 words */
    global("and.b32 %r2, %r2, 15;\nmul.wide.u32 %rd3, %r2, 4;", "u32 %r5,", 4, 8, 8, 64);
    /* bytes in a row: one sector */
    global("mul.wide.u32 %rd3, %r2, 1;", "u8 %r5,", 4, 4, 4, 128);
}

static void shared(const char *address, const char *access, double waves, double conflicts)
{
    char ptx[2048];
    struct bench b;
    snprintf(ptx, sizeof(ptx),
        ".version 9.0\n.target sm_90a\n.address_size 64\n.shared .align 16 .b8 s[16384];\n%s%s\n"
        "mov.u32 %%r9, s;\nadd.s32 %%r4, %%r4, %%r9;\nld.shared.%s [%%r4];\nret;\n}\n",
        strstr(HEAD, ".visible"), address, access);
    run(&b, ptx, 1, 32, 0);
    want(&b, METRIC_SHARED_LD_REQUESTS, 1);
    want(&b, METRIC_SHARED_LD_WAVEFRONTS, waves);
    want(&b, METRIC_SHARED_LD_CONFLICTS, conflicts);
    bench_finish(&b);
}

static void wavefronts_of_shared_accesses(void **state)
{
    (void)state;
    shared("shl.b32 %r4, %r1, 2;", "u32 %r5,", 1, 0);   /* a bank each */
    shared("shl.b32 %r4, %r1, 3;", "u32 %r5,", 2, 1);   /* stride 2: two words in each bank used */
    shared("shl.b32 %r4, %r1, 7;", "u32 %r5,", 32, 31); /* a column of 32 words: one bank */
    shared("mul.lo.u32 %r4, %r1, 132;", "u32 %r5,", 1, 0); /* the same, padded by a word */
    shared("mov.u32 %r4, 64;", "u32 %r5,", 1, 0);          /* broadcast */
    shared("shl.b32 %r4, %r1, 3;", "u64 %rd5,", 2, 0);     /* 256 bytes take two */
    shared("shl.b32 %r4, %r1, 4;", "v4.u32 {%r5, %r6, %r7, %r8},", 4, 0);
    shared("xor.b32 %r4, %r1, 21;\nshl.b32 %r4, %r4, 2;", "u32 %r5,", 1, 0);
    shared("shl.b32 %r4, %r1, 6;", "u32 %r5,", 16, 15); /* stride 16 */
    shared("shr.u32 %r4, %r1, 2;\nshl.b32 %r4, %r4, 2;", "u8 %r5,", 1, 0);
}

static void instructions_by_class_and_line(void **state)
{
    (void)state;
    const char *ptx = HEAD
        ".loc 1 10 1\nmov.u32 %r4, 0;\nmov.f32 %f1, 0f3F800000;\nmov.f64 %d1, 0d3FF0000000000000;\n"
        "L:\n.loc 1 11 1\nfma.rn.f32 %f1, %f1, %f1, %f1;\nfma.rn.f64 %d1, %d1, %d1, %d1;\n"
        "ex2.approx.f32 %f2, %f1;\ncvt.rzi.s32.f32 %r5, %f1;\n.loc 1 12 1\nadd.s32 %r4, %r4, 1;\n"
        "setp.lt.s32 %p1, %r4, 10;\n@%p1 bra L;\n"
        ".loc 1 13 1\nsetp.lt.s32 %p2, %r1, 5;\n@%p2 add.f32 %f1, %f1, %f1;\nbar.sync 0;\n"
        "setp.lt.u32 %p3, %r1, 40;\n@%p3 bra OUT;\nadd.s32 %r4, %r4, 1;\nOUT:\nadd.s32 %r4, %r4, "
        "2;\nret;\n}\n" TAIL;
    struct bench b;
    run(&b, ptx, 3, 64, 0); /* 6 warps, 192 threads */
    double threads = 192, warps = 6;
    want(&b, METRIC_WARPS_LAUNCHED, 6);
    /* head 5, 3 moves, 10 x 7, 5, add and ret after the join; the add under divergence */
    want(&b, METRIC_WARP_INST, warps * (HEAD_INSTS + 3 + 70 + 5 + 2) + 3);
    /* by threads past the guard: a branch not taken is none, 40 threads of a block take the last */
    want(&b, METRIC_THREAD_INST, threads * (HEAD_INSTS + 3 + 69 + 3 + 2) + 3 * (5 + 40 + 24));
    want(&b, METRIC_INST_FP32, threads * 10 + 3 * 5); /* ex2 is special only */
    want(&b, METRIC_INST_FP64, threads * 10);
    want(&b, METRIC_INST_SPECIAL, threads * 10);
    want(&b, METRIC_INST_CONVERSION, threads * 10);
    /* mad, 10 x (add, setp), 2 setp, an add, the divergent add */
    want(&b, METRIC_INST_INTEGER, threads * (1 + 20 + 2 + 1) + 3 * 24);
    want(&b, METRIC_FLOPS, threads * 10 * (2 + 2) + 3 * 5);
    want(&b, METRIC_BRANCHES, warps * 11);
    want(&b, METRIC_BRANCHES_DIVERGENT, 3);
    want(&b, METRIC_BARRIERS, warps);
    want(&b, METRIC_INST_CONTROL, threads * (9 + 1 + 1) + 3 * 40);
    const struct counters *c = &b.result.counters;
    double all = 0;
    for (unsigned i = 0; i < c->nr_lines; i++) {
        all += c->lines[i].warp_inst;
        if (c->lines[i].line == 11) {
            assert_true(c->lines[i].warp_inst == warps * 40);
            assert_true(c->lines[i].fp64_inst == threads * 10);
        }
        if (c->lines[i].line == 13)
            assert_true(c->lines[i].branches_divergent == 3 && c->lines[i].barriers == warps);
    }
    assert_true(all == counters_get(c, METRIC_WARP_INST));
    assert_int_equal(c->metric[METRIC_WARP_INST].from, PROV_COUNTED);
    bench_finish(&b);
}

/* 1000 blocks that all do the same: any sample scales to the exact counts. */
static void samples_are_scaled(void **state)
{
    (void)state;
    const char *ptx = HEAD "mul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd2, %rd1, %rd3;\n"
                           "st.global.u32 [%rd2], %r1;\nret;\n}\n";
    struct bench b;
    run(&b, ptx, 1000, 64, 50);
    assert_int_equal(b.result.counters.blocks_all, 1000);
    /* and the neighbours of traced ones */
    assert_in_range(b.result.counters.blocks_run, 50, 54);
    want(&b, METRIC_GLOBAL_ST_SECTORS, 8000);
    want(&b, METRIC_WARP_INST, 2000 * (HEAD_INSTS + 4));
    assert_int_equal(b.result.counters.metric[METRIC_GLOBAL_ST_SECTORS].from, PROV_SAMPLED);
    want(&b, METRIC_GRID_BLOCKS, 1000);
    bench_finish(&b);
}

/* What a launch touches is its own: neither that of one before, nor of one that came to a fault. */
static void sectors_of_each_launch(void **state)
{
    static const uint32_t grids[] = {16, BYTES / 256 + 1, 2};
    static uint8_t zero[BYTES];
    struct bench b;

    (void)state;
    bench_init(&b,
        HEAD "mul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd2, %rd1, %rd3;\n"
             "st.global.u32 [%rd2], %r1;\nret;\n}\n",
        2);
    bench_buffer(&b, zero, BYTES);
    bench_buffer(&b, zero, BYTES);
    for (unsigned i = 0; i < ARRAY_SIZE(grids); i++) {
        const struct emu_launch launch = {
            .grid = {grids[i], 1, 1}, .block = {64, 1, 1}, .count = true, .registers = 32};
        const bool fits = grids[i] * 256 <= BYTES;
        assert_int_equal(bench_launch(&b, launch), fits ? VERDICT_OK : VERDICT_FAULT);
        if (fits)
            want(&b, METRIC_GLOBAL_UNIQUE_BYTES, 256.0 * grids[i]);
    }
    bench_finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sectors_of_global_accesses),
        cmocka_unit_test(wavefronts_of_shared_accesses),
        cmocka_unit_test(instructions_by_class_and_line),
        cmocka_unit_test(samples_are_scaled),
        cmocka_unit_test(sectors_of_each_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
