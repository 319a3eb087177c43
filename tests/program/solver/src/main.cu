// Smooths a field in steps, prints how its sums of squares change, and writes the last sums to a file.
#include "kernels.cuh"
#include "output.h"
#include "scale.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

static void (*const damping[])(float *, int, int, float) = {scale, scale};

int main(int argc, char **argv)
{
    int rows = argc > 1 ? atoi(argv[1]) : 256, columns = argc > 2 ? atoi(argv[2]) : 256;
    int steps = argc > 3 ? atoi(argv[3]) : 3;
    std::vector<float> field(rows * columns), sums(rows);
    for (int i = 0; i < rows * columns; i++)
        field[i] = 1.0f + sinf(0.37f * i) * (i % 11);

    float *d_old, *d_new, *d_sums;
    cudaMalloc(&d_old, rows * columns * sizeof(float));
    cudaMalloc(&d_new, rows * columns * sizeof(float));
    cudaMalloc(&d_sums, rows * sizeof(float));
    cudaMemcpy(d_old, field.data(), rows * columns * sizeof(float), cudaMemcpyHostToDevice);
    clock_t start = clock();
    for (int step = 0; step < steps; step++) {
        smooth<<<columns, 64>>>(d_old, d_new, rows, columns);
        sum_rows<<<(rows + 127) / 128, 128>>>(d_new, d_sums, rows, columns);
        cudaMemcpy(sums.data(), d_sums, rows * sizeof(float), cudaMemcpyDeviceToHost);
        double all = 0;
        for (int i = 0; i < rows; i++)
            all += sums[i];
        printf("step %d: sum = %.4f, first row %.4f\n", step, all, sums[0]);
        damping[step % 2](d_new, rows, columns, 1.01f);
        float *swap = d_old;
        d_old = d_new;
        d_new = swap;
    }
    printf("elapsed %.3f s at %ld\n", (double)(clock() - start) / CLOCKS_PER_SEC, (long)time(0));
    write_field("sums.txt", sums.data(), rows);
    return cudaGetLastError() != cudaSuccess;
}
