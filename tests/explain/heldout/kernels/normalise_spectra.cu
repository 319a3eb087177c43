// Each thread scales one spectrum so that its largest value is one.
#pragma keet size   S = 8192, W = 256
#pragma keet check  S = 40, W = 33
#pragma keet inout  X : f32[S][W] = uniform(0.1, 1)
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet work   flops = 2*S*W, bytes = 8*S*W
#pragma keet launch normalise<<<ceil_div(S, 128), 128>>>(X, S, W)

__global__ void normalise(float *X, int nr_spectra, int width)
{
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= nr_spectra)
        return;
    float *spectrum = X + (size_t)s * width;
    float most = 0;
    for (int w = 0; w < width; w++)
        most = fmaxf(most, spectrum[w]);
    for (int w = 0; w < width; w++)
        spectrum[w] /= most;
}
