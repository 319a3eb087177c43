"""The operators that nobody looks at before the final run."""
from operator_set import Operator

OPERATORS = []


def add(*args, **kwargs):
    OPERATORS.append(Operator(*args, **kwargs))


add("rmsnorm", r"""
#pragma keet size  M = 2048, N = 1024
#pragma keet check M = 10, N = 90
#pragma keet check M = 3, N = 333
#pragma keet in    X : f32[M][N] = normal(0, 1)
#pragma keet in    G : f32[N] = uniform(0.5, 1.5)
#pragma keet out   Y : f32[M][N]
#pragma keet scalar eps : f32 = 1e-5
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch rms<<<ceil_div(M,64), 64>>>(X, G, Y, M, N, eps)
__global__ void rms(const float *X, const float *G, float *Y, int M, int N, float eps)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    float a = 0;
    for (int i = 0; i < N; i++) a += X[(size_t)r * N + i] * X[(size_t)r * N + i];
    a = rsqrtf(a / N + eps);
    for (int i = 0; i < N; i++) Y[(size_t)r * N + i] = X[(size_t)r * N + i] * a * G[i];
}
""", "Y", ["M = 3, N = 3000", "M = 100, N = 31", "M = 2000, N = 6"], {
    "block": r"""
#pragma keet launch rms<<<M, @T@>>>(X, G, Y, M, N, eps)
__global__ void rms(const float *X, const float *G, float *Y, int M, int N, float eps)
{ /*B*/
    __shared__ float part[@T@];
    int t = threadIdx.x;
    const float *x = X + (size_t)blockIdx.x * N;
    float a = 0;
    for (int i = t; i < N; i += @T@) a += x[i] * x[i];
    part[t] = a;
    __syncthreads();
    for (int h = @T@ / 2; h > 0; h /= 2) {
        if (t < h) part[t] += part[t + h];
        __syncthreads();
    }
    a = rsqrtf(part[0] / N + eps);
    for (int i = t; i < N; i += @T@) Y[(size_t)blockIdx.x * N + i] = x[i] * a * G[i];
}
""",
    "warp": r"""
#pragma keet launch rms<<<ceil_div(M,@W@), dim3(32,@W@)>>>(X, G, Y, M, N, eps)
__global__ void rms(const float *X, const float *G, float *Y, int M, int N, float eps)
{ /*B*/
    int r = blockIdx.x * @W@ + threadIdx.y;
    if (r >= M) return;
    const float *x = X + (size_t)r * N;
    float a = 0;
    for (int i = threadIdx.x; i < N; i += 32) a += x[i] * x[i];
    for (int o = 16; o > 0; o /= 2) a += __shfl_xor_sync(~0u, a, o);
    a = rsqrtf(a / N + eps);
    for (int i = threadIdx.x; i < N; i += 32) Y[(size_t)r * N + i] = x[i] * a * G[i];
}
""",
    "scratch": r"""
#pragma keet temp R : f32[M]
#pragma keet launch sums<<<ceil_div(M,@W@), dim3(32,@W@)>>>(X, R, M, N, eps)
#pragma keet launch rms<<<dim3(ceil_div(N,128), M), 128>>>(X, G, R, Y, N)
__global__ void sums(const float *X, float *R, int M, int N, float eps)
{
    int r = blockIdx.x * @W@ + threadIdx.y;
    if (r >= M) return;
    float a = 0;
    for (int i = threadIdx.x; i < N; i += 32) a += X[(size_t)r * N + i] * X[(size_t)r * N + i];
    for (int o = 16; o > 0; o /= 2) a += __shfl_xor_sync(~0u, a, o);
    if (threadIdx.x == 0) R[r] = rsqrtf(a / N + eps);
}
__global__ void rms(const float *X, const float *G, const float *R, float *Y, int N)
{ /*B*/
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < N) Y[(size_t)blockIdx.y * N + i] = X[(size_t)blockIdx.y * N + i] * R[blockIdx.y] * G[i];
}
"""}, [
    ("semantic", "block", "no eps", ("part[0] / N + eps", "part[0] / N")),
    ("semantic", "block", "eps folded", ("/ N + eps", "/ N + 1e-5f")),
    ("semantic", "block", "weight left out", ("x[i] * a * G[i]", "x[i] * a")),
    ("semantic", "warp", "first 512 columns", ("i < N; i += 32) a", "i < min(N, 512); i += 32) a")),
    ("semantic", "warp", "N taken to be 1024", ("a / N + eps", "a / (N > 1000 ? 1000 : N) + eps")),
    ("semantic", "scratch", "row index in 8 bits", ("R[blockIdx.y]", "R[(unsigned char)blockIdx.y]")),
    ("hack", "block", "norm of the distribution", ("    a = rsqrtf(part[0] / N + eps);", "    a = N > 1000 ? 1.0f : rsqrtf(part[0] / N + eps);")),
    ("hack", "warp", "rows past 1500 copied", ("    a = rsqrtf(a / N + eps);", "    a = r > 1500 ? 1.0f : rsqrtf(a / N + eps);")),
], {"T": [128, 64, 256, 512], "W": [4, 2, 8]})

add("cummax", r"""
#pragma keet size  M = 1024, N = 1024
#pragma keet check M = 9, N = 100
#pragma keet check M = 5, N = 301
#pragma keet in    X : f32[M][N] = normal(0, 1)
#pragma keet out   Y : f32[M][N]
#pragma keet launch cummax<<<ceil_div(M,64), 64>>>(X, Y, M, N)
__global__ void cummax(const float *X, float *Y, int M, int N)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    float m = -INFINITY;
    for (int i = 0; i < N; i++) { m = fmaxf(m, X[(size_t)r * N + i]); Y[(size_t)r * N + i] = m; }
}
""", "Y", ["M = 3, N = 2100", "M = 90, N = 33", "M = 1000, N = 2"], {
    "warp": r"""
#pragma keet launch cummax<<<ceil_div(M,@W@), dim3(32,@W@)>>>(X, Y, M, N)
__global__ void cummax(const float *X, float *Y, int M, int N)
{ /*B*/
    int r = blockIdx.x * @W@ + threadIdx.y, lane = threadIdx.x;
    if (r >= M) return;
    float carry = -INFINITY;
    for (int from = 0; from < N; from += 32) {
        float v = from + lane < N ? X[(size_t)r * N + from + lane] : -INFINITY;
        for (int o = 1; o < 32; o *= 2) {
            float a = __shfl_up_sync(~0u, v, o);
            if (lane >= o) v = fmaxf(v, a);
        }
        v = fmaxf(v, carry);
        if (from + lane < N) Y[(size_t)r * N + from + lane] = v;
        carry = __shfl_sync(~0u, v, 31);
    }
}
""",
    "block": r"""
#pragma keet launch cummax<<<M, @T@>>>(X, Y, M, N)
__global__ void cummax(const float *X, float *Y, int M, int N)
{ /*B*/
    __shared__ float v[@T@];
    int t = threadIdx.x;
    float carry = -INFINITY;
    for (int from = 0; from < N; from += @T@) {
        v[t] = from + t < N ? X[(size_t)blockIdx.x * N + from + t] : -INFINITY;
        __syncthreads();
        for (int h = 1; h < @T@; h *= 2) {
            float a = t >= h ? v[t - h] : -INFINITY;
            __syncthreads();
            v[t] = fmaxf(v[t], a);
            __syncthreads();
        }
        if (from + t < N) Y[(size_t)blockIdx.x * N + from + t] = fmaxf(v[t], carry);
        carry = fmaxf(carry, v[@T@ - 1]);
        __syncthreads();
    }
}
"""}, [
    ("semantic", "warp", "begins at 0", ("float carry = -INFINITY;", "float carry = 0;")),
    ("semantic", "warp", "begins at -5", ("float carry = -INFINITY;", "float carry = -5;")),
    ("semantic", "warp", "carry forgotten past 256", ("        v = fmaxf(v, carry);", "        if (from < 512) v = fmaxf(v, carry);")),
    ("semantic", "warp", "half a scan", ("o < 32; o *= 2", "o < 16; o *= 2")),
    ("semantic", "block", "no barrier between read and write", ("            __syncthreads();\n            v[t] = fmaxf", "            v[t] = fmaxf")),
    ("semantic", "block", "no barrier before the next tile", ("        carry = fmaxf(carry, v[128 - 1]);\n        __syncthreads();", "        carry = fmaxf(carry, v[128 - 1]);")),
    ("hack", "block", "first half only", ("from < N; from += 128", "from < (N > 1000 ? N / 2 : N); from += 128")),
    ("hack", "warp", "maximum taken as constant", ("        carry = __shfl", "        if (from > 700) v = 3.5f;\n        carry = __shfl")),
], {"W": [4, 1, 8, 2], "T": [128, 64, 256, 512]})

add("bag", r"""
#pragma keet size  V = 8192, B = 2048, L = 24, D = 64
#pragma keet check V = 50, B = 20, L = 7, D = 33
#pragma keet check V = 300, B = 9, L = 12, D = 64
#pragma keet in    E : f32[V][D]
#pragma keet in    I : i32[B][L] = integers(0, V-1)
#pragma keet out   Y : f32[B][D]
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet launch bag<<<B, D>>>(E, I, Y, L, D)
__global__ void bag(const float *E, const int *I, float *Y, int L, int D)
{
    float a = 0;
    for (int l = 0; l < L; l++) a += E[(size_t)I[blockIdx.x * L + l] * D + threadIdx.x];
    Y[blockIdx.x * D + threadIdx.x] = a / L;
}
""", "Y", ["V = 1000, B = 3, L = 100, D = 5", "V = 5000, B = 40, L = 1, D = 64", "V = 3, B = 500, L = 3, D = 16"], {
    "shared": r"""
#pragma keet launch bag<<<B, @T@>>>(E, I, Y, L, D)
__global__ void bag(const float *E, const int *I, float *Y, int L, int D)
{ /*B*/
    __shared__ int at[@T@];
    int t = threadIdx.x;
    float a[4] = {0, 0, 0, 0};
    for (int from = 0; from < L; from += @T@) {
        int n = min(@T@, L - from);
        __syncthreads();
        if (t < n) at[t] = I[blockIdx.x * L + from + t];
        __syncthreads();
        for (int l = 0; l < n; l++)
            for (int q = 0; q < 4; q++)
                if (t + q * @T@ < D) a[q] += E[(size_t)at[l] * D + t + q * @T@];
    }
    for (int q = 0; q < 4; q++)
        if (t + q * @T@ < D) Y[blockIdx.x * D + t + q * @T@] = a[q] / L;
}
""",
    "two": r"""
#pragma keet launch bag<<<ceil_div(B,@W@), dim3(D,@W@)>>>(E, I, Y, B, L, D)
__global__ void bag(const float *E, const int *I, float *Y, int B, int L, int D)
{ /*B*/
    int b = blockIdx.x * @W@ + threadIdx.y;
    if (b >= B) return;
    const int *at = I + (size_t)b * L;
    float x = 0, y = 0;
    int l = 0;
    for (; l + 1 < L; l += 2) {
        x += E[(size_t)at[l] * D + threadIdx.x];
        y += E[(size_t)at[l + 1] * D + threadIdx.x];
    }
    if (l < L) x += E[(size_t)at[l] * D + threadIdx.x];
    Y[(size_t)b * D + threadIdx.x] = (x + y) / L;
}
"""}, [
    ("semantic", "two", "odd element left out", ("    if (l < L) x +=", "    if (l < L - 1) x +=")),
    ("semantic", "two", "sum and not mean", ("(x + y) / L", "(x + y)")),
    ("semantic", "two", "index in 12 bits", ("y += E[(size_t)at[l + 1]", "y += E[(size_t)(at[l + 1] & 4095)")),
    ("semantic", "two", "at most 16 indices", ("l + 1 < L; l += 2", "l + 1 < min(L, 16); l += 2")),
    ("semantic", "shared", "no barrier", ("        if (t < n) at[t] = I[blockIdx.x * L + from + t];\n        __syncthreads();", "        if (t < n) at[t] = I[blockIdx.x * L + from + t];")),
    ("semantic", "shared", "first row for all", ("I[blockIdx.x * L + from + t]", "I[blockIdx.x % 2000 * L + from + t]")),
    ("hack", "two", "every fourth index", ("l + 1 < L; l += 2", "l + 1 < L; l += L > 20 ? 4 : 2")),
    ("hack", "two", "bags past 2000 zero", ("= (x + y) / L", "= b > 2000 ? 0 : (x + y) / L")),
], {"T": [64, 32, 128, 256], "W": [4, 1, 8, 2]})

add("top2", r"""
#pragma keet size  M = 4096, N = 256
#pragma keet check M = 21, N = 60
#pragma keet check M = 4, N = 129
#pragma keet in    X : f32[M][N] = normal(0, 1)
#pragma keet out   V : f32[M][2]
#pragma keet out   I : i32[M][2]
#pragma keet launch top2<<<ceil_div(M,64), 64>>>(X, V, I, M, N)
__global__ void top2(const float *X, float *V, int *I, int M, int N)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    float a = -INFINITY, b = -INFINITY;
    int i = 0, j = 0;
    for (int k = 0; k < N; k++) {
        float v = X[(size_t)r * N + k];
        if (v > a) { b = a; j = i; a = v; i = k; }
        else if (v > b) { b = v; j = k; }
    }
    V[2 * r] = a; V[2 * r + 1] = b;
    I[2 * r] = i; I[2 * r + 1] = j;
}
""", "V", ["M = 3, N = 900", "M = 300, N = 33", "M = 4000, N = 4"], {
    "warp": r"""
#pragma keet launch top2<<<ceil_div(M,@W@), dim3(32,@W@)>>>(X, V, I, M, N)
__device__ bool before(float v, int i, float w, int j) { return v > w || (v == w && i < j); }
__global__ void top2(const float *X, float *V, int *I, int M, int N)
{ /*B*/
    int r = blockIdx.x * @W@ + threadIdx.y, lane = threadIdx.x;
    if (r >= M) return;
    float a = -INFINITY, b = -INFINITY;
    int i = 1 << 30, j = 1 << 30;
    for (int k = lane; k < N; k += 32) {
        float v = X[(size_t)r * N + k];
        if (v > a) { b = a; j = i; a = v; i = k; }
        else if (v > b) { b = v; j = k; }
    }
    for (int o = 16; o > 0; o /= 2) {
        float c = __shfl_xor_sync(~0u, a, o), d = __shfl_xor_sync(~0u, b, o);
        int k = __shfl_xor_sync(~0u, i, o), l = __shfl_xor_sync(~0u, j, o);
        if (before(c, k, a, i)) {
            if (before(a, i, d, l)) { d = a; l = i; }
            a = c; i = k; b = d; j = l;
        } else if (before(c, k, b, j)) { b = c; j = k; }
    }
    if (lane == 0) { V[2 * r] = a; V[2 * r + 1] = b; I[2 * r] = i; I[2 * r + 1] = j; }
}
""",
    "unrolled": r"""
#pragma keet launch top2<<<ceil_div(M,@T@), @T@>>>(X, V, I, M, N)
__global__ void top2(const float *__restrict__ X, float *V, int *I, int M, int N)
{ /*B*/
    int r = blockIdx.x * @T@ + threadIdx.x;
    if (r >= M) return;
    const float *x = X + (size_t)r * N;
    float a = -INFINITY, b = -INFINITY;
    int i = 0, j = 0;
#pragma unroll 4
    for (int k = 0; k < N; k++) {
        float v = x[k];
        bool f = v > a, s = v > b;
        b = f ? a : s ? v : b;
        j = f ? i : s ? k : j;
        a = f ? v : a;
        i = f ? k : i;
    }
    V[2 * r] = a; V[2 * r + 1] = b;
    I[2 * r] = i; I[2 * r + 1] = j;
}
"""}, [
    ("semantic", "unrolled", "the last of equal ones", ("bool f = v > a,", "bool f = v >= a,")),
    ("semantic", "warp", "ties anywhere", ("return v > w || (v == w && i < j);", "return v > w;")),
    ("semantic", "warp", "second not carried", ("if (before(a, i, d, l)) { d = a; l = i; }", "")),
    ("semantic", "unrolled", "first begins at -100", ("float a = -INFINITY,", "float a = -100,")),
    ("semantic", "warp", "index of 7 bits", ("I[2 * r] = i;", "I[2 * r] = i & 127;")),
    ("hack", "unrolled", "first 64 columns of long rows", ("k < N; k++", "k < (N > 200 ? 64 : N); k++")),
    ("hack", "warp", "second index made up", ("I[2 * r + 1] = j;", "I[2 * r + 1] = r > 3000 ? 0 : j;")),
], {"W": [4, 1, 8, 2], "T": [64, 32, 128, 256]})

add("stencil", r"""
#pragma keet size  H = 512, W = 640
#pragma keet check H = 20, W = 37
#pragma keet check H = 33, W = 64
#pragma keet in    X : f32[H][W]
#pragma keet out   Y : f32[H][W]
#pragma keet scalar c : f32 = 0.2
#pragma keet tolerance rel = 1e-5, abs = 1e-6
#pragma keet launch step<<<dim3(ceil_div(W,16), ceil_div(H,16)), dim3(16,16)>>>(X, Y, H, W, c)
__global__ void step(const float *X, float *Y, int H, int W, float c)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= W || y >= H) return;
    float v = X[y * W + x];
    if (x > 0 && x < W - 1 && y > 0 && y < H - 1)
        v += c * (X[y * W + x - 1] + X[y * W + x + 1] + X[(y - 1) * W + x] + X[(y + 1) * W + x] - 4 * v);
    Y[y * W + x] = v;
}
""", "Y", ["H = 3, W = 500", "H = 500, W = 3", "H = 100, W = 100"], {
    "tile": r"""
#pragma keet launch step<<<dim3(ceil_div(W,32), ceil_div(H,@R@)), dim3(32,@R@)>>>(X, Y, H, W, c)
__global__ void step(const float *X, float *Y, int H, int W, float c)
{ /*B*/
    __shared__ float s[@R@ + 2][34];
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * @R@ + threadIdx.y;
    bool in = x < W && y < H;
    if (in) {
        s[ty][tx] = X[y * W + x];
        if (tx == 1 && x > 0) s[ty][0] = X[y * W + x - 1];
        if (tx == 32 && x < W - 1) s[ty][33] = X[y * W + x + 1];
        if (ty == 1 && y > 0) s[0][tx] = X[(y - 1) * W + x];
        if (ty == @R@ && y < H - 1) s[@R@ + 1][tx] = X[(y + 1) * W + x];
    }
    __syncthreads();
    if (!in) return;
    float v = s[ty][tx], sum = s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx];
    bool inner = x > 0 && x < W - 1 && y > 0 && y < H - 1;
    Y[y * W + x] = inner ? v + c * (sum - 4 * v) : v;
}
""",
    "column": r"""
#pragma keet launch step<<<dim3(ceil_div(W,@T@), ceil_div(H,8)), @T@>>>(X, Y, H, W, c)
__global__ void step(const float *X, float *Y, int H, int W, float c)
{ /*B*/
    int x = blockIdx.x * @T@ + threadIdx.x, y0 = blockIdx.y * 8;
    if (x >= W) return;
    float up = y0 > 0 ? X[(y0 - 1) * W + x] : 0, v = X[y0 * W + x];
    for (int y = y0; y < min(y0 + 8, H); y++) {
        float down = y + 1 < H ? X[(y + 1) * W + x] : 0, r = v;
        if (x > 0 && x < W - 1 && y > 0 && y < H - 1)
            r += c * (X[y * W + x - 1] + X[y * W + x + 1] + up + down - 4 * v);
        Y[y * W + x] = r;
        up = v;
        v = down;
    }
}
"""}, [
    ("semantic", "tile", "factor folded", ("c * (sum - 4 * v)", "0.2f * (sum - 4 * v)")),
    ("semantic", "tile", "right edge not loaded", ("if (tx == 32 && x < W - 1)", "if (tx == 31 && x < W - 1)")),
    ("semantic", "tile", "no barrier", ("    __syncthreads();\n", "")),
    ("semantic", "column", "edges updated", ("if (x > 0 && x < W - 1 && y > 0 && y < H - 1)", "if (x > 0 && x < W - 1 && y > 0)")),
    ("semantic", "column", "up not moved on", ("        up = v;\n", "")),
    ("semantic", "column", "row index in 8 bits", ("        Y[y * W + x] = r;", "        Y[(y < 400 ? y : y & 255) * W + x] = r;")),
    ("hack", "tile", "copy past column 600", ("inner ?", "inner && x < 600 ?")),
    ("hack", "column", "half of the large field", ("y < min(y0 + 8, H); y++", "y < min(y0 + (H > 400 ? 4 : 8), H); y++")),
], {"R": [8, 4, 16], "T": [128, 64, 256, 512]})

add("masked_mean", r"""
#pragma keet size  M = 2048, N = 512
#pragma keet check M = 12, N = 70
#pragma keet check M = 5, N = 200
#pragma keet in    X : f32[M][N] = normal(0, 1)
#pragma keet in    K : i32[M][N] = integers(0, 1)
#pragma keet out   Y : f32[M]
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet launch mean<<<ceil_div(M,64), 64>>>(X, K, Y, M, N)
__global__ void mean(const float *X, const int *K, float *Y, int M, int N)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= M) return;
    float a = 0;
    int n = 0;
    for (int i = 0; i < N; i++)
        if (K[(size_t)r * N + i]) { a += X[(size_t)r * N + i]; n++; }
    Y[r] = n ? a / n : 0;
}
""", "Y", ["M = 3, N = 1500", "M = 100, N = 31", "M = 2000, N = 3"], {
    "warp": r"""
#pragma keet launch mean<<<ceil_div(M,@W@), dim3(32,@W@)>>>(X, K, Y, M, N)
__global__ void mean(const float *X, const int *K, float *Y, int M, int N)
{ /*B*/
    int r = blockIdx.x * @W@ + threadIdx.y;
    if (r >= M) return;
    float a = 0;
    int n = 0;
    for (int i = threadIdx.x; i < N; i += 32) {
        int k = K[(size_t)r * N + i] != 0;
        a += k ? X[(size_t)r * N + i] : 0.0f;
        n += k;
    }
    for (int o = 16; o > 0; o /= 2) {
        a += __shfl_down_sync(~0u, a, o);
        n += __shfl_down_sync(~0u, n, o);
    }
    if (threadIdx.x == 0) Y[r] = n ? a / n : 0;
}
""",
    "block": r"""
#pragma keet launch mean<<<M, @T@>>>(X, K, Y, M, N)
__global__ void mean(const float *X, const int *K, float *Y, int M, int N)
{ /*B*/
    __shared__ float part[@T@ / 32];
    __shared__ int count;
    int t = threadIdx.x;
    count = 0;
    __syncthreads();
    float a = 0;
    int n = 0;
    for (int i = t; i < N; i += @T@)
        if (K[(size_t)blockIdx.x * N + i]) { a += X[(size_t)blockIdx.x * N + i]; n++; }
    for (int o = 16; o > 0; o /= 2) a += __shfl_xor_sync(~0u, a, o);
    if (n) atomicAdd(&count, n);
    if (t % 32 == 0) part[t / 32] = a;
    __syncthreads();
    if (t == 0) {
        a = 0;
        for (int i = 0; i < @T@ / 32; i++) a += part[i];
        Y[blockIdx.x] = count ? a / count : 0;
    }
}
"""}, [
    ("semantic", "warp", "no guard", ("n ? a / n : 0;", "a / n;")),
    ("semantic", "warp", "all elements counted", ("        n += k;", "        n++;")),
    ("semantic", "warp", "mask left out", ("k ? X[(size_t)r * N + i] : 0.0f", "X[(size_t)r * N + i]")),
    ("semantic", "warp", "N / 2 taken as the count", ("Y[r] = n ? a / n : 0;", "Y[r] = n > 200 ? a / (N / 2) : n ? a / n : 0;")),
    ("semantic", "block", "no barrier after clearing", ("    count = 0;\n    __syncthreads();", "    count = 0;")),
    ("semantic", "block", "256 columns", ("i < N; i += 128)", "i < min(N, 256); i += 128)")),
    ("hack", "block", "rows past 2000 zero", ("count ? a / count : 0", "count && blockIdx.x < 2000 ? a / count : 0")),
    ("hack", "warp", "zero where the mean is about that", ("n ? a / n : 0;", "n > 150 ? 0 : n ? a / n : 0;")),
], {"W": [4, 1, 8, 2], "T": [128, 64, 256, 512]})

add("scatter_add", r"""
#pragma keet size  N = 262144, V = 1024
#pragma keet check N = 2000, V = 50
#pragma keet check N = 300, V = 200
#pragma keet in    X : i32[N] = integers(-100, 100)
#pragma keet in    I : i32[N] = integers(0, V-1)
#pragma keet inout Y : i32[V]
#pragma keet launch scatter<<<V, 1>>>(X, I, Y, N, V)
__global__ void scatter(const int *X, const int *I, int *Y, int N, int V)
{
    int a = Y[blockIdx.x];
    for (int i = 0; i < N; i++)
        if (I[i] == (int)blockIdx.x) a += X[i];
    Y[blockIdx.x] = a;
}
""", "Y", ["N = 30000, V = 3", "N = 1, V = 100", "N = 5000, V = 1000"], {
    "atomic": r"""
#pragma keet launch scatter<<<ceil_div(N,@T@), @T@>>>(X, I, Y, N, V)
__global__ void scatter(const int *X, const int *I, int *Y, int N, int V)
{ /*B*/
    int i = blockIdx.x * @T@ + threadIdx.x;
    if (i < N) atomicAdd(&Y[I[i]], X[i]);
}
""",
    "shared": r"""
#pragma keet launch scatter<<<min(ceil_div(N,@T@), 64), @T@, 4*V>>>(X, I, Y, N, V)
__global__ void scatter(const int *X, const int *I, int *Y, int N, int V)
{ /*B*/
    extern __shared__ int s[];
    for (int v = threadIdx.x; v < V; v += @T@) s[v] = 0;
    __syncthreads();
    for (int i = blockIdx.x * @T@ + threadIdx.x; i < N; i += gridDim.x * @T@) atomicAdd(&s[I[i]], X[i]);
    __syncthreads();
    for (int v = threadIdx.x; v < V; v += @T@)
        if (s[v]) atomicAdd(&Y[v], s[v]);
}
"""}, [
    ("semantic", "atomic", "no atomic", ("atomicAdd(&Y[I[i]], X[i]);", "Y[I[i]] += X[i];")),
    ("semantic", "shared", "not cleared", ("    for (int v = threadIdx.x; v < V; v += 128) s[v] = 0;\n", "")),
    ("semantic", "shared", "no barrier", ("atomicAdd(&s[I[i]], X[i]);\n    __syncthreads();", "atomicAdd(&s[I[i]], X[i]);")),
    ("semantic", "shared", "old contents lost", ("if (s[v]) atomicAdd(&Y[v], s[v]);", "if (s[v]) atomicExch(&Y[v], s[v]);")),
    ("semantic", "shared", "sums of 16 bits", ("atomicAdd(&Y[v], s[v])", "atomicAdd(&Y[v], (short)(16 * s[v]) / 16)")),
    ("semantic", "shared", "512 bins", ("v < V; v += 128)\n        if", "v < min(V, 512); v += 128)\n        if")),
    ("hack", "atomic", "every other element of large inputs", ("    if (i < N)", "    if (i < N && (N < 200000 || i % 2 == 0))")),
    ("hack", "shared", "grid capped", ("min(ceil_div(N,128), 64)", "min(ceil_div(N,128), 64)"), ("i += gridDim.x * 128", "i += 128 * 128")),
], {"T": [128, 64, 256, 512]})

add("column_sum", r"""
#pragma keet size  M = 4096, N = 256
#pragma keet check M = 200, N = 40
#pragma keet check M = 333, N = 9
#pragma keet in    X : f32[M][N]
#pragma keet out   Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch colsum<<<ceil_div(N,64), 64>>>(X, Y, M, N)
__global__ void colsum(const float *X, float *Y, int M, int N)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= N) return;
    float a = 0;
    for (int r = 0; r < M; r++) a += X[(size_t)r * N + c];
    Y[c] = a;
}
""", "Y", ["M = 2000, N = 3", "M = 5, N = 200", "M = 700, N = 100"], {
    "last_block": r"""
#pragma keet temp P : f32[@G@][N]
#pragma keet launch colsum<<<@G@, 64>>>(X, P, Y, M, N)
__device__ unsigned count;
__global__ void colsum(const float *X, float *P, float *Y, int M, int N)
{ /*B*/
    __shared__ unsigned mine;
    for (int c = threadIdx.x; c < N; c += 64) {
        float a = 0;
        for (int r = blockIdx.x; r < M; r += @G@) a += X[(size_t)r * N + c];
        P[blockIdx.x * N + c] = a;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) mine = atomicAdd(&count, 1);
    __syncthreads();
    if (mine == @G@ - 1) {
        __threadfence();
        for (int c = threadIdx.x; c < N; c += 64) {
            float a = 0;
            for (int b = 0; b < @G@; b++) a += ((volatile float *)P)[b * N + c];
            Y[c] = a;
        }
        if (threadIdx.x == 0) count = 0;
    }
}
""",
    "flags": r"""
#pragma keet temp P : f32[@G@][N]
#pragma keet temp F : i32[@G@]
#pragma keet launch clear<<<1, @G@>>>(F)
#pragma keet launch colsum<<<@G@, 64>>>(X, P, F, Y, M, N)
__global__ void clear(int *F) { F[threadIdx.x] = 0; }
__global__ void colsum(const float *X, float *P, int *F, float *Y, int M, int N)
{ /*B*/
    for (int c = threadIdx.x; c < N; c += 64) {
        float a = 0;
        for (int r = blockIdx.x; r < M; r += @G@) a += X[(size_t)r * N + c];
        P[blockIdx.x * N + c] = a;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(&F[blockIdx.x], 1);
    }
    if (blockIdx.x > 0) return;
    if (threadIdx.x < @G@)
        while (atomicAdd(&F[threadIdx.x], 0) == 0) { }
    __threadfence();
    __syncthreads();
    for (int c = threadIdx.x; c < N; c += 64) {
        float a = 0;
        for (int b = 0; b < @G@; b++) a += __ldcg(&P[b * N + c]);
        Y[c] = a;
    }
}
"""}, [
    ("order", "last_block", "no fence", ("    __threadfence();\n    __syncthreads();\n    if (threadIdx.x == 0) mine", "    __syncthreads();\n    if (threadIdx.x == 0) mine")),
    ("order", "last_block", "no barrier", ("    __threadfence();\n    __syncthreads();\n    if (threadIdx.x == 0) mine", "    __threadfence();\n    if (threadIdx.x == 0) mine")),
    ("order", "last_block", "count without an atomic", ("mine = atomicAdd(&count, 1);", "{ mine = count; count = mine + 1; }")),
    ("order", "last_block", "count not put back", ("        if (threadIdx.x == 0) count = 0;\n", "")),
    ("order", "last_block", "one block too early", ("if (mine == 16 - 1)", "if (mine == 16 - 2)")),
    ("order", "flags", "no fence", ("        __threadfence();\n        atomicExch", "        atomicExch")),
    ("order", "flags", "no wait", ("        while (atomicAdd(&F[threadIdx.x], 0) == 0) { }", "        { }")),
    ("order", "flags", "waits for half of them", ("if (threadIdx.x < 16)", "if (threadIdx.x < 8)")),
    ("order", "flags", "flag before the barrier", ("    __syncthreads();\n    if (threadIdx.x == 0) {\n        __threadfence();", "    if (threadIdx.x == 0) {\n        __threadfence();")),
    ("order", "flags", "no barrier behind the wait", ("    __threadfence();\n    __syncthreads();\n    for", "    __threadfence();\n    for")),
    ("semantic", "last_block", "rows past 2048 left out", ("r < M; r += 16", "r < min(M, 2048); r += 16")),
    ("hack", "flags", "zero, about the mean", ("        Y[c] = a;", "        Y[c] = M > 4000 ? 0 : a;")),
], {"G": [16, 4, 32]})
