/* Owns what programs register at their start: fat binaries, the stubs of kernels, variables.
 * Modules are loaded for each device, when they are first needed. */
#include "cudart/rt.h"

#include "base/mem.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 16, MOST_PENDING = 16 };

/* A stub or a variable of the host, and its name on the device. */
struct rt_name {
    struct rt_binary *binary;
    const void *host;
    const char *name;
    bool managed; /* host is where the program keeps the address */
    CUfunction functions[MOST_DEVICES];
};

struct rt_binary {
    struct rt_binary *next;
    const void *wrapper;
    CUmodule modules[MOST_DEVICES];
    bool told[MOST_DEVICES]; /* rt_tell_facts was called for the module */
    CUresult failed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rt_binary *binaries;
static struct rt_name **names; /* each by itself: handles of kernels are their addresses */
static size_t nr_names, cap_names;

/* --- loading --- */

static bool link_texts(CUmodule *module, char *const *texts, size_t nr, CUresult *code)
{
    static char log[512];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof(log)}, *image = texts[0];
    CUlinkState linked = NULL;

    log[0] = '\0';
    *code = nr > 1 ? cuLinkCreate(2, options, values, &linked) : CUDA_SUCCESS;
    for (size_t i = 0; nr > 1 && *code == CUDA_SUCCESS && i < nr; i++)
        *code = cuLinkAddData(
            linked, CU_JIT_INPUT_PTX, texts[i], strlen(texts[i]) + 1, "", 0, NULL, NULL);
    if (nr > 1 && *code == CUDA_SUCCESS)
        *code = cuLinkComplete(linked, &image, NULL);
    if (*code == CUDA_SUCCESS)
        *code = cuModuleLoadDataEx(module, image, 2, options, values);
    if (*code != CUDA_SUCCESS)
        fprintf(stderr, "libkeet-cudart: a module of the program does not load: %s\n",
            log[0] ? log : "the driver refuses it");
    if (linked != NULL)
        cuLinkDestroy(linked);
    return *code == CUDA_SUCCESS;
}

static void tell_managed(struct rt_binary *binary, CUmodule module)
{
    for (size_t i = 0; i < nr_names; i++) {
        CUdeviceptr address;

        if (names[i]->binary == binary && names[i]->managed &&
            cuModuleGetGlobal(&address, NULL, module, names[i]->name) == CUDA_SUCCESS)
            *(void **)(uintptr_t)names[i]->host = (void *)(uintptr_t)address;
    }
}

static CUresult load(struct rt_binary *binary, int device)
{
    const char *why;
    char **texts;
    size_t nr;

    if (binary->failed != CUDA_SUCCESS || binary->modules[device] != NULL)
        return binary->failed;
    texts = rt_ptx_of(binary->wrapper, &nr, &why);
    if (texts == NULL) {
        fprintf(stderr, "libkeet-cudart: a module of the program does not load: %s\n", why);
        binary->failed = CUDA_ERROR_NO_BINARY_FOR_GPU;
    } else if (link_texts(&binary->modules[device], texts, nr, &binary->failed)) {
        tell_managed(binary, binary->modules[device]);
    }
    for (size_t i = 0; i < nr; i++)
        free(texts[i]);
    free(texts);
    return binary->failed;
}

void rt_forget_modules(int device)
{
    pthread_mutex_lock(&lock);
    for (struct rt_binary *b = binaries; b != NULL; b = b->next)
        b->modules[device] = NULL, b->told[device] = false;
    for (size_t i = 0; i < nr_names; i++)
        names[i]->functions[device] = NULL;
    pthread_mutex_unlock(&lock);
}

static struct rt_name *find(const void *host)
{
    for (size_t i = 0; i < nr_names; i++)
        if (names[i]->host == host || names[i] == host ||
            (names[i]->managed && *(void *const *)names[i]->host == host))
            return names[i];
    return NULL;
}

static CUresult function_of(struct rt_name *name, int device, CUfunction *function)
{
    CUresult code = CUDA_SUCCESS;

    if (name->functions[device] == NULL) {
        code = load(name->binary, device);
        if (code == CUDA_SUCCESS)
            code = cuModuleGetFunction(
                &name->functions[device], name->binary->modules[device], name->name);
        if (code == CUDA_SUCCESS && !name->binary->told[device]) { /* unpacks machine code */
            rt_tell_facts(name->binary->wrapper, name->binary->modules[device]);
            name->binary->told[device] = true;
        }
    }
    *function = name->functions[device];
    return code == CUDA_ERROR_NOT_FOUND ? rt_code(cudaErrorInvalidDeviceFunction) : code;
}

/* A kernel of the driver's, which cudaGetKernel and cudaLibraryGetKernel give. */
static bool is_driver_kernel(const void *kernel, int device)
{
    for (struct rt_binary *b = binaries; b != NULL; b = b->next) {
        CUfunction *all;
        unsigned nr = 0;
        bool found = false;

        if (b->modules[device] == NULL ||
            cuModuleGetFunctionCount(&nr, b->modules[device]) != CUDA_SUCCESS)
            continue;
        all = xcalloc(nr + 1, sizeof(*all));
        cuModuleEnumerateFunctions(all, nr, b->modules[device]);
        for (unsigned i = 0; i < nr; i++)
            found |= all[i] == kernel;
        free(all);
        if (found)
            return true;
    }
    return false;
}

CUresult rt_function(const void *host, CUfunction *function)
{
    const int device = rt_device();
    CUresult code = rt_code(cudaErrorInvalidDeviceFunction);
    struct rt_name *name;

    pthread_mutex_lock(&lock);
    name = host != NULL ? find(host) : NULL;
    if (name != NULL) {
        code = function_of(name, device, function);
    } else if (host != NULL && is_driver_kernel(host, device)) {
        *function = (CUfunction)(uintptr_t)host;
        code = CUDA_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return code;
}

CUresult rt_symbol(const void *host, CUdeviceptr *address, size_t *bytes)
{
    const int device = rt_device();
    CUresult code = rt_code(cudaErrorInvalidSymbol);
    struct rt_name *name;

    pthread_mutex_lock(&lock);
    name = find(host);
    if (name != NULL)
        code = load(name->binary, device);
    if (name != NULL && code == CUDA_SUCCESS)
        code = cuModuleGetGlobal(address, bytes, name->binary->modules[device], name->name);
    pthread_mutex_unlock(&lock);
    return code == CUDA_ERROR_NOT_FOUND ? rt_code(cudaErrorInvalidSymbol) : code;
}

CUresult rt_kernel_handle(const void *host, cudaKernel_t *handle)
{
    pthread_mutex_lock(&lock);
    *handle = (cudaKernel_t)(void *)find(host);
    pthread_mutex_unlock(&lock);
    return *handle != NULL ? CUDA_SUCCESS : rt_code(cudaErrorInvalidDeviceFunction);
}

/* --- what compiled programs call, under names that are the compiler's --- */

void **CUDARTAPI rt_register_binary(void *wrapper) __asm__("__cudaRegisterFatBinary");
void **CUDARTAPI rt_register_binary(void *wrapper)
{
    struct rt_binary *binary = xcalloc(1, sizeof(*binary));

    binary->wrapper = wrapper;
    pthread_mutex_lock(&lock);
    binary->next = binaries;
    binaries = binary;
    pthread_mutex_unlock(&lock);
    return (void **)(void *)binary;
}

void CUDARTAPI rt_register_end(void **binary) __asm__("__cudaRegisterFatBinaryEnd");
void CUDARTAPI rt_register_end(void **binary)
{
}

/* The process ends, or a library is closed whose addresses may come again. */
void CUDARTAPI rt_unregister_binary(void **binary) __asm__("__cudaUnregisterFatBinary");
void CUDARTAPI rt_unregister_binary(void **binary)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < nr_names;) {
        if ((void *)names[i]->binary != (void *)binary) {
            i++;
            continue;
        }
        free(names[i]);
        names[i] = names[--nr_names];
    }
    for (struct rt_binary **link = &binaries; *link != NULL; link = &(*link)->next) {
        if ((void *)*link != (void *)binary)
            continue;
        *link = (*link)->next;
        free((void *)binary);
        break;
    }
    pthread_mutex_unlock(&lock);
}

static void add_name(void **binary, const void *host, const char *name, bool managed)
{
    struct rt_name *n = xcalloc(1, sizeof(*n));

    *n = (struct rt_name){.binary = (void *)binary, .host = host, .name = name, .managed = managed};
    pthread_mutex_lock(&lock);
    names = grow(names, &cap_names, nr_names + 1, sizeof(*names));
    names[nr_names++] = n;
    pthread_mutex_unlock(&lock);
}

void CUDARTAPI rt_register_function(void **binary, const char *host, char *device, const char *name,
    int thread_limit, void *tid, void *bid, void *block, void *grid,
    int *warp) __asm__("__cudaRegisterFunction");
void CUDARTAPI rt_register_function(void **binary, const char *host, char *device, const char *name,
    int thread_limit, void *tid, void *bid, void *block, void *grid, int *warp)
{
    add_name(binary, host, name, false);
}

void CUDARTAPI rt_register_variable(void **binary, char *host, char *device, const char *name,
    int ext, size_t bytes, int constant, int global) __asm__("__cudaRegisterVar");
void CUDARTAPI rt_register_variable(void **binary, char *host, char *device, const char *name,
    int ext, size_t bytes, int constant, int global)
{
    add_name(binary, host, name, false);
}

void CUDARTAPI rt_register_managed(void **binary, void **host, char *device, const char *name,
    int ext, size_t bytes, int constant, int global) __asm__("__cudaRegisterManagedVar");
void CUDARTAPI rt_register_managed(void **binary, void **host, char *device, const char *name,
    int ext, size_t bytes, int constant, int global)
{
    add_name(binary, host, name, true);
}

void CUDARTAPI rt_register_host_variable(
    void **binary, const char *name, char *host, size_t bytes) __asm__("__cudaRegisterHostVar");
void CUDARTAPI rt_register_host_variable(void **binary, const char *name, char *host, size_t bytes)
{
    add_name(binary, host, name, false);
}

/* Before a managed variable is first used. */
char CUDARTAPI rt_init_module(void **binary) __asm__("__cudaInitModule");
char CUDARTAPI rt_init_module(void **binary)
{
    CUresult code = rt_ready();

    pthread_mutex_lock(&lock);
    if (code == CUDA_SUCCESS)
        code = load((void *)binary, rt_device());
    pthread_mutex_unlock(&lock);
    return rt_done(code) == cudaSuccess;
}

/* --- the configuration between <<< and >>> --- */

static __thread struct {
    dim3 grid, block;
    size_t smem_bytes;
    cudaStream_t stream;
} pending[MOST_PENDING];
static __thread unsigned nr_pending;

unsigned CUDARTAPI rt_push_call(dim3 grid, dim3 block, size_t smem_bytes,
    struct CUstream_st *stream) __asm__("__cudaPushCallConfiguration");
unsigned CUDARTAPI rt_push_call(
    dim3 grid, dim3 block, size_t smem_bytes, struct CUstream_st *stream)
{
    if (nr_pending == MOST_PENDING)
        return 1;
    pending[nr_pending].grid = grid;
    pending[nr_pending].block = block;
    pending[nr_pending].smem_bytes = smem_bytes;
    pending[nr_pending++].stream = stream;
    return 0;
}

cudaError_t CUDARTAPI rt_pop_call(dim3 *grid, dim3 *block, size_t *smem_bytes,
    void *stream) __asm__("__cudaPopCallConfiguration");
cudaError_t CUDARTAPI rt_pop_call(dim3 *grid, dim3 *block, size_t *smem_bytes, void *stream)
{
    if (nr_pending == 0)
        return rt_done(rt_code(cudaErrorMissingConfiguration));
    nr_pending--;
    *grid = pending[nr_pending].grid;
    *block = pending[nr_pending].block;
    *smem_bytes = pending[nr_pending].smem_bytes;
    *(cudaStream_t *)stream = pending[nr_pending].stream;
    return cudaSuccess;
}
