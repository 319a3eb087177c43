/* NVML, NVIDIA's management library, loaded with dlopen: the description of a GPU, and readings of
 * its sensors. NVML comes with the driver, not with the toolkit; where it is missing, nvml_open
 * says so.
 *
 * We never set anything through NVML: clocks and power limits are recorded, not changed.
 *
 * Few machines have the package with NVML's header. So nvml.c declares the dozen functions that we
 * use; where the header is there at build time, the compiler compares the declarations. */
#ifndef KEET_NV_NVML_H
#define KEET_NV_NVML_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct nvml;

/* Opens $KEET_NVML when it is set, else libnvidia-ml.so.1. */
struct nvml *nvml_open(struct err *err);
void nvml_close(struct nvml *nvml);
const char *nvml_driver_version(const struct nvml *nvml); /* "580.65.06"; "" when not told */
int nvml_cuda_version(
    const struct nvml *nvml); /* the newest CUDA the driver runs: 13000 for 13.0 */
unsigned nvml_nr_devices(const struct nvml *nvml);

enum nvml_mig { NVML_MIG_UNSUPPORTED, NVML_MIG_OFF, NVML_MIG_ON };

struct nvml_info {
    char name[96], uuid[96];
    int capability_major, capability_minor;
    uint64_t memory_bytes;
    enum nvml_mig mig;
};

/* NaN stands for a value that the device does not tell. */
struct nvml_reading {
    double sm_clock_mhz, memory_clock_mhz, temperature_c, power_w;
    double energy_j;   /* since the driver was loaded; nv/energy.h says how to use it */
    uint64_t throttle; /* why clocks are not higher, as NVML's bits; 0: no reason, or not told */
};

bool nvml_info(const struct nvml *nvml, unsigned device, struct nvml_info *info, struct err *err);
bool nvml_read(
    const struct nvml *nvml, unsigned device, struct nvml_reading *reading, struct err *err);

/* Reads clocks, temperature and throttle reasons only, quickly; other fields stay as they are.
 * False: the device does not tell the SM clock. */
bool nvml_read_clocks(const struct nvml *nvml, unsigned device, struct nvml_reading *reading);

/* The number of the device with this PCI bus id ("0000:18:00.0", as the driver API gives it), since
 * the two libraries may number devices differently. */
bool nvml_find(const struct nvml *nvml, const char *pci_bus_id, unsigned *device, struct err *err);

/* "power cap, thermal slowdown"; "none". Idleness does not count as a reason: a GPU that waits is
 * idle. */
void nvml_throttle_text(uint64_t throttle, char text[200]);

#endif
