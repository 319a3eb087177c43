// Arrays of structs whose fields are all float.
typedef struct {
    float x, y, z;
    float v[3];
} Body;

__global__ void drift(Body *bodies, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    bodies[i].x += bodies[i].v[0] * dt;
    bodies[i].y += bodies[i].v[1] * dt;
    bodies[i].z += bodies[i].v[2] * dt;
}

int main(const int argc, const char **argv)
{
    int nBodies = 500;
    if (argc > 1)
        nBodies = atoi(argv[1]);
    const float dt = 0.01f;
    Body *d_p;
    cudaMalloc(&d_p, nBodies * sizeof(Body));
    drift<<<(nBodies + 63) / 64, 64>>>(d_p, dt, nBodies);
}
