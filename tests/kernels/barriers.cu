// Ten kernels that are right, and in which every barrier matters: without any one of them, threads
// race. Launched as planted.cu's are: <<<4, 128, 1024>>>(a, b, 512).
#define I (blockIdx.x * 128 + threadIdx.x)
#define T threadIdx.x
#define KERNEL extern "C" __global__ void
#define ARGS float *a, float *b, int n

KERNEL reverse(ARGS) {
    __shared__ float t[128];
    t[T] = a[I];
    __syncthreads();
    b[I] = t[127 - T];
}

KERNEL tree_sum(ARGS) {
    __shared__ float t[128];
    t[T] = a[I];
    __syncthreads();
    for (int s = 64; s; s >>= 1) {
        if (T < s)
            t[T] += t[T + s];
        __syncthreads();
    }
    if (T == 0)
        b[blockIdx.x] = t[0];
}

KERNEL tiled_product(ARGS) {
    __shared__ float x[8][16], y[8][16];
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        x[T / 16][T % 16] = a[k * 128 + T];
        y[T / 16][T % 16] = a[(3 - k) * 128 + T];
        __syncthreads();
        for (int i = 0; i < 8; i++)
            sum += x[i][T % 16] * y[T / 16][i];
        __syncthreads();
    }
    b[I] = sum;
}

KERNEL transposed_tile(ARGS) {
    __shared__ float t[8][17];
    float sum = 0;
    for (int k = 0; k < 2; k++) {
        t[T / 16][T % 16] = a[(I + k * 128) % n];
        __syncthreads();
        sum += t[T % 8][T / 8];
        __syncthreads();
    }
    b[I] = sum;
}

KERNEL inclusive_scan(ARGS) {
    __shared__ float t[128];
    t[T] = a[I];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        float v = T >= d ? t[T - d] : 0;
        __syncthreads();
        t[T] += v;
        __syncthreads();
    }
    b[I] = t[127] - t[T];
}

KERNEL block_histogram(ARGS) {
    __shared__ int h[64];
    if (T < 64)
        h[T] = 0;
    __syncthreads();
    atomicAdd(&h[(int)(a[I] * 8) * 9 % 64], 1);
    __syncthreads();
    if (T >= 64)
        b[blockIdx.x * 64 + T - 64] = h[T - 64];
}

KERNEL stencil(ARGS) {
    __shared__ float t[130];
    t[T + 1] = a[I];
    if (T == 0)
        t[0] = a[I ? I - 1 : 0];
    if (T == 127)
        t[129] = a[I + 1 < n ? I + 1 : I];
    __syncthreads();
    b[I] = t[T] + t[T + 1] + t[T + 2];
}

KERNEL double_buffer(ARGS) {
    __shared__ float t[2][128];
    float sum = 0;
    t[0][T] = a[T];
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        if (i < 3)
            t[(i + 1) & 1][T] = a[(i + 1) * 128 + T];
        sum += t[i & 1][127 - T];
        __syncthreads();
    }
    b[I] = sum;
}

KERNEL warp_sums(ARGS) {
    __shared__ float sums[4];
    float v = a[I];
    for (int s = 16; s; s >>= 1)
        v += __shfl_down_sync(0xffffffff, v, s);
    if (T % 32 == 0)
        sums[T / 32] = v;
    __syncthreads();
    float all = sums[0] + sums[1] + sums[2] + sums[3];
    __syncthreads();
    if (T % 32 == 0)
        sums[T / 32] = a[I] - all;
    __syncthreads();
    b[I] = sums[3 - T / 32];
}

KERNEL softmax(ARGS) {
    __shared__ float t[128];
    __shared__ float most, total;
    t[T] = a[I];
    __syncthreads();
    if (T == 0) {
        most = t[0];
        for (int i = 1; i < 128; i++)
            most = fmaxf(most, t[i]);
    }
    __syncthreads();
    t[T] = expf(t[T] - most);
    __syncthreads();
    if (T == 0) {
        float sum = 0;
        for (int i = 0; i < 128; i++)
            sum += t[i];
        total = sum;
    }
    __syncthreads();
    b[I] = t[T] / total;
}
