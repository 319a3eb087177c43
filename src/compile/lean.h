/* Private to compile/: headers of which programs mostly use a part. Of the 46 ms that reading
 * cuda_pipeline.h and mma.h takes, as much as compiling a small kernel, 24 go to half numbers and
 * to barriers in memory, which a program on f32 and tf32 has nothing to do with. */
#ifndef KEET_COMPILE_LEAN_H
#define KEET_COMPILE_LEAN_H

#include "nv/nvrtc.h"

#include <stdbool.h>

/* Can the source, as far as its words tell, do with lean_headers? What it then compiles to is the
 * same; where it needs more it does not compile. */
bool lean_suffices(const char *source);

/* Instead of files and stand-ins of these names. */
extern const struct nvrtc_header lean_headers[];
extern const unsigned nr_lean_headers;

#endif
