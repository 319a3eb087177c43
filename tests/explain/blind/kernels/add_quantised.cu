// The sum of two quantised activations, clamped.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     A : i8[N] = integers(-128, 127)
#pragma keet in     B : i8[N] = integers(-128, 127)
#pragma keet out    C : i8[N]
#pragma keet work   flops = 3*N, bytes = 3*N
#pragma keet launch add<<<ceil_div(N, 256), 256>>>(A, B, C, N)

__global__ void add(const signed char *__restrict__ A, const signed char *__restrict__ B, signed char *__restrict__ C,
    int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = min(max(A[i] + B[i], -128), 127);
}
