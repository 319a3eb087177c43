/* Mechanical moves on small kernels, each result compiled, run on the emulator and checked against
 * the original on sizes with tails. What a move must refuse, it must refuse with the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "moves_harness.h"

#include "base/file.h"
#include "base/mem.h"

#include <stdio.h>

static void judge(struct bench *b, struct candidate *c)
{
    bench_must_equal(b, c);
}

static void back(struct bench *b)
{
    b->at = b->original;
}

#define ROWS_TASK                                                                                  \
    "#pragma keet size   R = 64, C = 96\n"                                                         \
    "#pragma keet check  R = 5, C = 67\n"                                                          \
    "#pragma keet check  R = 33, C = 1\n"                                                          \
    "#pragma keet in     X : f32[R][C]\n"                                                          \
    "#pragma keet tolerance rel = 1e-4, abs = 1e-5\n"                                              \
    "#pragma keet tune   B = 64 in {32, 64}\n"                                                     \
    "#pragma keet launch f<<<ceil_div(R, B), B>>>(X, Y, R, C)\n"

/* A sum that does not start at zero, a minimum, a count, and stores in and after the loops. */
static const char rows[] = "#pragma keet out    Y : f32[R][C]\n" ROWS_TASK
                           "__global__ void f(const float *X, float *Y, int r, int c)\n"
                           "{\n"
                           "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
                           "    if (row >= r)\n"
                           "        return;\n"
                           "    float sum = X[row * c];\n"
                           "    float low = sum;\n"
                           "    int positive = 0;\n"
                           "    for (int i = 0; i < c; i++) {\n"
                           "        float v = X[row * c + i];\n"
                           "        sum += v;\n"
                           "        low = fminf(low, v);\n"
                           "        if (v > 0)\n"
                           "            positive++;\n"
                           "    }\n"
                           "    for (int i = 0; i < c; i++)\n"
                           "        Y[row * c + i] = sum - low * i;\n"
                           "    Y[row * c] = positive + Y[row * c];\n"
                           "}\n";

static void test_rows(void **state)
{
    (void)state;
    struct bench *b = begin_judged(rows);
    step(b, ACTION_PARALLEL_REDUCE, 0);
    has(b, "f<<<ceil_div(32*R, B), B>>>");
    has(b, "i += 32");
    has(b, "fminf(low, __shfl_xor_sync(0xffffffff, low, offset))");
    has(b, "sum += sum_before;");
    has(b, "__syncwarp();");
    back(b);
    step(b, ACTION_PARALLEL_REDUCE, 1);
    has(b, "f<<<R, B>>>");
    has(b, "i += blockDim.x");
    has(b, "__shared__ float part[32];");
    has(b, "__shared__ int part_int[32];");
    refuses(b, ACTION_PARALLEL_REDUCE, 0, "no index along thread x");
    end(b);
}

static const char first_largest[] = "#pragma keet out    Y : i32[R]\n" ROWS_TASK
                                    "__global__ void f(const float *X, int *Y, int r, int c)\n"
                                    "{\n"
                                    "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                    "    if (row < r) {\n"
                                    "        float best = floorf(2 * X[row * c]);\n"
                                    "        int where = 0;\n"
                                    "        for (int i = 1; i < c; i++) {\n"
                                    "            float v = floorf(2 * X[row * c + i]);\n"
                                    "            if (v > best) {\n"
                                    "                best = v;\n"
                                    "                where = i;\n"
                                    "            }\n"
                                    "        }\n"
                                    "        Y[row] = where;\n"
                                    "    }\n"
                                    "}\n";

/* Values are rounded to four different ones, so that most are equal: the first must win. */
static void test_first_of_equals(void **state)
{
    (void)state;
    struct bench *b = begin_judged(first_largest);
    step(b, ACTION_PARALLEL_REDUCE, 0);
    has(b, "other_where < where");
    back(b);
    step(b, ACTION_PARALLEL_REDUCE, 1);
    end(b);
}

/* A running sum: a scan. */
static const char carried[] = "#pragma keet out    Y : f32[R][C]\n" ROWS_TASK
                              "__global__ void f(const float *X, float *Y, int r, int c)\n"
                              "{\n"
                              "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
                              "    if (row < r) {\n"
                              "        float sum = 0;\n"
                              "        for (int i = 0; i < c; i++) {\n"
                              "            sum += X[row * c + i];\n"
                              "            Y[row * c + i] = sum;\n"
                              "        }\n"
                              "    }\n"
                              "}\n";

/* A recurrence: nothing to spread. */
static const char neighbour[] =
    "#pragma keet out    Y : f32[R][C]\n" ROWS_TASK
    "__global__ void f(const float *X, float *Y, int r, int c)\n"
    "{\n"
    "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (row < r) {\n"
    "        Y[row * c] = X[row * c];\n"
    "        for (int i = 1; i < c; i++)\n"
    "            Y[row * c + i] = X[row * c + i] + 0.5f * Y[row * c + i - 1];\n"
    "    }\n"
    "}\n";

static void test_rows_carried(void **state)
{
    (void)state;
    struct bench *b = begin_judged(carried);
    step(b, ACTION_PARALLEL_REDUCE, 0);
    back(b);
    step(b, ACTION_PARALLEL_REDUCE, 1);
    end(b);
    b = begin_judged(neighbour);
    refuses(b, ACTION_PARALLEL_REDUCE, 0, "reads what other iterations store");
    end(b);
}

#define PRODUCT_SIZES                                                                              \
    "#pragma keet size   M = 64, N = 96, K = 40\n"                                                 \
    "#pragma keet check  M = 67, N = 33, K = 35\n"                                                 \
    "#pragma keet check  M = 3, N = 65, K = 1\n"                                                   \
    "#pragma keet in     A : f32[M][K]\n"                                                          \
    "#pragma keet out    C : f32[M][N]\n"                                                          \
    "#pragma keet tolerance rel = 1e-4, abs = 1e-5\n"                                              \
    "#pragma keet tune   T = 16 in {8, 16}\n"                                                      \
    "#pragma keet where  T*T <= 1024\n"
#define PRODUCT_LAUNCH(x, y)                                                                       \
    "#pragma keet launch f<<<dim3(ceil_div(" x ",T), ceil_div(" y                                  \
    ",T)), dim3(T,T)>>>(A, B, C, M, N, K)\n"
#define PRODUCT_TASK PRODUCT_SIZES PRODUCT_LAUNCH("N", "M")

/* Locals that the operands stand on, a sum that starts at a load of uniform place, an epilogue. */
static const char product[] =
    "#pragma keet in     B : f32[K][N]\n" PRODUCT_TASK
    "__global__ void f(const float *A, const float *B, float *C, int M, int N, int K)\n"
    "{\n"
    "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (row >= M || col >= N)\n"
    "        return;\n"
    "    const float *a = A + row * K;\n"
    "    float sum = 0.25f * col, unused = 1;\n"
    "    for (int i = 0; i < K; i++)\n"
    "        sum += a[i] * B[i * N + col];\n"
    "    if (sum < 0)\n"
    "        sum = 0.1f * sum;\n"
    "    C[row * N + col] = sum * unused;\n"
    "}\n";

static void test_product(void **state)
{
    (void)state;
    struct bench *b = begin_judged(product);
    step(b, ACTION_SHARED_TILE, 0);
    has(b, "__shared__ __align__(16) float tile_a[BK][BM + 4];");
    has(b, "dim3(ceil_div(N, BN), ceil_div(M, BM)), dim3(BN/TN, BM/TM)");
    lacks(b, "tune   T ");
    lacks(b, "where  T*T");
    for (unsigned variant = 0; variant < 3; variant++) {
        back(b);
        step(b, ACTION_REGISTER_TILE, variant);
    }
    back(b);
    step(b, ACTION_LAUNCH_BOUNDS, 0);
    has(b, "__launch_bounds__(T*T)");
    step(b, ACTION_REGISTER_TILE, 0); /* another block: the old bound must go */
    lacks(b, "__launch_bounds__");
    lacks(b, "tune   T ");
    end(b);
}

#define STARTED_PRODUCT(start)                                                                     \
    "__global__ void f(const float *A, const float *B, float *C, int M, int N, int K)\n"           \
    "{\n"                                                                                          \
    "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n"                                       \
    "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n"                                       \
    "    if (row < M && col < N) {\n"                                                              \
    "        float sum = " start ";\n"                                                             \
    "        for (int i = 0; i < K; i++)\n"                                                        \
    "            sum += A[row * K + i] * B[i * N + col];\n"                                        \
    "        C[row * N + col] = sum;\n"                                                            \
    "    }\n"                                                                                      \
    "}\n"

/* The sum starts at what is loaded: a bias, only where there is an output; but not what is stored.
 */
static void test_product_started(void **state)
{
    (void)state;
    struct bench *b = begin_judged(
        "#pragma keet in     B : f32[K][N]\n" PRODUCT_TASK STARTED_PRODUCT("B[col] - A[row * K]"));
    for (unsigned variant = 0; variant < 3; variant++) {
        back(b);
        step(b, ACTION_REGISTER_TILE, variant);
        has(b, "= row < M && col < N ? B[col] - A[row * K] : 0.0f;");
    }
    back(b);
    step(b, ACTION_SHARED_TILE, 0);
    end(b);
    b = begin_judged(
        "#pragma keet size   M = 16, N = 16, K = 8\n"
        "#pragma keet in     A : f32[M][K]\n"
        "#pragma keet in     B : f32[K][N]\n"
        "#pragma keet inout  C : f32[M][N]\n"
        "#pragma keet launch f<<<1, dim3(16,16)>>>(A, B, C, M, N, K)\n" STARTED_PRODUCT(
            "C[row * N + col]"));
    refuses(b, ACTION_REGISTER_TILE, 0, "no plain initialiser");
    end(b);
}

/* Zeros would count here, and the operands lie the other way round. */
#define DIFFERENCES(x, y)                                                                          \
    "__global__ void f(const float *A, const float *B, float *C, int M, int N, int K)\n"           \
    "{\n"                                                                                          \
    "    int " x " = blockIdx.x * blockDim.x + threadIdx.x;\n"                                     \
    "    int " y " = blockIdx.y * blockDim.y + threadIdx.y;\n"                                     \
    "    if (i < M && j < N) {\n"                                                                  \
    "        float far = 0, all = 0;\n"                                                            \
    "        for (int k = 0; k < K; k++) {\n"                                                      \
    "            float d = A[i * K + k] - B[j * K + k] + 1;\n"                                     \
    "            far = fmaxf(far, d * k);\n"                                                       \
    "            all += d * d;\n"                                                                  \
    "        }\n"                                                                                  \
    "        C[i * N + j] = far + all;\n"                                                          \
    "    }\n"                                                                                      \
    "}\n"
static const char differences[] =
    "#pragma keet in     B : f32[N][K]\n" PRODUCT_TASK DIFFERENCES("j", "i");
/* Threads along x are rows of what is stored. */
static const char turned[] = "#pragma keet in     B : f32[N][K]\n" PRODUCT_SIZES PRODUCT_LAUNCH(
    "M", "N") DIFFERENCES("i", "j");

static char *replaced(const char *text, const char *old, const char *with)
{
    const char *at = strstr(text, old);
    char *result = xcalloc(strlen(text) + strlen(with) + 1, 1);
    assert_non_null(at);
    sprintf(result, "%.*s%s%s", (int)(at - text), text, with, at + strlen(old));
    return result;
}

static void test_differences(void **state)
{
    (void)state;
    struct bench *b = begin_judged(differences);
    step(b, ACTION_REGISTER_TILE, 0);
    has(b, "if (K >= k0) {");
    back(b);
    step(b, ACTION_COARSEN, 0);
    has(b, "tune   PER_X = 4 in {2, 4, 8}");
    step(b, ACTION_COARSEN, 1);
    has(b, "float far[PER_Y][PER_X];");
    end(b);
    /* a pointer of each output is set beyond the edges too, where it is read */
    char *start = replaced(differences, "        float far",
        "        const float *b = B + (j + 0 * i) * K;\n        float far");
    char *pointers = replaced(start, "B[j * K + k]", "b[k]");
    b = begin_judged(pointers);
    step(b, ACTION_COARSEN, 0);
    step(b, ACTION_COARSEN, 1);
    has(b, "const float *b[PER_Y][PER_X];");
    end(b);
    free(start);
    free(pointers);
    char *reference = replaced(differences, "        C[i * N + j] = far + all;\n",
        "        float &first = C[0];\n        C[i * N + j] = far + all;\n"
        "        if (N < 0)\n            first = 0;\n");
    b = bench_begin("test.cu", reference, false);
    refuses(b, ACTION_COARSEN, 0, "stores through a reference");
    end(b);
    free(reference);
    b = begin_judged(turned);
    for (unsigned variant = 0; variant < 3; variant++) {
        back(b);
        step(b, ACTION_REGISTER_TILE, variant);
        has(b, "int first_x = blockIdx.y * BN;");
        has(b, "dim3(ceil_div(M, BM), ceil_div(N, BN)), dim3(BN/TN, BM/TM)");
    }
    end(b);
}

static const char written_operand[] =
    "#pragma keet in     B : f32[K][N]\n" PRODUCT_TASK
    "__global__ void f(const float *A, const float *B, float *C, int M, int N, int K)\n"
    "{\n"
    "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (row < M && col < N) {\n"
    "        C[row * N + col] = 1;\n"
    "        for (int k = 0; k < K; k++)\n"
    "            C[row * N + col] += A[row * K + k] * B[k * N + col];\n"
    "    }\n"
    "}\n";

#define HALF_PRODUCT(type, header, from, to, a, b)                                                 \
    "#pragma keet size   M = 128, N = 128, K = 64\n"                                               \
    "#pragma keet check  M = 65, N = 67, K = 33\n"                                                 \
    "#pragma keet check  M = 3, N = 130, K = 16\n"                                                 \
    "#pragma keet in     A : " type "[M][K] = uniform(-1, 1)\n"                                    \
    "#pragma keet in     B : " type "[K][N] = uniform(-1, 1)\n"                                    \
    "#pragma keet out    C : f32[M][N]\n"                                                          \
    "#pragma keet tolerance rel = 1e-4, abs = 1e-4\n"                                              \
    "#pragma keet tune   T = 16 in {8, 16, 32}\n"                                                  \
    "#pragma keet launch f<<<dim3(ceil_div(N,T), ceil_div(M,T)), dim3(T,T)>>>(A, B, C, M, N, K)\n" \
    "#include <" header ".h>\n"                                                                    \
    "__global__ void f(const " to " *A, const " to " *B, float *C, int M, int N, int K)\n"         \
    "{\n"                                                                                          \
    "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n"                                       \
    "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n"                                       \
    "    if (row < M && col < N) {\n"                                                              \
    "        float sum = 0.0f;\n"                                                                  \
    "        for (int k = 0; k < K; k++)\n"                                                        \
    "            sum += " from "(A[" a "]) * " from "(B[" b "]);\n"                                \
    "        C[row * N + col] = 2.0f * sum + row;\n"                                               \
    "    }\n"                                                                                      \
    "}\n"

static void test_tensor_cores_f16_file(void **state)
{
    char *source;
    size_t bytes;
    struct err err;
    (void)state;
    if (!file_read(KEET_SOURCE_DIR "/kernels/matmul_f16.cu", 1 << 20, &source, &bytes, &err))
        fail_msg("%s", err.text);
    struct bench *b = begin_judged(source);
    step(b, ACTION_TENSOR_CORES, 0);
    has(b, "nvcuda::wmma::mma_sync(");
    step(b, ACTION_READ_ONLY, 0);
    has(b, "__restrict__");
    end(b);
    free(source);
}

/* Rows that are whole pieces of 16 bytes, sizes with tails, all widths; what tensor copies cannot
 * bring. */
static const char wgmma_product[] =
    "#pragma keet size   M = 200, N = 328, K = 136\n"
    "#pragma keet check  M = 7, N = 65, K = 8\n"
    "#pragma keet check  M = 130, N = 300, K = 200\n"
    "#pragma keet in     A : bf16[M][K] = uniform(-1, 1)\n"
    "#pragma keet in     B : bf16[N][K] = uniform(-1, 1)\n"
    "#pragma keet in     bias : f32[N] = uniform(-1, 1)\n"
    "#pragma keet out    C : f32[M][N]\n"
    "#pragma keet tolerance rel = 1e-3, abs = 1e-3\n"
    "#pragma keet tune   T = 8 in {8, 16}\n"
    "#pragma keet launch f<<<dim3(ceil_div(N, T), ceil_div(M, T)), dim3(T, T)>>>(A, B, bias, C, M, "
    "N, K)\n"
    "#include <cuda_bf16.h>\n"
    "__global__ void f(const __nv_bfloat16 *A, const __nv_bfloat16 *B, const float *bias, float "
    "*C,\n"
    "    int M, int N, int K)\n"
    "{\n"
    "    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + "
    "threadIdx.x;\n"
    "    if (row < M && col < N) {\n"
    "        float sum = bias[col];\n"
    "        for (int k = 0; k < K; k++)\n"
    "            sum += __bfloat162float(A[row * K + k]) * __bfloat162float(B[col * K + k]);\n"
    "        float twice = 2.0f * sum;\n"
    "        C[row * N + col] = twice;\n"
    "    }\n"
    "}\n";

/* The text where we are, with another value of a tuning parameter, is good. */
static void step_to(struct bench *b, const char *old, const char *with)
{
    char *text = replaced(b->at.source, old, with);
    struct candidate c = b->original;
    struct err err;
    c.source = arena_strndup(b->arena, text, strlen(text));
    c.source_bytes = strlen(text);
    good(plan_parse(&c.plan, &b->task, b->arena, c.source, c.source_bytes, &c.verdict, &err), &err);
    judge(b, &c);
    free(text);
    b->at = c;
}

static void test_wgmma(void **state)
{
    static const char *const refused[][2] = {
        {"sum = bias[col];\n", "sum = bias[col];\n        sum += 1;\n"},
        {"sum += __bfloat162float(A[row * K + k]) *", "sum += row *"},
        {"    float sum", "    double sum"},
    };
    /* what tensor copies cannot bring, threads can */
    static const char *const brought[][2] = {
        {"M = 7, N = 65, K = 8", "M = 7, N = 65, K = 9"}, /* rows of 18 bytes */
        {"A : bf16[M][K]", "A : bf16[2*M*K]"},
        {"k < K; k++", "k < K - 1; k++"},
        {"= bias[col];", "= bias[col] + __bfloat162float(A[0]);"},
    };
    struct bench *b = begin_judged(wgmma_product);
    (void)state;
    for (unsigned variant = 0; variant < 3; variant++) {
        back(b);
        step(b, ACTION_WGMMA, variant);
        has(b, "tensor_map(A, box(64, BM), swizzle(128))");
        has(b, "wgmma.mma_async.sync.aligned.m64n");
        has(b, "*(uint4 *)to = *(const uint4 *)wide;"); /* not where N is odd, nor at the edge */
        lacks(b, "tune   T =");
    }
    step_to(b, "tune   CLUSTER = 1", "tune   CLUSTER = 2"); /* B comes in halves, to both */
    end(b);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        char *source = replaced(wgmma_product, refused[i][0], refused[i][1]);
        struct bench *other = bench_begin("test.cu", source, false);
        refuses(other, ACTION_WGMMA, 0, "f: ");
        end(other);
        free(source);
    }
    char *more = replaced(wgmma_product, "C[row * N + col] =", "C[row * N + col] +=");
    b = bench_begin("test.cu", more, false); /* what ends an output is not a store alone */
    b->at = apply(b, ACTION_WGMMA, 0);
    assert_int_equal(b->at.verdict, VERDICT_OK);
    has(b, "tensor_map(");
    lacks(b, "uint4");
    end(b);
    free(more);
    char *less = replaced(wgmma_product, "#pragma keet check  M = 7, N = 65, K = 8\n", "");
    char *one = replaced(less, "#pragma keet check  M = 130, N = 300, K = 200\n", "");
    b = bench_begin("test.cu", one, false); /* one size says nothing of others */
    b->at = apply(b, ACTION_WGMMA, 0);
    assert_int_equal(b->at.verdict, VERDICT_OK);
    lacks(b, "tensor_map(");
    end(b);
    free(less);
    free(one);
    for (size_t i = 0; i < sizeof brought / sizeof brought[0]; i++) {
        char *source = replaced(wgmma_product, brought[i][0], brought[i][1]);
        struct bench *other = bench_begin("test.cu", source, false);
        other->at = apply(other, ACTION_WGMMA, 0);
        assert_int_equal(other->at.verdict, VERDICT_OK);
        lacks(other, "tensor_map(");
        if (i == 2 && !KEET_SANITIZED) { /* test_wgmma_by_threads runs what is like the others */
            judge(other, &other->original);
            judge(other, &other->at);
        }
        end(other);
        free(source);
    }
}

/* The text with each pair's first string changed to its second. */
static char *changed(const char *text, const char *const (*pairs)[2], size_t nr)
{
    char *now = replaced(text, pairs[0][0], pairs[0][1]);
    for (size_t i = 1; i < nr; i++) {
        char *next = replaced(now, pairs[i][0], pairs[i][1]);
        free(now);
        now = next;
    }
    return now;
}

/* The place of an output stands in a local after the loop, or on a load from an array that ends
 * where the rows do: stores are wide. It hangs on the sum or on an atomic: they are not. */
static void test_wgmma_places(void **state)
{
    static const char *const of_rows[][2] = {
        {"bias : f32[N]", "bias : f32[M]"}, {"= bias[col]", "= 0"}};
    static const char *const places[][2] = {
        {"C[row * N + col] =", "const int line = row, at = line * N + col;\n        C[at] ="},
        {"float sum", "const int start = row * N + (bias[row] > 2);\n        float sum"},
        {"C[row * N + col] =", "int more = twice > 1e30f;\n        C[row * N + col + more] ="},
        {"C[row * N + col] =", "int more = atomicAdd((float *)&bias[row], 0.0f) > 2;\n"
                               "        C[row * N + col + more] ="},
    };
    char *source = changed(wgmma_product, of_rows, 2);
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *const changes[][2] = {
            {places[i][0], places[i][1]}, {"C[row * N + col] =", "C[start + col] ="}};
        char *text = changed(source, changes, i == 1 ? 2 : 1);
        struct bench *b = bench_begin("test.cu", text, false);
        b->at = apply(b, ACTION_WGMMA, 2);
        assert_int_equal(b->at.verdict, VERDICT_OK);
        has(b, "tensor_map(A");
        if (i < 2) {
            has(b, "*(uint4 *)to = *(const uint4 *)wide;");
            judge(b, &b->original);
            judge(b, &b->at);
        } else {
            lacks(b, "uint4");
        }
        end(b);
        free(text);
    }
    free(source);
}

/* Eight outputs of 16 bits at a time: rows that all start at whole pieces of 16 bytes, and rows of
 * which every other one does. */
static void test_wgmma_of_half_outputs(void **state)
{
    static const char *const changes[][2] = {{"N = 65", "N = 72"}, {"N = 328", "N = 324"},
        {"C : f32", "C : bf16"}, {"rel = 1e-3", "rel = 1e-2"}, {"float *C", "__nv_bfloat16 *C"},
        {"= twice", "= __float2bfloat16(twice)"}};
    char *source = changed(wgmma_product, changes, sizeof changes / sizeof changes[0]);
    struct bench *b = begin_judged(source);
    (void)state;
    for (unsigned variant = 0; variant < 3; variant += 2) {
        back(b);
        step(b, ACTION_WGMMA, variant);
        has(b, "__align__(16) __nv_bfloat16 wide[8];");
        has(b, "*(uint4 *)to = *(const uint4 *)wide;");
    }
    end(b);
    free(source);
}

/* B across k, by threads first in a product that is small, then by squares of tensor copies. */
static void test_wgmma_across(void **state)
{
    char *declared = replaced(wgmma_product, "B : bf16[N][K]", "B : bf16[K][N]");
    char *sizes = replaced(declared, "N = 65, K = 8", "N = 72, K = 5*8");
    char *more = replaced(sizes, "M = 130, N = 300", "M = 130, N = 304");
    char *source = replaced(more, "B[col * K + k]", "B[k * N + col]");
    struct bench *b = begin_judged(source);
    (void)state;
    for (unsigned variant = 0; variant < 6; variant++) {
        back(b);
        step(b, ACTION_WGMMA, variant);
        if (variant < 3)
            lacks(b, "tensor_map(");
        else
            has(b, "tensor_map(B, box(64, 64), swizzle(128))");
        if (variant == 4)
            step_to(b, "tune   CLUSTER = 1", "tune   CLUSTER = 2");
    }
    end(b);
    free(declared);
    free(sizes);
    free(more);
    free(source);
}

/* 8-bit floats by turns as halves, in any layout, and by the unit of 8 bits in tiles of 128 of k,
 * where the tolerance is wide and no half a piece of 16 bytes may follow. */
static void test_wgmma_of_eight(void **state)
{
    static const char *const changes[][2] = {{"M = 7, N = 65, K = 8", "M = 7, N = 65, K = 16"},
        {"K = 136", "K = 144"}, {"K = 200", "K = 208"}, {"bf16[M]", "e4m3[M]"},
        {"bf16[N]", "e4m3[N]"}, {"rel = 1e-3, abs = 1e-3", "rel = 1e-1, abs = 100"},
        {"cuda_bf16", "cuda_fp8"}, {"const __nv_bfloat16 *A", "const __nv_fp8_e4m3 *A"},
        {"const __nv_bfloat16 *B", "const __nv_fp8_e4m3 *B"},
        {"__bfloat162float(A[row * K + k]) * __bfloat162float(B[col * K + k])",
            "float(A[row * K + k]) * float(B[col * K + k])"},
        {"#pragma keet check  M = 7",
            "#pragma keet assume K % 16 == 0\n#pragma keet check  M = 7"}};
    const size_t nr = sizeof changes / sizeof changes[0];
    char *source = replaced(wgmma_product, "T = 8", "T = 8"), *narrow;
    (void)state;
    for (size_t i = 0; i < nr; i++) {
        char *next = replaced(source, changes[i][0], changes[i][1]);
        if (i + 1 == nr) {
            char *across = replaced(source, "B[col * K + k]", "B[k * N + col]");
            struct bench *ragged = begin_judged(across);
            step(ragged, ACTION_WGMMA, 0);
            has(ragged, "cvt.rn.f16x2.e4m3x2");
            end(ragged);
            free(across);
            ragged = begin_judged(source);
            refuses(ragged, ACTION_WGMMA, 1, "whole pieces of 16 bytes");
            end(ragged);
        }
        free(source);
        source = next;
    }
    struct bench *b = begin_judged(source);
    for (unsigned variant = 0; variant < 4; variant++) {
        back(b);
        step(b, ACTION_WGMMA, variant);
        has(b, variant % 2 ? "tensor_map(A, box(128, BM), swizzle(128))" : "k16.f32.f16.f16");
        has(b, variant % 2 ? "k32.f32.e4m3.e4m3" : "cvt.rn.f16x2.e4m3x2");
        if (variant % 2) /* no sum is used before it is there */
            has(b, "asm volatile(\"\" : \"+f\"(part[");
    }
    end(b);
    narrow = replaced(source, "rel = 1e-1", "rel = 1e-3");
    b = begin_judged(narrow);
    refuses(b, ACTION_WGMMA, 1, "sums of 13 bits");
    b->at = apply(b, ACTION_WGMMA, 0);
    assert_int_equal(b->at.verdict, VERDICT_OK);
    end(b);
    free(narrow);
    free(source);
}

/* Every operand layout, sizes with tails and rows of odd numbers of bytes, all widths; k in one
 * block, and shared by the four blocks of a cluster, of which some have none of it. */
static void test_wgmma_by_threads(void **state)
{
    static const char *const sources[] = {
        HALF_PRODUCT("f16", "cuda_fp16", "__half2float", "half", "row * K + k", "k * N + col"),
        HALF_PRODUCT("f16", "cuda_fp16", "__half2float", "half", "k * M + row", "col * K + k"),
        HALF_PRODUCT("bf16", "cuda_bf16", "(float)", "__nv_bfloat16", "k * M + row", "k * N + col"),
        HALF_PRODUCT("f32", "cuda_fp16", "", "float", "row * K + k", "k * N + col"),
        HALF_PRODUCT("f32", "cuda_fp16", "", "float", "k * M + row", "col * K + k"),
    };
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        char *source = replaced(sources[i], "M = 128, N = 128, K = 64", "M = 66, N = 66, K = 520");
        struct bench *b = begin_judged(i % 2 ? source : sources[i]);
        for (unsigned variant = 0; variant < (i == 0 ? 3 : 1); variant++) {
            back(b);
            step(b, ACTION_WGMMA, variant);
            has(b, i < 3 ? "wgmma.mma_async.sync.aligned.m64n" : "k8.f32.tf32.tf32");
            has(b, i % 2 ? "tune   SPLIT = 4" : "tune   SPLIT = 1");
            lacks(b, "tune   T =");
        }
        back(b);
        if (i >= 3)
            refuses(b, ACTION_WGMMA, 2, "parts of floats take registers");
        end(b);
        free(source);
    }
    char *source = replaced(sources[0], "M = 128", "M = 32");
    struct bench *b = bench_begin("test.cu", source, false);
    refuses(b, ACTION_WGMMA, 0, "most of a warpgroup's 64 rows would be empty");
    end(b);
    free(source);
}

/* Every operand layout, sizes with tails, all tilings; what is no such product. */
static void test_tensor_cores(void **state)
{
    static const char *const sources[] = {
        HALF_PRODUCT("f16", "cuda_fp16", "__half2float", "half", "row * K + k", "k * N + col"),
        HALF_PRODUCT("f16", "cuda_fp16", "__half2float", "half", "k * M + row", "col * K + k"),
        HALF_PRODUCT("bf16", "cuda_bf16", "(float)", "__nv_bfloat16", "row * K + k", "col * K + k"),
        HALF_PRODUCT("f32", "cuda_fp16", "", "float", "row * K + k", "k * N + col"),
        HALF_PRODUCT("f32", "cuda_fp16", "", "float", "k * M + row", "col * K + k"),
    };
    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct bench *b = begin_judged(sources[i]);
        for (unsigned variant = 0; variant < (i == 0 ? 3 : 1); variant++) {
            back(b);
            step(b, ACTION_TENSOR_CORES, variant);
            has(b, "#include <mma.h>");
            has(b, "nvcuda::wmma::mma_sync(");
            has(b, "__pipeline_memcpy_async(");
            if (i >= 3) /* sums of floats: tensor cores round them towards zero, FADD does not */
                has(b, "+= parts[");
            lacks(b, "tune   T =");
        }
        end(b);
    }
    struct bench *b = begin_judged(
        HALF_PRODUCT("f64", "cuda_fp16", "(float)", "double", "row * K + k", "k * N + col"));
    refuses(b, ACTION_TENSOR_CORES, 0, "the operands are not both f16, both bf16 or both f32");
    end(b);
    b = begin_judged(
        HALF_PRODUCT("f16", "cuda_fp16", "fabsf", "half", "row * K + k", "k * N + col"));
    refuses(b, ACTION_TENSOR_CORES, 0, "not one sum of products of two operands");
    end(b);
}

static void test_product_refused(void **state)
{
    (void)state;
    struct bench *b = begin_judged(written_operand);
    refuses(b, ACTION_SHARED_TILE, 0, "statements other than declarations before the loop");
    refuses(b, ACTION_REGISTER_TILE, 0, "statements other than declarations before the loop");
    end(b);
    b = begin_judged(rows);
    refuses(b, ACTION_SHARED_TILE, 0, "one index along thread x and one along y");
    end(b);
}

/* Four kernels: planes along grid z without a guard, in place, vectors with an offset operand. */
static const char planes[] =
    "#pragma keet size   P = 6, N = 300\n"
    "#pragma keet check  P = 5, N = 67\n"
    "#pragma keet check  P = 1, N = 2\n"
    "#pragma keet in     X : f32[N]\n"
    "#pragma keet in     W : f32[P][3]\n"
    "#pragma keet inout  Y : f32[P][N]\n"
    "#pragma keet tolerance rel = 1e-4, abs = 1e-5\n"
    "#pragma keet launch f<<<dim3(ceil_div(N, 64), 1, P), 64>>>(X, W, Y, N)\n"
    "#pragma keet launch g<<<ceil_div(P*N, 64), 64>>>(X, Y, P*N, N)\n"
    "__global__ void f(const float *X, const float *W, float *Y, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    int p = blockIdx.z;\n"
    "    if (i < n) {\n"
    "        float sum = Y[p * n + i];\n"
    "        for (int k = 0; k < 3; k++) {\n"
    "            if (i + k < n)\n"
    "                sum += W[p * 3 + k] * X[i + k];\n"
    "        }\n"
    "        Y[p * n + i] = sum;\n"
    "    }\n"
    "}\n"
    "__global__ void g(const float *X, float *Y, int total, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < total) {\n"
    "        float y = Y[i];\n"
    "        Y[i] = y * X[i % n] + i;\n"
    "    }\n"
    "}\n";

static void test_planes(void **state)
{
    (void)state;
    struct bench *b = begin_judged(planes);
    step(b, ACTION_COARSEN, 2);
    has(b, "ceil_div(P, PER_Z)), 64>>>(X, W, Y, N, P)");
    has(b, "int n, int nr_p)");
    back(b);
    step(b, ACTION_VECTORIZE, 2);
    has(b, "g<<<ceil_div(ceil_div(P*N, 64), 4), 64>>>");
    has(b, "float4 Y4 = *reinterpret_cast<const float4 *>(&Y[i]);");
    back(b);
    step(b, ACTION_VECTORIZE, 3);
    has(b, "float2");
    refuses(b, ACTION_VECTORIZE, 0, "");
    end(b);
}

#define TURN_TASK                                                                                  \
    "#pragma keet size   R = 96, C = 64\n"                                                         \
    "#pragma keet check  R = 67, C = 35\n"                                                         \
    "#pragma keet check  R = 1, C = 70\n"                                                          \
    "#pragma keet tune   W = 16 in {8, 16, 32}\n"                                                  \
    "#pragma keet in     X : f32[R][C]\n"                                                          \
    "#pragma keet out    Y : f32[C][R]\n"

static const char turn_store[] = TURN_TASK
    "#pragma keet launch f<<<dim3(ceil_div(C, W), ceil_div(R, 8)), dim3(W, 8)>>>(X, Y, R, C)\n"
    "__global__ void f(const float *X, float *Y, int r, int c)\n"
    "{\n"
    "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    if (x < c && y < r)\n"
    "        Y[x * r + y] = 2 * X[y * c + x];\n"
    "}\n";

static const char turn_load[] = TURN_TASK
    "#pragma keet launch f<<<dim3(ceil_div(R, W), ceil_div(C, 8)), dim3(W, 8)>>>(X, Y, R, C)\n"
    "__global__ void f(const float *X, float *Y, int r, int c)\n"
    "{\n"
    "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    if (x < r && y < c)\n"
    "        Y[y * r + x] = X[x * c + y] + x;\n"
    "}\n";

static void test_transpose_tile(void **state)
{
    (void)state;
    struct bench *b = begin_judged(turn_store);
    step(b, ACTION_SHARED_TILE, 1);
    has(b, "__shared__ float tile[TILE_Y][TILE_X + 1];");
    refuses(b, ACTION_SHARED_TILE, 1, "");
    end(b);
    b = begin_judged(turn_load);
    step(b, ACTION_SHARED_TILE, 1);
    end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_first_of_equals),
        cmocka_unit_test(test_rows_carried),
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_product_started),
        cmocka_unit_test(test_tensor_cores),
        cmocka_unit_test(test_wgmma),
        cmocka_unit_test(test_wgmma_places),
        cmocka_unit_test(test_wgmma_of_half_outputs),
        cmocka_unit_test(test_wgmma_across),
        cmocka_unit_test(test_wgmma_of_eight),
        cmocka_unit_test(test_wgmma_by_threads),
        cmocka_unit_test(test_tensor_cores_f16_file),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_product_refused),
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_transpose_tile),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
