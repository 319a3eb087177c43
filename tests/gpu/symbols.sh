#!/usr/bin/env bash
# What launches get beside whole arrays. Variables of the device: a constant that the contract sets has the same values on the emulator and through the driver: the outputs
# are the same, and they are not what a constant of zeros gives.
#
#     symbols.sh KEET-OPT SOFTWARE-DRIVER
set -euo pipefail
keet_opt=$1 driver=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/k.cu" <<'EOF'
namespace filter {
static __constant__ float taps[4];
}
__device__ int least;
__global__ void apply(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = filter::taps[i % 4] * x[i] + (i >= least ? 1.0f : 0.0f);
}
#pragma keet size   n = 1000
#pragma keet check  n = 100
#pragma keet in     x : f32[n] = uniform(1, 2)
#pragma keet out    y : f32[n]
#pragma keet symbol taps : f32[4] = uniform(1, 2)
#pragma keet symbol least : i32[1] = constant(n/2)
#pragma keet launch apply<<<ceil_div(n, 128), 128>>>(y, x, n)
EOF
"$keet_opt" run "$work/k.cu" -q --device emu --dump "$work/emu" >/dev/null
KEET_CUDA_DRIVER=$driver "$keet_opt" run "$work/k.cu" -q --device gpu --dump "$work/gpu" >/dev/null
cmp "$work/emu/y.npy" "$work/gpu/y.npy"
python3 - "$work/emu/y.npy" <<'EOF'
import struct
import sys

y = struct.unpack("<100f", open(sys.argv[1], "rb").read()[-400:])
assert all(1 <= v <= 4 for v in y[:50]) and all(2 <= v <= 5 for v in y[50:]), y
EOF
for device in emu gpu; do # five do not fit where four are
    sed 's/taps : f32\[4\]/taps : f32[5]/' "$work/k.cu" >"$work/large.cu"
    KEET_CUDA_DRIVER=$driver "$keet_opt" run "$work/large.cu" -q --device $device >"$work/$device.txt" 2>&1 &&
        exit 1
    grep -q 'launch_failed' "$work/$device.txt"
    grep -q 'has more elements than the variable in the code' "$work/$device.txt"
done
# Variables that give back what launches leave in them, from one launch to the next as well.
cat >"$work/back.cu" <<'EOF'
__device__ int total;
__device__ int parts[64];
__global__ void add(const int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        parts[blockIdx.x] = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&parts[blockIdx.x], x[i]);
}
__global__ void finish(int blocks)
{
    for (int b = 0; b < blocks; b++)
        total += parts[b];
}
#pragma keet size   n = 1000
#pragma keet check  n = 100
#pragma keet in     x : i32[n] = constant(3)
#pragma keet symbol inout total : i32[1] = constant(7)
#pragma keet symbol out parts : i32[ceil_div(n, 128)]
#pragma keet launch add<<<ceil_div(n, 128), 128>>>(x, n)
#pragma keet launch finish<<<1, 1>>>(ceil_div(n, 128))
EOF
for device in emu gpu; do
    KEET_CUDA_DRIVER=$driver "$keet_opt" run "$work/back.cu" -q --device $device --dump "$work/back_$device" >/dev/null
    python3 - "$work/back_$device" <<'EOF'
import struct
import sys

total, parts = (open(f"{sys.argv[1]}/{name}.npy", "rb").read() for name in ("total", "parts"))
assert struct.unpack("<i", total[-4:])[0] == 7 + 300, total[-4:]
assert struct.unpack("<i", parts[-4:])[0] == 300, parts[-4:]
EOF
done
# Pointers into arrays: on both devices the same elements, and none outside.
cat >"$work/inside.cu" <<'EOF'
__global__ void slope(float2 *y, const float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = make_float2(x[i - 1], x[i + 1]);
}
#pragma keet size   n = 128
#pragma keet in     x : f32[n + 2] = iota(0, 1)
#pragma keet out    y : f32[n + 1][2]
#pragma keet launch slope<<<1, n>>>(y + 2, x + n - 127)
EOF
for device in emu gpu; do
    KEET_CUDA_DRIVER=$driver "$keet_opt" run "$work/inside.cu" -q --device $device --dump "$work/in_$device" >/dev/null
    python3 - "$work/in_$device/y.npy" <<'EOF'
import struct
import sys

y = struct.unpack("<256f", open(sys.argv[1], "rb").read()[-1024:])
assert list(y) == [v for i in range(128) for v in (i, i + 2)], y[:8]
EOF
    sed 's/y + 2/y + 2*n + 2/' "$work/inside.cu" >"$work/outside.cu"
    KEET_CUDA_DRIVER=$driver "$keet_opt" run "$work/outside.cu" -q --device $device >"$work/$device.txt" 2>&1 && exit 1
    grep -q 'y + 258 is outside of y, which has 258 elements' "$work/$device.txt"
done
# A variable may be called out.
sed 's/total/out/g' "$work/back.cu" >"$work/named.cu"
"$keet_opt" run "$work/named.cu" -q --device emu --dump "$work/named" >/dev/null
test -e "$work/named/out.npy"
echo "the symbols were set and read on both"
