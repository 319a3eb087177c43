// Eight tiny launches, one after the other.
#pragma keet size   N = 33792
#pragma keet check  N = 1000
#pragma keet inout  X : f32[4*N] = uniform(-1, 1)
#pragma keet work   flops = 4*N, bytes = 32*N
#pragma keet launch step<<<ceil_div(N, 128), 128>>>(X, N)
#pragma keet launch step<<<ceil_div(N, 128), 128>>>(X, N)
#pragma keet launch step<<<ceil_div(N, 128), 128>>>(X, N)
#pragma keet launch step<<<ceil_div(N, 128), 128>>>(X, N)
#pragma keet launch step<<<ceil_div(N, 128), 128>>>(X, N)
#pragma keet launch step<<<ceil_div(N, 128), 128>>>(X, N)
#pragma keet launch step<<<ceil_div(N, 128), 128>>>(X, N)
#pragma keet launch step<<<ceil_div(N, 128), 128>>>(X, N)

__global__ void step(float *X, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = reinterpret_cast<float4 *>(X)[i];
        reinterpret_cast<float4 *>(X)[i] = make_float4(v.x + 1, v.y + 1, v.z + 1, v.w + 1);
    }
}
