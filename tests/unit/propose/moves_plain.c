/* Kernels that moves read in another form: flat indices that are taken apart, rounds that end
 * early. Each result is compiled, run on the emulator and checked against the original. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "moves_harness.h"

static void judge(struct bench *b, struct candidate *c)
{
    bench_must_equal(b, c);
}

struct text_of { /* what differs between the sources */
    const char *guard, *row, *column, *limit, *grid, *rows;
};

static const struct text_of standard = {
    "if (i >= m * n)\n        return;", "i / n", "i % n", "", "ceil_div(M*N, BLOCK)", "70"};

static const char *product(const struct text_of *t)
{
    static char text[4096];
    snprintf(text, sizeof(text),
        "#pragma keet size   M = %s, N = 130, K = 40\n#pragma keet check  M = 5, N = 3, K = 7\n"
        "#pragma keet in     A : f32[M][K] = uniform(-1, 1)\n"
        "#pragma keet in     B : f32[K][N] = uniform(-1, 1)\n#pragma keet out    C : f32[M][N]\n"
        "#pragma keet tolerance rel = 1e-4, abs = 1e-4\n"
        "#pragma keet tune   BLOCK = 128 in {64, 128}\n"
        "#pragma keet launch f<<<%s, BLOCK>>>(A, B, C, M, N, K)\n"
        "__global__ void f(const float *A, const float *B, float *C, int m, int n, int k)\n{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n%s"
        "    %s\n    int row = %s, col = %s;\n    float sum = 0;\n"
        "    for (int e = 0; e < k; e++)\n        sum += A[row * k + e] * B[e * n + col];\n"
        "    C[i] = sum;\n}\n",
        t->rows, t->grid, t->limit, t->guard, t->row, t->column);
    return text;
}

static void test_flat_product(void **state)
{
    struct text_of others[3] = {standard, standard, standard};
    (void)state;
    others[1].limit = "    const int all = n * m;\n"; /* a local is what it began with */
    others[1].guard = "if (i >= all)\n        return;";
    others[1].column = "(unsigned)i % (n)";
    others[2].column = "i - i / n * n"; /* of rows and columns both */
    for (unsigned i = 0; i < 3; i++) {
        struct bench *b = bench_begin("test.cu", product(&others[i]), false);
        if (i == 2) {
            refuses(b, ACTION_REGISTER_TILE, 0, "f: ");
        } else {
            b->at = apply(b, ACTION_REGISTER_TILE, 0);
            assert_int_equal(b->at.verdict, VERDICT_OK);
            lacks(b, "tune   BLOCK");
            has(b, "ceil_div(N, BN), ceil_div(M, BM)");
        }
        if (i == 1) {
            judge(b, &b->original);
            judge(b, &b->at);
        }
        end(b);
    }
}

static void test_flat_refused(void **state)
{
    struct text_of sources[6] = {standard, standard, standard, standard, standard, standard};
    (void)state;
    sources[0].guard = "if (i >= m * n - 1)\n        return;";              /* no whole rows */
    sources[1].guard = "if (i >= (int)(A[0] + 9000) * n)\n        return;"; /* a number loaded */
    sources[2].guard = "if (i > m * n - 1)\n        return;";
    sources[3].limit = "    i = i + 0;\n";
    sources[4].row = "(float)i / n"; /* no quotient of integers */
    sources[5].row = "(short)i / n";
    for (unsigned i = 0; i < 6; i++) {
        struct bench *b = bench_begin("test.cu", product(&sources[i]), false);
        refuses(b, ACTION_REGISTER_TILE, 0, "f: ");
        end(b);
    }
}

/* Rows that blocks along x number are more than blocks along y may be. */
static void test_too_many_rows(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct text_of source = standard;
        source.rows = i ? "9000000" : "4000000";
        struct bench *b = bench_begin("test.cu", product(&source), false);
        if (i)
            refuses(b, ACTION_REGISTER_TILE, 0, "cannot be launched: line 13: grid.y is 140625");
        else
            assert_int_equal(apply(b, ACTION_REGISTER_TILE, 0).verdict, VERDICT_OK);
        end(b);
    }
}

/* A quotient by several factors leaves one, whose name may stand for something else in the loop. */
static void test_hidden_factor(void **state)
{
    const char *const loops[] = {"e", "m"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const char *e = loops[i];
        char text[4096];
        snprintf(text, sizeof(text),
            "#pragma keet size   P = 6, M = 70, N = 130, K = 40\n"
            "#pragma keet check  P = 2, M = 5, N = 3, K = 7\n"
            "#pragma keet in     A : f32[P][K] = uniform(-1, 1)\n"
            "#pragma keet in     B : f32[K][N] = uniform(-1, 1)\n"
            "#pragma keet out    C : f32[P][M][N]\n"
            "#pragma keet tolerance rel = 1e-4, abs = 1e-4\n"
            "#pragma keet launch f<<<ceil_div(P*M*N, 128), 128>>>(A, B, C, P, M, N, K)\n"
            "__global__ void f(const float *A, const float *B, float *C, int p, int m, int n, int "
            "k)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
            "    const int plane = m * n;\n    if (i >= p * plane)\n        return;\n"
            "    int col = i %% n;\n    float sum = 0;\n    for (int %s = 0; %s < k; %s++)\n"
            "        sum += A[i / plane * k + %s] * B[%s * n + col];\n    C[i] = sum;\n}\n",
            e, e, e, e, e);
        struct bench *b = bench_begin("test.cu", text, false);
        if (i == 0) {
            b->at = apply(b, ACTION_REGISTER_TILE, 0);
            judge(b, &b->original);
            judge(b, &b->at);
        } else {
            refuses(b, ACTION_REGISTER_TILE, 0, "f: ");
        }
        end(b);
    }
}

/* Channels last, several digits, a border that rounds leave out; channels that are no whole pieces
 * of 16 bytes. */
static const char images[] =
    "#pragma keet size   B = 2, H = 6, W = 10, C = 72, F = 40\n"
    "#pragma keet check  B = 1, H = 5, W = 9, C = 12, F = 7\n"
    "#pragma keet in     X : f16[B][H][W][C] = uniform(-1, 1)\n"
    "#pragma keet in     K : f16[F][3][3][C] = uniform(-0.5, 0.5)\n"
    "#pragma keet out    Y : f32[B][H][W][F]\n"
    "#pragma keet tolerance rel = 1e-3, abs = 1e-3\n"
    "#pragma keet tune   BLOCK = 128 in {64, 128}\n"
    "#pragma keet launch f<<<ceil_div(B*H*W*F, BLOCK), BLOCK>>>(X, K, Y, B, H, W, C, F)\n"
    "#include <cuda_fp16.h>\n"
    "__global__ void f(const __half *X, const __half *K, float *Y, int B, int H, int W, int C, int "
    "F)\n{\n"
    "    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < (long long)B * H * W * F) {\n"
    "        int f = i % F, w = i / F % W, h = i / (F * W) % H, b = i / F / W / H;\n"
    "        float sum = 0;\n"
    "        for (int r = 0; r < 3; r++) {\n"
    "            int y = h + r - 1;\n"
    "            for (int s = 0; s < 3; s++) {\n"
    "                int x = w + s - 1;\n"
    "                if (y < 0 || y >= H || x < 0 || x >= W)\n"
    "                    continue;\n"
    "                for (int c = 0; c < C; c++)\n"
    "                    sum += __half2float(X[(((size_t)b * H + y) * W + x) * C + c]) *\n"
    "                        __half2float(K[((f * 3 + r) * 3 + s) * C + c]);\n"
    "            }\n"
    "        }\n"
    "        Y[i] = fmaxf(sum, 0.0f);\n"
    "    }\n"
    "}\n";

static void test_images(void **state)
{
    struct bench *b = begin_judged(images);
    (void)state;
    step(b, ACTION_WGMMA, 0);
    has(b, "wgmma.mma_async.sync.aligned.m64n64k16");
    has(b, "w_of_X");                             /* a division for all tiles */
    has(b, "~(size_t)15), 16, whole ? 0 : 16);"); /* pieces of 16 bytes, or zeros */
    lacks(b, "tune   BLOCK");
    b->at = b->original;
    step(b, ACTION_TENSOR_CORES, 0);
    b->at = b->original;
    b->at = apply(b, ACTION_REGISTER_TILE, 0);
    assert_int_equal(b->at.verdict, VERDICT_OK);
    end(b);
}

/* A pointer to the image, found by a division. */
static void test_pointer_to_image(void **state)
{
    static char text[4096];
    const char *sum = strstr(images, "        float sum"), *load = strstr(images, "X[(((size_t)b"),
               *rest = strstr(load, " + y)");
    struct bench *b;
    (void)state;
    snprintf(text, sizeof(text),
        "%.*s        const __half *image = X + (size_t)(i / F / W / H) * H * W * C;\n"
        "%.*simage[(((size_t)0%s",
        (int)(sum - images), images, (int)(load - sum), sum, rest);
    b = begin_judged(text);
    step(b, ACTION_WGMMA, 0);
    has(b, "w_of_image");
    end(b);
}

/* The head of a product of `parts` pairs of matrices, an output a thread of two indices. */
#define RAGGED(parts)                                                                              \
    "#pragma keet size   M = 70, N = 130, K = 40\n"                                                \
    "#pragma keet in     A : f32" parts "[M][K] = uniform(-1, 1)\n"                                \
    "#pragma keet in     B : f32" parts "[K][N] = uniform(-1, 1)\n"                                \
    "#pragma keet out    C : f32[M][N]\n"                                                          \
    "#pragma keet launch f<<<dim3(ceil_div(N, 32), ceil_div(M, 8)), dim3(32, 8)>>>(A, B, C, M, "   \
    "N, K)\n"                                                                                      \
    "__global__ void f(const float *A, const float *B, float *C, int m, int n, int k)\n{\n"        \
    "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n"                                       \
    "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n"                                       \
    "    if (row >= m || col >= n)\n        return;\n"

/* Two indices, and a round that ends early. */
static void test_early_rounds(void **state)
{
    static const char source[] = RAGGED(
        "[4]") "    float sum = 0;\n"
               "    for (int p = 0; p < 4; p++) {\n"
               "        if (row % 4 < p) {\n            continue;\n        }\n"
               "        for (int e = 0; e < k; e++)\n"
               "            sum += A[(p * m + row) * k + e] * B[(p * k + e) * n + col];\n    }\n"
               "    C[row * n + col] = sum;\n}\n";
    struct bench *b = begin_judged(source);
    (void)state;
    step(b, ACTION_REGISTER_TILE, 0);
    lacks(b, "continue");
    end(b);
}

/* What a round does depends on the indices, one of which a local stands for. */
static void test_triangle(void **state)
{
    static const char source[] =
        RAGGED("") "    const int half = row / 2;\n    float sum = 0;\n"
                   "    for (int e = 0; e < k; e++) {\n        if (e > half || e == col)\n"
                   "            continue;\n        sum += A[row * k + e] * B[e * n + col];\n    }\n"
                   "    C[row * n + col] = sum;\n}\n";
    struct bench *b = begin_judged(source);
    (void)state;
    step(b, ACTION_REGISTER_TILE, 0);
    b->at = b->original;
    step(b, ACTION_SHARED_TILE, 0);
    end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat_product),
        cmocka_unit_test(test_flat_refused),
        cmocka_unit_test(test_too_many_rows),
        cmocka_unit_test(test_hidden_factor),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_pointer_to_image),
        cmocka_unit_test(test_early_rounds),
        cmocka_unit_test(test_triangle),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
