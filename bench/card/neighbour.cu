// Each block of a cluster reads the shared memory of the next one, 16 bytes a lane.
#pragma keet size   G = 132
#pragma keet check  G = 4
#pragma keet out    OUT : i32[G]
#pragma keet tune   CLUSTER = 2 in {2, 4}
#pragma keet launch remote<<<G, 512>>>(OUT) cluster(CLUSTER)

__global__ void remote(int *out)
{
    __shared__ __align__(16) int a[8192];
    unsigned rank, at;
    int sum = 0, x, y, z, w;
    for (int k = threadIdx.x; k < 8192; k += 512)
        a[k] = k;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"((unsigned)__cvta_generic_to_shared(a + 4 * threadIdx.x)), "r"((rank + 1) % CLUSTER));
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
#pragma unroll 1
    for (int k = 0; k < 64; k++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            asm volatile("ld.volatile.shared::cluster.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(at + 8192 * j) : "memory");
            sum += x + y + z + w;
        }
    }
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    if (sum == 0x7fffffff)
        out[1] = 1;
    if (threadIdx.x == 0)
        out[blockIdx.x] = 1;
}
