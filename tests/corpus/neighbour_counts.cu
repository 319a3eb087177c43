// How much of `list` is read follows from the numbers in `count`: no expression over sizes bounds it, so it gets room.
__global__ void add_neighbours(const int *count, const float *list, float *sum, int nodes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nodes)
        return;
    float total = 0;
    for (int k = 0; k < count[i]; k++)
        total += list[k * nodes + i];
    sum[i] = total;
}

void addNeighbours(const int *count, const float *list, float *sum, int nodes)
{
    add_neighbours<<<(nodes + 127) / 128, 128>>>(count, list, sum, nodes);
}
