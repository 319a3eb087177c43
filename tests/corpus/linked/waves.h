#pragma once

#define TAPS 4

extern __constant__ float taps[TAPS];

__device__ float damped(float x, int tap);
__device__ float folded(float x);
