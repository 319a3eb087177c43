// Template arguments that only numbers say: of a literal, and of a variable's type. Of the word `settings` in a macro's
// comment nothing follows: the host's variable of that name stays where it is. The grid has casts to a type of the file.
#include <cstdio>
#define WIDTH 64 /* of the settings */

struct settings_of_host {
    double step = 0.5;
    settings_of_host() { puts("made"); }
};
settings_of_host settings;

typedef long Length;

template <typename T, typename Stride, typename Count>
__global__ void stretch(Count n, T *out, const T *in, Stride step)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n)
        out[i * step] = in[i] + WIDTH;
}

int main()
{
    const long n = 1000;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, 2 * n * sizeof(float));
    stretch<<<(n + (Length)127) / Length(128), 128>>>(n, out, in, 2);
    printf("%g\n", settings.step);
}
