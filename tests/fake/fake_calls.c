/* A stand-in for a driver that loads an injection and calls back: preloaded into a program that
 * runs on the software driver. Its cuInit calls the injection; before and after a launch of the
 * driver's it calls whom the stand-in for CUPTI (fake_cupti.c) says. KEET_FAKE_CUBIN names the
 * machine code that it says is loaded: when it starts and, as drivers do that load modules late,
 * within launches. */
#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <dlfcn.h>
#include <generated_cuda_meta.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    CUpti_CallbackFunc callback;
    void *owner;
    bool calls[CUPTI_DRIVER_TRACE_CBID_SIZE], modules;
    char *capture;  /* the folder: a driver of NVIDIA's records nothing itself */
    unsigned depth; /* the software driver's launches call each other */
} fake;

static void *next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);

    if (function == NULL) {
        fprintf(stderr, "the stand-in finds no %s\n", name);
        abort();
    }
    return function;
}

__attribute__((constructor)) static void begin(void)
{
    const char *folder = getenv("KEET_CAPTURE");

    fake.capture = folder != NULL ? strdup(folder) : NULL;
    unsetenv("KEET_CAPTURE");
}

__attribute__((destructor)) static void end(void)
{
    free(fake.capture);
}

/* False: somebody has subscribed already. */
bool fake_calls_subscribe(CUpti_CallbackFunc callback, void *owner);
bool fake_calls_subscribe(CUpti_CallbackFunc callback, void *owner)
{
    if (fake.callback != NULL)
        return false;
    fake.callback = callback;
    fake.owner = owner;
    return true;
}

/* False: this stand-in does not call back for it. */
bool fake_calls_enable(CUpti_CallbackDomain domain, CUpti_CallbackId id, bool enable);
bool fake_calls_enable(CUpti_CallbackDomain domain, CUpti_CallbackId id, bool enable)
{
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_LOADED)
        fake.modules = enable;
    else if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id < CUPTI_DRIVER_TRACE_CBID_SIZE)
        fake.calls[id] = enable;
    else
        return false;
    return true;
}

static void load_module(void)
{
    const char *path = getenv("KEET_FAKE_CUBIN");
    FILE *file = path != NULL ? fopen(path, "rbe") : NULL;
    static char bytes[1 << 20];

    if (file == NULL)
        return;
    CUpti_ModuleResourceData module = {.pCubin = bytes};
    const CUpti_ResourceData resource = {.resourceDescriptor = &module};

    module.cubinSize = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    if (fake.modules)
        fake.callback(
            fake.owner, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED, &resource);
}

CUresult CUDAAPI cuInit(unsigned flags)
{
    static bool begun;
    CUresult (*real)(unsigned) = (CUresult(*)(unsigned))next("cuInit");
    const CUresult result = real(flags);
    const char *path = getenv("CUDA_INJECTION64_PATH");

    if (result != CUDA_SUCCESS || begun || path == NULL)
        return result;
    begun = true;
    if (fake.capture != NULL)
        setenv("KEET_CAPTURE", fake.capture, 1);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int (*injected)(void) =
        library != NULL ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;

    if (injected == NULL || injected() != 1) {
        fprintf(stderr, "the stand-in cannot inject %s: %s\n", path, dlerror());
        abort();
    }
    unsetenv("KEET_CAPTURE");
    load_module();
    return result;
}

static void tell(CUpti_CallbackId id, CUpti_ApiCallbackSite site, CUfunction f, const void *params,
    CUresult *result)
{
    CUpti_CallbackData data = {
        .callbackSite = site, .functionParams = params, .functionReturnValue = result};

    fake.depth += site == CUPTI_API_ENTER ? 1u : -1u;
    if (fake.callback == NULL || !fake.calls[id] || fake.depth != (site == CUPTI_API_ENTER))
        return;
    cuFuncGetName(&data.symbolName, f);
    fake.callback(fake.owner, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
    if (site == CUPTI_API_ENTER)
        load_module();
}

CUresult CUDAAPI cuLaunchKernelEx(
    const CUlaunchConfig *config, CUfunction f, void **params, void **extra)
{
    const cuLaunchKernelEx_params call = {config, f, params, extra};
    __typeof__(&cuLaunchKernelEx) real = (__typeof__(&cuLaunchKernelEx))next("cuLaunchKernelEx");
    CUresult result = CUDA_SUCCESS;

    tell(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_API_ENTER, f, &call, &result);
    result = real(config, f, params, extra);
    tell(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_API_EXIT, f, &call, &result);
    return result;
}

CUresult CUDAAPI cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
    unsigned by, unsigned bz, unsigned smem, CUstream stream, void **params, void **extra)
{
    const cuLaunchKernel_params call = {f, gx, gy, gz, bx, by, bz, smem, stream, params, extra};
    __typeof__(&cuLaunchKernel) real = (__typeof__(&cuLaunchKernel))next("cuLaunchKernel");
    CUresult result = CUDA_SUCCESS;

    tell(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_API_ENTER, f, &call, &result);
    result = real(f, gx, gy, gz, bx, by, bz, smem, stream, params, extra);
    tell(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_API_EXIT, f, &call, &result);
    return result;
}
