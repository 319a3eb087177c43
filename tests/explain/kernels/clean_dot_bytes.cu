// Products of bytes, four to an instruction: integer arithmetic that is the task's own work.
#pragma keet size   N = 4194304
#pragma keet check  N = 4096
#pragma keet in     X : i32[N] = uniform(-2000000000, 2000000000)
#pragma keet out    Y : i32[N]
#pragma keet launch dots<<<N / 1024, 256>>>(X, Y)

__global__ void dots(const int4 *__restrict__ X, int4 *__restrict__ Y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    int4 x = X[i], s = {0, 0, 0, 0};
#pragma unroll
    for (int k = 0; k < 32; k++) {
        s.x = __dp4a(x.x, x.y, s.x);
        s.y = __dp4a(x.y, x.z, s.y);
        s.z = __dp4a(x.z, x.w, s.z);
        s.w = __dp4a(x.w, s.x, s.w);
    }
    Y[i] = s;
}
