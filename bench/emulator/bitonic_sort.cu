// Sorts every block's 1024 keys in shared memory.
#pragma keet size   N = 131072
#pragma keet inout  X : i32[N] = integers(0, 1000000)
#pragma keet launch sort<<<N/1024, 512>>>(X)

__global__ void sort(int *X)
{
    __shared__ int key[1024];
    int t = threadIdx.x;
    X += blockIdx.x * 1024;
    key[t] = X[t];
    key[t + 512] = X[t + 512];
    for (int size = 2; size <= 1024; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (step - 1)), j = i + step;
            int a = key[i], b = key[j];
            if ((a > b) == ((i & size) == 0)) {
                key[i] = b;
                key[j] = a;
            }
        }
    __syncthreads();
    X[t] = key[t];
    X[t + 512] = key[t + 512];
}
