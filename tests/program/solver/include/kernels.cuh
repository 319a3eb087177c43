#pragma once

// One step of smoothing along the rows of a field.
__global__ void smooth(const float *old_field, float *new_field, int rows, int columns)
{
    int column = blockIdx.x;
    int row = threadIdx.x;
    for (; row < rows; row += blockDim.x) {
        int left = column > 0 ? column - 1 : column;
        int right = column < columns - 1 ? column + 1 : column;
        new_field[row * columns + column] = 0.25f * old_field[row * columns + left] +
                                            0.5f * old_field[row * columns + column] +
                                            0.25f * old_field[row * columns + right];
    }
}

// The sum of squares of each row.
__global__ void sum_rows(const float *field, float *sums, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int column = 0; column < columns; column++)
        sum += field[row * columns + column] * field[row * columns + column];
    sums[row] = sum;
}
