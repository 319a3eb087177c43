// Kernels with one fault each, for the sanitizers. Launched as <<<4, 128, 1024>>>(a, b, 512): a holds
// 512 floats, b has room for 512 and nothing in it. The line marked FAULT must be reported, as what
// follows the word; lines marked ALSO may be; no other line may. Kernels without a mark are clean.
#include <cassert>
#include <cuda_pipeline.h>

#define I (blockIdx.x * 128 + threadIdx.x)
#define T threadIdx.x
#define KERNEL extern "C" __global__ void
#define ARGS float *a, float *b, int n

// ---- memory ----

KERNEL read_past_end(ARGS) {
    b[I] = a[I + 1]; // FAULT memory
}

KERNEL write_past_end(ARGS) {
    b[I * 2] = 1; // FAULT memory
}

KERNEL read_before_start(ARGS) {
    b[I] = a[(int)I - 1]; // FAULT memory
}

KERNEL null_pointer(ARGS) {
    float *p = reinterpret_cast<float *>((size_t)(n - 512));
    b[I] = p[I]; // FAULT memory
}

KERNEL misaligned_pair(ARGS) {
    float2 v = *reinterpret_cast<float2 *>(a + 1 + 2 * (I / 4)); // FAULT memory
    b[I] = v.x + v.y;
}

KERNEL misaligned_shared_vector(ARGS) {
    __shared__ __align__(16) float t[256];
    t[T] = a[I];
    t[T + 128] = a[I];
    __syncthreads();
    float4 v = *reinterpret_cast<float4 *>(t + T); // FAULT memory
    b[I] = v.x + v.w;
}

KERNEL dynamic_shared_past_end(ARGS) {
    extern __shared__ float d[];
    d[T * 2 + 2] = a[I]; // FAULT memory
    b[I] = d[T * 2 + 2]; // ALSO memory
}

KERNEL shared_before_start(ARGS) {
    __shared__ float t[128];
    t[(int)T - 1] = a[I]; // FAULT memory
    __syncthreads();
    b[I] = t[T & 63]; // ALSO init
}

KERNEL loop_one_too_far(ARGS) {
    float sum = 0;
    for (int i = T; i <= n; i += 128)
        sum += a[i]; // FAULT memory
    b[I] = sum;
}

KERNEL vector_over_the_end(ARGS) {
    float4 v = reinterpret_cast<float4 *>(a)[I]; // FAULT memory
    b[I] = v.x;
}

KERNEL atomic_past_end(ARGS) {
    b[I] = 0;
    atomicAdd(a + n + T, 1.0f); // FAULT memory
}

KERNEL use_after_free(ARGS) {
    float *p = (float *)malloc(16);
    p[0] = a[I];
    free(p);
    b[I] = p[0]; // FAULT memory
}

KERNEL double_free(ARGS) {
    float *p = (float *)malloc(16);
    b[I] = a[I];
    free(p);
    free(p); // FAULT memory
}

KERNEL heap_overflow(ARGS) {
    float *p = (float *)malloc(16);
    p[4] = a[I]; // FAULT memory
    b[I] = 0;
    free(p);
}

KERNEL local_past_end(ARGS) {
    float l[8];
    for (int i = 0; i < 8; i++)
        l[i] = a[i];
    b[I] = l[(int)a[I] + 512]; // FAULT memory
}

KERNEL failing_assertion(ARGS) {
    b[I] = a[I];
    assert(n != 512 || T != 77); // FAULT memory
}

KERNEL trapping(ARGS) {
    b[I] = a[I];
    if (T == 5)
        __trap(); // FAULT memory
}

// ---- init ----

KERNEL accumulates_into_nothing(ARGS) {
    b[I] += a[I]; // FAULT init
}

KERNEL atomics_on_nothing(ARGS) {
    atomicAdd(b + I, a[I]); // FAULT init
}

KERNEL half_a_tile(ARGS) {
    __shared__ float t[256];
    t[T] = a[I];
    __syncthreads();
    b[I] = t[T + 64]; // FAULT init
}

KERNEL halo_not_loaded(ARGS) {
    __shared__ float t[130];
    t[T + 1] = a[I];
    if (T == 0)
        t[0] = 0;
    __syncthreads();
    b[I] = t[T] + t[T + 1] + t[T + 2]; // FAULT init
}

KERNEL counter_never_zeroed(ARGS) {
    __shared__ int count;
    int at = atomicAdd(&count, 1); // FAULT init
    b[I] = a[I] + at;
}

KERNEL local_half_filled(ARGS) {
    float l[8];
    for (int i = 0; i < (n >> 7); i++)
        l[i] = a[I];
    b[I] = l[T & 7]; // FAULT init
}

KERNEL malloc_gives_no_zeros(ARGS) {
    float *p = (float *)malloc(16);
    b[I] = p[1]; // FAULT init
    free(p);
}

KERNEL register_without_value(ARGS) {
    float r;
    asm volatile("{ .reg .f32 t; add.f32 %0, t, %1; }" : "=f"(r) : "f"(a[I])); // FAULT init
    b[I] = r;
}

KERNEL register_of_one_branch(ARGS) {
    float r;
    asm volatile("{ .reg .f32 t; .reg .pred p; setp.lt.u32 p, %2, 64; @p mov.f32 t, %1; add.f32 %0, t, t; }" : "=f"(r) : "f"(a[I]), "r"(T)); // FAULT init
    b[I] = r;
}

KERNEL dynamic_tail(ARGS) {
    extern __shared__ float d[];
    d[T] = a[I];
    __syncthreads();
    b[I] = d[255 - T]; // FAULT init
}

// ---- race ----

KERNEL no_barrier(ARGS) {
    __shared__ float t[128];
    t[T] = a[I]; // FAULT race
    b[I] = t[127 - T]; // ALSO race, init
}

KERNEL no_second_barrier(ARGS) {
    __shared__ float t[128];
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        t[T] = a[i * 128 + T]; // FAULT race
        __syncthreads();
        sum += t[127 - T]; // ALSO race
    }
    b[I] = sum;
}

KERNEL reduction_without_barrier(ARGS) {
    __shared__ float t[128];
    t[T] = a[I];
    __syncthreads();
    for (int s = 64; s; s >>= 1)
        if (T < s)
            t[T] += t[T + s]; // FAULT race
    if (T == 0)
        b[blockIdx.x] = t[0];
}

KERNEL blocks_write_one_place(ARGS) {
    if (T == 0)
        b[0] = a[I]; // FAULT race
}

KERNEL blocks_histogram(ARGS) {
    a[T & 15] += 1; // FAULT race
}

KERNEL lanes_histogram(ARGS) {
    __shared__ float h[4];
    if (T < 4)
        h[T] = 0;
    __syncthreads();
    h[T & 3] = a[I] + T; // FAULT race
    __syncthreads();
    if (T < 4)
        b[blockIdx.x * 4 + T] = h[T];
}

KERNEL no_syncwarp(ARGS) {
    __shared__ float t[128];
    t[T] = a[I];
    b[I] = t[T ^ 1]; // FAULT race
}

KERNEL warp_reduction_of_old(ARGS) {
    __shared__ float t[128];
    t[T] = a[I];
    __syncthreads();
    if (T < 64)
        t[T] += t[T + 64];
    __syncthreads();
    if (T < 32) {
        t[T] += t[T + 32]; // ALSO race
        t[T] += t[T + 16]; // ALSO race
        t[T] += t[T + 8]; // ALSO race
        t[T] += t[T + 4]; // ALSO race
        t[T] += t[T + 2]; // ALSO race
        t[T] += t[T + 1]; // FAULT race: the one store that is left of all
    }
    if (T == 0)
        b[blockIdx.x] = t[0]; // ALSO race
}

KERNEL flag_without_barrier(ARGS) {
    __shared__ float flag;
    if (T == 0)
        flag = a[I]; // ALSO race
    b[I] = flag; // FAULT race, init
}

KERNEL wrong_named_barrier(ARGS) {
    __shared__ float t[128];
    t[T] = a[I]; // FAULT race
    asm volatile("bar.sync %0, 64;" ::"r"(1 + T / 64));
    b[I] = t[T ^ 64]; // ALSO race, init
}

KERNEL halo_of_the_next_block(ARGS) {
    b[I] = a[I]; // FAULT race
    __syncthreads();
    if (I < n - 1)
        a[I] = b[I + 1]; // ALSO init
}

KERNEL one_buffer_for_two(ARGS) {
    __shared__ float t[2][128];
    float sum = 0;
    t[0][T] = a[T];
    for (int i = 1; i <= 4; i++) {
        __syncthreads();
        if (i < 4)
            t[(i & 1) & (n < 512)][T] = a[i * 128 + T]; // ALSO race
        sum += t[0][127 - T]; // FAULT race
    }
    b[I] = sum;
}

KERNEL counter_cleared_late(ARGS) {
    __shared__ int count;
    if (T == 0)
        count = 0; // ALSO race
    int at = atomicAdd(&count, 1); // FAULT race
    b[I] = at;
}

// ---- sync ----

KERNEL barrier_for_half_a_warp(ARGS) {
    if (T < 16)
        __syncthreads(); // FAULT sync
    b[I] = a[I];
}

KERNEL barrier_for_some_warps(ARGS) {
    b[I] = a[I];
    if (T < 64)
        __syncthreads(); // FAULT sync
    if (T >= 64)
        asm volatile("bar.sync 1;"); // ALSO sync
}

KERNEL barrier_for_half_the_block(ARGS) {
    __shared__ float t[128];
    t[T] = a[I];
    if (T < 64)
        __syncthreads(); // FAULT sync
    b[I] = t[T] * 2;
}

KERNEL barriers_by_warp(ARGS) {
    float sum = a[I];
    for (int i = 0; i < (int)(T / 32) + 1; i++) {
        __syncthreads(); // FAULT sync
        sum *= 2;
    }
    b[I] = sum;
}

KERNEL barrier_by_data(ARGS) {
    if (a[blockIdx.x * 128 + T / 32] > 0)
        __syncthreads(); // FAULT sync
    b[I] = a[I];
}

KERNEL barrier_in_a_loop_of_each(ARGS) {
    float sum = 0;
    for (int i = 0; i < (int)(T & 3); i++) {
        sum += a[i];
        __syncthreads(); // FAULT sync
    }
    b[I] = sum;
}

KERNEL barrier_on_both_sides(ARGS) {
    if (T & 1) {
        b[I] = a[I];
        __syncthreads(); // FAULT sync
    } else {
        b[I] = 1;
        __syncthreads(); // ALSO sync
    }
}

KERNEL shuffle_without_oneself(ARGS) {
    b[I] = __shfl_xor_sync(0x0000ffff, a[I], 1); // FAULT sync
}

KERNEL shuffle_for_those_elsewhere(ARGS) {
    float v = a[I];
    if (T % 32 < 16)
        v = __shfl_xor_sync(0xffffffff, v, 1); // FAULT sync
    b[I] = v;
}

KERNEL ballot_without_oneself(ARGS) {
    b[I] = __ballot_sync(1u << (T % 31), a[I] > 0); // FAULT sync
}

KERNEL syncwarp_for_those_elsewhere(ARGS) {
    if (T % 2)
        __syncwarp(); // FAULT sync
    b[I] = a[I];
}

KERNEL copy_without_wait(ARGS) {
    __shared__ float t[128];
    __pipeline_memcpy_async(t + T, a + I, 4);
    __pipeline_commit();
    b[I] = t[T]; // FAULT sync
}

KERNEL copy_barrier_is_no_wait(ARGS) {
    __shared__ float t[128];
    __pipeline_memcpy_async(t + T, a + I, 4);
    __pipeline_commit();
    __syncthreads();
    b[I] = t[127 - T]; // FAULT sync
}

KERNEL copy_waits_for_the_other_stage(ARGS) {
    __shared__ float t[2][128];
    __pipeline_memcpy_async(t[0] + T, a + I, 4);
    __pipeline_commit();
    __pipeline_memcpy_async(t[1] + T, a + I, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    b[I] = t[0][T] + t[1][T]; // FAULT sync
    __pipeline_wait_prior(0);
}

KERNEL copy_overwritten(ARGS) {
    __shared__ float t[128];
    __pipeline_memcpy_async(t + T, a + I, 4);
    __pipeline_commit();
    t[T] = 0; // FAULT sync
    __pipeline_wait_prior(0);
    b[I] = t[T];
}

// ---- leak ----

KERNEL never_freed(ARGS) {
    float *p = (float *)malloc(8); // FAULT leak
    p[0] = a[I];
    b[I] = p[0];
}

KERNEL freed_by_some(ARGS) {
    float *p = (float *)malloc(8); // FAULT leak
    p[0] = a[I];
    b[I] = p[0];
    if (T != 3)
        free(p);
}

KERNEL old_one_lost(ARGS) {
    float *p = (float *)malloc(8); // FAULT leak
    p[0] = a[I];
    b[I] = p[0];
    p = (float *)malloc(16);
    p[1] = 1;
    free(p);
}

// ---- nothing wrong ----

KERNEL clean_reduction(ARGS) {
    __shared__ float t[128];
    t[T] = a[I];
    __syncthreads();
    for (int s = 64; s >= 32; s >>= 1) {
        if (T < s)
            t[T] += t[T + s];
        __syncthreads();
    }
    float v = t[T & 31];
    for (int s = 16; s; s >>= 1)
        v += __shfl_down_sync(0xffffffff, v, s);
    if (T == 0)
        b[blockIdx.x] = v;
}

KERNEL clean_early_warps(ARGS) {
    __shared__ float t[128];
    t[T] = a[I];
    __syncthreads();
    if (T >= 64)
        return;
    float v = t[T] + t[T + 64];
    __syncthreads();
    t[T] = v;
    __syncthreads();
    b[I] = t[63 - T];
}

KERNEL clean_rounds_by_warp(ARGS) {
    float sum = 0;
    for (int i = T / 32; i < (int)(T / 32) + 3; i++) {
        sum += a[i];
        __syncthreads();
    }
    b[I] = sum;
}

KERNEL clean_barrier_on_each_side(ARGS) {
    __shared__ float t[128];
    t[T] = a[I];
    if (T < 64) {
        __syncthreads();
        b[I] = t[T + 64];
    } else {
        __syncthreads();
        b[I] = t[T - 64] + 1;
    }
}

KERNEL clean_warp_reduction(ARGS) {
    __shared__ float t[128];
    unsigned l = T % 32;
    t[T] = a[I];
    __syncwarp();
    for (int s = 16; s; s >>= 1) {
        float v = l < s ? t[T + s] : 0;
        __syncwarp();
        t[T] += v;
        __syncwarp();
    }
    if (l == 0)
        b[I / 32] = t[T];
}

KERNEL clean_pipeline(ARGS) {
    __shared__ float t[2][128];
    float sum = 0;
    __pipeline_memcpy_async(t[0] + T, a + T, 4);
    __pipeline_commit();
    for (int i = 0; i < 4; i++) {
        if (i < 3)
            __pipeline_memcpy_async(t[(i + 1) & 1] + T, a + (i + 1) * 128 + T, 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += t[i & 1][127 - T];
        __syncthreads();
    }
    b[I] = sum;
}

KERNEL clean_histogram(ARGS) {
    __shared__ int h[16];
    if (T < 16)
        h[T] = 0;
    __syncthreads();
    atomicAdd(&h[T * 7 % 16], 1);
    __syncthreads();
    if (T < 16)
        b[blockIdx.x * 16 + T] = h[T];
}

KERNEL clean_last_block(ARGS) {
    __shared__ bool last;
    b[I] = a[I] * 2;
    __threadfence();
    __syncthreads();
    if (T == 0)
        last = atomicAdd(reinterpret_cast<unsigned *>(a), 1) % gridDim.x == gridDim.x - 1;
    __syncthreads();
    if (last) {
        float sum = 0;
        for (int i = T; i < n; i += 128)
            sum += reinterpret_cast<volatile float *>(b)[i];
        b[T] = sum;
    }
}

KERNEL clean_heap(ARGS) {
    float *p = (float *)malloc(4 * (1 + T % 4));
    if (!p)
        return;
    for (int i = 0; i <= T % 4; i++)
        p[i] = a[I];
    b[I] = p[T % 4];
    free(p);
}

KERNEL clean_named_barriers(ARGS) {
    __shared__ float t[128];
    t[T] = a[I];
    asm volatile("bar.sync %0, 64;" ::"r"(1 + T / 64));
    b[I] = t[T ^ 32];
}
