// Additions of floats by a million threads to A numbers in global memory, lanes anywhere.
#pragma keet size   N = 1048576, A = 256
#pragma keet check  N = 4096, A = 256
#pragma keet inout  BINS : f32[A] = constant(0)
#pragma keet launch atomics<<<N/256, 256>>>(BINS, A - 1)

__global__ void atomics(float *bins, unsigned mask)
{
    unsigned i = blockIdx.x * 256 + threadIdx.x, hash = i * 2654435761u;
    hash = (hash ^ hash >> 15) * 2246822519u;
    hash ^= hash >> 13;
    atomicAdd(&bins[hash & mask], 1.0f);
}
