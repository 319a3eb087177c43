// Two outputs, scratch, a number, a weight and PyTorch text: all that an export has to carry over.
#include <cuda_fp16.h>
#pragma keet size   ROWS = 64, COLS = 48
#pragma keet check  ROWS = 5, COLS = 33
#pragma keet in     x : f32[ROWS][COLS]
#pragma keet in     scale_weight : f32[COLS]
#pragma keet scalar eps : f32 = 1e-5
#pragma keet out    y : f32[ROWS][COLS]
#pragma keet out    total : f32[]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet pytorch import torch
#pragma keet pytorch import torch.nn as nn
#pragma keet pytorch class Scale(nn.Module):
#pragma keet pytorch     def __init__(self, n):
#pragma keet pytorch         super().__init__()
#pragma keet pytorch         self.weight = nn.Parameter(torch.rand(n))
#pragma keet pytorch class Model(nn.Module):
#pragma keet pytorch     """Scales; isn't the forward pass // a try?"""
#pragma keet pytorch     def __init__(self, n):
#pragma keet pytorch         super().__init__()
#pragma keet pytorch         self.scale = Scale(n)
#pragma keet pytorch     def forward(
#pragma keet pytorch         self,
#pragma keet pytorch         x: torch.Tensor,
#pragma keet pytorch         eps: float,
#pragma keet pytorch     ) -> torch.Tensor:
#pragma keet pytorch         """
#pragma keet pytorch         Pass it on.
#pragma keet pytorch         """
#pragma keet pytorch         y = x * self.scale.weight + eps
#pragma keet pytorch         return y, y.sum()
#pragma keet pytorch def get_inputs():
#pragma keet pytorch     return [torch.rand(64, 48), 1e-5]
#pragma keet pytorch def get_init_inputs():
#pragma keet pytorch     return [48]
#pragma keet tune   BLOCK = 32 in {32, 64}
#pragma keet temp   PART : f32[ROWS]
#pragma keet launch scale<float><<<ROWS, BLOCK, 4*BLOCK>>>(x, scale_weight, y, PART, eps, COLS)
#pragma keet launch add_up<<<1, max(1, min(BLOCK, 1))>>>(PART, total, ROWS)

template <class T>
__global__ void scale(const T *x, const T *weight, T *y, T *part, T eps, int cols)
{
    extern __shared__ float sums[];
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += BLOCK) {
        const float value = x[blockIdx.x * cols + i] * weight[i] + eps;
        y[blockIdx.x * cols + i] = value;
        sum += value;
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < BLOCK; i++)
            sum += sums[i];
        part[blockIdx.x] = sum;
    }
}

__global__ void add_up(const float *part, float *total, int rows)
{
    float sum = 0;
    for (int i = 0; i < rows; i++)
        sum += part[i];
    *total = sum;
}
