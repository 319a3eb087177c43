// One round of k-means: nearest centre, sums by cluster, new centres.
#pragma keet size   N = 131072, K = 64, D = 16
#pragma keet check  N = 500, K = 5, D = 4
#pragma keet in     X : f32[N][D] = uniform(0, 1)
#pragma keet in     C : f32[K][D] = uniform(0, 1)
#pragma keet temp   LABEL : i32[N]
#pragma keet temp   SUM : f32[K][D]
#pragma keet temp   COUNT : i32[K]
#pragma keet out    NEXT : f32[K][D]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet tune   BLOCK = 256 in {64, 128, 256}
#pragma keet launch clear<<<ceil_div(K*D, 256), 256>>>(SUM, COUNT, K, D)
#pragma keet launch nearest<<<ceil_div(N, BLOCK), BLOCK>>>(X, C, LABEL, N, K, D)
#pragma keet launch gather<<<ceil_div(N*D, BLOCK), BLOCK>>>(X, LABEL, SUM, COUNT, N, D)
#pragma keet launch divide<<<ceil_div(K*D, 256), 256>>>(SUM, COUNT, NEXT, K, D)

__global__ void clear(float *sum, int *count, int k, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < k * d)
        sum[i] = 0;
    if (i < k)
        count[i] = 0;
}

__global__ void nearest(const float *x, const float *c, int *label, int n, int k, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float least = 1e30f;
    int best = 0;
    for (int j = 0; j < k; j++) {
        float sum = 0;
        for (int l = 0; l < d; l++) {
            float t = x[i * d + l] - c[j * d + l];
            sum += t * t;
        }
        if (sum < least) {
            least = sum;
            best = j;
        }
    }
    label[i] = best;
}

__global__ void gather(const float *x, const int *label, float *sum, int *count, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * d)
        return;
    int at = label[i / d];
    atomicAdd(&sum[at * d + i % d], x[i]);
    if (i % d == 0)
        atomicAdd(&count[at], 1);
}

__global__ void divide(const float *sum, const int *count, float *next, int k, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < k * d)
        next[i] = sum[i] / max(count[i / d], 1);
}
