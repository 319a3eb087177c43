#include <cstdio>

__global__ void blur(float *out, cudaTextureObject_t image, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < width && y < height)
        out[y * width + x] = (tex2D<float>(image, x - 1, y) + tex2D<float>(image, x, y) + tex2D<float>(image, x + 1, y)) / 3;
}

int main()
{
    const int width = 256, height = 128;
    float *out, first;
    cudaArray_t array;
    cudaChannelFormatDesc channel = cudaCreateChannelDesc<float>();
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t image;

    cudaMalloc(&out, width * height * sizeof(float));
    cudaMallocArray(&array, &channel, width, height);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    how.addressMode[0] = cudaAddressModeClamp;
    cudaCreateTextureObject(&image, &resource, &how, NULL);
    blur<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(out, image, width, height);
    cudaMemcpy(&first, out, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", first);
}
