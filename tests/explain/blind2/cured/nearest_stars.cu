// Distances from each star to its twelve nearest of 256 reference stars.
#pragma keet size   N = 67584
#pragma keet check  N = 1024
#pragma keet in     A : f32[N][2] = uniform(0, 1)
#pragma keet in     R : f32[256][2] = uniform(0, 1)
#pragma keet out    D : f32[N]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet launch nearest<<<N/128, 128>>>(A, R, D)

__global__ void nearest(const float2 *__restrict__ A, const float2 *__restrict__ R, float *__restrict__ D)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    float2 a = A[i];
    float best[12];
    for (int k = 0; k < 12; k++)
        best[k] = 4;
    for (int j = 0; j < 256; j++) {
        float2 r = R[j];
        float d = (a.x - r.x) * (a.x - r.x) + (a.y - r.y) * (a.y - r.y);
#pragma unroll
        for (int k = 0; k < 12; k++) {
            float low = fminf(best[k], d);
            d = fmaxf(best[k], d);
            best[k] = low;
        }
    }
    float sum = 0;
    for (int k = 0; k < 12; k++)
        sum += sqrtf(best[k]);
    D[i] = sum;
}
