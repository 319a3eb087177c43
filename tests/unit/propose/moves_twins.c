/* Two launches of one kernel as one: the result is compiled, run on the emulator and compared with
 * the original on sizes with tails; pairs that depend on each other, or differ, are refused. */
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

#define LAUNCHES(first, second)                                                                    \
    "#pragma keet size   N = 300, M = 70\n"                                                        \
    "#pragma keet check  N = 37, M = 37\n"                                                         \
    "#pragma keet check  N = 1, M = 5\n"                                                           \
    "#pragma keet in     X : f32[N] = uniform(-1, 1)\n"                                            \
    "#pragma keet in     W : f32[N] = uniform(-1, 1)\n"                                            \
    "#pragma keet out    Y : f32[N]\n"                                                             \
    "#pragma keet out    Z : f32[N]\n"                                                             \
    "#pragma keet tune   BLOCK = 64 in {32, 64}\n"                                                 \
    "#pragma keet launch f" first "\n"                                                             \
    "#pragma keet launch f" second "\n"
#define GRID(n) "<<<ceil_div(" n ", BLOCK), BLOCK>>>"
#define KERNEL(index)                                                                              \
    "__global__ void f(const float *x, float *y, const int n, const int m, float by)\n"            \
    "{\n"                                                                                          \
    "    int i = " index ";\n"                                                                     \
    "    if (i < n)\n"                                                                             \
    "        y[i] = i < m ? x[i] * by : x[i];\n"                                                   \
    "}\n"
#define INDEX "blockIdx.x * blockDim.x + threadIdx.x"

static void test_fused(void **state)
{
    (void)state;
    struct bench *b = begin_judged(
        LAUNCHES(GRID("N") "(X, Y, N, M, 2)", GRID("N") "(W, Z, N, 7, 3)") KERNEL(INDEX));
    step(b, ACTION_FUSE, 0);
    has(b, "f<<<dim3(ceil_div(N, BLOCK), 1, 2), BLOCK>>>(X, W, Y, Z, N, M, 7, 2, 3)");
    has(b, "const int m = blockIdx.z ? second_m : first_m;");
    has(b, "const int n,");
    refuses(b, ACTION_FUSE, 0, "no two launches");
    /* what is chosen is written */
    step(b, ACTION_READ_ONLY, 0);
    has(b, "float *__restrict__ first_y");
    lacks(b, "const float *__restrict__ first_y");
    end(b);
}

/* One reads what the other writes; both write one array; other grids; blocks along z. */
static void test_refused(void **state)
{
    static const char *const sources[] = {
        LAUNCHES(GRID("N") "(X, Y, N, M, 2)", GRID("N") "(Y, Z, N, M, 2)") KERNEL(INDEX),
        LAUNCHES(GRID("N") "(X, Y, N, M, 2)", GRID("N") "(W, Y, N, M, 2)") KERNEL(INDEX),
        LAUNCHES(GRID("N") "(X, Y, N, M, 2)", GRID("N") "(Y + 0, Z, N, M, 2)") KERNEL(INDEX),
        LAUNCHES(GRID("N") "(X, Y, N, M, 2)", GRID("N") "(W, Y + 0, N, M, 2)") KERNEL(INDEX),
        LAUNCHES("<1>" GRID("N") "(X, Y, N, M, 2)",
            "<2>" GRID("N") "(W, Z, N, M, 2)") "template <int T>\n" KERNEL(INDEX),
        LAUNCHES(GRID("N") "(X, Y, N, M, 2)",
            GRID("N") "(W, Z, N, M, 2)") "__device__ int calls;\n__device__ int call()\n{\n    "
                                         "return "
                                         "atomicAdd(&calls, 1);\n}\n" KERNEL(INDEX " + call() * 0"),
        LAUNCHES(GRID("N") "(X, Y, N, M, 2)", GRID("N + 64") "(W, Z, N, M, 2)") KERNEL(INDEX),
        LAUNCHES(GRID("N") "(X, Y, N, M, 2)", GRID("N") "(W, Z, N, M, 2)")
            KERNEL(INDEX " + blockIdx.z"),
        LAUNCHES(GRID("N") "(X, Y, N, M, 2)",
            GRID("N") "(W, Z, N, M, 2)") "__device__ int calls;\n" KERNEL(INDEX
            " + (calls++) * 0")};
    static const char *const whys[] = {"one writes what the other has",
        "one writes what the other has", "one writes what the other has",
        "one writes what the other has", "of other template arguments", "variables of others",
        "their grids differ", "blocks along z", "variables of others"};
    (void)state;
    refuses_each(ACTION_FUSE, sources, whys, sizeof(sources) / sizeof(*sources));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fused),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
