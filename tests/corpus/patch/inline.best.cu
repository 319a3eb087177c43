#define AT(i) \
    (i)

#define TWICE(statement)                                                                           \
    statement;                                                                                     \
    i += 1;                                                                                        \
    statement

__global__ void scale_kernel(const float *x, float *y, float factor, int64_t n) {
    int64_t i = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) * 2;
    TWICE(if (i < n) y[AT(i)] = factor * x[AT(i)]);
}

#pragma keet size   x_numel = 1048576
#pragma keet in     x : f32[x_numel]
#pragma keet out    y : f32[x_numel]
#pragma keet scalar factor : f32 = 2.5
#pragma keet launch scale_kernel<<<ceil_div(x_numel, 256), 128>>>(x, y, factor, x_numel)
