/* Contractions over nests of loops: convolutions in their forms, each result compiled, run on the
 * emulator and checked against the original on sizes with tails. What is no such sum is refused. */
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

/* O output channels of C input channels with an R x S window. */
#define IMAGES(type)                                                                               \
    "#pragma keet size   C = 24, O = 40, H = 6, W = 72, R = 3, S = 3\n"                            \
    "#pragma keet check  C = 3, O = 5, H = 5, W = 35, R = 5, S = 2\n"                              \
    "#pragma keet check  C = 1, O = 1, H = 1, W = 1, R = 1, S = 3\n"                               \
    "#pragma keet in     X : " type "[C][H][W] = uniform(-1, 1)\n"                                 \
    "#pragma keet in     F : " type "[O][C][R][S] = uniform(-1, 1)\n"                              \
    "#pragma keet in     B : f32[O] = uniform(-1, 1)\n"                                            \
    "#pragma keet out    Y : f32[O][H][W]\n"                                                       \
    "#pragma keet tolerance rel = 1e-4, abs = 1e-4\n"                                              \
    "#pragma keet launch f<<<dim3(ceil_div(W, 16), ceil_div(H, 4), O), dim3(16, 4)>>>"             \
    "(X, F, B, Y, C, H, W, R, S)\n"
#define HEAD(ctype)                                                                                \
    "__global__ void f(const " ctype " *X, const " ctype " *F, const float *B, float *Y,\n"        \
    "    int c_n, int h, int w, int r, int s)\n"                                                   \
    "{\n"                                                                                          \
    "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"                                         \
    "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n"                                         \
    "    int o = blockIdx.z;\n"                                                                    \
    "    if (x >= w || y >= h)\n        return;\n"
#define LOOPS(last)                                                                                \
    "    for (int c = 0; c < c_n; c++)\n"                                                          \
    "        for (int i = 0; i < r; i++) {\n"                                                      \
    "            int yy = y + i - r / 2;\n"                                                        \
    "            for (int j = 0; j < " last "; j++) {\n"                                           \
    "                int xx = x + j - s / 2;\n"
#define INSIDE "                if (yy >= 0 && yy < h && xx >= 0 && xx < w)\n                    "
#define ENDS "            }\n        }\n    Y[(o * h + y) * w + x] = fmaxf(sum, 0.0f);\n}\n"
#define PRODUCT(x, f)                                                                              \
    "sum += " x "(X[(c * h + yy) * w + xx]) * " f "(F[((o * c_n + c) * r + i) * s + j]);\n"

static const char conv[] =
    IMAGES("f32") HEAD("float") "    float sum = B[o];\n" LOOPS("s") INSIDE PRODUCT("", "") ENDS;
static const char conv_half[] = IMAGES("f16") "#include <cuda_fp16.h>\n" HEAD(
    "half") "    float sum = 0;\n" LOOPS("s") INSIDE PRODUCT("__half2float", "__half2float") ENDS;

/* Signals instead of images: two loops, the channel is an index of blocks along y. */
static const char conv1d[] =
    "#pragma keet size   N = 2, C = 20, O = 36, L = 80, K = 5\n"
    "#pragma keet check  N = 3, C = 3, O = 5, L = 67, K = 4\n"
    "#pragma keet check  N = 1, C = 33, O = 3, L = 5, K = 3\n"
    "#pragma keet in     X : f32[N][C][L] = uniform(-1, 1)\n"
    "#pragma keet in     F : f32[O][C][K] = uniform(-1, 1)\n"
    "#pragma keet out    Y : f32[N][O][L]\n"
    "#pragma keet tolerance rel = 1e-4, abs = 1e-4\n"
    "#pragma keet launch f<<<dim3(ceil_div(L, 64), O, N), 64>>>(X, F, Y, C, L, K, O)\n"
    "__global__ void f(const float *X, const float *F, float *Y, int c_n, int l, int k, int o_n)\n"
    "{\n"
    "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    int o = blockIdx.y;\n"
    "    int b = blockIdx.z;\n"
    "    if (x < l) {\n"
    "        float sum = 0;\n"
    "        for (int c = 0; c < c_n; c++)\n"
    "            for (int i = 0; i < k; i++)\n"
    "                if (x + i - k / 2 >= 0 && x + i - k / 2 < l)\n"
    "                    sum += F[(o * c_n + c) * k + i] * X[(b * c_n + c) * l + x + i - k / 2];\n"
    "        Y[(b * o_n + o) * l + x] = sum;\n"
    "    }\n"
    "}\n";

/* A product whose k has two digits, without a condition. */
static const char two_digits[] =
    "#pragma keet size   M = 40, N = 72, P = 3, Q = 40\n"
    "#pragma keet check  M = 5, N = 35, P = 4, Q = 7\n"
    "#pragma keet check  M = 33, N = 1, P = 1, Q = 33\n"
    "#pragma keet in     A : f32[M][P][Q] = uniform(-1, 1)\n"
    "#pragma keet in     X : f32[P][Q][N] = uniform(-1, 1)\n"
    "#pragma keet out    Y : f32[M][N]\n"
    "#pragma keet tolerance rel = 1e-4, abs = 1e-4\n"
    "#pragma keet launch f<<<dim3(ceil_div(N, 16), ceil_div(M, 4)), dim3(16, 4)>>>(A, X, Y, M, N, "
    "P, Q)\n"
    "__global__ void f(const float *A, const float *X, float *Y, int m, int n, int p, int q)\n"
    "{\n"
    "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    if (row < m && col < n) {\n"
    "        float sum = 0;\n"
    "        for (int i = 0; i < p; i++)\n"
    "            for (int k = 0; k < q; k++)\n"
    "                sum += A[(row * p + i) * q + k] * X[(i * q + k) * n + col];\n"
    "        Y[row * n + col] = 2 * sum;\n"
    "    }\n"
    "}\n";

/* The same, and the columns of X stand where P says: beyond the last column P must not be read. */
static const char gathered[] =
    "#pragma keet size   M = 40, N = 72, P = 3, Q = 40\n"
    "#pragma keet check  M = 5, N = 35, P = 4, Q = 7\n"
    "#pragma keet check  M = 33, N = 1, P = 1, Q = 33\n"
    "#pragma keet in     A : f32[M][P][Q] = uniform(-1, 1)\n"
    "#pragma keet in     X : f32[P][Q][N] = uniform(-1, 1)\n"
    "#pragma keet in     C : i32[N] = uniform(0, N)\n"
    "#pragma keet out    Y : f32[M][N]\n"
    "#pragma keet tolerance rel = 1e-4, abs = 1e-4\n"
    "#pragma keet launch f<<<dim3(ceil_div(N, 16), ceil_div(M, 4)), dim3(16, 4)>>>(A, X, C, Y, M, "
    "N, "
    "P, Q)\n"
    "__global__ void f(const float *A, const float *X, const int *C, float *Y, int m, int n, int "
    "p, "
    "int q)\n"
    "{\n"
    "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    if (row < m && col < n) {\n"
    "        float sum = 0;\n"
    "        for (int i = 0; i < p; i++)\n"
    "            for (int k = 0; k < q; k++)\n"
    "                sum += A[(row * p + i) * q + k] * X[(i * q + k) * n + C[col]];\n"
    "        Y[row * n + col] = sum;\n"
    "    }\n"
    "}\n";

static void test_staged(void **state)
{
    static const char *const sources[] = {conv, conv1d, two_digits};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct bench *b = begin_judged(sources[i]);
        step(b, ACTION_REGISTER_TILE, 2);
        has(b, "__shared__ __align__(16) float tile_X[BK][BN");
        has(b, i == 2 ? "ceil_div(M, BM)" : "ceil_div(O, BM)");
        b->at = b->original;
        step(b, ACTION_SHARED_TILE, 0);
        end(b);
    }
}

static void test_tensor_cores(void **state)
{
    static const char *const sources[] = {conv, conv_half, conv1d, two_digits, gathered};
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct bench *b = begin_judged(sources[i]);
        step(b, ACTION_TENSOR_CORES, 1);
        has(b, "nvcuda::wmma::mma_sync(");
        if (i < 3)
            has(b, "nr_o)");
        if (i == 0 || i == 2) { /* a column of a tile by one address */
            has(b, "step_X, 4, whole && c < c_n ? 0 : 4);");
            has(b, "step_F, 4, whole && o < nr_o ? 0 : 4);");
        }
        if (i == 4)
            lacks(b, "step_X");
        b->at = b->original;
        if (i == 1) {
            step(b, ACTION_WGMMA, 0);
            has(b, "wgmma.mma_async");
        } else {
            refuses(b, ACTION_WGMMA, 0, "the floats of a window come one by one");
        }
        end(b);
    }
}

/* A triangle of rounds, a sum that is no product of an image and a filter, NaN that must be left
 * out, and a loop beside the loop. */
static void test_refused(void **state)
{
    (void)state;
    struct bench *b = begin_judged(IMAGES("f32")
            HEAD("float") "    float sum = B[o];\n" LOOPS("s - i / 4") INSIDE PRODUCT("", "") ENDS);
    refuses(b, ACTION_TENSOR_CORES, 0, "");
    refuses(b, ACTION_REGISTER_TILE, 0, "");
    end(b);
    b = begin_judged(IMAGES("f32") HEAD("float") "    float sum = B[o];\n" LOOPS("s")
            INSIDE PRODUCT("fabsf", "") ENDS);
    refuses(b, ACTION_TENSOR_CORES, 0, "");
    end(b);
    b = begin_judged("#pragma keet inputs nan\n" IMAGES("f32")
            HEAD("float") "    float sum = B[o];\n" LOOPS("s") INSIDE PRODUCT("", "") ENDS);
    refuses(b, ACTION_TENSOR_CORES, 0, "");
    refuses(b, ACTION_REGISTER_TILE, 0, "");
    end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_staged),
        cmocka_unit_test(test_tensor_cores),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
