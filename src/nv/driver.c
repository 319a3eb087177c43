/* Owns the handle on the CUDA driver: the search for the library, its functions, its error texts.
 */
#include "nv/driver.h"

#include "base/file.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name) /* after cuda.h has turned it into a versioned one */

static const char *const symbols[] = {
#define FUNCTION(field, function) NAME_OF(function),
#include "nv/driver_functions.def"
#undef FUNCTION
};

/* The table's members lie one after another, all of them pointers to functions. */
static bool fill_table(struct driver *driver, struct err *err)
{
    void *const targets[] = {
#define FUNCTION(field, function) &driver->field,
#include "nv/driver_functions.def"
#undef FUNCTION
    };
    const char *(*name)(void);
    void *symbol;

    for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
        symbol = dlsym(driver->handle, symbols[i]);
        if (symbol == NULL)
            return err_set(err,
                "the CUDA driver %s has no function %s: it is older than CUDA %d.%d, which this "
                "program was built with; install a newer driver",
                driver->path, symbols[i], CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
        memcpy(targets[i], &symbol, sizeof(symbol));
    }
    symbol = dlsym(driver->handle, "keet_software_driver_facts");
    memcpy(&driver->software_facts, &symbol, sizeof(symbol));
    symbol = dlsym(driver->handle, "keet_software_driver");
    memcpy(&name, &symbol, sizeof(symbol));
    driver->software = name != NULL && name() != NULL;
    return true;
}

/* CUDA promises that code of a toolkit runs on any driver of the same major version, and on newer
 * ones (CUDA Compatibility, "minor version compatibility"). */
static bool new_enough(struct driver *driver, struct err *err)
{
    const CUresult code = driver->driver_version(&driver->version);

    if (code != CUDA_SUCCESS)
        return err_set(err, "the CUDA driver %s does not tell its version (error %d)", driver->path,
            (int)code);
    if (driver->version / 1000 >= CUDA_VERSION / 1000)
        return true;
    return err_set(err,
        "the CUDA driver %s is of CUDA %d.%d, and the toolkit of CUDA %d.%d makes code that it "
        "cannot load; install a newer driver, or build with a toolkit of CUDA %d",
        driver->path, driver->version / 1000, driver->version % 1000 / 10, CUDA_VERSION / 1000,
        CUDA_VERSION % 1000 / 10, driver->version / 1000);
}

static void note_path(struct driver *driver, const char *asked)
{
    const char *path = asked;
    struct link_map *map;

    if (dlinfo(driver->handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name[0])
        path = map->l_name;
    snprintf(driver->path, sizeof(driver->path), "%s", path);
}

struct driver *driver_open(struct err *err)
{
    const char *chosen = getenv("KEET_CUDA_DRIVER");
    const char *name = chosen != NULL && chosen[0] ? chosen : "libcuda.so.1";
    struct driver *driver = xcalloc(1, sizeof(*driver));

    driver->handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (driver->handle == NULL) {
        err_set(err,
            name == chosen
                ? "KEET_CUDA_DRIVER is no driver that can be loaded: %s"
                : "there is no CUDA driver (%s); install NVIDIA's, or on a machine without a GPU "
                  "use --device emu",
            dlerror());
        driver_close(driver);
        return NULL;
    }
    note_path(driver, name);
    if (!fill_table(driver, err) || !new_enough(driver, err)) {
        driver_close(driver);
        return NULL;
    }
    return driver;
}

void driver_close(struct driver *driver)
{
    if (driver == NULL)
        return;
    if (driver->handle != NULL)
        dlclose(driver->handle);
    free(driver);
}

const char *driver_error(const struct driver *driver, CUresult code, char *text, size_t bytes)
{
    const char *name = NULL, *sentence = NULL;

    if (driver->error_name(code, &name) != CUDA_SUCCESS || name == NULL)
        snprintf(text, bytes, "CUDA error %d", (int)code);
    else if (driver->error_string(code, &sentence) != CUDA_SUCCESS || sentence == NULL)
        snprintf(text, bytes, "%s", name);
    else
        snprintf(text, bytes, "%s: %s", name, sentence);
    return text;
}

const char *driver_advice(CUresult code)
{
    switch (code) {
    case CUDA_ERROR_NO_DEVICE:
        return "the driver sees no GPU: is CUDA_VISIBLE_DEVICES empty, is /dev/nvidia0 there (in a "
               "container: --gpus all), does nvidia-smi see it? With MIG on, an instance must be "
               "made first, or MIG turned off";
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return "the kernel module and libcuda are of different versions: reload the module or "
               "reboot";
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return "a compatibility libcuda is first in the path, and this GPU does not allow it";
    case CUDA_ERROR_SYSTEM_NOT_READY:
        return "NVSwitch systems need the Fabric Manager to run";
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
        return "another process holds the GPU in exclusive mode";
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
        return "the MPS control daemon does not answer: is it running, and for this user?";
    case CUDA_ERROR_UNKNOWN:
        return "often the kernel module is not loaded or /dev/nvidia-uvm is missing: run "
               "nvidia-modprobe -u -c=0";
    case CUDA_ERROR_OUT_OF_MEMORY:
        return "other processes hold the GPU's memory: see nvidia-smi";
    default:
        return "";
    }
}
