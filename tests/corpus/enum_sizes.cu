// Sizes are the values of an enum that device code uses as well.
enum { WIDTH = 64, HEIGHT = 48, PIXELS = WIDTH * HEIGHT };

__global__ void invert(unsigned char *image)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < PIXELS)
        image[i] = 255 - image[i];
}

int main()
{
    unsigned char *image;
    cudaMalloc(&image, PIXELS);
    invert<<<(PIXELS + 127) / 128, 128>>>(image);
}
