// A lattice of 40^4 places: too many for the check, and no other size is near 64 or above, so that the check has to make
// a small one smaller. Its length comes by its address, and only even ones are taken.
#include <cstdint>

__global__ void neighbours(const uint8_t *field, uint8_t *sums, int length)
{
    if (length % 2)
        __trap();
    int i = blockIdx.x * blockDim.x + threadIdx.x, nr = length * length * length * length;
    if (i < nr)
        for (int k = 0; k < 8; k++)
            sums[8 * i + k] = field[8 * i + k] + field[8 * ((i + 1) % nr) + k];
}

void sum(const int *length)
{
    const int nr = *length * *length * *length * *length;
    uint8_t *field, *sums;
    cudaMalloc(&field, 8 * nr);
    cudaMalloc(&sums, 8 * nr);
    neighbours<<<(nr + 255) / 256, 256>>>(field, sums, *length);
    cudaDeviceSynchronize();
}

int main()
{
    int length = 40;
    sum(&length);
}
