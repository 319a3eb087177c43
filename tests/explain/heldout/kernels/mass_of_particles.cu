// Reads one field out of particles of twelve floats each.
#pragma keet size   N = 1048576
#pragma keet check  N = 100
#pragma keet in     P : f32[N][12] = uniform(-1, 1)
#pragma keet in     scale : f32[N] = uniform(1, 2)
#pragma keet out    M : f32[N]
#pragma keet work   flops = N, bytes = 12*N
#pragma keet launch masses<<<ceil_div(N, 256), 256>>>(P, scale, M, N)

struct particle {
    float position[3], velocity[3], spin[3], mass, charge, age;
};

__global__ void masses(const struct particle *__restrict__ P, const float *__restrict__ scale, float *__restrict__ M, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        M[i] = P[i].mass * scale[i];
}
