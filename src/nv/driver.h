/* The CUDA driver API, loaded with dlopen: a table of the functions that we use, under NVIDIA's own
 * types. The only header of nv/ that brings cuda.h along; include it only where that is allowed
 * (tests/lint/layers.txt).
 *
 *     struct driver *driver = driver_open(err);
 *     CUresult code = driver->mem_alloc(&address, bytes);
 *     if (code != CUDA_SUCCESS) driver_error(driver, code, text, sizeof(text));
 *
 * Opening a driver does not initialise it: that is driver->init, which binds it to the calling
 * process, so that a process that will fork must leave it to its children. */
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
    /* Software driver only, else NULL: tell it what ptxas said of a kernel, which PTX does not. */
    void (*software_facts)(CUfunction function, unsigned registers, unsigned spill_bytes);
};

/* Opens $KEET_CUDA_DRIVER when it is set, else libcuda.so.1. The error says what is missing and
 * what to do: no driver, a driver older than the toolkit this program was built with, a library
 * that lacks a function. */
struct driver *driver_open(struct err *err);
void driver_close(struct driver *driver);

/* "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered" */
const char *driver_error(const struct driver *driver, CUresult code, char *text, size_t bytes);

/* What to do about a failed init or context, "" when there is no advice. Static. */
const char *driver_advice(CUresult code);

#endif
