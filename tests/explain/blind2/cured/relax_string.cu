// A string of 1024 points is smoothed twelve times.
#pragma keet size   N = 1024
#pragma keet check  N = 1024
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch relax<<<1, 1024>>>(X, Y)

__global__ void relax(const float *__restrict__ X, float *__restrict__ Y)
{
    __shared__ float s[2][1024];
    int i = threadIdx.x, left = max(i - 1, 0), right = min(i + 1, 1023);
    float y = X[i];
    s[0][i] = y;
    for (int k = 0; k < 12; k++) {
        __syncthreads();
        const float *from = s[k & 1];
        y = 0.5f * from[i] + 0.25f * (from[left] + from[right]);
        s[~k & 1][i] = y;
    }
    Y[i] = y;
}
