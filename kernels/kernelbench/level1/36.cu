// RMS norm over the second dimension, one place per thread.
#pragma keet tune   BLOCK = 64 in {32, 64, 128}
#pragma keet launch rms_norm<<<dim3(ceil_div(dim1*dim2, BLOCK), batch_size), BLOCK>>>(x, y, features, dim1*dim2)

__global__ void rms_norm(const float *x, float *y, int features, int places)
{
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place >= places)
        return;
    x += blockIdx.y * features * places + place;
    y += blockIdx.y * features * places + place;
    float sum = 0;
    for (int c = 0; c < features; c++)
        sum += x[c * places] * x[c * places];
    float rms = sqrtf(sum / features + 1e-5f);
    for (int c = 0; c < features; c++)
        y[c * places] = x[c * places] / rms;
}
