#!/usr/bin/env bash
# The corpus, first half: PTX of other people's CUDA files, outside the repository.
#
#   bench/corpus/compile.sh OUT DIR... [-- NVCC OPTIONS]
#
# Compiles every .cu file under the DIRs (checkouts of CUDA samples, HeCBench, llm.c, ...; nothing of theirs is
# kept here) with `nvcc -ptx -arch=compute_90` to OUT/<path with _ for />.ptx; a file that does not compile
# leaves OUT/<...>.err. What is there already is not compiled again. Reports how many of each.
set -euo pipefail
out=${1:?usage: compile.sh OUT DIR... [-- NVCC OPTIONS]}
shift
dirs=() options=()
while [ $# -gt 0 ]; do
    if [ "$1" = -- ]; then
        shift
        options=("$@")
        break
    fi
    dirs+=("$(realpath "$1")")
    shift
done
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "compile.sh: no nvcc on PATH nor in /usr/local/cuda/bin" >&2; exit 1; }
mkdir -p "$out"
out=$(realpath "$out")

one() { # root file out nvcc options...
    local root=$1 file=$2 out=$3 nvcc=$4 name dir
    shift 4
    name=$(basename "$root")/${file#"$root"/}
    name=${name//\//_}
    [ -e "$out/$name.ptx" ] || [ -e "$out/$name.err" ] && return 0
    dir=$(dirname "$file")
    if timeout 120 "$nvcc" -ptx -arch=compute_90 -lineinfo -std=c++17 -w -I"$dir" -I"$dir/include" -I"$dir/.." \
        -I"$root/Common" -I"$root/src/include" "$@" "$file" -o "$out/$name.tmp" >"$out/$name.log" 2>&1; then
        mv "$out/$name.tmp" "$out/$name.ptx"
        rm -f "$out/$name.log"
    else
        rm -f "$out/$name.tmp"
        mv "$out/$name.log" "$out/$name.err"
    fi
}
export -f one
for dir in "${dirs[@]}"; do
    find "$dir" -name '*.cu' -print0 | sort -z |
        xargs -0 -P "$(nproc)" -I{} bash -c 'one "$@"' _ "$dir" {} "$out" "$nvcc" "${options[@]}"
done
echo "$(find "$out" -name '*.ptx' | wc -l) files of PTX, $(find "$out" -name '*.err' | wc -l) did not compile, in $out"
