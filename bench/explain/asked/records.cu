// Records of 32 bytes are put into the order that a permutation gives.
#pragma keet size   N = 524288
#pragma keet check  N = 1000
#pragma keet in     TO : i32[N] = permutation()
#pragma keet in     X : f32[N][8] = uniform(0, 1)
#pragma keet out    Y : f32[N][8]
#pragma keet tune   BLOCK = 256 in {64, 128, 256}
#pragma keet launch scatter<<<ceil_div(N, BLOCK), BLOCK>>>(TO, X, Y, N)

__global__ void scatter(const int *to, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int at = to[i];
        for (int k = 0; k < 8; k++)
            y[at * 8 + k] = x[i * 8 + k];
    }
}
