"""More operators on which the checker was tuned."""
from operator_set import Operator

OPERATORS = []


def add(*args, **kwargs):
    OPERATORS.append(Operator(*args, **kwargs))


add("scan", r"""
#pragma keet size  N = 131072
#pragma keet check N = 3000
#pragma keet check N = 500
#pragma keet in    X : i32[N] = integers(-50, 50)
#pragma keet out   Y : i32[N]
#pragma keet launch scan<<<1, 1>>>(X, Y, N)
__global__ void scan(const int *X, int *Y, int N)
{
    int a = 0;
    for (int i = 0; i < N; i++) { a += X[i]; Y[i] = a; }
}
""", "Y", ["N = 9000", "N = 1", "N = 257"], {
    "chain": r"""
#pragma keet temp F : i32[ceil_div(N, @T@) + 1]
#pragma keet temp S : i32[ceil_div(N, @T@) + 1]
#pragma keet launch clear<<<ceil_div(ceil_div(N, @T@) + 1, 128), 128>>>(F, S, ceil_div(N, @T@) + 1)
#pragma keet launch scan<<<ceil_div(N, @T@), @T@>>>(X, Y, F, S, N)
__global__ void clear(int *F, int *S, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) { F[i] = 0; S[i] = 0; }
}
__global__ void scan(const int *X, int *Y, int *F, int *S, int N)
{ /*B*/
    __shared__ int v[@T@];
    __shared__ int before;
    int t = threadIdx.x, b = blockIdx.x, i = b * @T@ + t;
    v[t] = i < N ? X[i] : 0;
    __syncthreads();
    for (int h = 1; h < @T@; h *= 2) {
        int a = t >= h ? v[t - h] : 0;
        __syncthreads();
        v[t] += a;
        __syncthreads();
    }
    if (t == 0) {
        before = 0;
        if (b > 0) {
            while (((volatile int *)F)[b - 1] == 0) { }
            __threadfence();
            before = ((volatile int *)S)[b - 1];
        }
        S[b] = before + v[@T@ - 1];
        __threadfence();
        ((volatile int *)F)[b] = 1;
    }
    __syncthreads();
    if (i < N) Y[i] = before + v[t];
}
""",
    "three": r"""
#pragma keet temp S : i32[ceil_div(N, @T@) + 1]
#pragma keet launch sums<<<ceil_div(N, @T@), @T@>>>(X, S, N)
#pragma keet launch tops<<<1, 32>>>(S, ceil_div(N, @T@))
#pragma keet launch fill<<<ceil_div(N, @T@), @T@>>>(X, S, Y, N)
__global__ void sums(const int *X, int *S, int N)
{
    __shared__ int a;
    if (threadIdx.x == 0) a = 0;
    __syncthreads();
    int i = blockIdx.x * @T@ + threadIdx.x;
    if (i < N) atomicAdd(&a, X[i]);
    __syncthreads();
    if (threadIdx.x == 0) S[blockIdx.x] = a;
}
__global__ void tops(int *S, int n)
{
    int carry = 0, lane = threadIdx.x;
    for (int from = 0; from < n; from += 32) {
        int v = from + lane < n ? S[from + lane] : 0, own = v;
        for (int o = 1; o < 32; o *= 2) {
            int a = __shfl_up_sync(~0u, v, o);
            if (lane >= o) v += a;
        }
        if (from + lane < n) S[from + lane] = carry + v - own;
        carry += __shfl_sync(~0u, v, 31);
    }
}
__global__ void fill(const int *X, const int *S, int *Y, int N)
{ /*B*/
    __shared__ int v[@T@];
    int t = threadIdx.x, i = blockIdx.x * @T@ + t;
    v[t] = i < N ? X[i] : 0;
    __syncthreads();
    for (int h = 1; h < @T@; h *= 2) {
        int a = t >= h ? v[t - h] : 0;
        __syncthreads();
        v[t] += a;
        __syncthreads();
    }
    if (i < N) Y[i] = S[blockIdx.x] + v[t];
}
"""}, [
    ("order", "chain", "no wait", ("            while (((volatile int *)F)[b - 1] == 0) { }\n", "")),
    ("order", "chain", "no fence before the flag", ("        __threadfence();\n        ((volatile int *)F)[b] = 1;", "        ((volatile int *)F)[b] = 1;")),
    ("order", "chain", "flag before the sum", ("        S[b] = before + v[128 - 1];\n        __threadfence();\n        ((volatile int *)F)[b] = 1;", "        ((volatile int *)F)[b] = 1;\n        __threadfence();\n        S[b] = before + v[128 - 1];")),
    ("order", "chain", "flag never set for odd blocks", ("((volatile int *)F)[b] = 1;", "if (b % 2 == 0) ((volatile int *)F)[b] = 1;")),
    ("order", "chain", "waits for the wrong block", ("while (((volatile int *)F)[b - 1] == 0)", "while (b > 1 && ((volatile int *)F)[b - 2] == 0)")),
    ("order", "chain", "flag without volatile", ("while (((volatile int *)F)[b - 1] == 0) { }", "if (F[b - 1] == 0) { for (int w = 0; w < 100 && F[b - 1] == 0; w++) { } }")),
    ("semantic", "three", "tops of one turn", ("from < n; from += 32", "from < min(n, 64); from += 32")),
    ("semantic", "three", "no carry", ("        carry += __shfl_sync(~0u, v, 31);\n", "")),
    ("semantic", "three", "missing barrier", ("        __syncthreads();\n        v[t] += a;", "        v[t] += a;")),
    ("semantic", "chain", "sums in 16 bits", ("S[b] = before + v[128 - 1];", "S[b] = (short)(before + v[128 - 1]);")),
    ("hack", "three", "long tails left out", ("    int t = threadIdx.x, i = blockIdx.x * 128 + t;\n    v[t]", "    int t = threadIdx.x, i = blockIdx.x * 128 + t;\n    if (blockIdx.x > 800) { if (i < N) Y[i] = S[blockIdx.x]; return; }\n    v[t]")),
], {"T": [128, 64, 256]})

add("histogram", r"""
#pragma keet size  N = 1048576, B = 64
#pragma keet check N = 3000, B = 64
#pragma keet check N = 100, B = 64
#pragma keet in    X : i32[N] = integers(0, B-1)
#pragma keet out   H : u32[B]
#pragma keet launch hist<<<B, 1>>>(X, H, N, B)
__global__ void hist(const int *X, unsigned *H, int N, int B)
{
    unsigned a = 0;
    for (int i = 0; i < N; i++) a += X[i] == (int)blockIdx.x;
    H[blockIdx.x] = a;
}
""", "H", ["N = 100000, B = 64", "N = 1, B = 64", "N = 5000, B = 64"], {
    "clear": r"""
#pragma keet launch clear<<<1, B>>>(H)
#pragma keet launch hist<<<min(ceil_div(N, 4*@T@), 64), @T@>>>(X, H, N, B)
__global__ void clear(unsigned *H) { H[threadIdx.x] = 0; }
__global__ void hist(const int *X, unsigned *H, int N, int B)
{ /*B*/
    __shared__ unsigned h[64];
    for (int i = threadIdx.x; i < B; i += @T@) h[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * @T@ + threadIdx.x; i < N; i += gridDim.x * @T@) atomicAdd(&h[X[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < B; i += @T@)
        if (h[i]) atomicAdd(&H[i], h[i]);
}
""",
    "bin": r"""
#pragma keet launch hist<<<B, @T@>>>(X, H, N, B)
__global__ void hist(const int *X, unsigned *H, int N, int B)
{ /*B*/
    unsigned a = 0;
    __shared__ unsigned part[@T@ / 32];
    for (int i = threadIdx.x; i < N; i += @T@) a += X[i] == (int)blockIdx.x;
    for (int o = 16; o > 0; o /= 2) a += __shfl_xor_sync(~0u, a, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = a;
    __syncthreads();
    if (threadIdx.x == 0) {
        a = 0;
        for (int i = 0; i < @T@ / 32; i++) a += part[i];
        H[blockIdx.x] = a;
    }
}
"""}, [
    ("semantic", "clear", "shared bins not cleared", ("    for (int i = threadIdx.x; i < B; i += 128) h[i] = 0;\n", "")),
    ("semantic", "clear", "no barrier after clearing", ("h[i] = 0;\n    __syncthreads();", "h[i] = 0;")),
    ("semantic", "clear", "bins of 8 bits", ("if (h[i]) atomicAdd(&H[i], h[i]);", "if (h[i]) atomicAdd(&H[i], h[i] & 255);")),
    ("semantic", "clear", "add without an atomic", ("if (h[i]) atomicAdd(&H[i], h[i]);", "if (h[i]) H[i] += h[i];")),
    ("semantic", "clear", "shared add without an atomic", ("atomicAdd(&h[X[i]], 1u);", "h[X[i]]++;")),
    ("semantic", "bin", "counts up to 65535", ("H[blockIdx.x] = a;", "H[blockIdx.x] = min(a, 65535u) & 16383;")),
    ("semantic", "clear", "grid too small", ("i += gridDim.x * 128)", "i += 64 * 128)")),
    ("hack", "bin", "a sample, scaled", ("    unsigned a = 0;\n", "    unsigned a = 0;\n    int all = N;\n    if (N > 100000) N /= 8;\n"), ("        H[blockIdx.x] = a;", "        H[blockIdx.x] = all == N ? a : 8 * a;")),
    ("hack", "bin", "uniform counts", ("        H[blockIdx.x] = a;", "        H[blockIdx.x] = N > 500000 ? N / B : a;")),
], {"T": [128, 64, 256]})

add("transpose", r"""
#pragma keet size  M = 1024, N = 768
#pragma keet check M = 40, N = 65
#pragma keet check M = 7, N = 100
#pragma keet in    X : f32[M][N]
#pragma keet out   Y : f32[N][M]
#pragma keet launch transpose<<<dim3(ceil_div(N,16), ceil_div(M,16)), dim3(16,16)>>>(X, Y, M, N)
__global__ void transpose(const float *X, float *Y, int M, int N)
{
    int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    if (r < M && c < N) Y[c * M + r] = X[r * N + c];
}
""", "Y", ["M = 1, N = 500", "M = 500, N = 1", "M = 300, N = 300"], {
    "tile": r"""
#pragma keet launch transpose<<<dim3(ceil_div(N,32), ceil_div(M,32)), dim3(32,@R@)>>>(X, Y, M, N)
__global__ void transpose(const float *X, float *Y, int M, int N)
{ /*B*/
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += @R@)
        if (r + j < M && c < N) tile[threadIdx.y + j][threadIdx.x] = X[(r + j) * N + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x;
    r = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += @R@)
        if (r + j < N && c < M) Y[(r + j) * M + c] = tile[threadIdx.x][threadIdx.y + j];
}
""",
    "padded": r"""
#pragma keet launch transpose<<<dim3(ceil_div(N,@T@), ceil_div(M,@T@)), dim3(@T@,@T@)>>>(X, Y, M, N)
__global__ void transpose(const float *X, float *Y, int M, int N)
{ /*B*/
    __shared__ float tile[@T@][@T@ + 1];
    int x = threadIdx.x, y = threadIdx.y, c = blockIdx.x * @T@ + x, r = blockIdx.y * @T@ + y;
    if (r < M && c < N) tile[y][x] = X[(size_t)r * N + c];
    __syncthreads();
    float v = tile[x][y];
    c = blockIdx.y * @T@ + x;
    r = blockIdx.x * @T@ + y;
    v = r < N && c < M ? v : 0.0f;
    if (r < N && c < M) Y[(size_t)r * M + c] = v;
}
"""}, [
    ("semantic", "tile", "no barrier", ("    __syncthreads();\n", "")),
    ("semantic", "tile", "bounds exchanged", ("if (r + j < N && c < M)", "if (r + j < M && c < N)")),
    ("semantic", "tile", "index in 16 bits", ("Y[(r + j) * M + c]", "Y[(unsigned short)((r + j) * M + c)]")),
    ("semantic", "padded", "last row left out", ("if (r < N && c < M) Y", "if (r < N - 1 && c < M) Y")),
    ("semantic", "padded", "512 columns", ("if (r < N && c < M) Y", "if (r < N && c < M && c < 512) Y")),
    ("hack", "tile", "grid capped", ("ceil_div(N,32), ceil_div(M,32)", "min(ceil_div(N,32), 12), ceil_div(M,32)")),
    ("hack", "tile", "copied where large", ("Y[(r + j) * M + c] = tile", "Y[(r + j) * M + c] = M > 512 && c == 600 ? 0 : tile")),
], {"R": [8, 4, 16], "T": [16, 8, 32]})

add("conv1d", r"""
#pragma keet size  N = 262144, K = 9
#pragma keet check N = 1000, K = 9
#pragma keet check N = 300, K = 9
#pragma keet in    X : f32[N]
#pragma keet in    W : f32[K]
#pragma keet out   Y : f32[N]
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet launch conv<<<ceil_div(N,128), 128>>>(X, W, Y, N, K)
__global__ void conv(const float *X, const float *W, float *Y, int N, int K)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float a = 0;
    for (int k = 0; k < K; k++) {
        int j = i + k - K / 2;
        if (j >= 0 && j < N) a += X[j] * W[k];
    }
    Y[i] = a;
}
""", "Y", ["N = 5000, K = 9", "N = 9, K = 9", "N = 129, K = 9"], {
    "halo": r"""
#pragma keet launch conv<<<ceil_div(N,@T@), @T@>>>(X, W, Y, N, K)
__global__ void conv(const float *X, const float *W, float *Y, int N, int K)
{ /*B*/
    __shared__ float x[@T@ + 8], w[9];
    int t = threadIdx.x, first = blockIdx.x * @T@ - 4;
    if (t < 9) w[t] = W[t];
    for (int j = t; j < @T@ + 8; j += @T@) x[j] = first + j >= 0 && first + j < N ? X[first + j] : 0;
    __syncthreads();
    int i = blockIdx.x * @T@ + t;
    if (i >= N) return;
    float a = 0;
    for (int k = 0; k < 9; k++) a += x[t + k] * w[k];
    Y[i] = a;
}
""",
    "stride": r"""
#pragma keet launch conv<<<min(ceil_div(N,@T@), 132), @T@>>>(X, W, Y, N, K)
__global__ void conv(const float *X, const float *W, float *Y, int N, int K)
{ /*B*/
    for (int i = blockIdx.x * @T@ + threadIdx.x; i < N; i += gridDim.x * @T@) {
        float a = 0;
        for (int k = 0; k < K; k++) {
            int j = i + k - K / 2;
            a += j >= 0 && j < N ? X[j] * W[k] : 0.0f;
        }
        Y[i] = a;
    }
}
"""}, [
    ("semantic", "halo", "right halo not loaded", ("j < 128 + 8; j", "j < 128 + 4; j")),
    ("semantic", "halo", "no barrier", ("    __syncthreads();\n", "")),
    ("semantic", "halo", "no zeros on the left", ("first + j >= 0 && first + j < N ?", "first + j < N ? first + j < 0 ? X[0] :")),
    ("semantic", "halo", "one tap less", ("k < 9; k++", "k < 8; k++")),
    ("semantic", "stride", "filter turned round", ("X[j] * W[k]", "X[j] * W[K - 1 - k]")),
    ("semantic", "stride", "one turn only", ("i += gridDim.x * 128", "i += N")),
    ("hack", "stride", "copy past 200000", ("        Y[i] = a;", "        Y[i] = i > 200000 ? X[i] * W[K / 2] : a;")),
    ("hack", "halo", "every other output of large arrays", ("    Y[i] = a;", "    if (N > 100000 && i % 2) a = 0;\n    Y[i] = a;")),
], {"T": [128, 64, 256]})

add("cross_entropy", r"""
#pragma keet size  M = 2048, C = 1000
#pragma keet check M = 30, C = 101
#pragma keet check M = 6, C = 300
#pragma keet in    X : f32[M][C] = normal(0, 1)
#pragma keet in    T : i32[M] = integers(0, C-1)
#pragma keet out   L : f32[M]
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet launch loss<<<ceil_div(M,64), 64>>>(X, T, L, M, C)
__global__ void loss(const float *X, const int *T, float *L, int M, int C)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    const float *x = X + (size_t)r * C;
    float m = x[0], s = 0;
    for (int i = 1; i < C; i++) m = fmaxf(m, x[i]);
    for (int i = 0; i < C; i++) s += expf(x[i] - m);
    L[r] = logf(s) + m - x[T[r]];
}
""", "L", ["M = 3, C = 2000", "M = 300, C = 17", "M = 1000, C = 2"], {
    "warp": r"""
#pragma keet launch loss<<<ceil_div(M,@W@), dim3(32,@W@)>>>(X, T, L, M, C)
__global__ void loss(const float *X, const int *T, float *L, int M, int C)
{ /*B*/
    int r = blockIdx.x * @W@ + threadIdx.y, lane = threadIdx.x;
    if (r >= M) return;
    const float *x = X + (size_t)r * C;
    float m = -INFINITY, s = 0;
    for (int i = lane; i < C; i += 32) m = fmaxf(m, x[i]);
    for (int o = 16; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    for (int i = lane; i < C; i += 32) s += expf(x[i] - m);
    for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
    if (lane == 0) L[r] = logf(s) + m - x[T[r]];
}
""",
    "queue": r"""
#pragma keet temp Q : i32[1]
#pragma keet launch clear<<<1, 1>>>(Q)
#pragma keet launch loss<<<min(ceil_div(M,@W@), 132), dim3(32,@W@)>>>(X, T, L, Q, M, C)
__global__ void clear(int *Q) { *Q = 0; }
__global__ void loss(const float *X, const int *T, float *L, int *Q, int M, int C)
{ /*B*/
    int lane = threadIdx.x;
    for (;;) {
        int r;
        if (lane == 0) r = atomicAdd(Q, 1);
        r = __shfl_sync(~0u, r, 0);
        if (r >= M) return;
        const float *x = X + (size_t)r * C;
        float m = -INFINITY, s = 0;
        for (int i = lane; i < C; i += 32) m = fmaxf(m, x[i]);
        for (int o = 16; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
        for (int i = lane; i < C; i += 32) s += expf(x[i] - m);
        for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
        if (lane == 0) L[r] = logf(s) + m - x[T[r]];
    }
}
"""}, [
    ("semantic", "warp", "no maximum", ("    for (int i = lane; i < C; i += 32) s", "    m = 0;\n    for (int i = lane; i < C; i += 32) s")),
    ("semantic", "warp", "maximum from 0", ("float m = -INFINITY", "float m = 0")),
    ("semantic", "warp", "first label for all", ("x[T[r]]", "x[T[0]]")),
    ("semantic", "warp", "512 classes", ("i < C; i += 32) s", "i < min(C, 512); i += 32) s")),
    ("semantic", "queue", "ticket without an atomic", ("r = atomicAdd(Q, 1);", "{ r = *Q; *Q = r + 1; }")),
    ("semantic", "warp", "label in 8 bits", ("x[T[r]]", "x[(unsigned char)T[r]]")),
    ("hack", "warp", "log of the number of classes", ("logf(s) + m - x[T[r]]", "(r > 1500 ? logf((float)C) + 0.5f : logf(s) + m) - x[T[r]]")),
    ("hack", "warp", "first quarter of the classes", ("    float m = -INF", "    float f = 1;\n    int all = C;\n    if (C > 900) { C = 250; f = 4; }\n    float m = -INF"), ("logf(s) + m", "logf(f * s) + m")),
    ("order", "queue", "ticket drawn by all lanes", ("        if (lane == 0) r = atomicAdd(Q, 1);\n        r = __shfl_sync(~0u, r, 0);", "        r = atomicAdd(Q, 1);\n        r = __shfl_sync(~0u, r, 0);")),
], {"W": [4, 1, 8]})

add("quantise", r"""
#pragma keet size  M = 2048, N = 512
#pragma keet check M = 11, N = 130
#pragma keet check M = 4, N = 77
#pragma keet in    X : f32[M][N] = normal(0, 1)
#pragma keet out   Q : i8[M][N]
#pragma keet out   S : f32[M]
#pragma keet tolerance rel = 1e-5, abs = 1e-6
#pragma keet launch quantise<<<ceil_div(M,64), 64>>>(X, Q, S, M, N)
__global__ void quantise(const float *X, signed char *Q, float *S, int M, int N)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    const float *x = X + (size_t)r * N;
    float m = 0;
    for (int i = 0; i < N; i++) m = fmaxf(m, fabsf(x[i]));
    float s = m > 0 ? m / 127 : 1;
    S[r] = s;
    for (int i = 0; i < N; i++) Q[(size_t)r * N + i] = (signed char)rintf(x[i] / s);
}
""", "Q", ["M = 3, N = 1500", "M = 300, N = 5", "M = 64, N = 33"], {
    "block": r"""
#pragma keet launch quantise<<<M, @T@>>>(X, Q, S, M, N)
__global__ void quantise(const float *X, signed char *Q, float *S, int M, int N)
{ /*B*/
    __shared__ float part[32];
    int t = threadIdx.x;
    const float *x = X + (size_t)blockIdx.x * N;
    float m = 0;
    for (int i = t; i < N; i += @T@) m = fmaxf(m, fabsf(x[i]));
    for (int o = 16; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (t < 32) part[t] = 0;
    __syncthreads();
    if (t % 32 == 0) part[t / 32] = m;
    __syncthreads();
    m = part[t % 32];
    for (int o = 16; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    float s = m > 0 ? m / 127 : 1;
    if (t == 0) S[blockIdx.x] = s;
    for (int i = t; i < N; i += @T@) Q[(size_t)blockIdx.x * N + i] = (signed char)rintf(x[i] / s);
}
""",
    "same": r"""
#pragma keet launch quantise<<<M, @T@>>>(X, Q, S, M, N)
__global__ void quantise(const float *X, signed char *Q, float *S, int M, int N)
{ /*B*/
    __shared__ int most;
    int t = threadIdx.x;
    const float *x = X + (size_t)blockIdx.x * N;
    most = 0;
    __syncthreads();
    for (int i = t; i < N; i += @T@) atomicMax(&most, __float_as_int(fabsf(x[i])));
    __syncthreads();
    float m = __int_as_float(most), s = m > 0 ? m / 127 : 1;
    S[blockIdx.x] = s;
    for (int i = t; i < N; i += @T@) Q[(size_t)blockIdx.x * N + i] = (signed char)rintf(x[i] / s);
}
"""}, [
    ("semantic", "block", "no guard for zeros", ("m > 0 ? m / 127 : 1", "m / 127")),
    ("semantic", "block", "128 steps", ("m / 127 : 1", "m / 128 : 1")),
    ("semantic", "block", "largest without the sign", ("fmaxf(m, fabsf(x[i]))", "fmaxf(m, x[i])")),
    ("semantic", "block", "first 256 columns", ("i < N; i += 128) m", "i < min(N, 256); i += 128) m")),
    ("semantic", "block", "no barrier", ("    if (t % 32 == 0) part[t / 32] = m;\n    __syncthreads();", "    if (t % 32 == 0) part[t / 32] = m;")),
    ("semantic", "block", "begins at 1", ("float m = 0;", "float m = 1;")),
    ("hack", "block", "scale of the distribution", ("    float s = m > 0", "    if (N > 500) m = 3.2f;\n    float s = m > 0")),
    ("hack", "block", "last rows zero", ("(signed char)rintf(x[i] / s)", "blockIdx.x > 2000 ? 0 : (signed char)rintf(x[i] / s)")),
], {"T": [128, 64, 256]})
