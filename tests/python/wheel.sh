#!/usr/bin/env bash
# The wheel in a fresh venv, without the checkout and without a CUDA toolkit: the page's ten lines run,
# and the compiler is that of NVIDIA's wheels.   wheel.sh BUILD
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
for python in /usr/bin/python3 python3; do
    "$python" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && break
    python=
done
[ -n "$python" ] || { echo "skipped: no Python of 3.10 or newer with venv"; exit 77; }

if ! BUILD=$1 "$root/src/python/wheel.sh" "$temp/dist" 2>"$temp/log"; then
    cat "$temp/log"
    grep -q 'No matching distribution\|Temporary failure\|Connection' "$temp/log" || exit 1
    echo "skipped: PyPI cannot be reached"
    exit 77
fi
cp "$root/docs/how-to/python.md" "$temp/"
"$python" -m venv "$temp/venv"
"$temp/venv/bin/pip" install --quiet --disable-pip-version-check "$temp"/dist/*.whl ||
    { echo "skipped: PyPI cannot be reached"; exit 77; }
awk '/^```python/ { inside = 1; next } /^```/ { if (inside) exit } inside' "$temp/python.md" >"$temp/ten.py"
cat >"$temp/where.py" <<'END'
import os
import time
import keet
kept = keet.Keet(processes=1)
# proc(5): the list of children may lack one while it is read.
for _ in range(100):
    helpers = [pid for task in os.listdir("/proc/self/task") for pid in open(f"/proc/self/task/{task}/children").read().split()]
    if helpers:
        break
    time.sleep(0.1)
helper, = helpers
used = {line.split()[-1] for line in open(f"/proc/{helper}/maps")
        if any(name in line for name in ("libnvrtc.so", "libclang", "libjansson", "keet-opt"))}
print(*sorted(used), sep="\n")
assert len(used) == 4 and all("/venv/" in path for path in used), used
END

cd /
# Nothing but the venv: no variables, and where a namespace can be had, no network, no toolkit and no checkout either.
hidden=("$root" /usr/local/cuda*)
hide='for folder; do [ "$folder" = -- ] && break; [ ! -d "$folder" ] || mount -t tmpfs -o size=4k none "$folder"; done
while [ "$1" != -- ]; do shift; done; shift
exec env -i PATH="$VENV/bin" HOME="$VENV/home" "$@"'
alone()
{
    if unshare -rmn mount -t tmpfs none /mnt 2>/dev/null; then
        VENV=$temp/venv unshare -rmn sh -c "$hide" sh "${hidden[@]}" -- "$@"
    else
        env -i PATH="$temp/venv/bin" HOME="$temp/venv/home" "$@"
    fi
}
alone python "$temp/ten.py" | tee "$temp/said"
grep -qx ok "$temp/said"
grep -q 'out of bounds' "$temp/said"
alone python "$temp/where.py"
alone keet-opt version
case "$(ls "$temp"/dist)" in
*manylinux*) ;;
*) echo "the wheel has no manylinux tag: $(ls "$temp"/dist)"; exit 1 ;;
esac
