// A sum in one launch: the block that comes last adds up what the others left.
#pragma keet size   N = 4194304
#pragma keet check  N = 65536
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[1]
#pragma keet temp   PART : f32[N / 1024]
#pragma keet temp   COUNT : u32[1]
#pragma keet tolerance rel = 1e-3, abs = 1e-2
#pragma keet launch clear<<<1, 1>>>(COUNT)
#pragma keet launch total<<<N / 1024, 256>>>(X, Y, PART, COUNT)

__global__ void clear(unsigned *COUNT)
{
    *COUNT = 0;
}

__global__ void total(const float *X, float *Y, float *PART, unsigned *COUNT)
{
    __shared__ float sum[256];
    __shared__ bool last;
    int t = threadIdx.x;
    float s = 0;
    for (int i = 0; i < 4; i++)
        s += X[blockIdx.x * 1024 + i * 256 + t];
    sum[t] = s;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (t < d)
            sum[t] += sum[t + d];
        __syncthreads();
    }
    if (t == 0) {
        PART[blockIdx.x] = sum[0];
        __threadfence();
        last = atomicAdd(COUNT, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || t != 0)
        return;
    s = 0;
    for (int i = 0; i < gridDim.x; i++)
        s += *(volatile float *)&PART[i];
    *Y = s;
}
