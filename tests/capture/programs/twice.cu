// The other half of parts.cu.
__device__ int twice(int x)
{
    return 2 * x;
}
