/* A GPU as a device, behind a worker process that may die. Private to device/: others say
 * device_create. */
#ifndef KEET_DEVICE_DEVICE_GPU_H
#define KEET_DEVICE_DEVICE_GPU_H

#include "device/device.h"

#include <sys/types.h>

/* NULL with err: no driver, no such GPU, one that is not of compute capability 9.0, or one that
 * another process of ours holds. */
struct device *device_gpu_create(
    unsigned ordinal, const struct device_options *options, struct err *err);

#endif
