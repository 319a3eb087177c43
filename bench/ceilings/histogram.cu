// Histogram of bytes into 256 bins. Shared counters hist[bin][lane]: each lane of a warp stays in its own bank.
// Blocks add (1 << 23 | count) to g_acc[bin]: the one that finds gridDim-1 in the upper bits is the last for this
// bin, has the total in its hand, writes it to BINS and leaves the accumulator at zero for the next run.
#pragma keet size   N = 4194304
#pragma keet check  N = 10007
#pragma keet check  N = 4096
#pragma keet check  N = 1
#pragma keet in     DATA : u8[N] = integers(0, 255)
#pragma keet out    BINS : i32[256]
#pragma keet work   flops = 0, bytes = N + 1024
#pragma keet tune   BLOCK = 1024 in {512, 1024}
#pragma keet tune   NB = 128 in {128, 132, 256, 264}
#pragma keet tune   U = 2 in {1, 2, 4}
#pragma keet launch histogram<<<min(NB, ceil_div(N, 16 * BLOCK)), BLOCK, 65536>>>(DATA, BINS, N)

#include <stdint.h>

__device__ unsigned int g_acc[256];
__device__ unsigned long long g_wide[256];

__device__ __forceinline__ void bump(char *h, unsigned int off)
{
    atomicAdd(reinterpret_cast<int *>(h + off), 1);
}

__device__ __forceinline__ void count4(char *h, unsigned int w, unsigned int lane4)
{
    // Byte 0 of the address is lane*4, byte 1 the bin, bytes 2 and 3 are zero (bytes 1 of lane4).
    bump(h, __byte_perm(w, lane4, 0x5504));
    bump(h, __byte_perm(w, lane4, 0x5514));
    bump(h, __byte_perm(w, lane4, 0x5524));
    bump(h, __byte_perm(w, lane4, 0x5534));
}

__device__ __forceinline__ void count16(char *h, uint4 v, unsigned int lane4)
{
    count4(h, v.x, lane4);
    count4(h, v.y, lane4);
    count4(h, v.z, lane4);
    count4(h, v.w, lane4);
}

__global__ void __launch_bounds__(BLOCK) histogram(const unsigned char *__restrict__ data, int *bins, int n)
{
    // 256 rows of 256 bytes; the first 128 bytes of a row are the bin's 32 counters, the rest is never touched.
    extern __shared__ __align__(128) unsigned char hist[];

    const int tid = threadIdx.x;
    const unsigned int lane4 = (tid & 31) * 4;
    char *h = reinterpret_cast<char *>(hist);

    const int head = min((int)((16 - ((uintptr_t)data & 15)) & 15), n);
    const uint4 *vec = reinterpret_cast<const uint4 *>(data + head);
    const int nv = (n - head) >> 4;
    const int stride = gridDim.x * BLOCK;
    const int first = blockIdx.x * BLOCK + tid;

    uint4 v[U];
#pragma unroll
    for (int u = 0; u < U; u++) {
        v[u] = make_uint4(0, 0, 0, 0);
        if (first + u * stride < nv)
            v[u] = __ldg(vec + first + u * stride);
    }

#pragma unroll
    for (int k = tid; k < 2048; k += BLOCK)
        *reinterpret_cast<int4 *>(h + (k >> 3) * 256 + (k & 7) * 16) = make_int4(0, 0, 0, 0);
    __syncthreads();

#pragma unroll
    for (int u = 0; u < U; u++)
        if (first + u * stride < nv)
            count16(h, v[u], lane4);
    for (int i = first + U * stride; i < nv; i += stride)
        count16(h, __ldg(vec + i), lane4);
    if (blockIdx.x == gridDim.x - 1) {
        if (tid < head)
            bump(h, ((unsigned int)data[tid] << 8) | lane4);
        const int t = head + nv * 16 + tid;
        if (t < n)
            bump(h, ((unsigned int)data[t] << 8) | lane4);
    }
    __syncthreads();

    if (tid < 256) {
        // Thread b sums the 32 columns of bin b; the start rotates so that 8 lanes read 8 different 16-byte groups.
        const unsigned int row = (unsigned int)tid * 256u + (unsigned int)(tid & 7) * 16u;
        int s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            const int4 q = *reinterpret_cast<const int4 *>(h + (row ^ (unsigned int)(j * 16)));
            s0 += q.x;
            s1 += q.y;
            s2 += q.z;
            s3 += q.w;
        }
        const unsigned int sum = (unsigned int)((s0 + s1) + (s2 + s3));
        if (gridDim.x == 1) {
            bins[tid] = (int)sum;
        } else if (n < (1 << 23)) {
            // 9 bits of arrivals, 23 bits of total.
            const unsigned int old = atomicAdd(&g_acc[tid], sum + (1u << 23));
            if ((old >> 23) == gridDim.x - 1) {
                bins[tid] = (int)((old & 0x7fffffu) + sum);
                g_acc[tid] = 0;
            }
        } else {
            const unsigned long long old = atomicAdd(&g_wide[tid], (unsigned long long)sum + (1ull << 32));
            if ((unsigned int)(old >> 32) == gridDim.x - 1) {
                bins[tid] = (int)((unsigned int)old + sum);
                g_wide[tid] = 0;
            }
        }
    }
}
