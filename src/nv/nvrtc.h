/* NVRTC, NVIDIA's run-time compiler of CUDA C++, loaded with dlopen.
 *
 * nvrtc_compile runs in the calling process. For a candidate's code the calling process must be a
 * child with limits (base/fork_server.h). Loading NVRTC takes tens of milliseconds, a fork takes
 * less: load once, fork per compilation, and never compile in the parent. */
#ifndef KEET_NV_NVRTC_H
#define KEET_NV_NVRTC_H

#include "base/err.h"

#include <stddef.h>

struct nvrtc;

/* Looks in $KEET_CUDA (nowhere else, when that is set), $CUDA_HOME, /usr/local/cuda, .deps/cuda
 * beside the binary or above it, NVIDIA's wheels of CUDA 13 in the user's Python ($VIRTUAL_ENV,
 * $CONDA_PREFIX, ~/.local); then asks the loader. */
struct nvrtc *nvrtc_open(struct err *err);
void nvrtc_close(struct nvrtc *nvrtc);
const char *nvrtc_version(const struct nvrtc *nvrtc);     /* "NVRTC 13.0" */
const char *nvrtc_library_dir(const struct nvrtc *nvrtc); /* of the library, links followed */
/* The folder of cuda_fp16.h and its like; NULL when they are not installed. */
const char *nvrtc_include_dir(const struct nvrtc *nvrtc);

struct nvrtc_header {
    const char *name, *text;
};

struct nvrtc_request {
    const char *source, *name;
    const char *const *options;
    unsigned nr_options;
    const struct nvrtc_header *headers; /* found before any file of that name */
    unsigned nr_headers;
    const char *const *kernels; /* names or template-ids of __global__ functions */
    unsigned nr_kernels;
    /* Instead of those of the same names at first, without which a program may do, or not compile:
     * a program that does not compile is compiled once more with the others. */
    const struct nvrtc_header *lean;
    unsigned nr_lean;
};

enum nvrtc_outcome { NVRTC_GOOD, NVRTC_REFUSED, NVRTC_NO_MEMORY, NVRTC_FAILED };

/* Heap memory. Texts end with a NUL that their sizes do not count. */
struct nvrtc_answer {
    enum nvrtc_outcome outcome;
    const char *outcome_text; /* the compiler's name for the outcome; static */
    char *ptx, *cubin, *log;
    size_t ptx_bytes, cubin_bytes, log_bytes;
    char **lowered; /* one per kernel: the symbol in PTX and cubin; NULL unless GOOD */
    unsigned nr_lowered;
};

void nvrtc_compile(
    const struct nvrtc *nvrtc, const struct nvrtc_request *request, struct nvrtc_answer *answer);
void nvrtc_answer_finish(struct nvrtc_answer *answer);

#endif
