/* Owns the handle on CUPTI: the search for the library, its functions, and the errors of its
 * results.
 */
#include "nv/cupti_inside.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "nv/toolkit.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names_of_library[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
static const char *const lib_dirs[] = {
    "lib64", "lib", "extras/CUPTI/lib64", "targets/x86_64-linux/lib", "."};

/* ---- finding it ---- */

/* CUPTI asks the loader for these by name. Those beside CUPTI must be there already: NVIDIA's
 * wheels are in no folder that the loader searches. */
static void open_beside(const char *path)
{
    static const char *const needed[] = {"libnvperf_host.so", "libnvperf_target.so"};
    const int len = (int)(file_name(path) - path);
    char beside[PATH_MAX];

    for (size_t i = 0; len > 0 && i < ARRAY_SIZE(needed); i++)
        if (snprintf(beside, sizeof(beside), "%.*s%s", len, path, needed[i]) < (int)sizeof(beside))
            (void)dlopen(beside, RTLD_NOW | RTLD_LOCAL); /* for the life of the process */
}

static bool try_open(struct cupti *cupti, const char *path, struct str *looked)
{
    open_beside(path);
    cupti->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!cupti->handle)
        str_addf(looked, " (%s)", dlerror());
    return cupti->handle != NULL;
}

static bool open_below(struct cupti *cupti, const char *root, struct str *looked)
{
    char path[PATH_MAX];

    if (!root || !root[0])
        return false;
    str_addf(looked, "%s%s", looked->len ? ", " : "", root);
    for (size_t d = 0; d < ARRAY_SIZE(lib_dirs); d++) {
        for (size_t n = 0; n < ARRAY_SIZE(names_of_library); n++) {
            const int len =
                snprintf(path, sizeof(path), "%s/%s/%s", root, lib_dirs[d], names_of_library[n]);
            if (len < (int)sizeof(path) && file_exists(path) && try_open(cupti, path, looked))
                return true;
        }
    }
    return false;
}

/* What setup.sh got. */
static bool open_deps(struct cupti *cupti, struct str *looked)
{
    char *root = toolkit_of_setup();
    const bool found = open_below(cupti, root, looked);

    free(root);
    return found;
}

static bool open_by_loader(struct cupti *cupti, struct str *looked)
{
    str_add(looked, ", the loader's path");
    for (size_t n = 0; n < ARRAY_SIZE(names_of_library); n++) {
        if (try_open(cupti, names_of_library[n], looked))
            return true;
    }
    return false;
}

static bool find(struct cupti *cupti, struct err *err)
{
    const char *library = getenv("KEET_CUPTI"), *chosen = getenv("KEET_CUDA");
    struct str looked = {0};
    bool found;

    if (library && library[0]) {
        str_add(&looked, library);
        found = try_open(cupti, library, &looked);
    } else if (chosen && chosen[0]) {
        found = open_below(cupti, chosen, &looked);
    } else {
        found = open_below(cupti, getenv("CUDA_HOME"), &looked) ||
                open_below(cupti, "/usr/local/cuda", &looked) || open_deps(cupti, &looked) ||
                open_by_loader(cupti, &looked);
    }
    if (!found)
        err_set(err, "cannot find CUPTI, the library for hardware counters (libcupti.so), in: %s",
            str_text(&looked));
    str_finish(&looked);
    return found;
}

static bool bind_all(struct cupti *cupti, struct err *err)
{
    static const char *const symbols[] = {
#define FUNCTION(field, function) #function,
#include "nv/cupti_functions.def"
#undef FUNCTION
    };
    void *const targets[] = {
#define FUNCTION(field, function) &cupti->field,
#include "nv/cupti_functions.def"
#undef FUNCTION
    };

    for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
        void *symbol = dlsym(cupti->handle, symbols[i]);

        if (!symbol)
            return err_set(
                err, "CUPTI in %s lacks %s: CUDA 12.8 or newer is needed", cupti->path, symbols[i]);
        memcpy(targets[i], &symbol, sizeof(symbol)); /* ISO C has no cast to a function */
    }
    return true;
}

static void note_path(struct cupti *cupti)
{
    void *symbol = dlsym(cupti->handle, "cuptiGetVersion");
    Dl_info info;

    if (symbol && dladdr(symbol, &info))
        snprintf(cupti->path, sizeof(cupti->path), "%s", info.dli_fname);
}

/* ---- results ---- */

const char *cupti_permission_advice(void)
{
    return "the driver gives counters to administrators only (ERR_NVGPUCTRPERM): run as root, give "
           "the process CAP_SYS_ADMIN, or load the driver with "
           "NVreg_RestrictProfilingToAdminUsers=0 "
           "(a line `options nvidia NVreg_RestrictProfilingToAdminUsers=0` in "
           "/etc/modprobe.d/nvidia.conf, then rebuild the initramfs and reboot)";
}

/* Advice about a result; NULL: there is none. */
static const char *advice_on(CUptiResult result)
{
    switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
        return cupti_permission_advice();
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
        return "this is a virtual GPU without leave to be profiled: its host must set "
               "pciPassthru0.cfg.enable_profiling=1 (or enable_profiling in vGPU's plugin "
               "parameters)";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
        return "this virtual GPU cannot be profiled";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
        return "the GPU is cut in slices (MIG): counters of what slices share are not to be had; "
               "as root, when nobody else uses it: nvidia-smi -mig 0";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
        return "the GPU is in confidential computing mode, which hides its counters";
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
        return "another profiler holds the counters: end it (Nsight Compute, Nsight Systems), or "
               "pause DCGM's with dcgmi profile --pause";
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
        return "under WSL, allow counters in the NVIDIA Control Panel of Windows";
    case CUPTI_ERROR_OUT_OF_MEMORY:
        return "the GPU or the host has too little memory left to save the kernel's between passes";
    case CUPTI_ERROR_NOT_INITIALIZED:
        return "the CUDA driver is missing, or did not start";
    default:
        return NULL;
    }
}

bool cupti_check(const struct cupti *cupti, CUptiResult result, const char *what, struct err *err)
{
    const char *advice = advice_on(result), *text = NULL;

    if (result == CUPTI_SUCCESS)
        return true;
    if (cupti->result_string(result, &text) != CUPTI_SUCCESS || !text)
        text = "an unknown result";
    return err_set(err, "CUPTI, %s: %s (%d)%s%s", what, text, (int)result, advice ? ": " : "",
        advice ? advice : "");
}

/* ---- opening ---- */

/* Must come before all other calls, even where it fails for want of a driver: else host calls
 * crash. */
static void initialize(struct cupti *cupti)
{
    PARAMS(CUpti_Profiler_Initialize_Params, params);
    const CUptiResult result = cupti->initialize(&params);
    uint32_t version = 0;
    struct err why;

    if (!cupti_check(cupti, result, "initialising", &why))
        snprintf(cupti->no_target, sizeof(cupti->no_target), "%.250s", why.text);
    if (cupti->get_version(&version) == CUPTI_SUCCESS)
        cupti->version = version;
}

bool cupti_start(struct cupti *cupti, struct err *err)
{
    cupti->no_target[0] = '\0';
    initialize(cupti);
    return cupti->no_target[0] == '\0' || err_set(err, "%s", cupti->no_target);
}

struct cupti *cupti_open(struct err *err)
{
    struct cupti *cupti = xcalloc(1, sizeof(*cupti));

    if (!find(cupti, err)) {
        free(cupti);
        return NULL;
    }
    note_path(cupti);
    if (!bind_all(cupti, err)) {
        free(cupti);
        return NULL;
    }
    initialize(cupti);
    return cupti;
}

void cupti_close(struct cupti *cupti)
{
    /* The library stays loaded, since its threads and exit handlers stay. */
    free(cupti);
}

const char *cupti_path(const struct cupti *cupti)
{
    return cupti->path;
}

unsigned cupti_api_version(const struct cupti *cupti)
{
    return cupti->version;
}

const char *cupti_no_target(const struct cupti *cupti)
{
    return cupti->no_target;
}
