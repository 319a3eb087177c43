/* The mechanical moves: before and after on small kernels, refusals with reasons, composition.
 * Every result is compiled by NVRTC where that is installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "moves_harness.h"

static struct arena *test_arena; /* sources put together for a test */

static struct bench *begin(const char *source)
{
    return bench_begin("test.cu", source, false);
}

static void judge(struct bench *b, struct candidate *c)
{
    if (!compiler)
        return;
    char *code = task_code(c->source, c->source_bytes);
    const char *names[16];
    unsigned nr = 0;
    for (unsigned i = 0; i < c->plan.nr_launches; i++) {
        bool seen = false;
        for (unsigned k = 0; k < nr && !seen; k++)
            seen = !strcmp(names[k], c->plan.launches[i].kernel);
        if (!seen)
            names[nr++] = c->plan.launches[i].kernel;
    }
    const struct compile_input input = {.source = code,
        .name = "test.cu",
        .kernels = names,
        .nr_kernels = nr,
        .tunes = c->plan.tunes,
        .nr_tunes = c->plan.nr_tunes};
    struct compilation out;
    enum verdict verdict = VERDICT_OK;
    unsigned line;
    const char *text = "";
    struct err err;
    if (!compile_source(compiler, &input, b->arena, &out, &verdict, &line, &text, &err))
        fail_msg("%s", err.text);
    if (verdict != VERDICT_OK)
        fail_msg("%s\n%s", text, c->source);
    free(code);
}

static const char product[] =
    "#pragma keet size   M = 256, N = 256, K = 64\n"
    "#pragma keet in     A : f32[M][K]\n"
    "#pragma keet in     B : f32[K][N]\n"
    "#pragma keet out    C : f32[M][N]\n"
    "#pragma keet tolerance rel = 1e-3, abs = 1e-4\n"
    "#pragma keet tune   TILE = 16 in {8, 16, 32}\n"
    "#pragma keet where  TILE*TILE <= 1024\n"
    "#pragma keet launch f<<<dim3(ceil_div(N,TILE), ceil_div(M,TILE)), dim3(TILE,TILE), 0>>>(A, B, "
    "C, M, N, K)\n"
    "// a comment that stays\n"
    "__global__ void f(const float *A, float *B, float *C, int M, int N, int K)\n"
    "{\n"
    "    int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (row < M && col < N) {\n"
    "        C[row * N + col] = 0;\n"
    "        for (int k = 0; k < K; k++)\n"
    "            C[row * N + col] += A[row * K + k] * B[k * N + col];\n"
    "    }\n"
    "}\n";

static void test_unroll(void **state)
{
    struct bench *b = begin(product);
    step(b, ACTION_UNROLL, 0);
    has(b, "        #pragma unroll 4\n        for (int k");
    has(b, "// a comment that stays");
    step(b, ACTION_UNROLL, 1); /* the same loop, another factor: replaced, not stacked */
    has(b, "#pragma unroll 8\n");
    lacks(b, "#pragma unroll 4");
    refuses(b, ACTION_UNROLL, 4, "no more loops");
    end(b);
}

static void test_read_only(void **state)
{
    struct bench *b = begin(product);
    step(b, ACTION_READ_ONLY, 0);
    has(b, "const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C");
    refuses(b, ACTION_READ_ONLY, 0, "as far as it can be");
    end(b);
}

static void test_aliases_are_not_restrict(void **state)
{
    struct bench *b = begin("#pragma keet size N = 1024\n#pragma keet inout X : f32[N]\n"
                            "#pragma keet launch f<<<ceil_div(N, 128), 128>>>(X, X, N)\n"
                            "__global__ void f(float *a, float *b, int n)\n{\n"
                            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                            "    if (i < n)\n        b[i] = a[i] + 1;\n}\n");
    step(b, ACTION_READ_ONLY, 0);
    has(b, "f(const float *a, float *b, int n)");
    end(b);
}

static void test_block_shape(void **state)
{
    struct bench *b = begin(product);
    step(b, ACTION_BLOCK_SHAPE, 0);
    has(b, "tune   BLOCK_X = 32 in {");
    has(b, "tune   BLOCK_Y = 8 in {");
    has(b, "where  BLOCK_X*BLOCK_Y <= 1024");
    has(b, "f<<<dim3(ceil_div(N, BLOCK_X), ceil_div(M, BLOCK_Y)), dim3(BLOCK_X, BLOCK_Y), 0>>>");
    /* now both are parameters: another shape is other values */
    step(b, ACTION_BLOCK_SHAPE, 1);
    has(b, "tune   BLOCK_X = 64 in {");
    has(b, "tune   BLOCK_Y = 4 in {");
    lacks(b, "BLOCK_X2");
    end(b);

    b = begin("#pragma keet size N = 1024\n#pragma keet inout X : f32[N]\n"
              "#pragma keet launch f<<<ceil_div(N, 128), 128>>>(X, N)\n"
              "__global__ void f(float *x, int n)\n{\n"
              "    __shared__ float s[128];\n"
              "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "    s[threadIdx.x] = i < n ? x[i] : 0;\n    __syncthreads();\n"
              "    if (i < n)\n        x[i] = s[127 - threadIdx.x];\n}\n");
    refuses(b, ACTION_BLOCK_SHAPE, 0, "shared memory");
    end(b);
}

static void test_swap_xy(void **state)
{
    struct bench *b = begin(
        "#pragma keet size M = 300, N = 200\n#pragma keet inout X : f32[M][N]\n"
        "#pragma keet launch f<<<dim3(ceil_div(M, 16), ceil_div(N, 8)), dim3(16, 8)>>>(X, M, N)\n"
        "__global__ void f(float *x, int m, int n)\n{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    int j = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "    if (i < m && j < n)\n        x[i * n + j] *= 2;\n}\n");
    step(b, ACTION_SWAP_XY, 0);
    has(b, "int i = blockIdx.y * blockDim.y + threadIdx.y;");
    has(b, "int j = blockIdx.x * blockDim.x + threadIdx.x;");
    has(b, "f<<<dim3(ceil_div(N, 8), ceil_div(M, 16)), dim3(8, 16)>>>");
    refuses(b, ACTION_SWAP_XY, 0, "along memory already");
    refuses(b, ACTION_SWAP_XY, 1, "one thread along z");
    end(b);
}

static void test_launch_bounds(void **state)
{
    struct bench *b = begin(product);
    step(b, ACTION_LAUNCH_BOUNDS, 0);
    has(b, "__global__ void __launch_bounds__(TILE*TILE) f(");
    step(b, ACTION_LAUNCH_BOUNDS, 2);
    has(b, "void __launch_bounds__(TILE*TILE, 4) f(");
    step(b, ACTION_TUNE, 1);
    has(b, "TILE = 32 in");
    refuses(b, ACTION_LAUNCH_BOUNDS, 2, "no room for 4");
    end(b);
}

static void test_hoist(void **state)
{
    struct bench *b = begin(product);
    refuses(b, ACTION_HOIST, 0, "no division");
    step(b, ACTION_HOIST, 1);
    has(b, "float total = C[row * N + col];\n        for (int k");
    has(b, "total += A[row * K + k] * B[k * N + col];\n        C[row * N + col] = total;");
    end(b);

    b = begin("#pragma keet size N = 1024\n#pragma keet inout X : f32[N]\n"
              "#pragma keet tolerance rel = 1e-5, abs = 1e-6\n"
              "#pragma keet launch f<<<1, 1>>>(X, N)\n"
              "__global__ void f(float *x, int n)\n{\n"
              "    float s = 0;\n"
              "    for (int i = 0; i < n; i++)\n        s += x[i];\n"
              "    #pragma unroll 2\n"
              "    for (int i = 0; i < n; i++)\n        x[i] = x[i] / s + x[i] / 2;\n}\n");
    step(b, ACTION_HOIST, 0);
    has(b, "    const float inverse = 1.0f / s;\n    #pragma unroll 2\n");
    has(b, "x[i] = x[i] * inverse + x[i] / 2;");
    end(b);
}

/* A sum whose store is guarded differently, or whose array is read elsewhere in the loop, stays. */
static void test_hoist_is_careful(void **state)
{
    struct bench *b = begin("#pragma keet size N = 64\n#pragma keet inout X : f32[N]\n"
                            "#pragma keet in Y : f32[N]\n"
                            "#pragma keet tolerance rel = 1e-5, abs = 1e-6\n"
                            "#pragma keet launch f<<<1, 32>>>(X, Y, N)\n"
                            "__global__ void f(float *x, const float *y, int n)\n{\n"
                            "    int t = threadIdx.x;\n"
                            "    for (int i = 0; i < n; i++)\n"
                            "        if (y[i] > 0)\n            x[t] += y[i];\n"
                            "    for (int i = 0; i < n; i++)\n        x[t] += x[i] * y[i];\n}\n");
    refuses(b, ACTION_HOIST, 1, "no conditions");
    end(b);
}

static const char gelu[] =
    "#pragma keet size   N = 1048576\n#pragma keet in X : f32[N]\n#pragma keet out Y : f32[N]\n"
    "#pragma keet tolerance rel = 1e-3, abs = 1e-4\n"
    "#pragma keet launch f<<<ceil_div(N, 256), 256>>>(X, Y, N)\n"
    "__global__ void f(const float *x, float *y, int n)\n{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    double keep = 0.5 * i;\n"
    "    if (i >= n)\n        return;\n"
    "    float v = x[i];\n\n"
    "    y[i] = 0.5 * v / (1.0 + expf(v)) + 1.0f / sqrtf(v * v + 1.0f) + tanhf(0.79 * v) + keep;\n"
    "    y[i] = 0.5 * v;\n"
    "}\n";

static void test_fast_math(void **state)
{
    struct bench *b = begin(gelu);
    step(b, ACTION_FAST_MATH, 0);
    has(b, "y[i] = 0.5f * v;");
    has(b, "tanhf(0.79f * v)");
    has(b, "double keep = 0.5 * i;");
    has(b, "y[i] = 0.5 * v / (1.0 + expf(v))"); /* a double variable keeps it double */
    step(b, ACTION_FAST_MATH, 1);
    has(b, "__expf(v)");
    has(b, "rsqrtf(v * v + 1.0f)");
    has(b, "(1.0f - __fdividef(2.0f, __expf(2.0f * (0.79f * v)) + 1.0f))");
    refuses(b, ACTION_FAST_MATH, 0, "no double constants");
    end(b);
    b = bench_begin("test.cu", gelu, true);
    refuses(b, ACTION_FAST_MATH, 0, "forbidden");
    end(b);
}

static void test_grid_stride(void **state)
{
    struct bench *b = begin("#pragma keet size   N = 1048576\n#pragma keet inout X : f32[N]\n"
                            "#pragma keet launch f<<<ceil_div(N, 256), 256>>>(X, N)\n"
                            "__global__ void f(float *x, int n)\n{\n"
                            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                            "    if (i >= n)\n        return;\n"
                            "    float v = x[i];\n\n"
                            "    x[i] = 2 * v;\n"
                            "}\n");
    step(b, ACTION_GRID_STRIDE, 0);
    has(b, "tune   BLOCKS = 1056 in {264, 528, 1056, 2112}");
    has(b, "f<<<min(ceil_div(N, 256), BLOCKS), 256>>>");
    has(b, "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
           "blockDim.x) {\n        float v = x[i];\n\n        x[i] = 2 * v;\n    }\n}\n");
    lacks(b, "return");
    refuses(b, ACTION_GRID_STRIDE, 0, "not one coordinate");
    end(b);
    b = begin(product);
    refuses(b, ACTION_GRID_STRIDE, 0, "not one coordinate");
    end(b);
}

static const char tile[] =
    "#pragma keet size   M = 256, N = 256\n#pragma keet in X : f32[M][N]\n"
    "#pragma keet out Y : f32[N][M]\n"
    "#pragma keet launch f<<<dim3(N/32, M/32), dim3(32, 32)>>>(X, Y, M, N)\n"
    "__global__ void f(const float *x, float *y, int m, int n)\n{\n"
    "    __shared__ float s[32][32];\n    __shared__ float odd[32][33];\n"
    "    int i = blockIdx.x * 32, j = blockIdx.y * 32;\n"
    "    s[threadIdx.y][threadIdx.x] = x[(j + threadIdx.y) * n + i + threadIdx.x];\n"
    "    odd[threadIdx.y][threadIdx.x] = 0;\n"
    "    __syncthreads();\n"
    "    y[(i + threadIdx.y) * m + j + threadIdx.x] = s[threadIdx.x][threadIdx.y] + odd[0][0];\n"
    "}\n";

static void test_pad_shared(void **state)
{
    struct bench *b = begin(tile);
    step(b, ACTION_PAD_SHARED, 0);
    has(b, "float s[32][32 + 1];");
    refuses(b, ACTION_PAD_SHARED, 0, "odd already");
    refuses(b, ACTION_PAD_SHARED, 1, "odd already");
    end(b);
}

static void test_shuffle_reduce(void **state)
{
    struct bench *b = begin(
        "#pragma keet size N = 65536\n#pragma keet in X : f32[N]\n#pragma keet out R : f32[1]\n"
        "#pragma keet temp P : f32[N/256]\n"
        "#pragma keet launch blocks<<<N/256, 256>>>(X, P)\n"
        "#pragma keet launch total<<<1, 1>>>(P, R, N/256)\n"
        "__global__ void blocks(const float *x, float *p)\n{\n"
        "    __shared__ float s[256];\n    int t = threadIdx.x;\n"
        "    s[t] = x[blockIdx.x * 256 + t];\n    __syncthreads();\n"
        "    for (int k = blockDim.x / 2; k > 0; k >>= 1) {\n"
        "        if (t < k)\n            s[t] = fmaxf(s[t], s[t + k]);\n"
        "        __syncthreads();\n    }\n"
        "    if (t == 0)\n        p[blockIdx.x] = s[0];\n}\n"
        "__global__ void total(const float *p, float *r, int n)\n{\n"
        "    float m = p[0];\n    for (int i = 1; i < n; i++)\n        m = fmaxf(m, p[i]);\n"
        "    r[0] = m;\n}\n");
    step(b, ACTION_SHUFFLE_REDUCE, 0);
    has(b, "value = fmaxf(value, __shfl_xor_sync(0xffffffff, value, offset));");
    lacks(b, "k >>= 1");
    step(b, ACTION_SHUFFLE_REDUCE, 3);
    has(b, "total<<<1, THREADS>>>");
    has(b, "for (int i = 1 + lane; i < n; i += blockDim.x)");
    refuses(b, ACTION_SHUFFLE_REDUCE, 0, "no tree");
    refuses(b, ACTION_SHUFFLE_REDUCE, 3, "not the work of one thread");
    end(b);
}

/* What a tree leaves in other elements than the first is not kept by shuffles. */
static void test_shuffle_reduce_is_careful(void **state)
{
    struct bench *b = begin(
        "#pragma keet size N = 65536\n#pragma keet in X : f32[N]\n#pragma keet out P : f32[N/256]\n"
        "#pragma keet launch blocks<<<N/256, 256>>>(X, P)\n"
        "__global__ void blocks(const float *x, float *p)\n{\n"
        "    __shared__ float s[256];\n    int t = threadIdx.x;\n"
        "    s[t] = x[blockIdx.x * 256 + t];\n    __syncthreads();\n"
        "    for (int k = blockDim.x / 2; k > 0; k >>= 1) {\n"
        "        if (t < k)\n            s[t] += s[t + k];\n        __syncthreads();\n    }\n"
        "    if (t == 0)\n        p[blockIdx.x] = s[0] + s[1];\n}\n");
    refuses(b, ACTION_SHUFFLE_REDUCE, 0, "no tree");
    end(b);
}

static void test_privatize(void **state)
{
    struct bench *b = begin(
        "#pragma keet size N = 1048576, BINS = 64\n#pragma keet in X : u8[N] = integers(0, 63)\n"
        "#pragma keet inout H : i32[BINS] = constant(0)\n"
        "#pragma keet launch f<<<ceil_div(N, 256), 256>>>(X, H, N, BINS)\n"
        "__global__ void f(const unsigned char *x, int *h, int n, int bins)\n{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n)\n        atomicAdd(h + x[i], 1);\n}\n");
    refuses(b, ACTION_PRIVATIZE, 0, "one change of the launch at a time");
    step(b, ACTION_GRID_STRIDE, 0);
    step(b, ACTION_PRIVATIZE, 1);
    has(b, "extern __shared__ int block_h[];");
    has(b, "atomicAdd(block_h + x[i], 1);");
    has(b, "256, 4*BINS>>>");
    has(b, "if (block_h[bin] != 0)\n            atomicAdd(&h[bin], block_h[bin]);\n}");
    refuses(b, ACTION_PRIVATIZE, 1, "shared memory already");
    end(b);

    b = begin("#pragma keet size N = 1024\n#pragma keet in X : i32[N] = integers(0, 63)\n"
              "#pragma keet inout H : i32[64] = constant(0)\n"
              "#pragma keet launch f<<<ceil_div(N, 256), 256>>>(X, H, N)\n"
              "__global__ void f(const int *x, int *h, int n)\n{\n"
              "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "    if (i < n)\n        x[atomicAdd(&h[x[i]], 1)];\n}\n");
    refuses(b, ACTION_PRIVATIZE, 1, "does not only add");
    end(b);
}

static void test_split_work(void **state)
{
    struct bench *b =
        begin("#pragma keet size M = 512, N = 4096\n#pragma keet in A : f32[M][N]\n"
              "#pragma keet in S : f32[N]\n#pragma keet out Y : f32[N]\n"
              "#pragma keet launch f<<<ceil_div(N, 128), 128>>>(A, S, Y, M, N)\n"
              "__global__ void f(const float *a, const float *s, float *y, int m, int n)\n{\n"
              "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "    if (col >= n)\n        return;\n"
              "    float scale = s[col];\n    float sum = 0.0f;\n"
              "    for (int i = 1; i < m; i += 2)\n        sum += scale * a[i * n + col];\n"
              "    y[col] = sum;\n}\n");
    step(b, ACTION_SPLIT_WORK, 0);
    has(b, "f<<<ceil_div(N, 128), dim3(128, SPLIT)>>>");
    has(b, "where  128*SPLIT <= 1024");
    lacks(b, "return"); /* all threads come to the barrier */
    has(b, "float scale = col < n ? s[col] : 0;");
    has(b, "for (int i = 1 + piece * 2; i < m; i += 2 * SPLIT)");
    has(b, "if (piece == 0 && col < n) {");
    refuses(b, ACTION_SPLIT_WORK, 0, "not of the form");
    end(b);

    /* so few blocks that a warp along x and the most parts are more */
    b = begin("#pragma keet size M = 512, N = 4096\n#pragma keet in A : f32[M][N]\n"
              "#pragma keet out Y : f32[N]\n#pragma keet tune B = 128 in {32, 64, 128}\n"
              "#pragma keet launch f<<<ceil_div(N, B), B>>>(A, Y, M, N)\n"
              "__global__ void f(const float *a, float *y, int m, int n)\n{\n"
              "    int col = blockIdx.x * blockDim.x + threadIdx.x;\n    float sum = 0.0f;\n"
              "    if (col < n) {\n        for (int i = 0; i < m; i++)\n"
              "            sum += a[i * n + col];\n        y[col] = sum;\n    }\n}\n");
    step(b, ACTION_SPLIT_WORK, 0);
    has(b, "tune B = 32 in");
    has(b, "tune   SPLIT = 32 in");
    end(b);
}

static void test_running_sums(void **state)
{
    struct bench *b =
        begin("#pragma keet size R = 64, N = 4096\n#pragma keet in X : i32[R][N]\n"
              "#pragma keet out Y : i32[R][N]\n"
              "#pragma keet launch f<<<ceil_div(R, 64), 64>>>(X, Y, R, N)\n"
              "__global__ void f(const int *x, int *y, int rows, int n)\n{\n"
              "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "    if (row < rows) {\n        int sum = 0;\n"
              "        for (int i = 0; i < n; i++) {\n            int here = x[row * n + i];\n"
              "            y[row * n + i] = sum;\n            sum += here;\n        }\n    }\n}\n");
    step(b, ACTION_PARALLEL_REDUCE, 0);
    has(b, "for (int first = 0; first < n; first += 32) {");
    has(b, "int own = inside ? (x[row * n + i]) : 0;");
    has(b, "y[row * n + i] = (sum + running - own);");
    has(b, "sum += added;");
    end(b);

    /* the next element depends on the sum: no scan */
    b = begin("#pragma keet size R = 64, N = 4096\n#pragma keet inout X : i32[R][N]\n"
              "#pragma keet launch f<<<ceil_div(R, 64), 64>>>(X, R, N)\n"
              "__global__ void f(int *x, int rows, int n)\n{\n"
              "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "    if (row < rows) {\n        int sum = 0;\n"
              "        for (int i = 0; i < n - 1; i++) {\n"
              "            sum += x[row * n + i];\n"
              "            x[row * n + i + 1] = sum;\n        }\n    }\n}\n");
    refuses(b, ACTION_PARALLEL_REDUCE, 0, "line");
    end(b);
}

/* Conditions on counters become bounds; one that reads memory stays. */
static void test_tighten(void **state)
{
    struct bench *b =
        begin("#pragma keet size N = 4096, R = 3\n#pragma keet in X : f32[N]\n#pragma keet out Y : "
              "f32[N]\n"
              "#pragma keet launch f<<<ceil_div(N, 128), 128>>>(X, Y, N, R)\n"
              "__global__ void f(const float *x, float *y, int n, int r)\n{\n"
              "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
              "    if (i >= n)\n        return;\n    float sum = 0;\n"
              "    for (int d = -r; d <= r; d++) {\n        int at = i + d - 1;\n"
              "        if (at >= 0 && n > at && x[at] > 0)\n            sum += x[at];\n    }\n"
              "    y[i] = sum;\n}\n");
    step(b, ACTION_HOIST, 1);
    has(b, "for (int d = max(-r, -(i - 1)); d <= min(r, n - (i - 1) - 1); d++) {");
    has(b, "if (x[at] > 0) sum += x[at];");
    refuses(b, ACTION_HOIST, 1, "no conditions");
    end(b);
}

static void test_fuse(void **state)
{
    static const char head[] =
        "#pragma keet size N = 4096\n#pragma keet in X : f32[N]\n#pragma keet out Y : f32[N]\n"
        "#pragma keet temp T : f32[N]\n"
        "#pragma keet launch first<<<ceil_div(N, 128), 128>>>(X, T, N)\n"
        "#pragma keet launch second<<<ceil_div(N, 256), 256>>>(T, Y, N)\n"
        "__global__ void first(const float *x, float *t, int n)\n{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) {\n        float v = x[i];\n        t[i] = v * v;\n    }\n}\n\n";
    struct bench *b = begin(arena_printf(test_arena, "%s%s", head,
        "__global__ void second(const float *t, float *y, int n)\n{\n"
        "    int k = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (k < n)\n        y[k] = t[k] + 1;\n}\n"));
    step(b, ACTION_FUSE, 0);
    lacks(b, "temp");
    lacks(b, "void first");
    has(b, "second<<<ceil_div(N, 256), 256>>>(X, N, Y, N)");
    has(b, "void second(const float *x, int first_n, float *y, int n)");
    has(b, "    if (k < n) {\n        float v = x[k];\n        const float fused = v * v;\n       "
           " y[k] = fused + 1;\n    }\n}\n");
    refuses(b, ACTION_FUSE, 0, "no two launches");
    end(b);

    /* a neighbour's element is another thread's work */
    b = begin(arena_printf(test_arena, "%s%s", head,
        "__global__ void second(const float *t, float *y, int n)\n{\n"
        "    int k = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (k < n)\n        y[k] = t[k] + t[0];\n}\n"));
    refuses(b, ACTION_FUSE, 0, "element by element");
    end(b);
}

/* Moves compose, and the contract of the original survives all of them. */
static void test_composition(void **state)
{
    struct bench *b = begin(product);
    step(b, ACTION_BLOCK_SHAPE, 0);
    step(b, ACTION_HOIST, 1);
    step(b, ACTION_READ_ONLY, 0);
    step(b, ACTION_UNROLL, 1);
    step(b, ACTION_LAUNCH_BOUNDS, 1);
    has(b, "__launch_bounds__(BLOCK_X*BLOCK_Y, 2)");
    assert_int_equal(b->at.plan.nr_tunes, 3);
    end(b);
}

static void test_options(void **state)
{
    struct bench *b = begin(product), *c = begin(product);
    struct err err;
    assert_true(propose_options(b->propose, &b->at, &err));
    assert_true(propose_options(c->propose, &c->at, &err));
    assert_true(b->at.nr_options > 8);
    assert_int_equal(b->at.nr_options, c->at.nr_options);
    float sum = 0;
    for (unsigned i = 0; i < b->at.nr_options; i++) {
        const struct option *o = &b->at.options[i];
        assert_string_equal(o->what, c->at.options[i].what);
        assert_int_equal(o->variant, c->at.options[i].variant);
        sum += o->prior;
        /* what is listed can be made, and says the same of itself */
        struct candidate made = {.arena = b->arena, .task = &b->task, .option = *o};
        assert_true(propose_kernel(b->propose, b->at.source, b->at.source_bytes, &made, &err));
        if (made.verdict != VERDICT_OK)
            fail_msg("%s", made.verdict_text);
        if (o->proposer != PROPOSER_TUNER || strncmp(o->what, "set ", 4) == 0)
            assert_string_equal(made.proposal_note, o->what);
        assert_string_not_equal(made.source, b->at.source);
        judge(b, &made);
    }
    assert_true(sum > 0.999f && sum < 1.001f);
    assert_non_null(strstr(propose_refusals(b->propose), "pad_shared: "));
    end(b);
    end(c);
}

static void test_missing_prompts(void **state)
{
    struct bench *b = begin(product);
    const struct propose_options options = {.prompts_dir = "/nonexistent"};
    struct err err;
    assert_null(propose_create(&options, &b->task, &err));
    assert_non_null(strstr(err.text, "/nonexistent/system.md"));
    end(b);
}

/* A source that the parser does not understand still tunes. */
static void test_trouble(void **state)
{
    struct bench *b =
        begin("#pragma keet size N = 64\n#pragma keet inout X : f32[N]\n"
              "#pragma keet tune B = 32 in {32, 64}\n"
              "#pragma keet launch f<<<ceil_div(N, B), B>>>(X, N)\n"
              "__global__ void f(float *x, int n)\n{\n    strange<int>::type y = 0;\n}\n");
    struct err err;
    assert_true(propose_options(b->propose, &b->at, &err));
    assert_int_equal(b->at.nr_options, 2); /* a point of the tuner's choice, and B = 64 */
    assert_int_equal(b->at.options[0].action, ACTION_TUNE);
    assert_int_equal(b->at.options[1].action, ACTION_TUNE);
    assert_non_null(strstr(propose_refusals(b->propose), "does not understand"));
    end(b);
}

static int open_all(void **state)
{
    test_arena = arena_create();
    return open_world(state);
}

static int close_all(void **state)
{
    arena_destroy(test_arena);
    return close_world(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unroll),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_aliases_are_not_restrict),
        cmocka_unit_test(test_block_shape),
        cmocka_unit_test(test_swap_xy),
        cmocka_unit_test(test_launch_bounds),
        cmocka_unit_test(test_hoist),
        cmocka_unit_test(test_hoist_is_careful),
        cmocka_unit_test(test_fast_math),
        cmocka_unit_test(test_grid_stride),
        cmocka_unit_test(test_pad_shared),
        cmocka_unit_test(test_shuffle_reduce),
        cmocka_unit_test(test_shuffle_reduce_is_careful),
        cmocka_unit_test(test_privatize),
        cmocka_unit_test(test_split_work),
        cmocka_unit_test(test_running_sums),
        cmocka_unit_test(test_tighten),
        cmocka_unit_test(test_fuse),
        cmocka_unit_test(test_composition),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_missing_prompts),
        cmocka_unit_test(test_trouble),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
