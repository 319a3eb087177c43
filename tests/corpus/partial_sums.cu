// Only whole tiles, and one sum for each block: the caller has to bring that much room.
__global__ void block_sums(const float *x, float *sums, int n)
{
    __shared__ float part[128];
    int i = blockIdx.x * 128 + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part[0];
}

void sum_up(const float *x, float *sums, int n)
{
    block_sums<<<(n + 127) / 128, 128>>>(x, sums, n);
}
