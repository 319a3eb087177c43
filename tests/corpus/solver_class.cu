// A class that allocates in its constructor and launches in a method.
#include <cstdlib>

__global__ void relax(double *next, const double *now, int nx, int ny)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1)
        next[y * nx + x] = 0.25 * (now[y * nx + x - 1] + now[y * nx + x + 1] +
                                   now[(y - 1) * nx + x] + now[(y + 1) * nx + x]);
    else if (x < nx && y < ny)
        next[y * nx + x] = now[y * nx + x];
}

class Solver {
  public:
    Solver(int width, int height) : nx(width), ny(height)
    {
        cells = nx * ny;
        cudaMalloc(&d_now, cells * sizeof(double));
        cudaMalloc(&d_next, cells * sizeof(double));
    }
    void step()
    {
        dim3 block(16, 8);
        dim3 grid((nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y);
        relax<<<grid, block>>>(d_next, d_now, nx, ny);
        double *t = d_now;
        d_now = d_next;
        d_next = t;
    }

  private:
    int nx, ny, cells;
    double *d_now, *d_next;
};

int main()
{
    Solver solver(70, 50);
    for (int i = 0; i < 100; i++)
        solver.step();
}
