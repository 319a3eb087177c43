// The negative of a grey image, a byte a thread.
#pragma keet size   N = 67108864
#pragma keet check  N = 3000
#pragma keet in     image : u8[N] = integers(0, 255)
#pragma keet out    negative : u8[N]
#pragma keet work   flops = N, bytes = 2*N
#pragma keet launch invert<<<ceil_div(N, 256), 256>>>(image, negative, N)

__global__ void invert(const unsigned char *__restrict__ image, unsigned char *__restrict__ negative, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        negative[i] = 255 - image[i];
}
