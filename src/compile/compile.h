/* Compile: CUDA C++ to PTX and cubin with NVRTC, in a child process with limits, behind a
 * content-addressed cache. */
#ifndef KEET_COMPILE_COMPILE_H
#define KEET_COMPILE_COMPILE_H

#include "base/err.h"
#include "core/candidate.h"

#include <stdbool.h>
#include <stdint.h>

struct compiler;

struct compiler_options {
    const char *arch; /* "sm_90a" */
    /* NULL: $KEET_CACHE, else $XDG_CACHE_HOME/keet-opt/compile, else ~/.cache/keet-opt/compile;
     * "": no cache */
    const char *cache_dir;
    uint64_t memory_limit_bytes; /* of the child; 0: 4 GiB */
    double time_limit_s;         /* of processor time; 0: 60; on the wall five times that */
    const char *cutlass_dir; /* CUTLASS's folder, with include/ in it, for candidates; NULL: none */
    bool by_kernel; /* for the emulator: kernels may be compiled one by one, each to a cubin */
};

/* Finds and loads NVRTC (KEET_CUDA, CUDA_HOME, /usr/local/cuda, .deps/cuda beside the binary,
 * NVIDIA's wheels, the loader's path); the error says where it looked and how to install it.
 * Kernels may include CUDA's and CCCL's headers, CUTLASS's where cutlass_dir is given, and small
 * stand-ins for the standard headers that make sense on a device. Call it before the program has
 * threads; any thread may then call compile_source, side by side with others. */
struct compiler *compiler_create(const struct compiler_options *options, struct err *err);
void compiler_destroy(struct compiler *compiler);
const char *compiler_version(const struct compiler *compiler); /* "NVRTC 13.0" */

/* The default folder of the cache, in heap memory; NULL where there is no home. */
char *compile_cache_dir(void);

/* Fills c->compilation; or sets verdict no_compile with the first error, its line, and the log. */
bool compile_kernel(struct compiler *compiler, struct candidate *c, struct err *err);

/* The same for any source and list of kernel names (the oracle kernel of a `reference` line). */
struct compile_input {
    const char *source; /* CUDA C++ with pragmas blanked */
    const char *name;   /* "kernel.cu", for messages */
    const char *const *kernels;
    unsigned nr_kernels;
    const unsigned *kernel_lines; /* of the launches that name them, for messages; or NULL */
    const struct tune *tunes;     /* defined as macros, but not for the included files */
    unsigned nr_tunes;
};

/* Sets the input's kernels: the distinct ones of the launch lines, in order, and the first line
 * that names each. */
void compile_list_kernels(
    const struct plan *plan, struct arena *arena, struct compile_input *input);

bool compile_source(struct compiler *compiler, const struct compile_input *input,
    struct arena *arena, struct compilation *out, enum verdict *verdict, unsigned *line,
    const char **text, struct err *err);

#endif
