// KernelBench level1/1_Linear_softmax.py: at reduced sizes, rows = 8 of 8192, width = 8 of 1024, classes = 16 of 512.
// forward: clone x2, addmm, div, _softmax
#pragma keet size   rows = 8, width = 8, classes = 16
#pragma keet in     x : f32[rows][width] = file("seed0/x.npy")
#pragma keet in     linear_weight : f32[classes][width] = file("seed0/linear_weight.npy")
#pragma keet in     linear_bias : f32[classes] = file("seed0/linear_bias.npy")
#pragma keet scalar temperature : f32 = 0.5
#pragma keet out    y : f32[rows][classes]
#pragma keet expect y = file("seed0/y.npy")
#pragma keet case   "seed1"
#pragma keet case   "seed2"
#pragma keet case   "times3"
#pragma keet case   "times0.01"
#pragma keet case   "times-1"
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 2576, bytes = 1344
#pragma keet pytorch import torch
#pragma keet pytorch import torch.nn as nn
#pragma keet pytorch
#pragma keet pytorch
#pragma keet pytorch class Model(nn.Module):
#pragma keet pytorch     """A product, a bias, and the softmax of each row; a pass // forward."""
#pragma keet pytorch
#pragma keet pytorch     def __init__(self, width, classes):
#pragma keet pytorch         super().__init__()
#pragma keet pytorch         self.linear = nn.Linear(width, classes)
#pragma keet pytorch
#pragma keet pytorch     def forward(self, x: torch.Tensor, temperature: float) -> torch.Tensor:
#pragma keet pytorch         """Rows are independent."""
#pragma keet pytorch         return torch.softmax(self.linear(x) / temperature, dim=1)
#pragma keet pytorch
#pragma keet pytorch
#pragma keet pytorch rows = 8
#pragma keet pytorch width = 8
#pragma keet pytorch classes = 16
#pragma keet pytorch
#pragma keet pytorch
#pragma keet pytorch def get_inputs():
#pragma keet pytorch     return [torch.rand(rows, width), 0.5]
#pragma keet pytorch
#pragma keet pytorch
#pragma keet pytorch def get_init_inputs():
#pragma keet pytorch     return [width, classes]
#pragma keet pytorch

#pragma keet tune   BLOCK = 32 in {32, 64, 128}
#pragma keet temp   SCORES : f32[rows][classes]
#pragma keet launch scores<<<dim3(ceil_div(classes, 32), rows), 32>>>(x, linear_weight, linear_bias, temperature, SCORES, width, classes)
#pragma keet launch softmax<<<ceil_div(rows, BLOCK), BLOCK>>>(SCORES, y, rows, classes)

__global__ void scores(const float *x, const float *weight, const float *bias, float temperature,
                       float *out, int width, int classes)
{
    int row = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= classes)
        return;
    float sum = bias[c];
    for (int i = 0; i < width; i++)
        sum += x[row * width + i] * weight[c * width + i];
    out[row * classes + c] = sum / temperature;
}

__global__ void softmax(const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float most = x[row * cols], sum = 0;
    for (int i = 1; i < cols; i++)
        most = fmaxf(most, x[row * cols + i]);
    for (int i = 0; i < cols; i++)
        sum += expf(x[row * cols + i] - most);
    for (int i = 0; i < cols; i++)
        y[row * cols + i] = expf(x[row * cols + i] - most) / sum;
}
