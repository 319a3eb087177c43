// Kernels, and the functions that they use, made by macros at file scope.
#define UNARY(name, expression)                                   \
    __device__ __forceinline__ float name##_of(float x)           \
    {                                                             \
        return expression;                                        \
    }                                                             \
    __global__ void name##_kernel(const float *x, float *y, int n) \
    {                                                             \
        int i = blockIdx.x * blockDim.x + threadIdx.x;            \
        if (i < n) /* the rest has nothing to do */               \
            y[i] = name##_of(x[i]);                               \
    }

UNARY(relu, fmaxf(x, 0.0f))
UNARY(square, x *x)

int main()
{
    const int n = 768;
    float *x, *y;

    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    square_kernel<<<n / 128, 128>>>(x, y, n);
    cudaDeviceSynchronize();
    return 0;
}
