#!/usr/bin/env bash
# A constant that the contract sets has the same values on the emulator and through the driver: the outputs
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
echo "the symbols were set on both"
