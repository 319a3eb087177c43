// Functions by address: a table in global memory, one in constant memory, and virtual functions.
#pragma keet size   N = 2048
#pragma keet check  N = 256
#pragma keet in     X : i32[N] = integers(0, 100)
#pragma keet in     W : i32[N] = integers(0, 6)
#pragma keet out    Y : i32[N]
#pragma keet launch calls_by_address<<<N/256, 256>>>(X, W, Y)
typedef int (*function)(int, int);
__device__ __noinline__ int sum(int a, int b) { return a + b; }
__device__ __noinline__ int product(int a, int b) { return a * b; }
__device__ __noinline__ int twisted(int a, int b) { return b > 3 ? product(a, b) - 1 : sum(b, a) * 2; }
__device__ function table[3] = {sum, product, twisted};
__constant__ function constants[2] = {twisted, sum};

struct shape {
    __device__ virtual int of(int x) const = 0;
};
struct shifted : shape {
    __device__ int of(int x) const override { return x + 1000; }
};
struct scaled : shape {
    int by;
    __device__ explicit scaled(int b) : by(b) {}
    __device__ int of(int x) const override { return x * by; }
};

__global__ void calls_by_address(const int *x, const int *w, int *y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    int v = table[w[i] % 3](x[i], w[i]);
    v = constants[w[i] & 1](v, w[i]);
    shifted a;
    scaled b(3);
    const shape *s = w[i] > 2 ? static_cast<const shape *>(&a) : &b;
    if (i % 5)
        v = s->of(v);
    y[i] = v;
}
