/* Rows of nests of loops shared by lanes, and element-wise launches fused into the launch of their
 * rows. Each result is compiled, run on the emulator and compared with the original on sizes with
 * tails; what is of another kind is refused, or left as it was. */
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

/* Means of channels of B images, and what is subtracted from each element. */
#define IMAGES(temps)                                                                              \
    "#pragma keet size   B = 4, C = 6, L = 70\n"                                                   \
    "#pragma keet check  B = 3, C = 5, L = 37\n"                                                   \
    "#pragma keet check  B = 1, C = 1, L = 1\n"                                                    \
    "#pragma keet in     X : f32[B][C][L] = uniform(-1, 1)\n"                                      \
    "#pragma keet out    Y : f32[B][C][L]\n"                                                       \
    "#pragma keet tolerance rel = 1e-4, abs = 1e-5\n" temps                                        \
    "#pragma keet tune   BLOCK = 64 in {32, 64}\n"
#define MEANS "#pragma keet launch means<<<ceil_div(C, BLOCK), BLOCK>>>(X, MEAN, B, C, L)\n"
#define SUBTRACT(n)                                                                                \
    "#pragma keet launch subtract<<<ceil_div(B*C*L, BLOCK), BLOCK>>>(X, MEAN, Y, " n ", C, L)\n"
#define MEANS_KERNEL(bound)                                                                        \
    "__global__ void means(const float *X, float *mean, int batch, int channels, int l)\n"         \
    "{\n"                                                                                          \
    "    int c = blockIdx.x * blockDim.x + threadIdx.x;\n"                                         \
    "    if (c < channels) {\n"                                                                    \
    "        float sum = 0;\n"                                                                     \
    "        for (int b = 0; b < batch; b++)\n"                                                    \
    "            for (int i = 0; i < " bound "; i++)\n"                                            \
    "                sum += X[(b * channels + c) * l + i];\n"                                      \
    "        mean[c] = sum / (batch * l);\n"                                                       \
    "    }\n"                                                                                      \
    "}\n\n"
#define SUBTRACT_KERNEL(owner)                                                                     \
    "__global__ void subtract(const float *x, const float *mean, float *y, int n, int channels, "  \
    "int l)\n"                                                                                     \
    "{\n"                                                                                          \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                         \
    "    if (i < n) {\n"                                                                           \
    "        int c = " owner ";\n"                                                                 \
    "        float sum = x[i] - mean[c];\n"                                                        \
    "        y[i] = 2 * sum;\n"                                                                    \
    "    }\n"                                                                                      \
    "}\n"
#define TEMP "#pragma keet temp   MEAN : f32[C]\n"

static const char channels[] =
    IMAGES(TEMP) MEANS SUBTRACT("B*C*L") MEANS_KERNEL("l") SUBTRACT_KERNEL("i / l % channels");

static void test_nest_shared(void **state)
{
    (void)state;
    for (unsigned variant = 0; variant < 2; variant++) {
        struct bench *b = begin_judged(channels);
        step(b, ACTION_PARALLEL_REDUCE, variant);
        has(b, "int b = both / l, i = both % l;");
        has(b, variant ? "BLOCK = 64 in {32, 64, 512, 1024}" : "BLOCK = 64 in {32, 64}");
        end(b);
    }
    /* A triangle has no such numbering: lanes share the outer loop. */
    struct bench *b = begin_judged(IMAGES(TEMP) MEANS SUBTRACT("B*C*L") MEANS_KERNEL("l - b % 2")
            SUBTRACT_KERNEL("i / l % channels"));
    step(b, ACTION_PARALLEL_REDUCE, 1);
    lacks(b, "both");
    end(b);
}

static void test_fused(void **state)
{
    (void)state;
    struct bench *b = begin_judged(channels);
    refuses(b, ACTION_FUSE, 0, "cover different extents");
    step(b, ACTION_PARALLEL_REDUCE, 1);
    step(b, ACTION_FUSE, 0);
    lacks(b, "temp");
    lacks(b, "subtract<<<");
    has(b, "(X, B, C, L, Y, B*C*L)");
    has(b, "if (lane == 0)\n            c_MEAN = sum / (batch * l);");
    end(b);
    /* One plane: rows of a matrix. */
    b = begin_judged(
        "#pragma keet size   M = 6, N = 70\n"
        "#pragma keet check  M = 5, N = 37\n"
        "#pragma keet check  M = 1, N = 1\n"
        "#pragma keet in     X : f32[M][N] = uniform(-1, 1)\n"
        "#pragma keet out    Y : f32[M][N]\n"
        "#pragma keet tolerance rel = 1e-4, abs = 1e-5\n"
        "#pragma keet temp   TOP : f32[M]\n"
        "#pragma keet launch tops<<<ceil_div(M, 32), 32>>>(X, TOP, M, N)\n"
        "#pragma keet launch scale<<<ceil_div(M*N, 64), 64>>>(Y, X, TOP, M*N, N)\n"
        "__global__ void tops(const float *x, float *top, int m, int n)\n"
        "{\n"
        "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (row < m) {\n"
        "        float v = 0;\n"
        "        for (int i = 0; i < n; i++)\n"
        "            v = fmaxf(v, x[row * n + i]);\n"
        "        top[row] = v;\n"
        "    }\n"
        "}\n"
        "__global__ void scale(float *y, const float *a, const float *top, int n, int cols)\n"
        "{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) {\n"
        "        const int row = i / cols;\n"
        "        y[i] = a[i] / (1 + top[row]);\n"
        "    }\n"
        "}\n");
    step(b, ACTION_PARALLEL_REDUCE, 1);
    step(b, ACTION_FUSE, 0);
    has(b, "(X, M, N, Y, M*N)");
    end(b);
}

static void test_not_fused(void **state)
{
    static const struct {
        const char *source, *why;
    } cases[] = {
        {IMAGES("#pragma keet temp   MEAN : f32[L+C]\n") MEANS SUBTRACT("B*C*L") MEANS_KERNEL("l")
                SUBTRACT_KERNEL("i % channels"),
            "not found by division"},
        {IMAGES(TEMP) MEANS
            "#pragma keet launch subtract<<<ceil_div(B*C*L, BLOCK), BLOCK>>>(X, MEAN, Y, B*C*L, "
            "min(C, 5), L)\n" MEANS_KERNEL("l") SUBTRACT_KERNEL("i / l % channels"),
            "different rows"},
        {IMAGES(TEMP) MEANS SUBTRACT("B*C*L") SUBTRACT("B*C*L") MEANS_KERNEL("l")
                SUBTRACT_KERNEL("i / l % channels"),
            "is not element-wise"},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench *b = begin_judged(cases[i].source);
        step(b, ACTION_PARALLEL_REDUCE, 1);
        refuses(b, ACTION_FUSE, 0, cases[i].why);
        end(b);
    }
    /* In place: blocks of other rows may still read what this one writes. */
    struct bench *b =
        begin_judged("#pragma keet size   M = 6, N = 70\n"
                     "#pragma keet check  M = 5, N = 37\n"
                     "#pragma keet inout  X : f32[M][N] = uniform(-1, 1)\n"
                     "#pragma keet temp   TOP : f32[M]\n"
                     "#pragma keet launch tops<<<ceil_div(M, 32), 32>>>(X, TOP, M, N)\n"
                     "#pragma keet launch scale<<<ceil_div(M*N, 64), 64>>>(X, TOP, M*N, N)\n"
                     "__global__ void tops(const float *x, float *top, int m, int n)\n"
                     "{\n"
                     "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
                     "    if (row < m) {\n"
                     "        float v = 0;\n"
                     "        for (int i = 0; i < n; i++)\n"
                     "            v = fmaxf(v, x[(m - 1 - row) * n + i]);\n"
                     "        top[row] = v;\n"
                     "    }\n"
                     "}\n"
                     "__global__ void scale(float *x, const float *top, int n, int cols)\n"
                     "{\n"
                     "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                     "    if (i < n) {\n"
                     "        int row = i / cols;\n"
                     "        x[i] = x[i] / (1 + top[row]);\n"
                     "    }\n"
                     "}\n");
    step(b, ACTION_PARALLEL_REDUCE, 1);
    refuses(b, ACTION_FUSE, 0, "uses what the other writes");
    end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nest_shared),
        cmocka_unit_test(test_fused),
        cmocka_unit_test(test_not_fused),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
