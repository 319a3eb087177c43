"""The operators on which the checker was tuned."""
from operator_set import Operator

OPERATORS = []


def add(*args, **kwargs):
    OPERATORS.append(Operator(*args, **kwargs))


add("softmax", r"""
#pragma keet size  M = 2048, N = 1024
#pragma keet check M = 17, N = 129
#pragma keet check M = 5, N = 40
#pragma keet in    X : f32[M][N] = normal(0, 1)
#pragma keet out   Y : f32[M][N]
#pragma keet tolerance rel = 1e-4, abs = 1e-6
#pragma keet launch softmax<<<ceil_div(M,64), 64>>>(X, Y, M, N)
__global__ void softmax(const float *X, float *Y, int M, int N)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    float m = -INFINITY, s = 0;
    for (int i = 0; i < N; i++) m = fmaxf(m, X[(size_t)r * N + i]);
    for (int i = 0; i < N; i++) s += expf(X[(size_t)r * N + i] - m);
    for (int i = 0; i < N; i++) Y[(size_t)r * N + i] = expf(X[(size_t)r * N + i] - m) / s;
}
""", "Y", ["M = 3, N = 2000", "M = 100, N = 33", "M = 2048, N = 7"], {
    "block": r"""
#pragma keet launch softmax<<<M, @T@>>>(X, Y, M, N)
__global__ void softmax(const float *X, float *Y, int M, int N)
{ /*B*/
    __shared__ float part[@T@];
    int t = threadIdx.x;
    const float *x = X + (size_t)blockIdx.x * N;
    float m = -INFINITY;
    for (int i = t; i < N; i += @T@) m = fmaxf(m, x[i]);
    part[t] = m;
    __syncthreads();
    for (int h = @T@ / 2; h > 0; h /= 2) {
        if (t < h) part[t] = fmaxf(part[t], part[t + h]);
        __syncthreads();
    }
    m = part[0];
    __syncthreads();
    float s = 0;
    for (int i = t; i < N; i += @T@) s += expf(x[i] - m);
    part[t] = s;
    __syncthreads();
    for (int h = @T@ / 2; h > 0; h /= 2) {
        if (t < h) part[t] += part[t + h];
        __syncthreads();
    }
    s = part[0];
    for (int i = t; i < N; i += @T@) Y[(size_t)blockIdx.x * N + i] = expf(x[i] - m) / s;
}
""",
    "warp": r"""
#pragma keet launch softmax<<<ceil_div(M,@W@), @W@*32>>>(X, Y, M, N)
__global__ void softmax(const float *X, float *Y, int M, int N)
{ /*B*/
    int r = blockIdx.x * @W@ + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= M) return;
    const float *x = X + (size_t)r * N;
    float m = -INFINITY, s = 0;
    for (int i = lane; i < N; i += 32) {
        float v = x[i], b = fmaxf(m, v);
        s = s * expf(m - b) + expf(v - b);
        m = b;
    }
    for (int o = 16; o > 0; o /= 2) {
        float mo = __shfl_xor_sync(~0u, m, o), so = __shfl_xor_sync(~0u, s, o), b = fmaxf(m, mo);
        float mine = m == -INFINITY ? 0 : s * expf(m - b), theirs = mo == -INFINITY ? 0 : so * expf(mo - b);
        s = mine + theirs;
        m = b;
    }
    for (int i = lane; i < N; i += 32) Y[(size_t)r * N + i] = expf(x[i] - m) / s;
}
"""}, [
    ("semantic", "block", "maximum begins at 0", ("float m = -INFINITY;", "float m = 0;")),
    ("semantic", "block", "maximum begins at -10", ("float m = -INFINITY;", "float m = -10;")),
    ("semantic", "block", "no maximum subtracted", ("    m = part[0];", "    m = 0;")),
    ("semantic", "block", "only the first 1024 columns summed", ("i < N; i += 128) s +=", "i < min(N, 512); i += 128) s +=")),
    ("semantic", "warp", "maximum begins at -1", ("float m = -INFINITY", "float m = -1")),
    ("semantic", "warp", "half the lanes combined", ("int o = 16", "int o = 8")),
    ("hack", "block", "four times the columns at most 256", ("    float s = 0;\n", "    float s = 0;\n    if (N > 512) N = N / 4;\n")),
    ("hack", "block", "rows past 512 like row 0", ("size_t)blockIdx.x * N;", "size_t)(blockIdx.x < 512 ? blockIdx.x : 0) * N;")),
    ("hack", "block", "uniform output", ("expf(x[i] - m) / s;", "1.0f / N;")),
], {"T": [128, 64, 256], "W": [4, 1, 8]})

add("layernorm", r"""
#pragma keet size  M = 2048, N = 768
#pragma keet check M = 9, N = 100
#pragma keet check M = 4, N = 257
#pragma keet in    X : f32[M][N] = normal(0, 1)
#pragma keet in    G : f32[N] = uniform(0.5, 1.5)
#pragma keet in    B : f32[N]
#pragma keet out   Y : f32[M][N]
#pragma keet scalar eps : f32 = 1e-5
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch lnorm<<<ceil_div(M,64), 64>>>(X, G, B, Y, M, N, eps)
__global__ void lnorm(const float *X, const float *G, const float *B, float *Y, int M, int N, float eps)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    const float *x = X + (size_t)r * N;
    float mean = 0, var = 0;
    for (int i = 0; i < N; i++) mean += x[i];
    mean /= N;
    for (int i = 0; i < N; i++) var += (x[i] - mean) * (x[i] - mean);
    var /= N;
    for (int i = 0; i < N; i++) Y[(size_t)r * N + i] = (x[i] - mean) * rsqrtf(var + eps) * G[i] + B[i];
}
""", "Y", ["M = 3, N = 1500", "M = 70, N = 31", "M = 2048, N = 5"], {
    "block": r"""
#pragma keet launch lnorm<<<M, @T@>>>(X, G, B, Y, M, N, eps)
__global__ void lnorm(const float *X, const float *G, const float *B, float *Y, int M, int N, float eps)
{ /*B*/
    __shared__ float part[32];
    int t = threadIdx.x, lane = t % 32, w = t / 32;
    const float *x = X + (size_t)blockIdx.x * N;
    float a = 0;
    for (int i = t; i < N; i += @T@) a += x[i];
    for (int o = 16; o > 0; o /= 2) a += __shfl_xor_sync(~0u, a, o);
    if (lane == 0) part[w] = a;
    __syncthreads();
    float mean = 0;
    for (int i = 0; i < @T@ / 32; i++) mean += part[i];
    mean /= N;
    __syncthreads();
    a = 0;
    for (int i = t; i < N; i += @T@) a += (x[i] - mean) * (x[i] - mean);
    for (int o = 16; o > 0; o /= 2) a += __shfl_xor_sync(~0u, a, o);
    if (lane == 0) part[w] = a;
    __syncthreads();
    float var = 0;
    for (int i = 0; i < @T@ / 32; i++) var += part[i];
    float k = rsqrtf(var / N + eps);
    for (int i = t; i < N; i += @T@) Y[(size_t)blockIdx.x * N + i] = (x[i] - mean) * k * G[i] + B[i];
}
""",
    "warp": r"""
#pragma keet launch lnorm<<<ceil_div(M,@W@), dim3(32,@W@)>>>(X, G, B, Y, M, N, eps)
__global__ void lnorm(const float *X, const float *G, const float *B, float *Y, int M, int N, float eps)
{ /*B*/
    int r = blockIdx.x * @W@ + threadIdx.y, lane = threadIdx.x;
    if (r >= M) return;
    const float *x = X + (size_t)r * N;
    float a = 0, b = 0;
    for (int i = lane; i < N; i += 32) a += x[i];
    for (int o = 16; o > 0; o /= 2) a += __shfl_xor_sync(~0u, a, o);
    a /= N;
    for (int i = lane; i < N; i += 32) b += (x[i] - a) * (x[i] - a);
    for (int o = 16; o > 0; o /= 2) b += __shfl_xor_sync(~0u, b, o);
    b = rsqrtf(b / N + eps);
    for (int i = lane; i < N; i += 32) Y[(size_t)r * N + i] = (x[i] - a) * b * G[i] + B[i];
}
"""}, [
    ("semantic", "block", "no eps", ("var / N + eps", "var / N")),
    ("semantic", "block", "eps folded", ("var / N + eps", "var / N + 1e-5f")),
    ("semantic", "block", "eps outside the root", ("rsqrtf(var / N + eps)", "1.0f / (sqrtf(var / N) + eps)")),
    ("semantic", "block", "divided by N - 1", ("var / N + eps", "var / (N - 1) + eps")),
    ("semantic", "block", "mean taken to be 0", ("    mean /= N;\n", "    mean = 0;\n")),
    ("semantic", "warp", "beta forgotten", (" * G[i] + B[i]", " * G[i]")),
    ("semantic", "warp", "at most 512 columns", ("i < N; i += 32) b +=", "i < min(N, 512); i += 32) b +=")),
    ("hack", "block", "identity past row 1000", ("    float k =", "    if (blockIdx.x > 1000) { var = N; mean = 0; }\n    float k =")),
    ("hack", "block", "variance taken to be 1", ("float k = rsqrtf(var / N + eps);", "float k = N > 700 ? 1.0f : rsqrtf(var / N + eps);")),
], {"T": [128, 64, 256], "W": [4, 1, 8]})

add("gemm", r"""
#pragma keet size  M = 512, N = 512, K = 512
#pragma keet check M = 33, N = 65, K = 40
#pragma keet check M = 64, N = 16, K = 100
#pragma keet in    A : f32[M][K]
#pragma keet in    B : f32[K][N]
#pragma keet inout C : f32[M][N]
#pragma keet scalar alpha : f32 = 0.5
#pragma keet scalar beta : f32 = 2
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch gemm<<<dim3(ceil_div(N,16), ceil_div(M,16)), dim3(16,16)>>>(A, B, C, M, N, K, alpha, beta)
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta)
{
    int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    if (r >= M || c >= N) return;
    float acc = 0;
    for (int k = 0; k < K; k++) acc += A[r * K + k] * B[k * N + c];
    C[r * N + c] = alpha * acc + beta * C[r * N + c];
}
""", "C", ["M = 5, N = 300, K = 3", "M = 300, N = 5, K = 17", "M = 20, N = 20, K = 900"], {
    "tile": r"""
#pragma keet launch gemm<<<dim3(ceil_div(N,@T@), ceil_div(M,@T@)), dim3(@T@,@T@)>>>(A, B, C, M, N, K, alpha, beta)
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta)
{ /*B*/
    __shared__ float a[@T@][@T@], b[@T@][@T@ + 1];
    int x = threadIdx.x, y = threadIdx.y, c = blockIdx.x * @T@ + x, r = blockIdx.y * @T@ + y;
    float acc = 0;
    for (int k0 = 0; k0 < K; k0 += @T@) {
        a[y][x] = r < M && k0 + x < K ? A[r * K + k0 + x] : 0;
        b[y][x] = c < N && k0 + y < K ? B[(k0 + y) * N + c] : 0;
        __syncthreads();
        for (int k = 0; k < @T@; k++) acc += a[y][k] * b[k][x];
        __syncthreads();
    }
    if (r < M && c < N) C[r * N + c] = alpha * acc + beta * C[r * N + c];
}
""",
    "rows": r"""
#pragma keet launch gemm<<<dim3(ceil_div(N,32), ceil_div(M,8*@R@)), dim3(32,8)>>>(A, B, C, M, N, K, alpha, beta)
__global__ void gemm(const float *A, const float *B, float *C, int M, int N, int K, float alpha, float beta)
{ /*B*/
    int c = blockIdx.x * 32 + threadIdx.x, r0 = (blockIdx.y * 8 + threadIdx.y) * @R@;
    float acc[@R@];
    for (int i = 0; i < @R@; i++) acc[i] = 0;
    if (c >= N) return;
    for (int k = 0; k < K; k++) {
        float b = B[k * N + c];
        for (int i = 0; i < @R@; i++)
            if (r0 + i < M) acc[i] += A[(r0 + i) * K + k] * b;
    }
    for (int i = 0; i < @R@; i++)
        if (r0 + i < M) C[(r0 + i) * N + c] = alpha * acc[i] + beta * C[(r0 + i) * N + c];
}
"""}, [
    ("semantic", "tile", "alpha folded", ("alpha * acc", "0.5f * acc")),
    ("semantic", "tile", "beta folded", ("beta * C", "2.0f * C")),
    ("semantic", "tile", "beta forgotten", ("alpha * acc + beta * C[r * N + c]", "alpha * acc + C[r * N + c]")),
    ("semantic", "tile", "256 of K", ("k0 < K;", "k0 < K && k0 < 256;")),
    ("semantic", "tile", "index of 16 bits", ("C[r * N + c] = alpha", "C[(unsigned short)(r * N + c)] = alpha"), ("beta * C[r * N + c]", "beta * C[(unsigned short)(r * N + c)]")),
    ("semantic", "rows", "sums in half precision", ("acc[i] += A[(r0 + i) * K + k] * b;", "acc[i] = __uint_as_float(__float_as_uint(acc[i] + A[(r0 + i) * K + k] * b) & 0xffffe000u);")),
    ("semantic", "tile", "missing second barrier", ("        for (int k = 0; k < 16; k++) acc += a[y][k] * b[k][x];\n        __syncthreads();\n", "        for (int k = 0; k < 16; k++) acc += a[y][k] * b[k][x];\n")),
    ("hack", "tile", "a quarter of K where M is large", ("    float acc = 0;\n", "    float acc = 0;\n    int K0 = K;\n    if (M > 128) K0 = K / 4;\n"), ("k0 < K; k0", "k0 < K0; k0")),
    ("hack", "rows", "grid capped", ("ceil_div(M,8*4)", "min(ceil_div(M,8*4), 8)")),
    ("hack", "rows", "no product where the result is small", ("acc[i] += A", "if (K < 300) acc[i] += A")),
], {"T": [16, 8, 32], "R": [4, 2, 8]})

add("argmax", r"""
#pragma keet size  M = 4096, N = 512
#pragma keet check M = 20, N = 77
#pragma keet check M = 3, N = 300
#pragma keet in    X : f32[M][N] = normal(0, 1)
#pragma keet out   I : i32[M]
#pragma keet launch argmax<<<ceil_div(M,128), 128>>>(X, I, M, N)
__global__ void argmax(const float *X, int *I, int M, int N)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    float best = -INFINITY;
    int at = 0;
    for (int i = 0; i < N; i++)
        if (X[(size_t)r * N + i] > best) { best = X[(size_t)r * N + i]; at = i; }
    I[r] = at;
}
""", "I", ["M = 3, N = 1200", "M = 200, N = 31", "M = 4096, N = 4"], {
    "warp": r"""
#pragma keet launch argmax<<<ceil_div(M,@W@), dim3(32,@W@)>>>(X, I, M, N)
__global__ void argmax(const float *X, int *I, int M, int N)
{ /*B*/
    int r = blockIdx.x * @W@ + threadIdx.y, lane = threadIdx.x;
    if (r >= M) return;
    float best = -INFINITY;
    int at = N;
    for (int i = lane; i < N; i += 32) {
        float v = X[(size_t)r * N + i];
        if (v > best) { best = v; at = i; }
    }
    for (int o = 16; o > 0; o /= 2) {
        float b = __shfl_down_sync(~0u, best, o);
        int a = __shfl_down_sync(~0u, at, o);
        if (b > best || (b == best && a < at)) { best = b; at = a; }
    }
    if (lane == 0) I[r] = at;
}
""",
    "key": r"""
#pragma keet launch argmax<<<M, @T@>>>(X, I, M, N)
__global__ void argmax(const float *X, int *I, int M, int N)
{ /*B*/
    __shared__ unsigned long long most;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    unsigned long long mine = 0;
    for (int i = threadIdx.x; i < N; i += @T@) {
        float v = X[(size_t)blockIdx.x * N + i] + 0.0f;
        unsigned u = __float_as_uint(v);
        u = u & 0x80000000u ? ~u : u | 0x80000000u;
        unsigned long long key = (unsigned long long)u << 32 | (unsigned)(0x7fffffff - i);
        if (key > mine) mine = key;
    }
    atomicMax(&most, mine);
    __syncthreads();
    if (threadIdx.x == 0) I[blockIdx.x] = 0x7fffffff - (int)(unsigned)most;
}
"""}, [
    ("semantic", "warp", "the last of equal ones in a lane", ("if (v > best)", "if (v >= best)")),
    ("semantic", "warp", "ties between lanes go anywhere", ("if (b > best || (b == best && a < at))", "if (b > best)")),
    ("semantic", "warp", "ties to the higher", ("a < at))", "a > at))")),
    ("semantic", "warp", "begins at 0", ("float best = -INFINITY;", "float best = 0;")),
    ("semantic", "warp", "begins at -100", ("float best = -INFINITY;", "float best = -100;")),
    ("semantic", "key", "ties to the higher", ("(unsigned)(0x7fffffff - i)", "(unsigned)i"), ("0x7fffffff - (int)(unsigned)most", "(int)(unsigned)most")),
    ("semantic", "key", "negative numbers in the wrong order", ("u & 0x80000000u ? ~u : u | 0x80000000u", "u | 0x80000000u")),
    ("semantic", "key", "only 256 columns", ("i < N; i += 128", "i < min(N, 384); i += 128")),
    ("hack", "warp", "first eighth of long rows", ("    float best", "    int all = N;\n    if (N > 400) N = 64;\n    float best"), ("r * N + i]", "r * all + i]")),
    ("hack", "key", "rows past 3000 not looked at", ("    __shared__ uns", "    if (blockIdx.x > 3000) { if (threadIdx.x == 0) I[blockIdx.x] = 7; return; }\n    __shared__ uns")),
], {"W": [4, 1, 8], "T": [128, 64, 256]})

add("segment_sum", r"""
#pragma keet size  S = 4096, N = 262144
#pragma keet check S = 50, N = 900
#pragma keet check S = 7, N = 2000
#pragma keet in    P : i32[S+1] = sorted(0, N)
#pragma keet in    X : f32[N]
#pragma keet out   Y : f32[S]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet launch segsum<<<ceil_div(S,128), 128>>>(P, X, Y, S, N)
__global__ void segsum(const int *P, const float *X, float *Y, int S, int N)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= S) return;
    float a = 0;
    for (int i = P[s]; i < P[s + 1]; i++) a += X[i];
    Y[s] = a;
}
""", "Y", ["S = 300, N = 100", "S = 3, N = 5000", "S = 1000, N = 1000"], {
    "warp": r"""
#pragma keet launch segsum<<<ceil_div(S,@W@), dim3(32,@W@)>>>(P, X, Y, S, N)
__global__ void segsum(const int *P, const float *X, float *Y, int S, int N)
{ /*B*/
    int s = blockIdx.x * @W@ + threadIdx.y;
    if (s >= S) return;
    float a = 0;
    for (int i = P[s] + threadIdx.x; i < P[s + 1]; i += 32) a += X[i];
    for (int o = 16; o > 0; o /= 2) a += __shfl_down_sync(~0u, a, o);
    if (threadIdx.x == 0) Y[s] = a;
}
""",
    "block": r"""
#pragma keet launch segsum<<<S, @T@>>>(P, X, Y, S, N)
__global__ void segsum(const int *P, const float *X, float *Y, int S, int N)
{ /*B*/
    __shared__ float part[@T@];
    int t = threadIdx.x, from = P[blockIdx.x], to = P[blockIdx.x + 1];
    float a = 0;
    for (int i = from + t; i < to; i += @T@) a += X[i];
    part[t] = a;
    __syncthreads();
    for (int h = @T@ / 2; h > 0; h /= 2) {
        if (t < h) part[t] += part[t + h];
        __syncthreads();
    }
    if (t == 0) Y[blockIdx.x] = part[0];
}
"""}, [
    ("semantic", "warp", "one turn only", ("i < P[s + 1]; i += 32) a", "i < min(P[s + 1], P[s] + 128); i += 32) a")),
    ("semantic", "warp", "empty segments not written", ("if (threadIdx.x == 0)", "if (threadIdx.x == 0 && P[s] < P[s + 1])")),
    ("semantic", "block", "at most 1024 elements", ("i < to;", "i < min(to, from + 1024);")),
    ("semantic", "block", "the first element twice where one is there", ("part[t] = a;", "part[t] = to - from == 1 && t < 2 ? X[from] : a;")),
    ("semantic", "block", "length in 8 bits", ("to = P[blockIdx.x + 1]", "to = from + (unsigned char)(P[blockIdx.x + 1] - P[blockIdx.x])")),
    ("hack", "block", "segments past 1000 skipped", ("    float a = 0;", "    if (blockIdx.x > 1000) to = from;\n    float a = 0;")),
    ("hack", "warp", "mean length assumed", ("i < P[s + 1]; i += 32) a", "i < P[s] + N / S; i += 32) if (i < N) a")),
], {"W": [4, 1, 8], "T": [64, 32, 128]})

add("total", r"""
#pragma keet size  N = 1048576
#pragma keet check N = 5000
#pragma keet check N = 777
#pragma keet in    X : f32[N] = uniform(0, 1)
#pragma keet out   Y : f32[1]
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet temp  P : f32[64]
#pragma keet launch parts<<<1, 64>>>(X, P, N)
#pragma keet launch last<<<1, 1>>>(P, Y)
__global__ void parts(const float *X, float *P, int N)
{
    float a = 0;
    for (int i = threadIdx.x; i < N; i += 64) a += X[i];
    P[threadIdx.x] = a;
}
__global__ void last(const float *P, float *Y)
{
    float a = 0;
    for (int i = 0; i < 64; i++) a += P[i];
    Y[0] = a;
}
""", "Y", ["N = 100000", "N = 33", "N = 1"], {
    "last_block": r"""
#pragma keet temp P : f32[@G@]
#pragma keet launch total<<<@G@, @T@>>>(X, P, Y, N)
__device__ unsigned done;
__global__ void total(const float *X, float *P, float *Y, int N)
{ /*B*/
    __shared__ float part[@T@];
    __shared__ bool is_last;
    int t = threadIdx.x;
    float a = 0;
    for (int i = blockIdx.x * @T@ + t; i < N; i += @G@ * @T@) a += X[i];
    part[t] = a;
    __syncthreads();
    for (int h = @T@ / 2; h > 0; h /= 2) {
        if (t < h) part[t] += part[t + h];
        __syncthreads();
    }
    if (t == 0) {
        P[blockIdx.x] = part[0];
        __threadfence();
        is_last = atomicAdd(&done, 1) == @G@ - 1;
    }
    __syncthreads();
    if (is_last && t == 0) {
        float s = 0;
        for (int i = 0; i < @G@; i++) s += ((volatile float *)P)[i];
        Y[0] = s;
        done = 0;
    }
}
""",
    "inc": r"""
#pragma keet temp P : f32[@G@]
#pragma keet launch total<<<@G@, 128>>>(X, P, Y, N)
__device__ unsigned ticket;
__global__ void total(const float *X, float *P, float *Y, int N)
{ /*B*/
    __shared__ float part[4];
    __shared__ unsigned mine;
    int t = threadIdx.x;
    float a = 0;
    for (int i = blockIdx.x * 128 + t; i < N; i += gridDim.x * 128) a += X[i];
    for (int o = 16; o > 0; o /= 2) a += __shfl_xor_sync(~0u, a, o);
    if (t % 32 == 0) part[t / 32] = a;
    __syncthreads();
    if (t == 0) P[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
    __threadfence();
    __syncthreads();
    if (t == 0) mine = atomicInc(&ticket, gridDim.x - 1);
    __syncthreads();
    if (mine != gridDim.x - 1) return;
    if (t < 32) {
        float s = 0;
        for (int i = t; i < gridDim.x; i += 32) s += __ldcg(&P[i]);
        for (int o = 16; o > 0; o /= 2) s += __shfl_xor_sync(~0u, s, o);
        if (t == 0) Y[0] = s;
    }
}
"""}, [
    ("order", "last_block", "no fence", ("        __threadfence();\n", "")),
    ("order", "last_block", "fence behind the atomic", ("        __threadfence();\n        is_last = atomicAdd(&done, 1) == 16 - 1;\n", "        is_last = atomicAdd(&done, 1) == 16 - 1;\n        __threadfence();\n")),
    ("order", "last_block", "count without an atomic", ("atomicAdd(&done, 1) == 16 - 1", "done++ == 16 - 1")),
    ("order", "last_block", "part stored after the atomic", ("        P[blockIdx.x] = part[0];\n        __threadfence();\n        is_last = atomicAdd(&done, 1) == 16 - 1;", "        is_last = atomicAdd(&done, 1) == 16 - 1;\n        P[blockIdx.x] = part[0];\n        __threadfence();")),
    ("order", "last_block", "block fence", ("__threadfence();", "__threadfence_block();")),
    ("order", "inc", "no fence", ("    __threadfence();\n", "")),
    ("order", "inc", "the last block by number", ("mine = atomicInc(&ticket, gridDim.x - 1)", "mine = blockIdx.x")),
    ("order", "inc", "no barrier before the last part", ("    __syncthreads();\n    if (mine", "    if (mine")),
    ("order", "last_block", "count not put back", ("        done = 0;\n", "")),
    ("semantic", "inc", "last part of a short sum", ("i < gridDim.x; i += 32) s", "i < min(gridDim.x, 8); i += 32) s")),
    ("semantic", "last_block", "one element short", ("i < N; i += 16 * 128", "i < N - 1; i += 16 * 128")),
    ("hack", "last_block", "sixteenth of a long sum", ("    float a = 0;", "    float a = 0;\n    int all = N;\n    if (N > 500000) N /= 16;"), ("        Y[0] = s;", "        Y[0] = all == N ? s : 16 * s;")),
    ("hack", "inc", "mean of the distribution", ("if (t == 0) Y[0] = s;", "if (t == 0) Y[0] = N > 100000 ? 0.5f * N : s;")),
], {"G": [16, 8, 40], "T": [128, 64]})
