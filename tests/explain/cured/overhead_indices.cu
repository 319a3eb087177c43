// The index is taken apart once for each four elements, in 32 bits by constants, and then counted on.
#pragma keet size   N = 4194304
#pragma keet check  N = 1024
#pragma keet in     X : i32[N] = integers(0, 1000)
#pragma keet out    Y : i32[N]
#pragma keet work   flops = 4*N, bytes = 8*N
#pragma keet launch split<7, 11, 13><<<ceil_div(N, 1024), 256>>>(X, Y, N)

template <int a, int b, int c> __global__ void split(const int *__restrict__ X, int *__restrict__ Y, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    int4 v = *reinterpret_cast<const int4 *>(&X[i]);
    int *of[4] = {&v.x, &v.y, &v.z, &v.w}, w = i % a, x = i / a % b, y = i / a / b % c, z = i / a / b / c;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        *of[k] += w + x + y + z;
        if (++w == a) {
            w = 0;
            if (++x == b) {
                x = 0;
                if (++y == c)
                    y = 0, z++;
            }
        }
    }
    *reinterpret_cast<int4 *>(&Y[i]) = v;
}
