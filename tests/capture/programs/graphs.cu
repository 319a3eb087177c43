// Graphs that are built node by node: kernels, copies, fills, calls of the host, in an order that the
// dependencies say; changed, cloned, nested and updated.
#include <cstdio>

static int wrong;
#define CHECK(x) check(x, __LINE__, #x)
#define OK(call) CHECK((call) == cudaSuccess)

static void check(bool fine, int line, const char *text)
{
    wrong += !fine;
    if (!fine)
        printf("line %d: %s\n", line, text);
}

__global__ void add(int *x, int n, int what)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += what;
}

__global__ void multiply(int *x, int n, int what)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] *= what;
}

static void count(void *calls)
{
    ++*(int *)calls;
}

static cudaKernelNodeParams kernel(void *function, void **args)
{
    cudaKernelNodeParams what = {};
    what.func = function;
    what.gridDim = dim3(2);
    what.blockDim = dim3(64);
    what.kernelParams = args;
    return what;
}

int main()
{
    const int n = 100;
    int host[n], back[n], *x, size = n, three = 3, five = 5, seven = 7, calls = 0;
    OK(cudaMalloc(&x, n * sizeof(int)));
    void *adds[] = {&x, &size, &three}, *multiplies[] = {&x, &size, &five}, *sevens[] = {&x, &size, &seven};
    for (int i = 0; i < n; i++)
        host[i] = i;

    cudaGraph_t graph, clone, child, outer;
    cudaGraphNode_t in, adding, multiplying, out, call, fill;
    OK(cudaGraphCreate(&graph, 0));
    // (x + 3) * 5, added in another order than the dependencies have.
    cudaKernelNodeParams what = kernel((void *)multiply, multiplies);
    OK(cudaGraphAddKernelNode(&multiplying, graph, nullptr, 0, &what));
    what = kernel((void *)add, adds);
    OK(cudaGraphAddKernelNode(&adding, graph, nullptr, 0, &what));
    OK(cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, x, host, n * sizeof(int), cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemcpyNode1D(&out, graph, &multiplying, 1, back, x, n * sizeof(int), cudaMemcpyDeviceToHost));
    cudaHostNodeParams counts = {count, &calls};
    OK(cudaGraphAddHostNode(&call, graph, &out, 1, &counts));
    OK(cudaGraphAddDependencies(graph, &in, &adding, nullptr, 1));
    OK(cudaGraphAddDependencies(graph, &adding, &multiplying, nullptr, 1));
    size_t nr = 0;
    OK(cudaGraphGetNodes(graph, nullptr, &nr));
    CHECK(nr == 5);
    OK(cudaGraphGetRootNodes(graph, nullptr, &nr));
    CHECK(nr == 1);
    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(adding, &type));
    CHECK(type == cudaGraphNodeTypeKernel);
    OK(cudaGraphNodeGetType(call, &type));
    CHECK(type == cudaGraphNodeTypeHost);

    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    CHECK(calls == 2 && back[10] == (10 + 3) * 5);

    // Other parameters, in what was made of the graph alone, and the update that takes them back.
    what = kernel((void *)add, sevens);
    OK(cudaGraphExecKernelNodeSetParams(exec, adding, &what));
    OK(cudaGraphLaunch(exec, 0));
    CHECK(back[10] == (10 + 7) * 5);
    cudaGraphExecUpdateResultInfo result;
    OK(cudaGraphExecUpdate(exec, graph, &result));
    OK(cudaGraphLaunch(exec, 0));
    CHECK(back[10] == (10 + 3) * 5 && result.result == cudaGraphExecUpdateSuccess);

    // A clone keeps what the graph was.
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphKernelNodeSetParams(adding, &what));
    cudaGraphExec_t of_clone;
    OK(cudaGraphInstantiate(&of_clone, clone, 0));
    OK(cudaGraphLaunch(of_clone, 0));
    CHECK(back[10] == (10 + 3) * 5);

    // A graph in a graph, behind a fill by rows.
    OK(cudaGraphCreate(&child, 0));
    OK(cudaGraphAddKernelNode(&adding, child, nullptr, 0, &what));
    OK(cudaGraphCreate(&outer, 0));
    cudaMemsetParams fills = {};
    fills.dst = x;
    fills.elementSize = 4;
    fills.value = 11;
    fills.width = n;
    fills.height = 1;
    OK(cudaGraphAddMemsetNode(&fill, outer, nullptr, 0, &fills));
    cudaGraphNode_t nested, empty;
    OK(cudaGraphAddChildGraphNode(&nested, outer, &fill, 1, child));
    OK(cudaGraphAddEmptyNode(&empty, outer, &nested, 1));
    cudaMemcpy3DParms rows = {};
    rows.srcPtr = make_cudaPitchedPtr(x, n * sizeof(int), n, 1);
    rows.dstPtr = make_cudaPitchedPtr(back, n * sizeof(int), n, 1);
    rows.extent = make_cudaExtent(n * sizeof(int), 1, 1);
    rows.kind = cudaMemcpyDeviceToHost;
    OK(cudaGraphAddMemcpyNode(&out, outer, &empty, 1, &rows));
    cudaGraphExec_t whole;
    OK(cudaGraphInstantiate(&whole, outer, 0));
    OK(cudaGraphLaunch(whole, 0));
    CHECK(back[0] == 18 && back[n - 1] == 18);
    CHECK(cudaGraphExecUpdate(whole, graph, &result) == cudaErrorGraphExecUpdateFailure);

    // A circle is no graph, and a node of another graph no dependency.
    OK(cudaGraphAddDependencies(outer, &out, &fill, nullptr, 1));
    cudaGraphExec_t circle;
    CHECK(cudaGraphInstantiate(&circle, outer, 0) == cudaErrorInvalidValue);
    CHECK(cudaGraphAddEmptyNode(&empty, child, &fill, 1) == cudaErrorInvalidValue);
    cudaGetLastError();

    // What a stream records has nodes, too.
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<2, 64, 0, stream>>>(x, n, 1);
    multiply<<<2, 64, 0, stream>>>(x, n, 2);
    cudaGraph_t recorded;
    OK(cudaStreamEndCapture(stream, &recorded));
    OK(cudaGraphGetNodes(recorded, nullptr, &nr));
    CHECK(nr == 2);
    OK(cudaGraphInstantiate(&circle, recorded, 0));
    OK(cudaGraphLaunch(circle, stream));
    OK(cudaMemcpy(back, x, n * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(back[5] == (18 + 1) * 2);
    OK(cudaGraphExecDestroy(whole));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(recorded));
    printf("%d wrong: %s\n", wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
