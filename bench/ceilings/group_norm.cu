// Group normalisation of f32 features [batch][group][channel of the group][position]: each group of a
// sample is normalised together, then scaled and shifted per channel. One group of one sample per block, which
// holds it in registers.
#pragma keet size   B = 32, G = 32, C = 2, L = 1024
#pragma keet check  B = 3, G = 3, C = 2, L = 67
#pragma keet check  B = 2, G = 4, C = 5, L = 64
#pragma keet in     X : f32[B][G][C][L] = normal(1, 2)
#pragma keet in     GAMMA : f32[G][C] = uniform(0.5, 1.5)
#pragma keet in     BETA : f32[G][C] = uniform(-1, 1)
#pragma keet out    Y : f32[B][G][C][L]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work   flops = 8*B*G*C*L, bytes = 4*(2*B*G*C*L + 2*G*C)
#pragma keet tune   BLOCK = 128 in {64, 128, 256, 512}
#pragma keet tune   VEC = 4 in {1, 2, 4, 8}
#pragma keet where  BLOCK*VEC <= 512
#pragma keet where  512 <= BLOCK*VEC
#pragma keet launch group_norm<<<B*G, BLOCK>>>(X, GAMMA, BETA, Y, B, G, C, L)

// Sum and sum of squares over the block, in all threads.
__device__ __forceinline__ float2 block_sums(float2 s, float2 *parts)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        s.x += __shfl_xor_sync(0xffffffffu, s.x, offset);
        s.y += __shfl_xor_sync(0xffffffffu, s.y, offset);
    }
    if ((threadIdx.x & 31) == 0)
        parts[threadIdx.x >> 5] = s;
    __syncthreads();
    float2 all = make_float2(0.0f, 0.0f);
#pragma unroll
    for (int w = 0; w < BLOCK / 32; w++) {
        const float2 p = parts[w];
        all.x += p.x;
        all.y += p.y;
    }
    return all;
}

__global__ void __launch_bounds__(BLOCK)
group_norm(const float * __restrict__ X, const float * __restrict__ gamma, const float * __restrict__ beta,
           float * __restrict__ Y, int batch, int groups, int channels, int length)
{
    __shared__ float2 parts[BLOCK / 32];
    const int tid = threadIdx.x;
    const int size = channels * length;
    const size_t base = (size_t)blockIdx.x * size;
    const int first = blockIdx.x % groups * channels;

    if ((length & 3) == 0 && size <= BLOCK * VEC * 4 && (((size_t)X | (size_t)Y) & 15) == 0) {
        const int n = size >> 2;
        const float4 *x = reinterpret_cast<const float4 *>(X + base);
        float4 *y = reinterpret_cast<float4 *>(Y + base);
        float4 v[VEC];
#pragma unroll
        for (int j = 0; j < VEC; j++) {
            const int i = tid + j * BLOCK;
            v[j] = i < n ? __ldg(x + i) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
        float g[VEC], b[VEC];
#pragma unroll
        for (int j = 0; j < VEC; j++) {
            const int i = tid + j * BLOCK;
            const int c = i < n ? first + (unsigned)(4 * i) / (unsigned)length : first;
            g[j] = __ldg(gamma + c);
            b[j] = __ldg(beta + c);
        }
        float2 s = make_float2(0.0f, 0.0f);
#pragma unroll
        for (int j = 0; j < VEC; j++) {
            s.x += (v[j].x + v[j].y) + (v[j].z + v[j].w);
            s.y += fmaf(v[j].x, v[j].x, v[j].y * v[j].y) + fmaf(v[j].z, v[j].z, v[j].w * v[j].w);
        }
        s = block_sums(s, parts);
        const float mean = s.x / size;
        const float scale = rsqrtf(fmaxf(s.y / size - mean * mean, 0.0f) + 1e-5f);
#pragma unroll
        for (int j = 0; j < VEC; j++) {
            const int i = tid + j * BLOCK;
            if (i < n) {
                const float a = scale * g[j];
                const float d = fmaf(-mean, a, b[j]);
                float4 r;
                r.x = fmaf(v[j].x, a, d);
                r.y = fmaf(v[j].y, a, d);
                r.z = fmaf(v[j].z, a, d);
                r.w = fmaf(v[j].w, a, d);
                __stcs(y + i, r);
            }
        }
    } else {
        // Any size and alignment: the group is read twice.
        float2 s = make_float2(0.0f, 0.0f);
#pragma unroll 4
        for (int i = tid; i < size; i += BLOCK) {
            const float v = __ldg(X + base + i);
            s.x += v;
            s.y = fmaf(v, v, s.y);
        }
        s = block_sums(s, parts);
        const float mean = s.x / size;
        const float scale = rsqrtf(fmaxf(s.y / size - mean * mean, 0.0f) + 1e-5f);
        for (int i = tid; i < size; i += BLOCK) {
            const int c = first + (unsigned)i / (unsigned)length;
            Y[base + i] = fmaf((__ldg(X + base + i) - mean) * scale, __ldg(gamma + c), __ldg(beta + c));
        }
    }
}
