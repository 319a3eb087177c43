// Cross-entropy loss of each row of logits against its label: log(sum(exp(x))) - x[label], shifted by
// the largest logit. One row per thread.
#pragma keet size   ROWS = 4096, CLASSES = 2048
#pragma keet check  ROWS = 67, CLASSES = 131
#pragma keet check  ROWS = 32, CLASSES = 64
#pragma keet in     LOGITS : f32[ROWS][CLASSES] = normal(0, 2)
#pragma keet in     LABELS : i32[ROWS] = integers(0, CLASSES-1)
#pragma keet out    LOSS : f32[ROWS]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet work   flops = 4*ROWS*CLASSES, bytes = 4*(ROWS*CLASSES + 2*ROWS)
#pragma keet tune   BLOCK = 128 in {32, 64, 128, 256}
#pragma keet launch cross_entropy<<<ceil_div(32*ROWS, BLOCK), BLOCK>>>(LOGITS, LABELS, LOSS, ROWS, CLASSES)

__global__ void cross_entropy(
    const float *logits, const int *labels, float *loss, int rows, int classes)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row < rows) {
        float largest = logits[row * classes];
        for (int i = 1 + lane; i < classes; i += 32)
            largest = fmaxf(largest, logits[row * classes + i]);
        for (int offset = 16; offset > 0; offset /= 2)
            largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
        float sum = 0;
        for (int i = lane; i < classes; i += 32)
            sum += __expf(logits[row * classes + i] - largest);
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, offset);
        if (lane == 0)
            loss[row] = __logf(sum) + largest - logits[row * classes + labels[row]];
    }
}
