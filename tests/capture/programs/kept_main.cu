// Has no kernel: that is in kept.cu, made for a type that the host alone names.
#include <cstdio>
#include <vector>

void keep_all(const float *x, float *y, int n, int rounds);

int main()
{
    const int n = 3000;
    std::vector<float> x(n), y(n);
    float *d_x, *d_y;
    int wrong = 0;

    for (int i = 0; i < n; i++)
        x[i] = i % 11;
    cudaMalloc(&d_x, n * sizeof(float));
    cudaMalloc(&d_y, n * sizeof(float));
    cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    keep_all(d_x, d_y, n, 2);
    cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        wrong += y[i] != 3 * x[i] + 1;
    printf("%d wrong: %s\n", wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
