struct Args {
    const float *in;
    int n;
    float scale;
};

struct Hit {
    float depth;
    int face;
};

struct Twice {
    __device__ float operator()(float x) const { return 2 * x; }
};

template <typename Op> __global__ void apply(Hit *hits, Args args, Op op)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < args.n) {
        hits[i].depth = op(args.in[i]) * args.scale;
        hits[i].face = i - i / 6 * 6;
    }
}

#pragma keet size   n = 5000
#pragma keet out    hits : {f32, i32}[n]
#pragma keet in     in_ : f32[n]
#pragma keet scalar args_scale : f32 = 0.5
#pragma keet launch apply<Twice><<<(n+255)/256, 256>>>(hits, {in_, n - 1 : i32, args_scale}, {})
