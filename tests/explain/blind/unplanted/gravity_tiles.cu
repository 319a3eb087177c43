// gravity_tiles with one root of four by integers and Newton's steps instead of the special-function pipe.
#pragma keet size   N = 135168
#pragma keet check  N = 512
#pragma keet in     P : f32[N][4] = uniform(-1, 1)
#pragma keet out    A : f32[N][4]
#pragma keet tolerance rel = 1e-2, abs = 1e-1
#pragma keet work   flops = 20*N*N, bytes = 32*N
#pragma keet launch gravity<<<N/256, 128>>>(P, A, N)

__device__ float root(float d)
{
    float s = __int_as_float(0x5f3759df - (__float_as_int(d) >> 1)), h = 0.5f * d;
    s *= 1.5f - h * s * s;
    s *= 1.5f - h * s * s;
    return s;
}

__device__ void pull(float4 p, float4 q, float3 &a, bool newton)
{
    float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z;
    float d = x * x + (y * y + (z * z + 0.01f)), s = newton ? root(d) : rsqrtf(d);
    float m = q.w * s * s * s;
    a.x += m * x;
    a.y += m * y;
    a.z += m * z;
}

__global__ void gravity(const float4 *__restrict__ P, float4 *__restrict__ A, int n)
{
    __shared__ float4 body[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float4 p = P[i], q = P[i + 128];
    float3 a = {}, b = {};
    for (int j0 = 0; j0 < n; j0 += 256) {
        __syncthreads();
        body[t] = P[j0 + t];
        body[t + 128] = P[j0 + t + 128];
        __syncthreads();
#pragma unroll 32
        for (int j = 0; j < 256; j++) {
            float4 other = body[j];
            pull(p, other, a, false);
            pull(q, other, b, j % 2);
        }
    }
    A[i] = make_float4(a.x, a.y, a.z, 0);
    A[i + 128] = make_float4(b.x, b.y, b.z, 0);
}
