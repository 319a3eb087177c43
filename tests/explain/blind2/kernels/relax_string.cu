// A string of 1024 points is smoothed twelve times.
#pragma keet size   N = 1024
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet temp   T : f32[N]
#pragma keet temp   U : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch relax<<<N/128, 128>>>(X, T, N)
#pragma keet launch relax<<<N/128, 128>>>(T, U, N)
#pragma keet launch relax<<<N/128, 128>>>(U, T, N)
#pragma keet launch relax<<<N/128, 128>>>(T, U, N)
#pragma keet launch relax<<<N/128, 128>>>(U, T, N)
#pragma keet launch relax<<<N/128, 128>>>(T, U, N)
#pragma keet launch relax<<<N/128, 128>>>(U, T, N)
#pragma keet launch relax<<<N/128, 128>>>(T, U, N)
#pragma keet launch relax<<<N/128, 128>>>(U, T, N)
#pragma keet launch relax<<<N/128, 128>>>(T, U, N)
#pragma keet launch relax<<<N/128, 128>>>(U, T, N)
#pragma keet launch relax<<<N/128, 128>>>(T, Y, N)

__global__ void relax(const float *__restrict__ X, float *__restrict__ Y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    Y[i] = 0.5f * X[i] + 0.25f * (X[max(i - 1, 0)] + X[min(i + 1, n - 1)]);
}
