// Complex samples times complex weights.
#pragma keet size   N = 8388608
#pragma keet check  N = 4096
#pragma keet in     A : f32[N][2] = uniform(-1, 1)
#pragma keet in     B : f32[N][2] = uniform(-1, 1)
#pragma keet out    C : f32[N][2]
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet work   flops = 6*N, bytes = 24*N
#pragma keet launch rotate<<<N/512, 256>>>(A, B, C)

__global__ void rotate(const float4 *__restrict__ A, const float4 *__restrict__ B, float4 *__restrict__ C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 a = A[i], b = B[i];
    C[i] = make_float4(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x, a.z * b.z - a.w * b.w, a.z * b.w + a.w * b.z);
}
