// Member functions that only the host has, and a namespace that only the host uses, name what no device has; a header is
// included below its first use.
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <utility>
using std::ostream;

template <bool wide> using word_t = typename std::conditional<wide, int, short>::type;

#include <type_traits>

namespace table
{
struct record {
    std::map<std::string, int> index;
    int size(const std::string &name) { return index[name]; }
};
}

class Point
{
public:
    explicit Point(const std::string &text) : x_(0), y_(0) { parse(text.c_str()); }
    __host__ __device__ Point(float x = 0, float y = 0) : x_(x), y_(y) {}
    __host__ __device__ float x() const { return x_; }
    __host__ __device__ float size() const
    {
        return sqrtf(x_ * x_ + y_ * y_);
    }
    void parse(const char *text)
    {
        std::map<std::string, float> found;

#ifdef VERBOSE
        std::cout << text << std::endl;
#endif
        x_ = found["x"];
    }
    Point *on_device() const
    {
        Point *p;

        cudaMalloc(&p, sizeof(Point));
        return p;
    }
    friend ostream &operator<<(ostream &out, const Point &p)
    {
        return out << p.x_ << " " << p.y_;
    }

private:
    float x_, y_;
};

typedef struct span {
    int first, last;
    __host__ span(int f, int l) : first(f), last(l) { std::string("a span").size(); }
} span;

#define HALVES (float2){ 0.5f, 0.5f } // nvcc takes compound literals of C

struct halves {
    float2 both;
    __device__ void operator=(float2) { both = (float2){ 1, 1 }; }
};

__device__ bool operator!=(float2 a, float2 b) { return a.x != b.x || a.y != b.y; }

__device__ float2 half_of(float2 a)
{
    return a != (float2){ 0, 0 } ? (float2){ a.x * HALVES.x, a.y * HALVES.y } : a;
}

__device__ bool holds(const span *s, int i)
{
    return s == NULL || (s->first <= i && i < s->last);
}

__global__ void sizes(const Point *points, float *out, word_t<true> n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n && holds(NULL, i))
        out[i] = points[i].size() + half_of(HALVES).x;
}

int main()
{
    const int n = 256;
    Point *points;
    float *out;
    table::record names;

    cudaMalloc(&points, n * sizeof(Point));
    cudaMalloc(&out, n * sizeof(float));
    sizes<<<n / 64, 64>>>(points, out, n);
    cudaDeviceSynchronize();
    std::cout << names.size("none") << std::endl;
    return 0;
}
