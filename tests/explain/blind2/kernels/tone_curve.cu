// Brightness of 64 colours per thread, by three weights and a curve of eight coefficients.
#pragma keet size   N = 67584
#pragma keet check  N = 1024
#pragma keet in     M : f32[11] = uniform(0, 0.5)
#pragma keet out    Y : u8[64*N]
#pragma keet launch tones<<<N/256, 256>>>(M, Y, N)

__global__ void tones(const float *M, unsigned char *Y, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float r = i * 1e-5f, g = 1 - r, b = 0.5f;
    for (int k = 0; k < 64; k++) {
        float x = M[0] * r + M[1] * g + M[2] * b, y = M[3];
        y = (y * x + M[4]) * x + M[5];
        y = (y * x + M[6]) * x + M[7];
        y = (y * x + M[8]) * x + M[9];
        Y[k * n + i] = y * x > M[10];
        r += 0.01f, g -= 0.01f, b *= 0.9f;
    }
}
