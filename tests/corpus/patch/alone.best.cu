


__global__ void fill(int *x, int by, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if ((unsigned)i < n)
        x[i] = by;
}

__global__ void follow(const int *x, int *next, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        next[x[i] + 2 * n] = i;
}

// The task, as read from the host code of alone.cu.
// from assumed: only the caller knows n (line 20: int n = atoi(argv[1])); with it the original passes the check
#pragma keet size   n = 1048576
// from line 22: cudaMalloc(&x, n * sizeof(int)); written before it is read by the kernel
#pragma keet out    x : i32[n]
// from line 24: fill<<<(n + 127) / 128, 128>>>(x, 7, n)
#pragma keet launch fill<<<(n+511)/512, 512>>>(x, 7, n)
