// Scaled softmax under a causal mask: row i of each of H square matrices keeps its columns up to i, the
// others become zero. f32, one row per thread.
#pragma keet size   H = 16, S = 512
#pragma keet check  H = 3, S = 37
#pragma keet check  H = 2, S = 64
#pragma keet in     X : f32[H][S][S] = normal(0, 4)
#pragma keet scalar scale : f32 = 0.125
#pragma keet out    P : f32[H][S][S]
#pragma keet tolerance rel = 1e-3, abs = 1e-5
#pragma keet work   flops = 3*H*S*S, bytes = 6*H*S*S
#pragma keet tune   BLOCK = 32 in {32, 64, 128, 256}
#pragma keet launch masked_softmax<<<ceil_div(32*(H*S), BLOCK), BLOCK>>>(X, P, scale, H*S, S)

__global__ void masked_softmax(const float *__restrict__ X, float *__restrict__ P, float scale, int rows, int cols)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row < rows) {
        int last = row % cols;
        float largest = scale * X[row * cols];
        for (int i = 1 + lane; i <= last; i += 32)
            largest = fmaxf(largest, scale * X[row * cols + i]);
        for (int offset = 16; offset > 0; offset /= 2)
            largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
        float sum = 0;
        for (int i = lane; i <= last; i += 32)
            sum += expf(scale * X[row * cols + i] - largest);
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, offset);
        const float inverse = 1.0f / sum;
        for (int i = lane; i < cols; i += 32)
            P[row * cols + i] = i <= last ? expf(scale * X[row * cols + i] - largest) * inverse : 0.0f;
    }
}
