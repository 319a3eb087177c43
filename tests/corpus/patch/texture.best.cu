

__global__ void blur(float *out, cudaTextureObject_t image, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

    if (x < width && y < height)
        out[y * width + x] = (tex2D<float>(image, x - 1, y) + tex2D<float>(image, x, y) + tex2D<float>(image, x + 1, y)) * (1.0f / 3);
}

// The task, as read from the host code of texture.cu.
// from line 13: const int width = 256, height = 128; line 13: const int width = 256, height = 128
#pragma keet size   width = 256, height = 128
// from line 21: cudaMalloc(&out, width * height * sizeof(float)); written before it is read by the kernel
#pragma keet out    out : f32[width*height]
// from line 22: cudaMallocArray(&array, &channel, width, height); only read by the kernel
#pragma keet in     array : f32[height*width]
// from line 27: blur<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(out, image, width, height)
#pragma keet launch blur<<<dim3(width/32, height/8), dim3(32, 8)>>>(out, texture(array, width, height), width, height)
