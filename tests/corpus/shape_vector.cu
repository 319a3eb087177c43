// The shape of a tensor in vectors of the host, one a copy of the other.
#include <vector>

__global__ void halves(const float *x, float *y, int rows, int half)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * half)
        y[i] = x[i / half * 2 * half + i % half];
}

int main(int argc, char **argv)
{
    const int rows = 40, columns = 100;
    std::vector<int> from, to;
    from.push_back(rows);
    from.push_back(columns);
    to.insert(to.end(), from.begin(), from.end());
    to[1] /= 2;
    float *x, *y;
    cudaMalloc(&x, from[0] * from[1] * sizeof(float));
    cudaMalloc(&y, to[0] * to[1] * sizeof(float));
    halves<<<(to[0] * to[1] + 127) / 128, 128>>>(x, y, rows, to[1]);
}
