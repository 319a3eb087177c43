/* The GPUs that the driver sees, as plain data: for files that may not include cuda.h, and small
 * enough for a pipe from a child process. gpus_probe initialises the driver in the calling process,
 * so a process that will fork workers calls it in a child (base/proc.h). */
#ifndef KEET_NV_GPUS_H
#define KEET_NV_GPUS_H

#include <stdbool.h>
#include <stdint.h>

enum { GPUS_MOST = 16 };

struct gpu_info {
    char name[96], pci_bus_id[32];
    int capability_major, capability_minor;
    unsigned nr_sms;
    uint64_t memory_bytes, l2_bytes;
    bool exclusive; /* compute mode: one process at a time */
};

struct gpus {
    bool found;       /* a driver library was opened and is new enough */
    bool initialised; /* the driver works */
    bool software;    /* the driver is our own */
    char path[4096];  /* of the library */
    int version;      /* CUDA version of the driver: 13000 is 13.0 */
    int toolkit;      /* of the headers that this program was built with */
    unsigned nr;      /* GPUs, as many as fit in gpu[] */
    struct gpu_info gpu[GPUS_MOST];
    char problem[2048]; /* why not found or not initialised, and what to do */
};

void gpus_probe(struct gpus *gpus);

/* gpus_probe as the body of a child, for proc_call; its output is a struct gpus. */
int gpus_probe_body(int fd, const void *input);

#endif
