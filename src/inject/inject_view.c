/* Owns what is asked of the driver: parameters, allocations, variables and contents. */
#include "inject/inject.h"

#include "base/mem.h"
#include "nv/cubin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* cuda.h gives new versions of functions their old names. */
#define DRIVER_FUNCTIONS(FUNCTION)                                                                 \
    FUNCTION(synchronize, cuStreamSynchronize)                                                     \
    FUNCTION(device, cuCtxGetDevice)                                                               \
    FUNCTION(copy, cuMemcpyAsync)                                                                  \
    FUNCTION(attribute, cuPointerGetAttribute)                                                     \
    FUNCTION(variable, cuModuleGetGlobal_v2)                                                       \
    FUNCTION(module, cuFuncGetModule)                                                              \
    FUNCTION(param, cuFuncGetParamInfo)                                                            \
    FUNCTION(name, cuFuncGetName)                                                                  \
    FUNCTION(function, cuKernelGetFunction)                                                        \
    FUNCTION(is_capturing, cuStreamIsCapturing)                                                    \
    FUNCTION(capture_mode, cuThreadExchangeStreamCaptureMode)                                      \
    FUNCTION(error_text, cuGetErrorString)

static struct {
#define FIELD(field, symbol) __typeof__(&symbol) field;
    DRIVER_FUNCTIONS(FIELD)
#undef FIELD
} driver;

struct known_variable {
    char *name;
    enum record_kind kind;
};

static struct {
    pthread_mutex_t lock; /* who has it asks nobody else */
    struct known_variable *all;
    size_t nr, cap;
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool inject_find(void *library, const char *symbol, void *function, const char **missing)
{
    void *found = dlsym(library, symbol);

    memcpy(function, &found, sizeof(found));
    if (found == NULL)
        *missing = symbol;
    return found != NULL;
}

bool inject_driver(const char **missing)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    *missing = "libcuda.so.1";
    if (library == NULL)
        return false;
#define FIND(field, symbol)                                                                        \
    if (!inject_find(library, #symbol, &driver.field, missing))                                    \
        return false;
    DRIVER_FUNCTIONS(FIND)
#undef FIND
    return true;
}

void inject_module(const void *bytes, size_t nr)
{
    struct arena *arena = arena_create();
    struct cubin cubin = {0};
    const char *why;

    pthread_mutex_lock(&known.lock);
    if (cubin_read(bytes, nr, arena, &cubin, &why))
        for (unsigned i = 0; i < cubin.nr_variables; i++) {
            const struct cubin_variable *v = &cubin.variables[i];
            bool is_known = false;

            for (size_t k = 0; k < known.nr && !is_known; k++)
                is_known = strcmp(known.all[k].name, v->name) == 0;
            if (is_known)
                continue;
            known.all = grow(known.all, &known.cap, known.nr + 1, sizeof(*known.all));
            known.all[known.nr++] = (struct known_variable){
                xstrdup(v->name), v->constant ? RECORD_CONSTANT : RECORD_VARIABLE};
        }
    pthread_mutex_unlock(&known.lock);
    arena_destroy(arena);
}

static bool known_variable(size_t i, struct known_variable *variable)
{
    bool is;

    pthread_mutex_lock(&known.lock);
    is = i < known.nr;
    if (is)
        *variable = known.all[i];
    pthread_mutex_unlock(&known.lock);
    return is;
}

/* --- the view --- */

/* Also of memory of the host, and of managed memory. */
static bool read_memory(struct record_view *view, uint64_t address, void *bytes, uint64_t nr)
{
    const CUstream stream = ((const struct inject_launch *)view)->stream;

    return driver.copy((CUdeviceptr)(uintptr_t)bytes, address, nr, stream) == CUDA_SUCCESS &&
           driver.synchronize(stream) == CUDA_SUCCESS;
}

static bool variable(struct record_view *view, unsigned i, struct record_memory *found)
{
    const struct inject_launch *l = (const struct inject_launch *)view;

    if (i >= l->nr_variables)
        return false;
    *found = l->variables[i];
    return true;
}

static bool find(struct record_view *view, uint64_t address, struct record_memory *found)
{
    CUdeviceptr start = 0;
    size_t bytes = 0;
    unsigned managed = 0;
    CUmemorytype type = CU_MEMORYTYPE_DEVICE;

    for (unsigned i = 0; variable(view, i, found); i++)
        if (address - found->address < found->bytes)
            return true;
    if (address == 0 ||
        driver.attribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) != CUDA_SUCCESS ||
        driver.attribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) != CUDA_SUCCESS ||
        bytes == 0)
        return false;
    driver.attribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
    driver.attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
    *found = (struct record_memory){start, bytes,
        managed                      ? RECORD_MANAGED
        : type == CU_MEMORYTYPE_HOST ? RECORD_HOST
                                     : RECORD_DEVICE,
        NULL};
    return true;
}

/* --- the launch --- */

/* A launch takes a CUkernel, too, in the place of a function. */
static CUfunction function_of(CUfunction given)
{
    CUfunction function = given;
    const char *name;

    if (driver.name(&name, given) != CUDA_SUCCESS)
        driver.function(&function, (CUkernel)(void *)given);
    return function;
}

/* The packed parameters that stand in the place of an array of addresses; NULL: there are none. */
static const uint8_t *packed(void **extra)
{
    for (; extra != NULL && extra[0] != CU_LAUNCH_PARAM_END; extra += 2)
        if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            return extra[1];
    return NULL;
}

static void take_params(
    struct inject_launch *l, CUfunction function, void **params, const uint8_t *buffer)
{
    size_t offset, bytes, cap = 0;

    while ((params != NULL || buffer != NULL) &&
           driver.param(function, l->is.nr_params, &offset, &bytes) == CUDA_SUCCESS) {
        const void *data = params != NULL ? params[l->is.nr_params] : buffer + offset;

        l->params = grow(l->params, &cap, l->is.nr_params + 1, sizeof(*l->params));
        l->params[l->is.nr_params++] =
            (struct record_param){(uint32_t)offset, (uint32_t)bytes, data};
    }
    l->is.params = l->params;
}

static void take_variables(struct inject_launch *l, CUfunction function)
{
    struct known_variable v;
    CUmodule module;
    size_t bytes, cap = 0;

    if (driver.module(&module, function) != CUDA_SUCCESS)
        return;
    for (size_t i = 0; known_variable(i, &v); i++) {
        CUdeviceptr address;

        if (driver.variable(&address, &bytes, module, v.name) != CUDA_SUCCESS)
            continue;
        l->variables = grow(l->variables, &cap, l->nr_variables + 1, sizeof(*l->variables));
        l->variables[l->nr_variables++] = (struct record_memory){address, bytes, v.kind, v.name};
    }
}

void inject_exchange(CUstreamCaptureMode *mode)
{
    driver.capture_mode(mode);
}

/* Not for the context: while any stream of it is being captured, that is not allowed, and spoils
 * the graph. */
const char *inject_wait(CUstream stream)
{
    const char *text = "an error that the driver does not name";
    const CUresult result = driver.synchronize(stream);

    if (result == CUDA_SUCCESS)
        return NULL;
    driver.error_text(result, &text);
    return text;
}

bool inject_begin(struct inject_launch *l, const struct inject_config *config)
{
    CUfunction function = config->function;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUdevice device = 0;

    *l = (struct inject_launch){
        .view = {.read = read_memory, .find = find, .variable = variable, .poison = -1},
        .is = {.kernel = config->symbol,
            .smem_bytes = config->smem_bytes,
            .stream = (uint64_t)(uintptr_t)config->stream},
        .stream = config->stream};
    if (driver.is_capturing(config->stream, &status) != CUDA_SUCCESS ||
        status != CU_STREAM_CAPTURE_STATUS_NONE ||
        (l->is.kernel == NULL && driver.name(&l->is.kernel, function_of(function)) != CUDA_SUCCESS))
        return false;
    for (unsigned d = 0; d < 3; d++) {
        l->is.grid[d] = config->grid[d];
        l->is.block[d] = config->block[d];
        l->is.cluster[d] = config->cluster[d];
    }
    if (record_wants(l->is.kernel)) {
        inject_wait(l->stream);
        driver.device(&device);
        l->is.device = device;
        function = function_of(function);
        take_params(l, function, config->params, packed(config->extra));
        take_variables(l, function);
    }
    return true;
}

void inject_finish(struct inject_launch *l)
{
    free(l->params);
    free(l->variables);
}
