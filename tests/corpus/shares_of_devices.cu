// A number of the text that is dealt out to an array of structs, a remainder more to the first ones: what each gets is a
// plain number, and a smaller one in the text gives another. The data of one is too large to try.
#include <cuda_runtime.h>

const int TOTAL = 1 << 28;

struct share {
    int first, count;
    float *data, *sums;
};

__global__ void sum_share(float *sums, const float *__restrict__ data, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int i = t; i < count; i += gridDim.x * blockDim.x)
        s += data[i];
    sums[t] = s;
}

int main()
{
    share shares[2];
    int given = 0;
    for (int i = 0; i < 2; i++) {
        shares[i].count = (TOTAL - given) / (2 - i);
        shares[i].first = given;
        given += shares[i].count;
        cudaMalloc(&shares[i].data, shares[i].count * sizeof(float));
        cudaMalloc(&shares[i].sums, 32 * 256 * sizeof(float));
    }
    for (int i = 0; i < 2; i++)
        sum_share<<<32, 256>>>(shares[i].sums, shares[i].data, shares[i].count);
    return 0;
}
