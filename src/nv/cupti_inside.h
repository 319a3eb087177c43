/* Private to nv/cupti_*.c: the handle on the library, and the check of results. */
#ifndef KEET_NV_CUPTI_INSIDE_H
#define KEET_NV_CUPTI_INSIDE_H

#include "nv/cupti.h"

#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_pcsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>
#include <limits.h>

/* A parameter struct of the profilers: its size first, the rest zero. */
#define PARAMS(type, name) type name = {.structSize = type##_STRUCT_SIZE}

struct cupti {
    void *handle;
    char path[PATH_MAX];
    char no_target[256];
    unsigned version;
#define FUNCTION(field, function) __typeof__(&function) field;
#include "nv/cupti_functions.def"
#undef FUNCTION
};

struct cupti_config {
    const struct cupti *cupti;
    CUpti_Profiler_Host_Object *host;
    bool refused; /* nobody may touch the host object any more */
    char **names;
    unsigned nr_names;
    uint8_t *image;
    size_t image_bytes;
    size_t nr_passes;
};

/* True on success. False: err names the call, CUPTI's name for the result, and the cure. */
bool cupti_check(const struct cupti *cupti, CUptiResult result, const char *what, struct err *err);

#endif
