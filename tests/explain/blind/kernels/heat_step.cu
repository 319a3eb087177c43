// A step of the heat equation: each thread goes down four columns, the rows in registers.
#pragma keet size   H = 4096, W = 8192
#pragma keet check  H = 64, W = 512
#pragma keet in     A : f32[H + 2][W + 8] = uniform(0, 1)
#pragma keet out    B : f32[H][W]
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet work   flops = 6*H*W, bytes = 8*H*W
#pragma keet launch step<<<dim3(W/512, H/8), 128>>>(A, B, W)

__global__ void step(const float *__restrict__ A, float *__restrict__ B, int w)
{
    int x = (blockIdx.x * 128 + threadIdx.x) * 4, y = blockIdx.y * 8, pitch = w + 8;
    const float *from = A + (size_t)y * pitch + x + 4;
    float4 above = *(const float4 *)from, here = *(const float4 *)(from + pitch);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        from += pitch;
        float4 below = *(const float4 *)(from + pitch);
        float left = from[-1], right = from[4];
        float4 out;
        out.x = here.x + 0.2f * (above.x + below.x + left + here.y - 4 * here.x);
        out.y = here.y + 0.2f * (above.y + below.y + here.x + here.z - 4 * here.y);
        out.z = here.z + 0.2f * (above.z + below.z + here.y + here.w - 4 * here.z);
        out.w = here.w + 0.2f * (above.w + below.w + here.z + right - 4 * here.w);
        *(float4 *)&B[(size_t)(y + k) * w + x] = out;
        above = here;
        here = below;
    }
}
