#!/usr/bin/env bash
# usage: loop.sh keet-opt libkeet-cuda.so
# The whole loop with a GPU that is the software driver: the best variant is right and faster, no
# time is called measured, and they are those of the emulator's own device.
set -euo pipefail
program=$1
driver=$2
. "$(dirname "$0")/scratch.sh"
cd "$folder"

# The timed size is made small: each variant runs whole here, where the emulator samples.
sed 's/N = 8388608/N = 524288/' "$source/kernels/saxpy.cu" >saxpy.cu
run()
{
    "$program" saxpy.cu --device "$1" --budget 6 --seed 3 --json --db "$2.db" \
        --output "$2.cu" >"$2.json"
}
KEET_CUDA_DRIVER=$driver run gpu gpu
run emu emu

python3 - <<'PYTHON'
import sqlite3


def times(path):
    db = sqlite3.connect(path)
    rows = db.execute(
        "select number, verdict, time_ns, time_from from node "
        "left join measurement on measurement.node = node.id"
    )
    return {number: rest for number, *rest in rows}


device = sqlite3.connect("gpu.db").execute("select device from run").fetchone()[0]
assert device == "gpu:h100", device
gpu, emu = times("gpu.db"), times("emu.db")
origins = {row[2] for row in gpu.values()} - {None}
assert origins == {"modelled"}, origins  # and nothing is called measured
# Node 0 is the same code on both: the driver charges a launch's overhead (1 us), and may take
# another sample of the grid.
assert abs(gpu[0][1] - 1000 - emu[0][1]) < 0.05 * emu[0][1], (gpu[0], emu[0])
assert sum(row[0] == "ok" for row in gpu.values()) >= 3, gpu
PYTHON
