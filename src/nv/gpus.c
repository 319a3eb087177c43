/* Owns the listing of GPUs through the driver API. */
#include "nv/gpus.h"

#include "base/mem.h"
#include "base/proc.h"
#include "nv/driver.h"

#include <stdio.h>
#include <stdlib.h>

static int attribute(const struct driver *driver, CUdevice device, CUdevice_attribute which)
{
    int value = 0;

    if (driver->device_attribute(&value, which, device) != CUDA_SUCCESS)
        return 0;
    return value;
}

static bool describe(const struct driver *driver, int number, struct gpu_info *gpu)
{
    CUdevice device;
    size_t bytes = 0;

    *gpu = (struct gpu_info){0};
    if (driver->device_get(&device, number) != CUDA_SUCCESS)
        return false;
    if (driver->device_name(gpu->name, sizeof(gpu->name), device) != CUDA_SUCCESS)
        snprintf(gpu->name, sizeof(gpu->name), "GPU %d", number);
    if (driver->device_total_mem(&bytes, device) == CUDA_SUCCESS)
        gpu->memory_bytes = bytes;
    snprintf(gpu->pci_bus_id, sizeof(gpu->pci_bus_id), "%04x:%02x:%02x.0",
        (unsigned)attribute(driver, device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
        (unsigned)attribute(driver, device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
        (unsigned)attribute(driver, device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
    gpu->capability_major = attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    gpu->capability_minor = attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    gpu->nr_sms = (unsigned)attribute(driver, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    gpu->l2_bytes = (uint64_t)attribute(driver, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    gpu->exclusive = attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) ==
                     CU_COMPUTEMODE_EXCLUSIVE_PROCESS;
    return true;
}

static void probe_opened(const struct driver *driver, struct gpus *gpus)
{
    CUresult code = driver->init(0);
    const char *advice;
    char text[256];
    int nr = 0;

    snprintf(gpus->path, sizeof(gpus->path), "%s", driver->path);
    gpus->version = driver->version;
    gpus->software = driver->software;
    if (code == CUDA_SUCCESS)
        code = driver->device_count(&nr);
    if (code != CUDA_SUCCESS) {
        advice = driver_advice(code);
        snprintf(gpus->problem, sizeof(gpus->problem), "%s%s%s",
            driver_error(driver, code, text, sizeof(text)), advice[0] ? "; " : "", advice);
        return;
    }
    gpus->initialised = true;
    for (int i = 0; i < nr && gpus->nr < GPUS_MOST; i++)
        gpus->nr += describe(driver, i, &gpus->gpu[gpus->nr]);
}

void gpus_probe(struct gpus *gpus)
{
    struct driver *driver;
    struct err err;

    *gpus = (struct gpus){.toolkit = CUDA_VERSION};
    driver = driver_open(&err);
    if (!driver) {
        snprintf(gpus->problem, sizeof(gpus->problem), "%s", err.text);
        return;
    }
    gpus->found = true;
    probe_opened(driver, gpus);
    driver_close(driver);
}

int gpus_probe_body(int fd, const void *input)
{
    struct gpus *gpus = xcalloc(1, sizeof(*gpus));
    bool ok;

    (void)input;
    gpus_probe(gpus);
    ok = fd_write(fd, gpus, sizeof(*gpus));
    free(gpus);
    return ok ? 0 : 1;
}
