// A kernel whose template argument the text does not say: the host calls by pointers.
class Line {
  public:
    explicit Line(float slope) : slope_(slope), offset_(1) {}
    __device__ float operator()(float x) const { return slope_ * x + offset_; }

  private:
    float slope_, offset_;
};

template <typename Function>
__global__ void keep(const float *x, float *y, int n, Function function)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = function(x[i]);
}

template <typename Function> void run(const float *x, float *y, int n)
{
    keep<<<(n + 255) / 256, 256>>>(x, y, n, Function(3));
}

void keep_all(const float *x, float *y, int n, int rounds)
{
    void (*const all[])(const float *, float *, int) = {run<Line>, run<Line>};
    for (int round = 0; round < rounds; round++)
        all[round](x, y, n);
}
