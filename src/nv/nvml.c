/* Owns the handle on NVML: its functions, a device's description, one reading of its sensors. */
#include "nv/nvml.h"

#include "base/mem.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The binary interface, unchanged since NVML 8 (energy) and 11 (MIG). */
typedef struct nvml_handle *nvml_device;
struct nvml_memory {
    unsigned long long total, free, used;
};
enum {
    RESULT_SUCCESS = 0,
    RESULT_NOT_SUPPORTED = 3,
    RESULT_DRIVER_NOT_LOADED = 9,
    RESULT_VERSION_MISMATCH = 18
};
enum { TEMPERATURE_GPU = 0 };
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum {
    REASON_IDLE = 0x1,
    REASON_APPLICATION_CLOCKS = 0x2,
    REASON_POWER_CAP = 0x4,
    REASON_HARDWARE = 0x8,
    REASON_SYNC_BOOST = 0x10,
    REASON_THERMAL = 0x20,
    REASON_HARDWARE_THERMAL = 0x40,
    REASON_POWER_BRAKE = 0x80,
    REASON_DISPLAY_CLOCKS = 0x100
};

#if defined(__has_include)
#if __has_include(<nvml.h>)
#include <nvml.h>
_Static_assert(sizeof(struct nvml_memory) == sizeof(nvmlMemory_t), "memory");
_Static_assert((int)RESULT_NOT_SUPPORTED == (int)NVML_ERROR_NOT_SUPPORTED &&
                   (int)RESULT_DRIVER_NOT_LOADED == (int)NVML_ERROR_DRIVER_NOT_LOADED &&
                   (int)RESULT_VERSION_MISMATCH == (int)NVML_ERROR_LIB_RM_VERSION_MISMATCH,
    "results");
_Static_assert((int)TEMPERATURE_GPU == (int)NVML_TEMPERATURE_GPU &&
                   (int)CLOCK_SM == (int)NVML_CLOCK_SM && (int)CLOCK_MEMORY == (int)NVML_CLOCK_MEM,
    "sensors");
_Static_assert(REASON_IDLE == nvmlClocksThrottleReasonGpuIdle &&
                   REASON_POWER_CAP == nvmlClocksThrottleReasonSwPowerCap &&
                   REASON_HARDWARE == nvmlClocksThrottleReasonHwSlowdown &&
                   REASON_THERMAL == nvmlClocksThrottleReasonSwThermalSlowdown &&
                   REASON_HARDWARE_THERMAL == nvmlClocksThrottleReasonHwThermalSlowdown &&
                   REASON_POWER_BRAKE == nvmlClocksThrottleReasonHwPowerBrakeSlowdown,
    "reasons");
#endif
#endif

struct nvml {
    void *handle;
    char driver_version[96];
    int cuda_version;
    unsigned nr_devices;
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int result);
    int (*system_driver_version)(char *text, unsigned length);
    int (*system_cuda_version)(int *version);
    int (*count)(unsigned *nr);
    int (*by_index)(unsigned index, nvml_device *device);
    int (*by_bus_id)(const char *bus_id, nvml_device *device);
    int (*index_of)(nvml_device device, unsigned *index);
    int (*name)(nvml_device device, char *text, unsigned length);
    int (*uuid)(nvml_device device, char *text, unsigned length);
    int (*capability)(nvml_device device, int *major, int *minor);
    int (*memory)(nvml_device device, struct nvml_memory *memory);
    int (*mig_mode)(nvml_device device, unsigned *now, unsigned *next);
    int (*clock)(nvml_device device, int type, unsigned *mhz);
    int (*temperature)(nvml_device device, int sensor, unsigned *celsius);
    int (*power)(nvml_device device, unsigned *milliwatts);
    int (*energy)(nvml_device device, unsigned long long *millijoules);
    int (*reasons)(nvml_device device, unsigned long long *reasons);
};

/* dlsym into any pointer to a function; ISO C has no cast from void * to one. */
static bool bind(struct nvml *nvml, const char *name, void *function, struct err *err)
{
    void *symbol = dlsym(nvml->handle, name);

    memcpy(function, &symbol, sizeof(symbol));
    return symbol || err_set(err, "NVML lacks %s: a newer NVIDIA driver is needed", name);
}

static bool bind_all(struct nvml *n, struct err *err)
{
    return bind(n, "nvmlInit_v2", &n->init, err) && bind(n, "nvmlShutdown", &n->shutdown, err) &&
           bind(n, "nvmlErrorString", &n->error_string, err) &&
           bind(n, "nvmlSystemGetDriverVersion", &n->system_driver_version, err) &&
           bind(n, "nvmlSystemGetCudaDriverVersion_v2", &n->system_cuda_version, err) &&
           bind(n, "nvmlDeviceGetCount_v2", &n->count, err) &&
           bind(n, "nvmlDeviceGetHandleByIndex_v2", &n->by_index, err) &&
           bind(n, "nvmlDeviceGetHandleByPciBusId_v2", &n->by_bus_id, err) &&
           bind(n, "nvmlDeviceGetIndex", &n->index_of, err) &&
           bind(n, "nvmlDeviceGetName", &n->name, err) &&
           bind(n, "nvmlDeviceGetUUID", &n->uuid, err) &&
           bind(n, "nvmlDeviceGetCudaComputeCapability", &n->capability, err) &&
           bind(n, "nvmlDeviceGetMemoryInfo", &n->memory, err) &&
           bind(n, "nvmlDeviceGetMigMode", &n->mig_mode, err) &&
           bind(n, "nvmlDeviceGetClockInfo", &n->clock, err) &&
           bind(n, "nvmlDeviceGetTemperature", &n->temperature, err) &&
           bind(n, "nvmlDeviceGetPowerUsage", &n->power, err) &&
           bind(n, "nvmlDeviceGetTotalEnergyConsumption", &n->energy, err) &&
           bind(n, "nvmlDeviceGetCurrentClocksThrottleReasons", &n->reasons, err);
}

static bool start(struct nvml *nvml, struct err *err)
{
    const int result = nvml->init();

    if (result == RESULT_DRIVER_NOT_LOADED)
        return err_set(err, "NVML is installed, but the NVIDIA driver is not loaded");
    if (result == RESULT_VERSION_MISMATCH)
        return err_set(err,
            "NVML and the loaded NVIDIA driver are of different versions: the driver "
            "was updated, and the machine must be restarted");
    if (result != RESULT_SUCCESS)
        return err_set(err, "NVML does not start: %s", nvml->error_string(result));
    if (nvml->system_driver_version(nvml->driver_version, sizeof(nvml->driver_version)) != 0)
        nvml->driver_version[0] = '\0';
    if (nvml->system_cuda_version(&nvml->cuda_version) != 0)
        nvml->cuda_version = 0;
    if (nvml->count(&nvml->nr_devices) != 0)
        nvml->nr_devices = 0;
    return true;
}

struct nvml *nvml_open(struct err *err)
{
    const char *chosen = getenv("KEET_NVML");
    struct nvml *nvml = xcalloc(1, sizeof(*nvml));

    nvml->handle =
        dlopen(chosen && chosen[0] ? chosen : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!nvml->handle && chosen && chosen[0])
        err_set(err, "KEET_NVML is no NVML that can be loaded: %s", dlerror());
    else if (!nvml->handle)
        err_set(err,
            "NVML is not installed (libnvidia-ml.so.1 is not found); it comes with the NVIDIA "
            "driver");
    if (!nvml->handle || !bind_all(nvml, err) || !start(nvml, err)) {
        free(nvml);
        return NULL;
    }
    return nvml;
}

void nvml_close(struct nvml *nvml)
{
    if (!nvml)
        return;
    nvml->shutdown();
    free(nvml);
}

const char *nvml_driver_version(const struct nvml *nvml)
{
    return nvml->driver_version;
}

int nvml_cuda_version(const struct nvml *nvml)
{
    return nvml->cuda_version;
}

unsigned nvml_nr_devices(const struct nvml *nvml)
{
    return nvml->nr_devices;
}

static bool device_of(
    const struct nvml *nvml, unsigned number, nvml_device *device, struct err *err)
{
    const int result = nvml->by_index(number, device);

    return result == RESULT_SUCCESS ||
           err_set(err, "NVML, GPU %u: %s", number, nvml->error_string(result));
}

bool nvml_info(const struct nvml *nvml, unsigned number, struct nvml_info *info, struct err *err)
{
    struct nvml_memory memory = {0};
    unsigned mig = 0, next;
    nvml_device device;

    *info = (struct nvml_info){0};
    if (!device_of(nvml, number, &device, err))
        return false;
    if (nvml->name(device, info->name, sizeof(info->name)) != RESULT_SUCCESS)
        snprintf(info->name, sizeof(info->name), "GPU %u", number);
    if (nvml->uuid(device, info->uuid, sizeof(info->uuid)) != RESULT_SUCCESS)
        info->uuid[0] = '\0';
    if (nvml->capability(device, &info->capability_major, &info->capability_minor) != 0)
        info->capability_major = info->capability_minor = 0;
    if (nvml->memory(device, &memory) == RESULT_SUCCESS)
        info->memory_bytes = memory.total;
    if (nvml->mig_mode(device, &mig, &next) == RESULT_SUCCESS)
        info->mig = mig ? NVML_MIG_ON : NVML_MIG_OFF;
    return true;
}

static double or_nan(int result, double value)
{
    return result == RESULT_SUCCESS ? value : NAN;
}

bool nvml_read_clocks(const struct nvml *nvml, unsigned number, struct nvml_reading *reading)
{
    unsigned long long wide = 0;
    nvml_device device;
    unsigned value = 0;
    int result;

    if (nvml->by_index(number, &device) != RESULT_SUCCESS)
        return false;
    result = nvml->clock(device, CLOCK_SM, &value);
    reading->sm_clock_mhz = or_nan(result, value);
    result = nvml->clock(device, CLOCK_MEMORY, &value);
    reading->memory_clock_mhz = or_nan(result, value);
    result = nvml->temperature(device, TEMPERATURE_GPU, &value);
    reading->temperature_c = or_nan(result, value);
    result = nvml->reasons(device, &wide);
    reading->throttle = result == RESULT_SUCCESS ? wide : 0;
    return !isnan(reading->sm_clock_mhz);
}

bool nvml_read(
    const struct nvml *nvml, unsigned number, struct nvml_reading *reading, struct err *err)
{
    unsigned long long wide = 0;
    nvml_device device;
    unsigned value = 0;
    int result;

    if (!device_of(nvml, number, &device, err))
        return false;
    nvml_read_clocks(nvml, number, reading);
    result = nvml->power(device, &value);
    reading->power_w = or_nan(result, value * 1e-3);
    result = nvml->energy(device, &wide);
    reading->energy_j = or_nan(result, (double)wide * 1e-3);
    return true;
}

bool nvml_find(const struct nvml *nvml, const char *pci_bus_id, unsigned *number, struct err *err)
{
    nvml_device device;
    int result = nvml->by_bus_id(pci_bus_id, &device);

    if (result == RESULT_SUCCESS)
        result = nvml->index_of(device, number);
    return result == RESULT_SUCCESS ||
           err_set(err, "NVML, GPU at PCI bus id %s: %s", pci_bus_id, nvml->error_string(result));
}

void nvml_throttle_text(uint64_t throttle, char text[200])
{
    static const struct {
        unsigned bit;
        const char *what;
    } reasons[] = {
        {REASON_APPLICATION_CLOCKS, "clocks set by the user"},
        {REASON_POWER_CAP, "power cap"},
        {REASON_HARDWARE, "hardware slowdown"},
        {REASON_SYNC_BOOST, "sync boost"},
        {REASON_THERMAL, "thermal slowdown"},
        {REASON_HARDWARE_THERMAL, "hardware thermal slowdown"},
        {REASON_POWER_BRAKE, "power brake"},
        {REASON_DISPLAY_CLOCKS, "display clocks"},
    };
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
        if (throttle & reasons[i].bit)
            used += (size_t)snprintf(
                text + used, 200 - used, "%s%s", used ? ", " : "", reasons[i].what);
    }
    if (!used)
        snprintf(text, 200, "none");
}
