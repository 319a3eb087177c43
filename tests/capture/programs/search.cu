// Looks numbers up in a sorted table, and sums what it found: two kernels, real data, a check.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void find(const int *table, int n, const int *wanted, int m, int *place)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (table[middle] < wanted[i])
            low = middle + 1;
        else
            high = middle;
    }
    place[i] = low;
}

__global__ void weigh(const int *place, const float *weights, float factor, float *sums, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m)
        sums[i] += factor * weights[place[i]];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 4096, m = argc > 2 ? atoi(argv[2]) : 1024, wrong = 0;
    std::vector<int> table(n), wanted(m), place(m);
    std::vector<float> weights(n + 1), sums(m, 1.f);
    for (int i = 0; i < n; i++)
        table[i] = 3 * i;
    for (int i = 0; i <= n; i++)
        weights[i] = i % 7;
    for (int i = 0; i < m; i++)
        wanted[i] = (int)(2654435761u * i % (3u * n));

    int *d_table, *d_wanted, *d_place;
    float *d_weights, *d_sums;
    cudaMalloc(&d_table, n * sizeof(int));
    cudaMalloc(&d_wanted, m * sizeof(int));
    cudaMalloc(&d_place, m * sizeof(int));
    cudaMalloc(&d_weights, (n + 1) * sizeof(float));
    cudaMalloc(&d_sums, m * sizeof(float));
    cudaMemcpy(d_table, table.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_wanted, wanted.data(), m * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weights, weights.data(), (n + 1) * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_sums, sums.data(), m * sizeof(float), cudaMemcpyHostToDevice);
    find<<<(m + 127) / 128, 128>>>(d_table, n, d_wanted, m, d_place);
    find<<<(m + 127) / 128, 128>>>(d_table, n, d_wanted, m, d_place); // finds the same places
    for (int round = 0; round < 3; round++)
        weigh<<<(m + 127) / 128, 128>>>(d_place, d_weights, 0.5f, d_sums, m);
    cudaMemcpy(place.data(), d_place, m * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(sums.data(), d_sums, m * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < m; i++) {
        wrong += place[i] != (wanted[i] + 2) / 3;
        wrong += sums[i] != 1.f + 3 * 0.5f * weights[place[i]];
    }
    printf("%d wrong: %s\n", wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
