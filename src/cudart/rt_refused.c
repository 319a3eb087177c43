/* Owns what is refused: every other function of the runtime, so that programs can load, each of
 * which says its name when it is first called. cuda_runtime_api.h is not included: what the
 * arguments are does not matter. */
#include <stdbool.h>
#include <stdio.h>

enum { NOT_SUPPORTED = 801 };

int rt_done(int code);

static int refuse(const char *name, bool *told)
{
    if (!*told)
        fprintf(stderr, "libkeet-cudart: the program calls %s, which is not supported\n", name);
    *told = true;
    return rt_done(NOT_SUPPORTED);
}

#define REFUSED(name)                                                                              \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        static bool told;                                                                          \
                                                                                                   \
        return refuse(#name, &told);                                                               \
    }
#include "cudart/rt_refused.def"
#if RT_VERSION == 12
#include "cudart/rt_refused12.def"
#endif
