// Eight rows of a table are added up for each bag, one thread a column.
#pragma keet size   BAGS = 16384, ITEMS = 262144, DIM = 64
#pragma keet check  BAGS = 30, ITEMS = 100, DIM = 64
#pragma keet in     IDS : i32[BAGS][8] = integers(0, ITEMS-1)
#pragma keet in     TABLE : f32[ITEMS][DIM] = uniform(-1, 1)
#pragma keet out    OUT : f32[BAGS][DIM]
#pragma keet tolerance rel = 1e-4, abs = 1e-4
#pragma keet launch bags<<<BAGS, DIM>>>(IDS, TABLE, OUT, DIM)

__global__ void bags(const int *ids, const float *table, float *out, int dim)
{
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += table[(size_t)ids[blockIdx.x * 8 + k] * dim + threadIdx.x];
    out[blockIdx.x * dim + threadIdx.x] = sum;
}
