// A static shared array that no block can have.
#pragma keet launch scale<<<ceil_div(N, 128), 128>>>(X, Y, alpha, N)

__global__ void scale(const float *x, float *y, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float tile[128 * 1024];
    tile[threadIdx.x * 1024 + n % 1024] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n)
        y[i] = alpha * tile[threadIdx.x * 1024 + n % 1024];
}
