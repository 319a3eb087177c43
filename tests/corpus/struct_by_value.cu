// A struct passed by value: its fields in braces.
struct Params {
    int n;
    float scale;
};

__global__ void apply(float *x, Params p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.n)
        x[i] *= p.scale;
}

int main()
{
    Params p = {1024, 2.0f};
    float *x;
    cudaMalloc(&x, p.n * sizeof(float));
    apply<<<(p.n + 255) / 256, 256>>>(x, p);
}
