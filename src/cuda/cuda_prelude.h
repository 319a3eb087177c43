/* The prelude: declarations of ours for what kernels use of CUDA's own headers. They give the
 * parser names and types. The prelude is parsed before each source, and never compiled. */
#ifndef KEET_CUDA_CUDA_PRELUDE_H
#define KEET_CUDA_CUDA_PRELUDE_H

extern const char cuda_prelude[];

#endif
