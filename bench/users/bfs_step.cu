// One level of breadth-first search over a graph in CSR: a vertex a thread.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void bfs_step(const int *offsets, const int *edges, int *level, int *changed, int n, int depth)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || level[v] != depth)
        return;
    for (int e = offsets[v]; e < offsets[v + 1]; e++) {
        int u = edges[e];
        if (level[u] < 0) {
            level[u] = depth + 1;
            *changed = 1;
        }
    }
}

int main()
{
    const int n = 32768, degree = 8;
    int *offsets = (int *)malloc((n + 1) * sizeof(int)), *edges = (int *)malloc(n * degree * sizeof(int));
    int *level = (int *)malloc(n * sizeof(int)), zero = 0, *d_offsets, *d_edges, *d_level, *d_changed;
    for (int i = 0; i <= n; i++)
        offsets[i] = i * degree;
    for (int i = 0; i < n * degree; i++)
        edges[i] = rand() % n;
    for (int i = 0; i < n; i++)
        level[i] = i < n / 8 ? 0 : -1;
    cudaMalloc(&d_offsets, (n + 1) * sizeof(int));
    cudaMalloc(&d_edges, n * degree * sizeof(int));
    cudaMalloc(&d_level, n * sizeof(int));
    cudaMalloc(&d_changed, sizeof(int));
    cudaMemcpy(d_offsets, offsets, (n + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_edges, edges, n * degree * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_level, level, n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_changed, &zero, sizeof(int), cudaMemcpyHostToDevice);
    bfs_step<<<(n + 255) / 256, 256>>>(d_offsets, d_edges, d_level, d_changed, n, 0);
    cudaMemcpy(level, d_level, n * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%d\n", level[n - 1]);
    return 0;
}
