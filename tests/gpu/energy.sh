#!/usr/bin/env bash
# usage: energy.sh keet-opt libkeet-cuda.so libkeet-fake-nvml.so
# --objective energy: refused where there is no counter; with a library that plays NVML on the
# software driver, joules of each variant that is fast enough, with an interval, stored and reported.
set -euo pipefail
program=$1
driver=$2
nvml=$3
. "$(dirname "$0")/scratch.sh"
cd "$folder"
sed 's/N = 8388608/N = 65536/' "$source/kernels/saxpy.cu" >saxpy.cu

refused()
{
    if "$program" saxpy.cu --objective energy --budget 1 "${@:2}" >out 2>&1; then
        echo "not refused: $*"
        exit 1
    fi
    grep -q -- "$1" out || { echo "expected: $1"; cat out; exit 1; }
}
refused 'the device in use.*emulated.* has none' --device emu
export KEET_CUDA_DRIVER=$driver
refused 'the device in use.*software.* has none' --device gpu
refused 'expected time, energy or edp' --objective power
mkdir mute
ln -s "$nvml" mute/libnvml.so
echo "no_energy 1" >mute/fake.txt
KEET_NVML=$folder/mute/libnvml.so refused 'NVML tells no energy of this GPU' --device gpu

# 250 W are drawn, whatever runs.
mkdir good
ln -s "$nvml" good/libnvml.so
echo "watts 250" >good/fake.txt
export KEET_NVML=$folder/good/libnvml.so
"$program" saxpy.cu --device gpu --objective energy --budget 2 --seed 3 --json \
    --db good.db >good.json
python3 - <<'PYTHON'
import json
import sqlite3

db = sqlite3.connect("good.db")
assert db.execute("select policy from run").fetchone()[0].endswith("objective energy")
metrics = {}
for number, metric, value, provenance in db.execute(
    "select number, metric, value, provenance from counter join node on node.id = counter.node "
    "where launch = -1 and (metric like 'keet__energy%' or metric like 'keet__power%')"
):
    assert provenance == "modelled"  # by what plays NVML
    metrics.setdefault(number, {})[metric] = value
times = dict(db.execute(
    "select number, time_ns from measurement join node on node.id = measurement.node"))
assert 0 in metrics
fastest = times[0]
for number, time in sorted(times.items()):
    # Only what was about as fast as the fastest before it.
    assert (number in metrics) == (time * 0.98 <= fastest), (number, time, fastest, metrics)
    fastest = min(fastest, time)
for m in metrics.values():
    low, joules, high = (m[f"keet__energy{end}.sum"] for end in ("_low", "", "_high"))
    assert 0 < low <= joules <= high
    assert abs(m["keet__power.avg"] - 250) < 15, m
run = json.load(open("good.json"))
assert "objective energy" in run["policy"]
assert run["best"]["metrics"]["keet__energy.sum"]["unit"] == "J"
PYTHON
# A run by time does not measure it, and cannot be taken up as one by energy.
"$program" saxpy.cu --device gpu --budget 1 --seed 3 --db time.db >out
if "$program" saxpy.cu --device gpu --budget 2 --seed 3 --db time.db --resume \
    --objective energy >out 2>&1; then
    echo "resumed with another objective"
    exit 1
fi
grep -q 'cannot resume' out
echo "energy refused where it cannot be had, measured and stored where it can"
