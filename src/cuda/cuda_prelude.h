/* The CUDA that the parser knows: declarations of ours for what kernels use of CUDA's own headers,
 * enough to give names and types. It is never compiled, only parsed. */
#ifndef KEET_CUDA_CUDA_PRELUDE_H
#define KEET_CUDA_CUDA_PRELUDE_H

extern const char cuda_prelude[];

#endif
