// Elements that are structs, with vectors inside, padded to an alignment, in constant memory; complex
// numbers; pairs of a template.
#include <complex>
#include <cuda_runtime.h>
#include <thrust/complex.h>

struct Body {
    double3 at, speed;
    double mass;
};

struct __align__(16) Point {
    float x, y, z;
};

#define REAL float
typedef REAL weight_t;

struct Tap {
    weight_t weight;
    REAL shift;
};

template <typename K, typename V> struct Pair {
    K key;
    V value;
};

__constant__ Tap taps[8];

__global__ void move(Body *bodies, const Point *points, const float2 *waves, float2 *moved,
                     Pair<unsigned, unsigned> *pairs, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    bodies[i].at.x += bodies[i].speed.x * (points[i].x + taps[i % 8].weight) / 3.0;
    moved[i] = make_float2(waves[i].x * 2.0f, waves[i].y + taps[i % 8].shift);
}

int main()
{
    const int n = 200;
    Tap host[8] = {};
    Body *bodies;
    Point *points;
    std::complex<float> *waves, *moved;
    Pair<unsigned, unsigned> *pairs;

    cudaMalloc((void **)&bodies, n * sizeof(Body));
    cudaMalloc((void **)&points, n * sizeof(Point));
    cudaMalloc((void **)&waves, n * sizeof(std::complex<float>));
    cudaMalloc((void **)&moved, n * sizeof(std::complex<float>));
    cudaMalloc((void **)&pairs, n * sizeof(Pair<unsigned, unsigned>));
    cudaMemcpyToSymbol(taps, host, sizeof(host));
    move<<<(n + 63) / 64, 64>>>(bodies, points, (float2 *)waves, (float2 *)moved, pairs, n);
    return 0;
}
