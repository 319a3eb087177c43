// Two ways of the same are tried, one after the other: the host sets the counter anew between them, so that the second is
// a task of its own. Each row's length is the host's, as large as a size, and the three outputs are thirds of one
// allocation whose pointers nobody allocated by name. The block follows from a size that no block can have.
#include <cstdlib>
#include <vector>

__global__ void split_rows(float *a, float *b, float *c, const float *rows, const int *lengths, int *nr_seen, int width)
{
    int row = blockIdx.x, n = gridDim.x;
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        a[row * width + i] = i < lengths[row] ? rows[row * width + i] : 0;
        b[row * width + i] = rows[row * width + i] * n;
        c[row * width + i] = rows[row * width + i] + 1;
    }
    if (threadIdx.x == 0)
        atomicAdd(nr_seen, 1);
}

__global__ void split_rows_by_warps(float *a, float *b, float *c, const float *rows, int *nr_seen, int width)
{
    if (atomicAdd(nr_seen, 1) < gridDim.x * blockDim.x)
        a[blockIdx.x * width + threadIdx.x] = rows[blockIdx.x * width + threadIdx.x];
}

void split(float *out, const float *rows, const int *lengths, int *nr_seen, int n, int width)
{
    float *a = out, *b = out + n * width, *c = out + 2 * n * width;
    int threads = width < 1024 ? width : 1024;
    split_rows<<<n, threads>>>(a, b, c, rows, lengths, nr_seen, width);
}

int main(int argc, char **argv)
{
    const int n = 40, width = 5000;
    int *lengths, *nr_seen;
    float *out, *rows;
    std::vector<int> all(n);
    for (int i = 0; i < n; i++)
        all[i] = width;
    cudaMalloc(&out, 3 * n * width * sizeof(float));
    cudaMalloc(&rows, n * width * sizeof(float));
    cudaMalloc(&lengths, n * sizeof(int));
    cudaMemcpy(lengths, all.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMalloc(&nr_seen, sizeof(int));
    cudaMemset(nr_seen, 0, sizeof(int));
    split(out, rows, lengths, nr_seen, n, width);
    cudaMemset(nr_seen, 0, sizeof(int));
    split_rows_by_warps<<<n, 128>>>(out, out + n * width, out + 2 * n * width, rows, nr_seen, width);
}
