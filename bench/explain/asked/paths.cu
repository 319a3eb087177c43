// A Monte-Carlo price: paths by a counter-based generator, then their mean by blocks and over all.
#pragma keet size   PATHS = 131072, STEPS = 64
#pragma keet check  PATHS = 1024, STEPS = 5
#pragma keet temp   PAY : f32[PATHS]
#pragma keet temp   PART : f32[ceil_div(PATHS, 256)]
#pragma keet out    PRICE : f32[1]
#pragma keet tolerance rel = 1e-2, abs = 1e-2
#pragma keet launch walk<<<ceil_div(PATHS, 128), 128>>>(PAY, PATHS, STEPS)
#pragma keet launch part<<<ceil_div(PATHS, 256), 256>>>(PAY, PART, PATHS)
#pragma keet launch total<<<1, 1>>>(PART, PRICE, ceil_div(PATHS, 256), PATHS)

__device__ unsigned mix(unsigned x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

__global__ void walk(float *pay, int paths, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= paths)
        return;
    float log_price = 0, most = 0;
    for (int s = 0; s < steps; s++) {
        float u = (mix(i * 4096 + s) + 1.0f) * 2.3283064e-10f;
        float v = mix(i * 4096 + s + 2048) * 2.3283064e-10f;
        log_price += 0.02f * sqrtf(-2.0f * logf(u + 1e-12f)) * cosf(6.2831853f * v) - 0.0002f;
        most = fmaxf(most, log_price);
    }
    pay[i] = fmaxf(expf(most) - 1.0f, 0.0f);
}

__global__ void part(const float *pay, float *part, int paths)
{
    __shared__ float held[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    held[threadIdx.x] = i < paths ? pay[i] : 0;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step)
            held[threadIdx.x] += held[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        part[blockIdx.x] = held[0];
}

__global__ void total(const float *part, float *price, int n, int paths)
{
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += part[i];
    price[0] = sum / paths;
}
