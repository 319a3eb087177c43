/* Owns graphs that are built node by node: a node gets what is submitted to the driver's feeder
 * between the two calls that open and close it. */
#include "cudart/rt.h"

/* swdriver/sw_graph.c */
CUresult keet_software_driver_node(
    CUgraph graph, const CUgraphNode *after, size_t nr, CUgraphNode *node, CUstream *feeder);
CUresult keet_software_driver_refill(CUgraphExec exec, CUgraphNode node, CUstream *feeder);
CUresult keet_software_driver_filled(CUresult code, bool again);

static CUresult submit_kernel(const struct cudaKernelNodeParams *what, CUstream feeder)
{
    return what == NULL ? CUDA_ERROR_INVALID_VALUE
                        : rt_launch(what->func, what->gridDim, what->blockDim, what->kernelParams,
                              what->sharedMemBytes, feeder, false);
}

static CUresult submit_set(const struct cudaMemsetParams *what, CUstream feeder)
{
    const size_t height = what != NULL && what->height > 0 ? what->height : 1;
    CUdeviceptr to;

    if (what == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    to = (uintptr_t)what->dst;
    switch (what->elementSize) {
    case 1:
        return cuMemsetD2D8Async(
            to, what->pitch, (unsigned char)what->value, what->width, height, feeder);
    case 2:
        return cuMemsetD2D16Async(
            to, what->pitch, (unsigned short)what->value, what->width, height, feeder);
    case 4:
        return cuMemsetD2D32Async(to, what->pitch, what->value, what->width, height, feeder);
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult submit_call(const struct cudaHostNodeParams *what, CUstream feeder)
{
    return what == NULL ? CUDA_ERROR_INVALID_VALUE
                        : cuLaunchHostFunc(feeder, what->fn, what->userData);
}

/* Opens a node, submits, closes it. */
#define ADD(submission)                                                                            \
    CUstream feeder;                                                                               \
    CUresult code = keet_software_driver_node(graph, after, nr, node, &feeder);                    \
                                                                                                   \
    return code != CUDA_SUCCESS ? code : keet_software_driver_filled(submission, false)
#define REFILL(submission)                                                                         \
    CUstream feeder;                                                                               \
    CUresult code = keet_software_driver_refill(exec, node, &feeder);                              \
                                                                                                   \
    return code != CUDA_SUCCESS ? code : keet_software_driver_filled(submission, true)

CUresult rt_add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t nr, const struct cudaKernelNodeParams *what)
{
    ADD(submit_kernel(what, feeder));
}

CUresult rt_add_copy(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t nr, const struct cudaMemcpy3DParms *what)
{
    ADD(rt_copy_3d(what, feeder));
}

CUresult rt_add_copy_1d(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t nr, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    ADD(rt_copy(to, from, bytes, kind, feeder));
}

CUresult rt_add_copy_symbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t nr, const void *symbol, size_t offset, void *host, size_t bytes,
    enum cudaMemcpyKind kind, bool in)
{
    ADD(rt_copy_symbol(symbol, offset, host, bytes, kind, in, feeder));
}

CUresult rt_add_set(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t nr, const struct cudaMemsetParams *what)
{
    ADD(submit_set(what, feeder));
}

CUresult rt_add_call(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t nr, const struct cudaHostNodeParams *what)
{
    ADD(submit_call(what, feeder));
}

CUresult rt_refill_kernel(
    cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *what)
{
    REFILL(submit_kernel(what, feeder));
}

CUresult rt_refill_copy(
    cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemcpy3DParms *what)
{
    REFILL(rt_copy_3d(what, feeder));
}

CUresult rt_refill_copy_1d(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from,
    size_t bytes, enum cudaMemcpyKind kind)
{
    REFILL(rt_copy(to, from, bytes, kind, feeder));
}

CUresult rt_refill_set(
    cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemsetParams *what)
{
    REFILL(submit_set(what, feeder));
}

CUresult rt_refill_call(
    cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaHostNodeParams *what)
{
    REFILL(submit_call(what, feeder));
}
