#pragma once
#include "cuda/Twice.cuh"
__device__ inline float half_of(float x) { return twice(x) / 4; }
