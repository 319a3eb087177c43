#!/usr/bin/env bash
# Runs a test of the Python package with the library of a build.   with_package.sh LIBRARY TEST.py
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
for python in /usr/bin/python3 python3; do
    if "$python" -c 'import numpy, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
        KEET_LIBRARY=$1 PYTHONPATH=$root/src/python PYTHONDONTWRITEBYTECODE=1 exec "$python" -W error "$2"
    fi
done
echo "skipped: no Python of 3.10 or newer with NumPy (setup.sh installs it)"
exit 77
