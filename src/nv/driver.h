/* The CUDA driver API, loaded with dlopen: a table of the functions that we use, with NVIDIA's own
 * types. Of the headers of nv/, this one alone includes cuda.h; include it only where that is
 * allowed (tests/lint/layers.txt).
 *
 *     struct driver *driver = driver_open(err);
 *     CUresult code = driver->mem_alloc(&address, bytes);
 *     if (code != CUDA_SUCCESS) driver_error(driver, code, text, sizeof(text));
 *
 * driver_open does not initialise the driver. driver->init does, and binds the driver to the
 * calling process: a process that will fork must leave it to its children. */
#ifndef KEET_NV_DRIVER_H
#define KEET_NV_DRIVER_H

#include "base/err.h"

#include <cuda.h>
#include <limits.h>
#include <stddef.h>

struct driver {
    void *handle;
    char path[PATH_MAX]; /* of the library, as the loader found it */
    int version;         /* as cuDriverGetVersion: 13000 is CUDA 13.0 */
    bool software;       /* our own software driver: times are modelled */
#define FUNCTION(field, function) __typeof__(&function) field;
#include "nv/driver_functions.def"
#undef FUNCTION
    /* Tells the software driver facts that ptxas knows and PTX does not; NULL for other drivers. */
    void (*software_facts)(CUfunction function, unsigned registers, unsigned spill_bytes,
        unsigned machine_insts, bool serial_products);
};

/* Opens $KEET_CUDA_DRIVER when that is set, else libcuda.so.1. The error names the fault and the
 * cure: there is no driver, the driver is older than the toolkit of this build, or the library
 * lacks a function. */
struct driver *driver_open(struct err *err);
void driver_close(struct driver *driver);

/* "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered" */
const char *driver_error(const struct driver *driver, CUresult code, char *text, size_t bytes);

/* Advice about a failed init or context; "" when there is none. Static text. */
const char *driver_advice(CUresult code);

#endif
