// Another file includes this one, after macros that it uses.
__global__ void count_bins(const unsigned char *in, unsigned *bins, int n)
{
    __shared__ unsigned own[NR_BINS];

    for (int b = threadIdx.x; b < NR_BINS; b += blockDim.x)
        own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i] >> BIN_SHIFT], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < NR_BINS; b += blockDim.x)
        atomicAdd(&bins[b], own[b]);
}

void count_all(const unsigned char *in, unsigned *bins, int n)
{
    count_bins<<<40, 128>>>(in, bins, n);
}
