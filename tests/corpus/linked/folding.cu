#include "waves.h"

__device__ float folded(float x)
{
    return x < 0.0f ? damped(-x, 1) : 0.0f;
}
