/* A stand-in for NVML with one GPU that draws the same power all the time, whose energy counter
 * moves in steps as a Hopper's does. Where a file "fake.txt" lies beside the library, it is read
 * when the library starts: `watts N`, `step_ms N`, `no_energy 1`, `mhz N`, `mig 1`, `swing N`
 * (every other look at the SM clock finds it so much higher), `throttle N` (the reasons' bits),
 * `init N` (the code that starting the library gives). */
#include "beside.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SUCCESS = 0, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

struct nvml_memory {
    unsigned long long total, free, used;
};

static double watts = 350, step_ms = 20, mhz = 1755;
static int no_energy, mig, init_code;
static double swing, throttle;
static unsigned nr_looks;
static uint64_t start_ns;
static int the_device;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void read_file_beside(void)
{
    FILE *file = open_beside("fake.txt");
    char word[32];
    double value;

    if (!file)
        return;
    while (fscanf(file, "%31s %lf", word, &value) == 2) {
        if (strcmp(word, "watts") == 0)
            watts = value;
        else if (strcmp(word, "step_ms") == 0)
            step_ms = value;
        else if (strcmp(word, "no_energy") == 0)
            no_energy = (int)value;
        else if (strcmp(word, "mhz") == 0)
            mhz = value;
        else if (strcmp(word, "mig") == 0)
            mig = (int)value;
        else if (strcmp(word, "swing") == 0)
            swing = value;
        else if (strcmp(word, "throttle") == 0)
            throttle = value;
        else if (strcmp(word, "init") == 0)
            init_code = (int)value;
    }
    fclose(file);
}

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    read_file_beside();
    start_ns = now_ns();
    return init_code;
}

int nvmlShutdown(void);
int nvmlShutdown(void)
{
    return SUCCESS;
}

const char *nvmlErrorString(int result);
const char *nvmlErrorString(int result)
{
    return result == NOT_SUPPORTED ? "Not Supported" : "Some Error";
}

int nvmlSystemGetDriverVersion(char *text, unsigned length);
int nvmlSystemGetDriverVersion(char *text, unsigned length)
{
    snprintf(text, length, "999.1");
    return SUCCESS;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version);
int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = 13000;
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *nr);
int nvmlDeviceGetCount_v2(unsigned *nr)
{
    *nr = 1;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = &the_device;
    return index == 0 ? SUCCESS : INVALID;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **device)
{
    *device = &the_device;
    return bus_id[0] ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetIndex(void *device, unsigned *index);
int nvmlDeviceGetIndex(void *device, unsigned *index)
{
    *index = 0;
    return device == &the_device ? SUCCESS : INVALID;
}

int nvmlDeviceGetName(void *device, char *text, unsigned length);
int nvmlDeviceGetName(void *device, char *text, unsigned length)
{
    (void)device;
    snprintf(text, length, "A GPU that is not there");
    return SUCCESS;
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned length);
int nvmlDeviceGetUUID(void *device, char *text, unsigned length)
{
    (void)device;
    snprintf(text, length, "GPU-0");
    return SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor);
int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor)
{
    (void)device;
    *major = 9;
    *minor = 0;
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(void *device, struct nvml_memory *memory);
int nvmlDeviceGetMemoryInfo(void *device, struct nvml_memory *memory)
{
    (void)device;
    *memory = (struct nvml_memory){.total = 80ull << 30, .free = 80ull << 30};
    return SUCCESS;
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *next);
int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *next)
{
    (void)device;
    *now = *next = (unsigned)mig;
    return SUCCESS;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned *value);
int nvmlDeviceGetClockInfo(void *device, int type, unsigned *value)
{
    (void)device;
    *value = type == 1 ? (unsigned)(mhz + (nr_looks++ % 2 ? swing : 0)) : 2619;
    return SUCCESS;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
    (void)device, (void)sensor;
    *celsius = 45;
    return SUCCESS;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = (unsigned)(watts * 1e3);
    return SUCCESS;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules)
{
    const double ms = (double)(now_ns() - start_ns) * 1e-6;
    const unsigned long long steps = (unsigned long long)(ms / step_ms);

    (void)device;
    *millijoules = 1000000 + (unsigned long long)((double)steps * step_ms * watts);
    return no_energy ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons)
{
    (void)device;
    *reasons = (unsigned long long)throttle;
    return SUCCESS;
}
