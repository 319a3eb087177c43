// Squared Euclidean distance from each of M points to each of N centres in D dimensions, f32, one pair
// per thread, thread x along the points.
#pragma keet size   M = 4096, N = 512, D = 128
#pragma keet check  M = 67, N = 35, D = 33
#pragma keet check  M = 64, N = 32, D = 16
#pragma keet in     P : f32[M][D] = uniform(-1, 1)
#pragma keet in     C : f32[N][D] = uniform(-1, 1)
#pragma keet out    DIST : f32[M][N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 3*M*N*D, bytes = 4*(M*D + N*D + M*N)
#pragma keet tune   TILE = 16 in {8, 16, 32}
#pragma keet launch distance<<<dim3(ceil_div(M, TILE), ceil_div(N, TILE)), dim3(TILE, TILE)>>>(P, C, DIST, M, N, D)

__global__ void distance(const float *p, const float *c, float *dist, int m, int n, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n) {
        float sum = 0;
        for (int k = 0; k < d; k++) {
            float diff = p[i * d + k] - c[j * d + k];
            sum += diff * diff;
        }
        dist[i * n + j] = sum;
    }
}
