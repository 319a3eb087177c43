/* Matrix instructions against plain loops on the host. Values are small integers: exact in every
 * type. */
#include "emu_harness.h"

static uint16_t half(int v)
{
    uint16_t sign = v < 0 ? 0x8000 : 0;
    unsigned m = (unsigned)abs(v), e = 0;
    if (m == 0)
        return sign;
    while (m >> (e + 1))
        e++;
    return (uint16_t)(sign | (15 + e) << 10 | ((m << (10 - e)) & 1023));
}

static int entry(unsigned i)
{
    return (int)(i * 7919u % 23) - 11;
}

enum { M = 16, N = 8, K = 16 };

/* A in 16 rows of 16, B in 8 columns of 16, through shared memory and ldmatrix; C is stored by the
 * layout that the PTX manual gives for m16n8k16. */
static const char *const mma_ptx = PTX_HEAD
    ".shared .align 16 .b8 s[768];\n"
    ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n.reg .b32 %r<40>;\n.reg .b64 %rd<8>;\n"
    ".reg .f32 %f<8>;\n.reg .pred %p<3>;\n"
    "ld.param.u64 %rd1, [p0];\nld.param.u64 %rd2, [p1];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, "
    "s;\nmov.u32 %r3, 0;\n"
    "COPY:\nshl.b32 %r4, %r3, 5;\nadd.s32 %r4, %r4, %r1;\nshl.b32 %r4, %r4, 2;\ncvt.u64.u32 %rd3, "
    "%r4;\n"
    "add.s64 %rd3, %rd2, %rd3;\nld.global.u32 %r5, [%rd3];\nadd.s32 %r6, %r2, %r4;\nst.shared.u32 "
    "[%r6], %r5;\n"
    "add.s32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 6;\n@%p1 bra COPY;\nbar.sync 0;\n"
    "and.b32 %r7, %r1, 15;\nshr.u32 %r8, %r1, 4;\nshl.b32 %r7, %r7, 5;\nshl.b32 %r8, %r8, 4;\n"
    "add.s32 %r9, %r7, %r8;\nadd.s32 %r9, %r9, %r2;\n"
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r9];\n"
    "and.b32 %r10, %r1, 7;\nshr.u32 %r11, %r1, 3;\nand.b32 %r11, %r11, 1;\nshl.b32 %r10, %r10, 5;\n"
    "shl.b32 %r11, %r11, 4;\nadd.s32 %r10, %r10, %r11;\nadd.s32 %r10, %r10, %r2;\n"
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r24, %r25}, [%r10+512];\n"
    "mov.f32 %f1, 0f3F800000;\nmov.f32 %f2, %f1;\nmov.f32 %f3, %f1;\nmov.f32 %f4, %f1;\n"
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r20, %r21, %r22, "
    "%r23}, "
    "{%r24, %r25}, {%f1, %f2, %f3, %f4};\n"
    "shr.u32 %r12, %r1, 2;\nand.b32 %r13, %r1, 3;\nshl.b32 %r12, %r12, 5;\nshl.b32 %r13, %r13, 3;\n"
    "add.s32 %r12, %r12, %r13;\ncvt.u64.u32 %rd4, %r12;\nadd.s64 %rd4, %rd1, %rd4;\n"
    "st.global.v2.f32 [%rd4], {%f1, %f2};\nst.global.v2.f32 [%rd4+256], {%f3, %f4};\nret;\n}\n";

static void mma_by_the_manual(void **state)
{
    (void)state;
    uint16_t ab[(M + N) * K];
    float c[M * N];
    struct bench b;
    for (unsigned i = 0; i < (M + N) * K; i++)
        ab[i] = half(entry(i));
    bench_init(&b, mma_ptx, 1);
    bench_buffer(&b, NULL, sizeof(c));
    bench_buffer(&b, ab, sizeof(ab));
    bench_run_ok(&b, 1, 32);
    bench_read(&b, 0, c, sizeof(c));
    for (unsigned m = 0; m < M; m++) {
        for (unsigned n = 0; n < N; n++) {
            int sum = 1;
            for (unsigned k = 0; k < K; k++)
                sum += entry(m * K + k) * entry(M * K + n * K + k);
            assert_true(c[m * N + n] == (float)sum);
        }
    }
    const struct counters *counters = &b.result.counters;
    assert_true(counters_get(counters, METRIC_FLOPS) == 2.0 * M * N * K);
    assert_true(counters_get(counters, METRIC_INST_TENSOR) == 1);
    assert_true(counters_get(counters, METRIC_SHARED_LD_REQUESTS) == 2);
    bench_finish(&b);
}

#define WMMA_REGS(p) "{%" p "1, %" p "2, %" p "3, %" p "4, %" p "5, %" p "6, %" p "7, %" p "8}"

static void wmma(const char *layout_a, const char *layout_b, const char *layout_d)
{
    enum { SIDE = 16, LD = 24 };
    char ptx[4096];
    uint16_t ab[2][SIDE * LD];
    float c[SIDE * LD];
    struct bench b;
    snprintf(ptx, sizeof(ptx),
        "%s.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n{\n.reg .b32 %%a<9>, "
        "%%b<9>;\n"
        ".reg .b64 %%rd<4>;\n.reg .f32 %%c<9>;\n.reg .b32 %%r1;\n"
        "ld.param.u64 %%rd1, [p0];\nld.param.u64 %%rd2, [p1];\nld.param.u64 %%rd3, [p2];\nmov.u32 "
        "%%r1, 24;\n"
        "wmma.load.a.sync.aligned.%s.m16n16k16.global.f16 %s, [%%rd2], %%r1;\n"
        "wmma.load.b.sync.aligned.%s.m16n16k16.global.f16 %s, [%%rd3], %%r1;\n"
        "wmma.load.c.sync.aligned.%s.m16n16k16.global.f32 %s, [%%rd1], %%r1;\n"
        "wmma.mma.sync.aligned.%s.%s.m16n16k16.f32.f32 %s, %s, %s, %s;\n"
        "wmma.store.d.sync.aligned.%s.m16n16k16.global.f32 [%%rd1], %s, %%r1;\nret;\n}\n",
        PTX_HEAD, layout_a, WMMA_REGS("a"), layout_b, WMMA_REGS("b"), layout_d, WMMA_REGS("c"),
        layout_a, layout_b, WMMA_REGS("c"), WMMA_REGS("a"), WMMA_REGS("b"), WMMA_REGS("c"),
        layout_d, WMMA_REGS("c"));
    for (unsigned i = 0; i < 2 * SIDE * LD; i++)
        ab[i / (SIDE * LD)][i % (SIDE * LD)] = half(entry(i));
    for (unsigned i = 0; i < SIDE * LD; i++)
        c[i] = (float)i;
    bench_init(&b, ptx, 1);
    bench_buffer(&b, c, sizeof(c));
    bench_buffer(&b, ab[0], sizeof(ab[0]));
    bench_buffer(&b, ab[1], sizeof(ab[1]));
    bench_run_ok(&b, 1, 32);
    bench_read(&b, 0, c, sizeof(c));
    bool row_a = *layout_a == 'r', row_b = *layout_b == 'r', row_d = *layout_d == 'r';
    for (unsigned m = 0; m < SIDE; m++) {
        for (unsigned n = 0; n < SIDE; n++) {
            unsigned at = row_d ? m * LD + n : n * LD + m;
            int sum = (int)at;
            for (unsigned k = 0; k < SIDE; k++)
                sum += entry(row_a ? m * LD + k : k * LD + m) *
                       entry(SIDE * LD + (row_b ? k * LD + n : n * LD + k));
            assert_true(c[at] == (float)sum);
        }
    }
    bench_finish(&b);
}

static void wmma_in_all_layouts(void **state)
{
    (void)state;
    static const char *const layouts[] = {"row", "col"};
    for (unsigned i = 0; i < 8; i++)
        wmma(layouts[i & 1], layouts[i >> 1 & 1], layouts[i >> 2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mma_by_the_manual),
        cmocka_unit_test(wmma_in_all_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
