/* Wide loads in loops with the stride of the grid: each result is compiled, run on the emulator and
 * compared with the original on sizes with tails; loops that know of their thread are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "moves_harness.h"

static void judge(struct bench *b, struct candidate *c)
{
    bench_must_equal(b, c);
}

#define WALK                                                                                       \
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)"
#define TASK(type, out, arg)                                                                       \
    "#pragma keet size   N = 4000\n"                                                               \
    "#pragma keet check  N = 1237\n"                                                               \
    "#pragma keet check  N = 1\n"                                                                  \
    "#pragma keet in     X : " type "[N + 1] = integers(0, 100)\n"                                 \
    "#pragma keet in     Y : " type "[N] = integers(0, 100)\n"                                     \
    "#pragma keet inout  OUT : " out " = constant(0)\n"                                            \
    "#pragma keet launch f<<<3, 64>>>(" arg ", Y, OUT, N)\n"

static const char bytes[] =
    TASK("u8", "i32[101]", "X") "__global__ void f(const unsigned char *x, const unsigned char *y, "
                                "int *out, int n)\n{\n" WALK
                                " {\n        int v = x[i];\n        if (v > 3 && i != 5)\n         "
                                "   atomicAdd(&out[v], 1);\n"
                                "    }\n}\n";
static const char sums[] = TASK("f32", "f32[1]",
    "X") "__global__ void f(const float *x, const float *y, float *out, int n)\n{\n"
         "    float sum = 0, top = 0;\n" WALK
         " {\n        sum += x[i] * y[i];\n        top = fmaxf(top, x[i]);\n    }\n"
         "    if (top >= 0)\n        atomicAdd(out, sum);\n}\n";
/* A pointer that is no multiple of 16. */
static const char beside[] = TASK("u8", "i32[101]",
    "X + 1") "__global__ void f(const unsigned char *x, const unsigned char *y, int *out, int "
             "n)\n{\n" WALK "\n        if (i + 1 < n)\n            atomicAdd(&out[x[i]], 1);\n}\n";

static void test_wide(void **state)
{
    static const char *const sources[] = {bytes, sums, beside};
    static const char *const texts[] = {"const uint4 wide_x = *(const uint4 *)&x[group * 16];",
        "((size_t)x | (size_t)y) & 15) == 0 ? n / 4 : 0;", "((const unsigned char *)&wide_x)[u]"};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct bench *b = begin_judged(sources[i]);
        step(b, ACTION_VECTORIZE, 0);
        has(b, texts[i]);
        if (i == 0) /* the loop over a load's elements is unrolled as a whole already */
            refuses(b, ACTION_UNROLL, 4, "no more loops");
        b->at = b->original;
        step(b, ACTION_VECTORIZE, 1);
        end(b);
    }
}

static void test_refused(void **state)
{
#define SUMS "__global__ void f(const float *x, const float *y, float *out, int n)\n{\n"
    static const char *const sources[] = {TASK("f32", "f32[4000]", "X") SUMS WALK
        "\n        out[i] = x[i];\n}\n",
        TASK("f32", "f32[1]", "X") SUMS "    float last = 0;\n" WALK
                                        "\n        last = x[i];\n    atomicAdd(out, last);\n}\n",
        TASK("f32", "f32[1]", "X") SUMS "    float w = y[threadIdx.x % 32], sum = 0;\n" WALK
                                        "\n        sum += w * x[i];\n    atomicAdd(out, sum);\n}\n",
        TASK("f32", "f32[1]", "X") SUMS "    float sum = 0;\n" WALK
                                        "\n        sum += x[i] * (threadIdx.x % 2);\n"
                                        "    atomicAdd(out, sum);\n}\n",
        TASK("f32", "f32[1]", "X") SUMS
        "    float sum = 0;\n" WALK "\n        sum += x[2 * i % n];\n    atomicAdd(out, sum);\n}\n",
        TASK("f32", "f32[1]", "X") SUMS "    float sum = 0, top = 0;\n" WALK
                                        " {\n        sum += x[i];\n        top = fmaxf(top, sum);\n"
                                        "    }\n    atomicAdd(out, top);\n}\n",
        TASK("f32", "f32[1]", "X") SUMS "    float hash = 0;\n" WALK
                                        " {\n        hash *= 3;\n        hash += x[i];\n    }\n"
                                        "    atomicAdd(out, hash);\n}\n",
        TASK("f32", "f32[1]", "X") SUMS
        "    float sum = 0;\n" WALK " {\n        if (x[i] > 90)\n            break;\n"
        "        sum += x[i];\n    }\n    atomicAdd(out, sum);\n}\n"};
    static const char *const whys[] = {"the loop stores", "depends on the order",
        "more than the counter", "more than the counter", "no array", "depends on the order",
        "depends on the order", "no loop with the stride"};
    (void)state;
    refuses_each(ACTION_VECTORIZE, sources, whys, sizeof(sources) / sizeof(*sources));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
