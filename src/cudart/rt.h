/* The software runtime: the CUDA runtime API, exported by libkeet-cudart.so under its real names
 * and versions, on the driver API (cuda.h). Private to cudart/; what the functions do is NVIDIA's
 * manual.
 *
 * rt_calls.def has one row an entry point; the row names what answers it: a function of the driver,
 * or a function rt_<name> of the file of its family. rt_refused.def has the names of all others,
 * each of which prints its name once and gives cudaErrorNotSupported.
 *
 * Where the runtime differs from NVIDIA's, and knowingly so:
 *   - Fat binaries are read for PTX alone, the newest that compute capability 9.0 runs.
 *   - Modules are loaded when a kernel or a variable of theirs is first used. A module that does
 * not load says why on stderr, once.
 *   - A copy that the user says goes to the host, or comes from it, takes that address for the
 *     host's, whatever lies on the device under the same number. */
#ifndef KEET_CUDART_RT_H
#define KEET_CUDART_RT_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The driver is initialised and the thread has a context. Else why not. */
CUresult rt_ready(void);
/* The runtime's code of the driver's, kept as the thread's last error where it is one. */
cudaError_t rt_done(CUresult code);
CUresult rt_code(enum cudaError error);

int rt_device(void); /* the calling thread's */
CUresult rt_set_device(int device);
CUresult rt_reset_device(void);
CUresult rt_properties(struct cudaDeviceProp *to, int device);
CUresult rt_device_flags(unsigned *flags);
cudaError_t rt_last_error(bool forget);

/* --- rt_register.c --- */

/* What a function of the host stands for: its stub, or the handle that __cudaGetKernel gave for it.
 * The error for a stub that nobody registered is cudaErrorInvalidDeviceFunction. */
CUresult rt_function(const void *host, CUfunction *function);
CUresult rt_symbol(const void *host, CUdeviceptr *address, size_t *bytes);
CUresult rt_kernel_handle(const void *host, cudaKernel_t *handle);
void rt_forget_modules(int device);

/* --- rt_fatbin.c --- */

/* The PTX texts of a fat binary's wrapper, or of a wrapper of linked ones; heap, each with a NUL.
 * NULL: there are none, and *why says what is wrong. */
char **rt_ptx_of(const void *wrapper, size_t *nr, const char **why);
/* Tells the software driver what ptxas made of the kernels of a module, where the fat binary has
 * machine code beside its PTX. A wrapper that rt_ptx_of took. It unpacks the machine
 * code: call it when a kernel of the module is first asked for. */
void rt_tell_facts(const void *wrapper, CUmodule module);

/* --- rt_launch.c --- */

CUresult rt_launch(const void *function, dim3 grid, dim3 block, void **args, size_t smem_bytes,
    CUstream stream, bool cooperative);
CUresult rt_launch_config(const cudaLaunchConfig_t *config, const void *function, void **args);
CUresult rt_function_facts(struct cudaFuncAttributes *facts, const void *function);
CUresult rt_set_function(const void *function, enum cudaFuncAttribute which, int value);
CUresult rt_function_name(const char **name, const void *function);
CUresult rt_param_info(const void *function, size_t i, size_t *offset, size_t *bytes);
CUresult rt_resident_blocks(
    int *nr, const void *function, int threads, size_t smem_bytes, unsigned flags);
CUresult rt_spare_smem(size_t *bytes, const void *function, int nr_blocks, int threads);
CUresult rt_largest_cluster(int *blocks, const void *function, const cudaLaunchConfig_t *config);
CUresult rt_resident_clusters(int *nr, const void *function, const cudaLaunchConfig_t *config);

/* --- rt_memory.c --- */

CUresult rt_malloc(void **address, size_t bytes);
CUresult rt_malloc_managed(void **address, size_t bytes, unsigned flags);
CUresult rt_malloc_host(void **host, size_t bytes, unsigned flags);
CUresult rt_malloc_pitch(void **address, size_t *pitch, size_t width, size_t height);
CUresult rt_malloc_3d(struct cudaPitchedPtr *to, struct cudaExtent extent);
CUresult rt_address_facts(struct cudaPointerAttributes *facts, const void *address);
CUresult rt_copy(
    void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, CUstream stream);
CUresult rt_copy_symbol(const void *symbol, size_t offset, void *host, size_t bytes,
    enum cudaMemcpyKind kind, bool in, CUstream stream);
CUresult rt_copy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
    size_t height, enum cudaMemcpyKind kind, CUstream stream);
CUresult rt_copy_3d(const struct cudaMemcpy3DParms *copy, CUstream stream);
CUresult rt_set(void *to, int value, size_t bytes, CUstream stream);
CUresult rt_set_2d(void *to, size_t pitch, int value, size_t width, size_t height, CUstream stream);
CUresult rt_set_3d(struct cudaPitchedPtr to, int value, struct cudaExtent extent, CUstream stream);

/* --- rt_array.c --- */

CUresult rt_malloc_array(cudaArray_t *array, const struct cudaChannelFormatDesc *texel,
    struct cudaExtent extent, unsigned flags);
CUresult rt_array_facts(struct cudaChannelFormatDesc *texel, struct cudaExtent *extent,
    unsigned *flags, cudaArray_t array);
CUresult rt_texture(cudaTextureObject_t *texture, const struct cudaResourceDesc *resource,
    const struct cudaTextureDesc *how, const struct cudaResourceViewDesc *view);
CUresult rt_surface(cudaSurfaceObject_t *surface, const struct cudaResourceDesc *resource);
size_t rt_texel_bytes(CUarray array);
/* Bytes from texel row `y`, byte `x` on, in rows of the array's width. */
CUresult rt_copy_array(cudaArray_const_t array, size_t x, size_t y, void *other, size_t pitch,
    size_t width, size_t height, enum cudaMemcpyKind kind, bool in, CUstream stream);
CUresult rt_copy_array_line(cudaArray_const_t array, size_t x, size_t y, void *other, size_t bytes,
    enum cudaMemcpyKind kind, bool in, CUstream stream);

/* --- rt_graph.c --- */

/* Nodes of graphs: `after` are the nr nodes that the new one depends on. */
CUresult rt_add_kernel(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t nr, const struct cudaKernelNodeParams *what);
CUresult rt_add_copy(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t nr, const struct cudaMemcpy3DParms *what);
CUresult rt_add_copy_1d(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t nr, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
CUresult rt_add_copy_symbol(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t nr, const void *symbol, size_t offset, void *host, size_t bytes,
    enum cudaMemcpyKind kind, bool in);
CUresult rt_add_set(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t nr, const struct cudaMemsetParams *what);
CUresult rt_add_call(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
    size_t nr, const struct cudaHostNodeParams *what);
/* Other parameters for a node: of the graph, or, where exec is not NULL, of what was made of it. */
CUresult rt_refill_kernel(
    cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *what);
CUresult rt_refill_copy(
    cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemcpy3DParms *what);
CUresult rt_refill_copy_1d(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from,
    size_t bytes, enum cudaMemcpyKind kind);
CUresult rt_refill_set(
    cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaMemsetParams *what);
CUresult rt_refill_call(
    cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaHostNodeParams *what);

/* --- rt_stream.c --- */

CUresult rt_add_callback(CUstream stream, cudaStreamCallback_t callback, void *data);
CUresult rt_entry_point(const char *name, void **address, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *status);

#endif
