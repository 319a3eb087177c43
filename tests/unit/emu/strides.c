/* Loads that hit L1, by stride, executed: data wavefronts and cycles per load against what was
 * measured on an H200 (te42kyfo/gpu-benches, gpu-strides: stride, cycles, data wavefronts). Lanes
 * of a "block" row are in groups of that many neighbours, the groups 4098 elements apart. */
#include "emu_harness.h"

#include "base/str.h"
#include "core/chip.h"

#include <math.h>

enum { UNROLL = 16, BLOCKS = 132, THREADS = 1024 };

struct row {
    bool wide; /* doubles */
    unsigned stride, block;
    double cycles, wavefronts;
};

static const struct row rows[] = {{false, 0, 0, 1.01, 1}, {false, 1, 0, 1.01, 1},
    {false, 2, 0, 2.01, 2}, {false, 3, 0, 1.63, 1}, {false, 4, 0, 4.01, 4}, {false, 5, 0, 2.00, 1},
    {false, 6, 0, 2.32, 2}, {false, 7, 0, 2.41, 1}, {false, 8, 0, 8.0, 8}, {false, 9, 0, 3.00, 1},
    {false, 10, 0, 3.16, 2}, {false, 11, 0, 3.41, 1}, {false, 12, 0, 4.01, 4},
    {false, 13, 0, 4.10, 1}, {false, 14, 0, 4.25, 2}, {false, 15, 0, 4.60, 1},
    {true, 0, 0, 2.01, 2}, {true, 1, 0, 2.01, 2}, {true, 2, 0, 4.01, 4}, {true, 3, 0, 2.32, 2},
    {true, 4, 0, 8.0, 8}, {true, 5, 0, 3.16, 2}, {true, 6, 0, 4.01, 4}, {true, 7, 0, 4.32, 2},
    {true, 8, 0, 16.0, 16}, {true, 9, 0, 5.3, 2}, {true, 10, 0, 5.5, 4}, {true, 11, 0, 6.0, 2},
    {true, 12, 0, 8.0, 8}, {true, 13, 0, 7.0, 2}, {true, 14, 0, 7.0, 4}, {true, 15, 0, 8.0, 2},
    {false, 0, 1, 9.3, 2}, {false, 0, 2, 4.82, 1}, {false, 0, 4, 3.00, 2}, {false, 0, 8, 4.01, 4},
    {false, 0, 16, 2.01, 2}, {false, 0, 32, 1.02, 1}, {false, 0, 64, 1.02, 1}, {true, 0, 1, 9.0, 4},
    {true, 0, 2, 5.3, 2}, {true, 0, 4, 4.01, 4}, {true, 0, 8, 4.01, 4}, {true, 0, 16, 2.01, 2},
    {true, 0, 32, 2.01, 2}, {true, 0, 64, 2.01, 2}};

/* Each thread loads UNROLL neighbouring elements from its lane's place, `rounds` times. */
static char *program(const struct row *r)
{
    unsigned bytes = r->wide ? 8 : 4;
    const char *type = r->wide ? "f64" : "f32";
    struct str s = {0};

    str_addf(&s,
        PTX_HEAD
        ".visible .entry k(.param .u64 a, .param .u32 rounds)\n{\n.reg .b64 %%rd<8>;\n"
        ".reg .b32 %%r<8>;\n.reg .pred %%p1;\n.reg .%s %%f<%d>;\n"
        "ld.param.u64 %%rd1, [a];\nld.param.u32 %%r1, [rounds];\nmov.u32 %%r2, %%laneid;\n",
        type, UNROLL + 1);
    if (r->block)
        str_addf(&s,
            "div.u32 %%r3, %%r2, %u;\nrem.u32 %%r4, %%r2, %u;\nmul.lo.u32 %%r3, %%r3, 4098;\n"
            "add.u32 %%r2, %%r3, %%r4;\n",
            r->block, r->block);
    else
        str_addf(&s, "mul.lo.u32 %%r2, %%r2, %u;\n", r->stride);
    str_addf(&s, "mul.wide.u32 %%rd2, %%r2, %u;\nadd.s64 %%rd1, %%rd1, %%rd2;\n", bytes);
    for (unsigned i = 0; i < UNROLL; i++)
        str_addf(&s, "mov.%s %%f%u, 0%c%.*s;\n", type, i, r->wide ? 'd' : 'f', r->wide ? 16 : 8,
            "0000000000000000");
    str_add(&s, "LOOP:\n");
    /* in an order in which no two neighbours are neighbours: nothing to merge into wider loads */
    for (unsigned i = 0; i < UNROLL; i++)
        str_addf(&s, "ld.global.ca.%s %%f%u, [%%rd1+%u];\n", type, i, i * 7 % UNROLL * bytes);
    str_add(&s, "sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra LOOP;\nret;\n}\n");
    return str_take(&s);
}

/* Cycles of `rounds` rounds on the busiest SM, and data wavefronts per load. */
static double run(const struct row *r, const char *ptx, unsigned rounds, double *wavefronts)
{
    struct bench b;
    struct {
        uint64_t a;
        uint32_t rounds;
    } params = {.rounds = rounds};

    memset(&b, 0, sizeof(b));
    b.emu = emu_create(chip_find("h200"), 1);
    b.arena = arena_create();
    if (!emu_load(b.emu, ptx, strlen(ptx), &b.module, &b.result, &b.err))
        fail_msg("%s", b.err.text);
    assert_non_null(b.module);
    params.a = bench_buffer(&b, NULL, (32 * 4098 + UNROLL) * 8);
    assert_int_equal(bench_launch(&b, (struct emu_launch){.grid = {BLOCKS, 1, 1},
                                          .block = {THREADS, 1, 1},
                                          .params = &params,
                                          .params_bytes = 12,
                                          .count = true,
                                          .sample_blocks = 2}),
        VERDICT_OK);
    const struct counters *c = &b.result.counters;

    *wavefronts =
        counters_get(c, METRIC_GLOBAL_LD_WAVEFRONTS) / counters_get(c, METRIC_GLOBAL_LD_REQUESTS);
    double cycles = counters_get(c, METRIC_CYCLES);

    bench_finish(&b);
    return cycles;
}

static void test_strides(void **state)
{
    enum { FEW = 8, MANY = 24 };
    double worst = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *r = &rows[i];
        char *ptx = program(r);
        double wavefronts;
        double few = run(r, ptx, FEW, &wavefronts), many = run(r, ptx, MANY, &wavefronts);
        double cycles = (many - few) / ((MANY - FEW) * UNROLL * (THREADS / 32.0));

        free(ptx);
        worst = fmax(worst, fabs(cycles / r->cycles - 1));
        print_message(
            "%s %s %2u: %5.2f wavefronts (measured %2.0f), %5.2f cycles (measured %5.2f)%s\n",
            r->wide ? "double" : "float", r->block ? "block" : "stride",
            r->block ? r->block : r->stride, wavefronts, r->wavefronts, cycles, r->cycles,
            fabs(cycles / r->cycles - 1) > 0.1 ? "   <-" : "");
        assert_true(fabs(wavefronts - r->wavefronts) < 1e-9);
    }
    print_message("worst: %.1f%% off\n", 100 * worst);
    assert_true(worst <= 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_strides)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
