// Vectors of a template's type, as long as the members of a struct say, and a length made of itself.
#include <cuda_runtime.h>
#include <thrust/device_vector.h>
#include <vector>

static int length = 8192;

template <typename T>
struct pair {
    T first, second;
};

struct table {
    std::vector<int> rows;
    std::vector<float> values;
};

__global__ void swap_halves(pair<float> *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float first = x[i].first;
        x[i].first = x[i].second;
        x[i].second = first;
    }
}

__global__ void scale(float *v, const int *rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) v[i] *= rows[i];
}

int main()
{
    length = length / parts();
    thrust::device_vector<pair<float>> x(length);
    swap_halves<<<length / 128, 128>>>(thrust::raw_pointer_cast(x.data()), length);

    table t;
    read_table(t);
    int *rows;
    float *v;
    cudaMalloc(&rows, t.rows.size() * sizeof(int));
    cudaMalloc(&v, t.values.size() * sizeof(float));
    scale<<<32, 128>>>(v, rows, 4096);
    return 0;
}
