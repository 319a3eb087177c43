// Operators of a vector type, inside of the struct and out of it; a member defined out of class.
#include <iostream>

struct vec {
    float x, y;
    __host__ __device__ vec operator-() const { return {-x, -y}; }
    __host__ __device__ float norm() const;
};

__host__ __device__ inline vec operator+(const vec &a, const vec &b)
{
    return {a.x + b.x, a.y + b.y};
}

__host__ __device__ float vec::norm() const
{
    return x * x + y * y;
}

std::ostream &operator<<(std::ostream &out, const vec &v)
{
    return out << v.x << "," << v.y;
}

__global__ void mirror(const vec *a, vec *b, float *norms, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        b[i] = -a[i] + vec{1, 1};
        norms[i] = a[i].norm();
    }
}

int main()
{
    int n = 130;
    vec *a, *b;
    float *norms;
    cudaMalloc(&a, n * sizeof(vec));
    cudaMalloc(&b, n * sizeof(vec));
    cudaMalloc(&norms, n * sizeof(float));
    mirror<<<(n + 31) / 32, 32>>>(a, b, norms, n);
}
