// Indices that the host fills by a random generator, within a number of classes.
#include <cstdlib>
#include <random>
#include <vector>

__global__ void pick(float *loss, const float *logits, const int *labels, int rows, int classes)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows)
        loss[row] = -logits[row * classes + labels[row]];
}

int main()
{
    const int rows = 300, classes = 20;
    int *labels = (int *)malloc(rows * sizeof(int));
    std::vector<float> logits(rows * classes);
    std::mt19937 generator(7);
    std::uniform_real_distribution<float> distribution(-2.0f, 2.0f);
    for (int i = 0; i < rows; i++)
        labels[i] = rand() % classes;
    for (auto &x : logits)
        x = distribution(generator);
    for (int i = 0; i < rows * classes; i++)
        logits[i] = distribution(generator);
    int *d_labels;
    float *d_logits, *d_loss;
    cudaMalloc(&d_labels, rows * sizeof(int));
    cudaMalloc(&d_logits, logits.size() * sizeof(float));
    cudaMalloc(&d_loss, rows * sizeof(float));
    cudaMemcpy(d_labels, labels, rows * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(d_logits, logits.data(), logits.size() * sizeof(float), cudaMemcpyHostToDevice);
    pick<<<(rows + 63) / 64, 64>>>(d_loss, d_logits, d_labels, rows, classes);
}
