// Types of the launch that are aliases in main, one made of the other: kernels do not know their names.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

template <class Word> struct generator {
    Word state;

    __device__ explicit generator(Word seed) : state(seed * 2 + 1)
    {
    }
    __device__ Word next()
    {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        return state;
    }
};

template <class T, class G> __global__ void fill(T *out, int n, unsigned seed)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = G(seed + i).next();
}

template <class T, class G> void fill_all(T *out, int n, unsigned seed)
{
    fill<T, G><<<(n + 255) / 256, 256>>>(out, n, seed);
}

int main()
{
    using word_t = std::uint64_t;
    using generator_t = generator<word_t>;
    const int n = 3000;
    word_t *out;

    cudaMalloc(&out, n * sizeof(word_t));
    fill_all<word_t, generator_t>(out, n, 42);
    cudaDeviceSynchronize();
    cudaFree(out);
    return 0;
}
