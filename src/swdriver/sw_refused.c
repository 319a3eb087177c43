/* Owns what is refused: every other function of the driver, so that programs that look all of them
 * up at their start can load, each with CUDA_ERROR_NOT_SUPPORTED when it is called. cuda.h is not
 * included: what the arguments are does not matter. */
enum { NOT_SUPPORTED = 801 };

#define REFUSED(name)                                                                              \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return NOT_SUPPORTED;                                                                      \
    }
#include "swdriver/sw_refused.def"
