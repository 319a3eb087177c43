/* Private to inject/: what the library asks the driver for.
 *
 * The driver and CUPTI are those of the program. One launch is asked for at a time: the caller has
 * a lock. */
#ifndef KEET_INJECT_INJECT_H
#define KEET_INJECT_INJECT_H

#include "record/record.h"

#include <cuda.h>
#include <stddef.h>

/* Sets *function, a pointer to a function, to the library's function of that name. False: there is
 * none, and *missing is the name. */
bool inject_find(void *library, const char *symbol, void *function, const char **missing);

/* False: a function is missing; *missing names it. */
bool inject_driver(const char **missing);

/* Variables of modules, by the symbols of their machine code. For any thread at any time: modules
 * are loaded within launches, too, and under locks of the driver's. */
void inject_module(const void *cubin, size_t bytes);

/* A launch in the words of the recorder, with the memory that it can reach. The arrays are the
 * struct's own. */
struct inject_launch {
    struct record_view view;
    struct record_launch is;
    CUstream stream; /* of the launch: what is read is read in its order */
    struct record_param *params;
    struct record_memory *variables; /* those of the kernel's module */
    unsigned nr_variables;
};

struct inject_config {
    CUfunction function; /* or a CUkernel */
    const char *symbol;  /* NULL: the driver says it */
    uint32_t grid[3], block[3], cluster[3], smem_bytes;
    CUstream stream;
    void **params, **extra;
};

/* Makes what we ask harmless to graphs that are being captured, by this thread or by another one;
 * called again with the same place, it gives the thread its mode back. */
void inject_exchange(CUstreamCaptureMode *mode);

/* Waits for the work before in the launch's stream, if the launch is to be recorded. False: the
 * launch belongs to a graph that is being captured, or the driver knows no such kernel. What is
 * true must be finished. */
bool inject_begin(struct inject_launch *launch, const struct inject_config *config);
void inject_finish(struct inject_launch *launch);
/* Waits for the stream. NULL: it went well; else why not, as static text. */
const char *inject_wait(CUstream stream);

#endif
