// f64 polynomial of degree 31 by Horner's rule, and a division.
#pragma keet size   N = 1048576
#pragma keet in     X : f64[N]
#pragma keet out    Y : f64[N]
#pragma keet launch dpoly<<<N/256, 256>>>(X, Y)

__global__ void dpoly(const double *X, double *Y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = X[i], sum = 1;
    for (int k = 1; k < 32; k++)
        sum = sum * x + 1.0 / (1 + (k & 7));
    Y[i] = sum / (1.5 + x);
}
