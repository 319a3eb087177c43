#!/usr/bin/env bash
# usage: without_libclang.sh KEET_OPT SOURCE
# Where libclang is absent, all that reads no source by it works, and the rest says what is missing.
set -euo pipefail
unshare -rm true 2>/dev/null || { echo "skipped: no mount namespace can be had here"; exit 77; }
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
: >"$temp/empty"

# Every file of that name on the loader's path and in LLVM's folders becomes an empty one.
hidden()
{
    unshare -rm sh -c 'empty=$1; shift
for file in /usr/lib/*/libclang-*.so* /usr/lib/*/libclang.so* /usr/lib/llvm-*/lib/libclang-*.so*; do
    [ ! -e "$file" ] || mount --bind "$empty" "$file" || exit 99
done
exec "$@"' sh "$temp/empty" "$@"
}
# fails STATUS WORDS...: the command after -- ends so, and says this.
fails()
{
    local wanted=$1 words=$2 status=0
    shift 2
    hidden "$@" >"$temp/out" 2>&1 || status=$?
    [ "$status" = "$wanted" ] || { cat "$temp/out"; echo "status $status: $*"; exit 1; }
    grep -q "$words" "$temp/out" || { cat "$temp/out"; echo "not said: $words"; exit 1; }
}

hidden "$1" run "$2/kernels/saxpy.cu" >"$temp/out"
grep -q us "$temp/out"
fails 1 'libclang, which reads CUDA sources, cannot be loaded: .*file too short' \
    "$1" "$2/kernels/saxpy.cu" --budget 2 --db "$temp/saxpy.db" -o "$temp/best.cu"
fails 1 '^broken *libclang' "$1" doctor
