// Blocks in a cluster, each of which asks how many there are.
#pragma keet size   N = 4096
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet launch count<<<N / 256, 256>>>(X, Y)

__global__ void count(const float *X, float *Y)
{
    unsigned nr;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(nr));
    int i = blockIdx.x * 256 + threadIdx.x;
    Y[i] = X[i] * nr;
}
