/* Private to compile/: small stand-ins for the C and C++ standard headers that kernels commonly
 * include and that NVRTC does not bring. They define what device code can use and no more. */
#ifndef KEET_COMPILE_STANDINS_H
#define KEET_COMPILE_STANDINS_H

#include "nv/nvrtc.h"

#include <stdbool.h>

extern const struct nvrtc_header standins[];
extern const unsigned nr_standins;

bool standin_exists(const char *name);

/* Changes whenever a stand-in does: part of the cache key. */
unsigned standins_version(void);

#endif
