/* A GPU as a device, behind a worker process that may die. Private to device/: others call
 * device_create. */
#ifndef KEET_DEVICE_DEVICE_GPU_H
#define KEET_DEVICE_DEVICE_GPU_H

#include "device/device.h"

#include <sys/types.h>

/* NULL with err: there is no driver or no such GPU, its compute capability is not 9.0, or another
 * process of ours holds it. */
struct device *device_gpu_create(
    unsigned ordinal, const struct device_options *options, struct err *err);

#endif
