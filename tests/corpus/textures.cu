// Textures as arguments: over an array of CUDA's, over memory that a kernel writes, and over rows with a pitch.
#include <cstdio>

#define CHECK(call) do { if ((call) != cudaSuccess) return 1; } while (0)

__global__ void ramp(float2 *line, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        line[i] = make_float2(i, 1.0f / (i + 1));
}

__device__ float shade(cudaTextureObject_t tex, float u, float v)
{
    return tex2D<float>(tex, u, v);
}

__global__ void rotate(float *out, cudaTextureObject_t image, cudaTextureObject_t line, int width, int height, float angle)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float u = (x + 0.5f) / width - 0.5f, v = (y + 0.5f) / height - 0.5f;
    float2 offset = tex1Dfetch<float2>(line, y);
    out[y * width + x] = shade(image, u * cosf(angle) - v * sinf(angle) + 0.5f, v * cosf(angle) + u * sinf(angle) + 0.5f)
        + offset.x * offset.y;
}

__global__ void grey(float *out, cudaTextureObject_t pixels, cudaTextureObject_t volume, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float4 rgba = tex2D<float4>(pixels, x, y);
    out[y * width + x] += 0.299f * rgba.x + 0.587f * rgba.y + 0.114f * rgba.z + tex3D<float>(volume, x, y, x % 4);
}

int main()
{
    const int width = 96, height = 48, depth = 4;
    float *out;
    float2 *line;
    uchar4 *pixels;
    size_t pitch;
    cudaArray_t image, deep;
    cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar4>();
    cudaChannelFormatDesc real = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaExtent extent = make_cudaExtent(width, height, depth);

    CHECK(cudaMalloc(&out, width * height * sizeof(float)));
    CHECK(cudaMalloc(&line, height * sizeof(float2)));
    CHECK(cudaMallocPitch(&pixels, &pitch, width * sizeof(uchar4), height));
    CHECK(cudaMallocArray(&image, &real, width, height, cudaArrayDefault));
    CHECK(cudaMalloc3DArray(&deep, &real, extent));

    cudaResourceDesc res = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t image_tex, line_tex, pixel_tex, deep_tex;
    res.resType = cudaResourceTypeArray;
    res.res.array.array = image;
    how.addressMode[0] = cudaAddressModeMirror;
    how.addressMode[1] = cudaAddressModeMirror;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = cudaReadModeElementType;
    how.normalizedCoords = 1;
    CHECK(cudaCreateTextureObject(&image_tex, &res, &how, NULL));

    cudaResourceDesc linear = {};
    cudaTextureDesc plain = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = line;
    linear.res.linear.desc = cudaCreateChannelDesc<float2>();
    linear.res.linear.sizeInBytes = height * sizeof(float2);
    CHECK(cudaCreateTextureObject(&line_tex, &linear, &plain, NULL));

    cudaResourceDesc rows = {};
    cudaTextureDesc floats = {};
    rows.resType = cudaResourceTypePitch2D;
    rows.res.pitch2D.devPtr = pixels;
    rows.res.pitch2D.desc = bytes;
    rows.res.pitch2D.width = width;
    rows.res.pitch2D.height = height;
    rows.res.pitch2D.pitchInBytes = pitch;
    floats.addressMode[0] = cudaAddressModeBorder;
    floats.readMode = cudaReadModeNormalizedFloat;
    CHECK(cudaCreateTextureObject(&pixel_tex, &rows, &floats, NULL));

    cudaResourceDesc volume = {};
    cudaTextureDesc nearest = {};
    volume.resType = cudaResourceTypeArray;
    volume.res.array.array = deep;
    nearest.addressMode[0] = cudaAddressModeClamp;
    CHECK(cudaCreateTextureObject(&deep_tex, &volume, &nearest, NULL));

    dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
    ramp<<<(height + 63) / 64, 64>>>(line, height);
    rotate<<<grid, block>>>(out, image_tex, line_tex, width, height, 0.5f);
    grey<<<grid, block>>>(out, pixel_tex, deep_tex, width, height);
    float first;
    cudaMemcpy(&first, out, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%f\n", first);
}
