#!/usr/bin/env bash
# Set up, build, test. Grows with the project.
set -euo pipefail
cd "$(dirname "$0")/.."
./setup.sh
cmake --preset release >/dev/null
cmake --build --preset release
ctest --preset release 2>/dev/null || ctest --test-dir build/release --output-on-failure
