/* Owns modules and their functions: it makes of PTX text what can be launched. */
#include "swdriver/sw_state.h"

#include "base/file.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE_BYTES = 256 << 20 };

void sw_module_free(CUcontext ctx, CUmodule module)
{
    CUmodule *link = &ctx->modules;

    while (*link != module)
        link = &(*link)->next;
    *link = module->next;
    for (size_t i = 0; i < ctx->nr_times;) {
        const CUfunction f = ctx->times[i].function;

        if (f >= module->functions && f < module->functions + module->nr_functions)
            ctx->times[i] = ctx->times[--ctx->nr_times];
        else
            i++;
    }
    emu_unload(ctx->emu, module->module);
    for (unsigned i = 0; i < module->nr_functions; i++)
        free(module->functions[i].params);
    free(module->functions);
    free(module);
}

static bool find_module(CUcontext ctx, const void *module)
{
    CUmodule m = ctx->modules;

    while (m != NULL && m != module)
        m = m->next;
    return m != NULL;
}

static void list_functions(CUmodule m)
{
    struct emu_kernel kernel;

    while (emu_kernel(m->module, m->nr_functions, &kernel))
        m->nr_functions++;
    m->functions = xcalloc(m->nr_functions + 1, sizeof(*m->functions));
    for (unsigned i = 0; i < m->nr_functions; i++) {
        struct CUfunc_st *f = &m->functions[i];
        const uint32_t most = sw_chip()->smem_per_block_static_max_bytes;

        emu_kernel(m->module, i, &f->kernel);
        f->module = m;
        f->max_dynamic_bytes =
            f->kernel.smem_static_bytes < most ? most - f->kernel.smem_static_bytes : 0;
    }
}

/* The caller's buffer for the JIT's complaints, when it gave one. */
static void log_error(
    unsigned nr_options, const CUjit_option *options, void *const *values, const char *text)
{
    char *log = NULL;
    size_t bytes = 0;

    for (unsigned i = 0; i < nr_options; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            log = values[i];
        else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            bytes = (size_t)(uintptr_t)values[i];
    }
    if (log != NULL && bytes > 0)
        snprintf(log, bytes, "%s", text);
}

/* Machine code comes as ELF, or wrapped in a fat binary (the magic numbers of fatbinary.h). */
bool sw_is_machine_code(const void *image)
{
    uint32_t magic;

    memcpy(&magic, image, sizeof(magic));
    return magic == 0x464C457F || magic == 0xBA55ED50 || magic == 0x466243B1;
}

static CUresult load(CUcontext ctx, CUmodule *module, const void *image, unsigned nr_options,
    const CUjit_option *options, void *const *values)
{
    struct emu_module *loaded;
    struct emu_result result;
    struct err err;
    CUmodule m;

    if (module == NULL || image == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (((const char *)image)[0] == '\0')
        return CUDA_ERROR_INVALID_IMAGE;
    if (sw_is_machine_code(image)) {
        log_error(nr_options, options, values, "the software driver takes PTX text only");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    if (!emu_load(ctx->emu, image, strlen(image), &loaded, &result, &err)) {
        log_error(nr_options, options, values, err.text);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (loaded == NULL) {
        log_error(nr_options, options, values, result.text);
        return result.verdict == VERDICT_UNSUPPORTED ? CUDA_ERROR_NOT_SUPPORTED
                                                     : CUDA_ERROR_INVALID_PTX;
    }
    m = xcalloc(1, sizeof(*m));
    m->ctx = ctx;
    m->module = loaded;
    list_functions(m);
    m->next = ctx->modules;
    ctx->modules = m;
    *module = m;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleLoadDataEx(
    CUmodule *module, const void *image, unsigned nr_options, CUjit_option *options, void **values)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS)
        code = load(ctx, module, image, nr_options, options, values);
    return sw_end(code);
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *module, const void *image)
{
    return cuModuleLoadDataEx(module, image, 0, NULL, NULL);
}

CUresult CUDAAPI cuModuleLoad(CUmodule *module, const char *path)
{
    struct err err;
    char *text;
    size_t len;
    CUresult code;

    if (module == NULL || path == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!file_read(path, MAX_FILE_BYTES, &text, &len, &err))
        return CUDA_ERROR_FILE_NOT_FOUND;
    code = len < 4 ? CUDA_ERROR_INVALID_IMAGE : cuModuleLoadData(module, text);
    free(text);
    return code;
}

CUresult CUDAAPI cuModuleUnload(CUmodule module)
{
    CUcontext ctx;
    CUresult code = sw_begin_owner(&ctx, find_module, module);

    if (code == CUDA_SUCCESS && !find_module(ctx, module))
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS)
        sw_module_free(ctx, module);
    return sw_end(code);
}

CUresult CUDAAPI cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (function == NULL || name == NULL))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && !find_module(ctx, module))
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    for (unsigned i = 0; i < module->nr_functions; i++) {
        if (strcmp(module->functions[i].kernel.name, name) == 0) {
            *function = &module->functions[i];
            return sw_end(CUDA_SUCCESS);
        }
    }
    return sw_end(CUDA_ERROR_NOT_FOUND);
}

CUresult CUDAAPI cuModuleGetFunctionCount(unsigned *count, CUmodule module)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && count == NULL)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && !find_module(ctx, module))
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS)
        *count = module->nr_functions;
    return sw_end(code);
}

CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction *functions, unsigned nr, CUmodule module)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && functions == NULL)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && !find_module(ctx, module))
        code = CUDA_ERROR_INVALID_HANDLE;
    for (unsigned i = 0; code == CUDA_SUCCESS && i < nr && i < module->nr_functions; i++)
        functions[i] = &module->functions[i];
    return sw_end(code);
}

CUresult CUDAAPI cuModuleGetGlobal(
    CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    struct emu_global global;
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && !find_module(ctx, module))
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    for (unsigned i = 0; emu_global(module->module, i, &global); i++) {
        if (strcmp(global.name, name) != 0)
            continue;
        if (address != NULL)
            *address = global.address;
        if (bytes != NULL)
            *bytes = global.bytes;
        return sw_end(CUDA_SUCCESS);
    }
    return sw_end(CUDA_ERROR_NOT_FOUND);
}

void keet_software_driver_facts(CUfunction function, unsigned registers, unsigned spill_bytes,
    unsigned machine_insts, bool serial_products);
void keet_software_driver_facts(CUfunction function, unsigned registers, unsigned spill_bytes,
    unsigned machine_insts, bool serial_products)
{
    function->registers = registers;
    function->spill_bytes = spill_bytes;
    function->machine_insts = machine_insts;
    function->serial_products = serial_products;
}

static CUresult attribute_of(CUfunction f, CUfunction_attribute which, int *value)
{
    const uint32_t most = f->kernel.max_threads;

    switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = most > 0 ? (int)most : (int)sw_chip()->max_threads_per_block;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = (int)f->kernel.smem_static_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = (int)f->kernel.local_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: /* as many as the emulator assumes where ptxas has not said */
        *value = f->registers > 0 ? (int)f->registers : 32;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 90;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)f->max_dynamic_bytes;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = -1;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = (int)f->kernel.cluster[which - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = f->large_clusters;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = 0;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult CUDAAPI cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction function)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (value == NULL || function == NULL))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = attribute_of(function, which, value);
    return sw_end(code);
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && function == NULL)
        code = CUDA_ERROR_INVALID_HANDLE;
    if (code == CUDA_SUCCESS && which == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
        function->large_clusters = value != 0;
    if (code != CUDA_SUCCESS || which != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
        return sw_end(code);
    if (value < 0 ||
        (uint32_t)value + function->kernel.smem_static_bytes > sw_chip()->smem_per_block_max_bytes)
        return sw_end(CUDA_ERROR_INVALID_VALUE);
    function->max_dynamic_bytes = (uint32_t)value;
    return sw_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    CUcontext ctx;

    return sw_end(sw_begin(&ctx));
}

CUresult CUDAAPI cuFuncGetParamInfo(CUfunction function, size_t i, size_t *offset, size_t *bytes)
{
    const uint32_t *each, *offsets;
    uint32_t total;
    unsigned nr;
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (function == NULL || offset == NULL ||
                                    !emu_params(function->module->module, function->kernel.name,
                                        &nr, &each, &offsets, &total) ||
                                    i >= nr))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    *offset = offsets[i];
    if (bytes != NULL)
        *bytes = each[i];
    return sw_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuFuncGetName(const char **name, CUfunction function)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (name == NULL || function == NULL))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *name = function->kernel.name;
    return sw_end(code);
}

/* Functions are loaded with their module. */
CUresult CUDAAPI cuFuncLoad(CUfunction function)
{
    CUcontext ctx;

    return sw_end(sw_begin(&ctx));
}

CUresult CUDAAPI cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    CUcontext ctx;
    const CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS)
        *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return sw_end(code);
}

CUresult CUDAAPI cuFuncGetModule(CUmodule *module, CUfunction function)
{
    CUcontext ctx;
    const CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS)
        *module = function->module;
    return sw_end(code);
}

static struct occupancy occupancy_of(CUfunction f, int threads, size_t dynamic_bytes)
{
    return chip_occupancy(sw_chip(), threads > 0 ? (unsigned)threads : 0,
        f->registers > 0 ? f->registers : 32,
        f->kernel.smem_static_bytes + (unsigned)dynamic_bytes);
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int *nr_blocks, CUfunction function, int threads, size_t dynamic_bytes)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);

    if (code == CUDA_SUCCESS && (function == NULL || threads <= 0))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        *nr_blocks = (int)occupancy_of(function, threads, dynamic_bytes).blocks;
    return sw_end(code);
}

CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *nr_blocks, CUfunction function, int threads, size_t dynamic_bytes, unsigned flags)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(nr_blocks, function, threads, dynamic_bytes);
}

/* The block with the most threads resident; the largest of those that tie, as the driver's. */
CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int *nr_blocks, int *threads, CUfunction function,
    CUoccupancyB2DSize dynamic_of, size_t dynamic_bytes, int limit)
{
    CUcontext ctx;
    CUresult code = sw_begin(&ctx);
    int most, best = 0;

    if (code == CUDA_SUCCESS && (nr_blocks == NULL || threads == NULL || function == NULL))
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = attribute_of(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most);
    if (code != CUDA_SUCCESS)
        return sw_end(code);
    for (int t = limit > 0 && limit < most ? limit : most; t > 0; t = (t - 1) / 32 * 32) {
        const size_t dynamic = dynamic_of != NULL ? dynamic_of(t) : dynamic_bytes;
        const int blocks = (int)occupancy_of(function, t, dynamic).blocks;

        if (blocks * t <= best)
            continue;
        best = blocks * t;
        *threads = t;
        *nr_blocks = blocks * (int)sw_chip()->nr_sms;
    }
    return sw_end(best > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuOccupancyMaxPotentialBlockSizeWithFlags(int *nr_blocks, int *threads,
    CUfunction function, CUoccupancyB2DSize dynamic_of, size_t dynamic_bytes, int limit,
    unsigned flags)
{
    return cuOccupancyMaxPotentialBlockSize(
        nr_blocks, threads, function, dynamic_of, dynamic_bytes, limit);
}
