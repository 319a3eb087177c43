/* Private to compile/: the messages of NVRTC and ptxas as data. */
#ifndef KEET_COMPILE_LOG_READ_H
#define KEET_COMPILE_LOG_READ_H

#include "base/arena.h"
#include "core/candidate.h"

/* Fills the numbers of the kernels (whose `lowered` is set) from the report of ptxas -v. */
void log_read_facts(const char *log, struct kernel_facts *kernels, unsigned nr_kernels);

/* The first error of a failed compilation. */
struct diagnosis {
    const char *text;   /* "error: identifier \"x\" is undefined"; arena */
    unsigned line;      /* of the source; 0 unknown */
    bool is_missing;    /* the name of a kernel could not be resolved */
    unsigned missing;   /* which one */
    const char *symbol; /* the kernel of ptxas's message; NULL unknown; arena */
    unsigned nr_more;   /* errors after it */
};
bool log_read_error(const char *log, const char *source_name, const char *const *kernels,
    unsigned nr_kernels, struct arena *arena, struct diagnosis *diagnosis);

/* The log without the parts that differ between runs (the time that ptxas took); arena. */
const char *log_read_stable(const char *log, struct arena *arena);

#endif
