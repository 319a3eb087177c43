// What users' programs do with the runtime, each with a check of its own. Prints PASS, or what failed.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int failures;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            printf("line %d: %s: %s\n", __LINE__, cudaGetErrorName(error),                         \
                cudaGetErrorString(error));                                                        \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

__constant__ float factors[4];
__device__ int counter;
__managed__ int managed_total = 5;

template <typename T> __global__ void scale(T *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= (T)factors[i % 4];
    if (i == 0) {
        atomicAdd(&counter, n);
        managed_total += n;
    }
}

struct Image {
    const float *pixels;
    size_t pitch;
    int width, height;
};

__global__ void flip(Image from, float *to)
{
    int x = threadIdx.x, y = blockIdx.x;
    if (x < from.width)
        to[y * from.width + from.width - 1 - x] =
            ((const float *)((const char *)from.pixels + y * from.pitch))[x];
}

__global__ void sample(cudaTextureObject_t texture, cudaSurfaceObject_t surface, float *to)
{
    to[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, blockIdx.x + 0.5f);
    surf2Dwrite(to[threadIdx.x] + 1, surface, threadIdx.x * sizeof(float), blockIdx.x);
}

__global__ void sum_all(const int *x, int n, int *partial, int *total)
{
    auto grid = cooperative_groups::this_grid();
    int sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        sum += x[i];
    atomicAdd(&partial[blockIdx.x], sum);
    grid.sync();
    if (grid.thread_rank() == 0)
        for (int b = 0; b < gridDim.x; b++)
            *total += partial[b];
}

__global__ void rank_in_cluster(int *to)
{
    if (threadIdx.x == 0)
        to[blockIdx.x] = cooperative_groups::this_cluster().block_rank();
}

__global__ void big_shared(int *to)
{
    extern __shared__ int cells[];
    for (int i = threadIdx.x; i < 16384; i += blockDim.x)
        cells[i] = i;
    __syncthreads();
    if (threadIdx.x == 0)
        *to = cells[16383];
}

static void symbols_and_managed()
{
    const int n = 1000;
    float host[4] = {1, 2, 3, 4}, *x;
    int count = -1;
    TRY(cudaMemcpyToSymbol(factors, host, sizeof(host)));
    TRY(cudaMallocManaged(&x, n * sizeof(float)));
    for (int i = 0; i < n; i++)
        x[i] = i;
    scale<<<(n + 127) / 128, 128>>>(x, n);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        EXPECT(x[i] == i * host[i % 4]);
    TRY(cudaMemcpyFromSymbol(&count, counter, sizeof(count)));
    EXPECT(count == n);
    EXPECT(managed_total == 5 + n);
    cudaPointerAttributes facts;
    TRY(cudaPointerGetAttributes(&facts, x));
    EXPECT(facts.type == cudaMemoryTypeManaged);
    TRY(cudaFree(x));
}

static void pitched_and_pinned()
{
    const int width = 60, height = 7;
    float *pixels, *out, *pinned;
    size_t pitch;
    TRY(cudaMallocPitch(&pixels, &pitch, width * sizeof(float), height));
    TRY(cudaHostAlloc(&pinned, width * height * sizeof(float), cudaHostAllocMapped));
    for (int i = 0; i < width * height; i++)
        pinned[i] = i;
    TRY(cudaMemcpy2D(pixels, pitch, pinned, width * sizeof(float), width * sizeof(float), height,
        cudaMemcpyHostToDevice));
    TRY(cudaHostGetDevicePointer(&out, pinned, 0));
    flip<<<height, 64>>>(Image{pixels, pitch, width, height}, out);
    TRY(cudaDeviceSynchronize());
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            EXPECT(pinned[y * width + width - 1 - x] == y * width + x);
    std::vector<float> own(width * height, -1.f);
    TRY(cudaHostRegister(own.data(), own.size() * sizeof(float), cudaHostRegisterDefault));
    flip<<<height, 64>>>(Image{pixels, pitch, width, height}, own.data());
    TRY(cudaDeviceSynchronize());
    EXPECT(own[0] == width - 1);
    TRY(cudaHostUnregister(own.data()));
    TRY(cudaMemset2D(pixels, pitch, 0, 4 * sizeof(float), height));
    TRY(cudaMemcpy2D(own.data(), width * sizeof(float), pixels, pitch, width * sizeof(float),
        height, cudaMemcpyDeviceToHost));
    EXPECT(own[3] == 0 && own[4] == 4 && own[width] == 0);
    TRY(cudaFreeHost(pinned));
    TRY(cudaFree(pixels));
}

static void textures()
{
    const int width = 32, height = 4;
    cudaChannelFormatDesc texel = cudaCreateChannelDesc<float>();
    cudaArray_t from, to;
    float host[height][width], *out;
    for (int i = 0; i < width * height; i++)
        host[i / width][i % width] = i;
    TRY(cudaMallocArray(&from, &texel, width, height));
    TRY(cudaMallocArray(&to, &texel, width, height, cudaArraySurfaceLoadStore));
    TRY(cudaMemcpy2DToArray(from, 0, 0, host, sizeof(host[0]), sizeof(host[0]), height,
        cudaMemcpyHostToDevice));
    TRY(cudaMalloc(&out, width * sizeof(float)));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = from;
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    TRY(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    resource.res.array.array = to;
    cudaSurfaceObject_t surface;
    TRY(cudaCreateSurfaceObject(&surface, &resource));
    sample<<<height, width>>>(texture, surface, out);
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy2DFromArray(host, sizeof(host[0]), to, 0, 0, sizeof(host[0]), height,
        cudaMemcpyDeviceToHost));
    EXPECT(host[0][0] == 1 && host[3][31] == 128);
    TRY(cudaDestroyTextureObject(texture));
    TRY(cudaDestroySurfaceObject(surface));
    TRY(cudaFreeArray(from));
    TRY(cudaFreeArray(to));
    TRY(cudaFree(out));
}

static void launches()
{
    const int n = 1000, blocks = 4;
    std::vector<int> host(n, 3), ranks(8);
    int *x, *partial, *total, *rank, sum = 0, last = 0, resident = 0;
    TRY(cudaMalloc(&x, n * sizeof(int)));
    TRY(cudaMalloc(&partial, blocks * sizeof(int)));
    TRY(cudaMalloc(&total, sizeof(int)));
    TRY(cudaMalloc(&rank, 8 * sizeof(int)));
    TRY(cudaMemcpy(x, host.data(), n * sizeof(int), cudaMemcpyDefault));
    TRY(cudaMemset(partial, 0, blocks * sizeof(int)));
    TRY(cudaMemset(total, 0, sizeof(int)));
    int count = n;
    void *args[] = {&x, &count, &partial, &total};
    TRY(cudaLaunchCooperativeKernel((void *)sum_all, blocks, 64, args, 0, 0));
    TRY(cudaMemcpy(&sum, total, sizeof(sum), cudaMemcpyDeviceToHost));
    EXPECT(sum == 3 * n);

    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = 32;
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 4;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.attrs = &cluster;
    config.numAttrs = 1;
    TRY(cudaLaunchKernelEx(&config, rank_in_cluster, rank));
    TRY(cudaMemcpy(ranks.data(), rank, 8 * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(ranks[3] == 3 && ranks[4] == 0 && ranks[7] == 3);

    big_shared<<<1, 128, 65536>>>(total);
    EXPECT(cudaGetLastError() != cudaSuccess);
    TRY(cudaFuncSetAttribute(big_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    big_shared<<<1, 128, 65536>>>(total);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&last, total, sizeof(last), cudaMemcpyDeviceToHost));
    EXPECT(last == 16383);
    TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, big_shared, 128, 65536));
    EXPECT(resident == 3);
    for (int *p : {x, partial, total, rank})
        TRY(cudaFree(p));
}

static void count_call(void *data)
{
    ++*(int *)data;
}

static void streams_and_graphs()
{
    const int n = 256;
    std::vector<float> host(n, 1.f);
    float *x, ms = -1;
    int calls = 0;
    cudaStream_t stream, other;
    cudaEvent_t start, stop;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    TRY(cudaEventCreate(&start));
    TRY(cudaEventCreate(&stop));
    TRY(cudaMallocAsync(&x, n * sizeof(float), stream));
    TRY(cudaMemcpyAsync(x, host.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
    TRY(cudaEventRecord(start, stream));
    scale<<<2, 128, 0, stream>>>(x, n);
    TRY(cudaEventRecord(stop, stream));
    TRY(cudaEventSynchronize(stop));
    TRY(cudaEventElapsedTime(&ms, start, stop));
    EXPECT(ms > 0);

    cudaGraph_t graph;
    cudaGraphExec_t exec;
    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TRY(cudaEventRecord(start, stream));
    TRY(cudaStreamWaitEvent(other, start, 0));
    scale<<<2, 128, 0, other>>>(x, n);
    TRY(cudaEventRecord(stop, other));
    TRY(cudaStreamWaitEvent(stream, stop, 0));
    TRY(cudaLaunchHostFunc(stream, count_call, &calls));
    TRY(cudaStreamEndCapture(stream, &graph));
    EXPECT(calls == 0);
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
    EXPECT(calls == 2);
    TRY(cudaMemcpyAsync(host.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamSynchronize(stream));
    EXPECT(host[0] == 1 && host[1] == 8 && host[3] == 64);
    TRY(cudaFreeAsync(x, stream));
    TRY(cudaStreamDestroy(stream));
}

int main()
{
    int nr = 0;
    cudaDeviceProp facts;
    TRY(cudaGetDeviceCount(&nr));
    EXPECT(nr == 1);
    TRY(cudaGetDeviceProperties(&facts, 0));
    EXPECT(facts.major == 9 && facts.warpSize == 32 && facts.multiProcessorCount > 100);
    symbols_and_managed();
    pitched_and_pinned();
    textures();
    launches();
    streams_and_graphs();
    TRY(cudaDeviceReset());
    puts(failures ? "FAIL" : "PASS");
    return failures != 0;
}
