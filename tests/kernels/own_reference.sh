#!/usr/bin/env bash
# A file with a `reference` kernel of its own: `run` and a search compare with this kernel, not with the launched one.
set -euo pipefail
keet=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
task()
{
    cat <<CU
#pragma keet size   N = 1024
#pragma keet check  N = 100
#pragma keet in     X : f32[N] = uniform(1, 2)
#pragma keet out    Y : f32[N]
#pragma keet reference oracle<<<ceil_div(N, 256), 256>>>(X, Y, N)
#pragma keet launch twice<<<ceil_div(N, 256), 256>>>(X, Y, N)
__global__ void oracle(const float *X, float *Y, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n) Y[i] = X[i] + X[i]; }
__global__ void twice(const float *X, float *Y, int n) { int i = blockIdx.x * 256 + threadIdx.x; if (i < n) Y[i] = $1 * X[i]; }
CU
}
verdict()
{
    python3 -c 'import json, sys; print(json.load(sys.stdin)["verdict"])'
}
task 2 >right.cu
task 3 >wrong.cu
[ "$("$keet" run right.cu --json | verdict)" = ok ]
[ "$("$keet" run wrong.cu --json | verdict)" = wrong ]
"$keet" right.cu --budget 1 -q >/dev/null
! "$keet" wrong.cu --budget 1 -q >said.txt 2>&1 || { echo "a wrong original is searched"; exit 1; }
grep -q wrong said.txt || { cat said.txt; exit 1; }
