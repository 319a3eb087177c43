// Windows of a recording less what lies 64 samples before; shared memory is sized for the longest window.
#pragma keet size   N = 4224
#pragma keet check  N = 8
#pragma keet in     X : f32[N][2048] = uniform(-1, 1)
#pragma keet out    Y : f32[N][2048]
#pragma keet tolerance rel = 1e-3, abs = 1e-3
#pragma keet launch demean<<<N, 128, 8192>>>(X, Y)

extern __shared__ float4 window[];
__global__ void demean(const float4 *__restrict__ X, float4 *__restrict__ Y)
{
    int t = threadIdx.x, first = blockIdx.x * 512;
#pragma unroll
    for (int k = t; k < 512; k += 128)
        window[k] = X[first + k];
    __syncthreads();
#pragma unroll
    for (int k = t; k < 512; k += 128) {
        float4 a = window[k], b = window[(k + 496) % 512];
        Y[first + k] = make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
    }
}
