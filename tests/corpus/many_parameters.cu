// A launcher that is a template of its own: what the kernel is instantiated with, more than eight numbers, follows from
// a case of the caller's switch; one #if has another tile than the #else that counts.
#include <torch/extension.h>

template <const int kDim, const int kA, const int kB, const int kC, const int kD, const int kE, const int kF, const int kG,
          const int kTile, const int kStage>
__global__ void scale_rows(const float *x, float *y, int n)
{
    int row = blockIdx.x * kTile + threadIdx.x / kDim, column = threadIdx.x % kDim;

    if (row < n)
        y[row * kDim + column] = x[row * kDim + column] * (kA + kB + kC + kD + kE + kF + kG + kStage);
}

template <const int kDim, const int kStage> void launch_scale_rows(torch::Tensor x, torch::Tensor y)
{
#ifdef SCALE_ROWS_SMALL
    constexpr int kTile = 2;
#else
    constexpr int kTile = (kDim < 64) ? 8 : 4;
#endif
    constexpr int kThreads = kTile * kDim;
    const int n = x.size(0);

    scale_rows<kDim, 1, 2, 3, 4, 5, 6, 7, kTile, kStage><<<(n + kTile - 1) / kTile, kThreads>>>(
        reinterpret_cast<float *>(x.data_ptr()), reinterpret_cast<float *>(y.data_ptr()), n);
}

void scale(torch::Tensor x, torch::Tensor y, int stages)
{
    switch (x.size(1)) {
    case 32:
        launch_scale_rows<32, 2>(x, y);
        break;
    default:
        launch_scale_rows<64, 1>(x, y);
        break;
    }
}
