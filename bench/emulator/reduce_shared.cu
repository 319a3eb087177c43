// Sum of each block's 2048 elements by a tree in shared memory.
#pragma keet size   N = 2097152
#pragma keet in     X : f32[N]
#pragma keet out    Y : f32[N/2048]
#pragma keet launch reduce<<<N/2048, 256>>>(X, Y)

__global__ void reduce(const float *X, float *Y)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    float sum = 0;
    for (int i = t; i < 2048; i += 256)
        sum += X[blockIdx.x * 2048 + i];
    part[t] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0)
        Y[blockIdx.x] = part[0];
}
