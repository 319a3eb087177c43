// What the measuring itself adds, and how the state of L2 before a launch changes its time. A program by itself:
//     nvcc -O2 -arch=sm_90a -o events bench/card/events.cu -lcuda && ./events
// Prints lines of: what, parameter, microseconds (median of 40, between events around a graph, as src/device times).
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { printf("error %s at line %d\n", cudaGetErrorString(e), __LINE__); exit(1); } } while (0)

__global__ void empty() {}

__global__ void clock_of(unsigned long long *t)
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (threadIdx.x == 0)
        t[blockIdx.x] = now;
}

__global__ void read(const int4 *x, int *out)
{
    int sum = 0;
    const int4 *from = x + (size_t)blockIdx.x * 1024 + threadIdx.x;
    int4 v[4];
#pragma unroll
    for (int k = 0; k < 4; k++)
        v[k] = from[256 * k];
#pragma unroll
    for (int k = 0; k < 4; k++)
        sum += v[k].x + v[k].y + v[k].z + v[k].w;
    if (sum == 0x7fffffff)
        out[0] = 0;
}

__global__ void fill(int4 *y)
{
    y[(size_t)blockIdx.x * 256 + threadIdx.x] = make_int4(1, 2, 3, 4);
}

__global__ void copy(const int4 *x, int4 *y)
{
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    y[i] = x[i];
}

enum { DIRTY, CLEAN, WAITED, WARM };
static const char *const states[] = {"after_memset", "after_reading", "after_memset_and_1ms", "warm"};
static cudaStream_t stream;
static cudaEvent_t start, end;
static int4 *flush, *x, *y;
static int *sink;
static const size_t flush_bytes = 100 << 20, most = (size_t)1 << 30;

static void prepare(int state)
{
    if (state == DIRTY || state == WAITED)
        CHECK(cudaMemsetAsync(flush, 0, flush_bytes, stream));
    if (state == CLEAN)
        read<<<flush_bytes / 16384, 256, 0, stream>>>(flush, sink);
    if (state == WAITED) { /* about a millisecond of the host's time */
        CHECK(cudaStreamSynchronize(stream));
        for (volatile int i = 0; i < 1000000; i = i + 1)
            ;
    }
}

template <class F> static void time(const char *what, long parameter, int state, F launch)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    std::vector<float> us;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 43; i++) {
        float ms;
        prepare(state);
        CHECK(cudaEventRecord(start, stream));
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, start, end));
        if (i >= 3)
            us.push_back(ms * 1000);
    }
    std::sort(us.begin(), us.end());
    printf("%s\t%s\t%ld\t%.3f\t%.3f\t%.3f\n", what, states[state], parameter, us[us.size() / 2], us[4], us[us.size() - 5]);
    fflush(stdout);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

static void without_graph(int state, bool kernel)
{
    std::vector<float> us;
    for (int i = 0; i < 43; i++) {
        float ms;
        prepare(state);
        CHECK(cudaEventRecord(start, stream));
        if (kernel)
            empty<<<1, 32, 0, stream>>>();
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, start, end));
        us.push_back(ms * 1000);
    }
    std::sort(us.begin(), us.end());
    printf("%s\t%s\t0\t%.3f\n", kernel ? "events_launch" : "events_alone", states[state], us[us.size() / 2]);
}

/* From a kernel's own first clock to its last, against what the events say. */
static void inside(unsigned blocks)
{
    unsigned long long *t;
    std::vector<unsigned long long> h(blocks);
    CHECK(cudaMalloc(&t, blocks * sizeof(*t)));
    time("clocks_of_blocks", blocks, CLEAN, [&] { clock_of<<<blocks, 128, 0, stream>>>(t); });
    CHECK(cudaMemcpy(h.data(), t, blocks * sizeof(*t), cudaMemcpyDeviceToHost));
    std::sort(h.begin(), h.end());
    printf("first_to_last_block\t-\t%u\t%.3f\n", blocks, (h.back() - h.front()) / 1000.0);
    CHECK(cudaFree(t));
}

int main()
{
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMalloc(&flush, flush_bytes));
    CHECK(cudaMalloc(&x, most));
    CHECK(cudaMalloc(&y, most));
    CHECK(cudaMalloc(&sink, 4));
    CHECK(cudaMemset(x, 1, most));
    CHECK(cudaMemset(y, 1, most));
    for (int state : {DIRTY, CLEAN, WARM})
        for (bool kernel : {false, true})
            without_graph(state, kernel);
    for (int state : {DIRTY, CLEAN, WAITED, WARM})
        for (int nr : {1, 2, 4, 8})
            time("empty_kernels", nr, state, [&] { for (int k = 0; k < nr; k++) empty<<<1, 32, 0, stream>>>(); });
    for (unsigned blocks : {1u, 132u, 1056u, 8448u})
        time("empty_grid", blocks, CLEAN, [&] { empty<<<blocks, 128, 0, stream>>>(); });
    for (unsigned blocks : {132u, 2112u, 16896u, 65536u})
        inside(blocks);
    for (long mb : {1, 4, 8, 16, 24, 32, 48, 64, 128, 256, 1024}) {
        const size_t bytes = (size_t)mb << 20;
        for (int state : {DIRTY, CLEAN, WAITED, WARM}) {
            time("read", mb, state, [&] { read<<<bytes / 16384, 256, 0, stream>>>(x, sink); });
            time("write", mb, state, [&] { fill<<<bytes / 4096, 256, 0, stream>>>(y); });
            time("copy", mb, state, [&] { copy<<<bytes / 4096, 256, 0, stream>>>(x, y); });
        }
    }
    return 0;
}
