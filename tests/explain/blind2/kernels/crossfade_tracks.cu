// One track fades into another.
#pragma keet size   N = 16777216
#pragma keet check  N = 4096
#pragma keet in     A : f32[N] = uniform(-1, 1)
#pragma keet in     B : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet work   flops = 2*N, bytes = 12*N
#pragma keet launch crossfade<<<N/1024, 256>>>(A, B, Y)

__global__ void crossfade(const float4 *__restrict__ A, const float4 *__restrict__ B, float4 *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 a = A[i], b = B[i];
    Y[i] = make_float4(0.3f * a.x + 0.7f * b.x, 0.3f * a.y + 0.7f * b.y, 0.3f * a.z + 0.7f * b.z, 0.3f * a.w + 0.7f * b.w);
}
