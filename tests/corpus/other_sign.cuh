/* Included under conditions that name other systems, and hold. */
__device__ float other_sign(float x)
{
    return -x;
}
