#!/usr/bin/env python3
"""Blocks that bring the same tiles by tensor copies share them in L2: the 4096 x 4096 product of 2048 moves its matrices
once, 2 * (2 * 4096 * 2048 + 4096 * 4096) bytes, and no tenth more.   shared_tiles.py KEET_OPT

A row of a tile is four sectors. Where the model of time looks at the first of them alone, neighbours seem to share a
quarter of what they read, and L2 to serve less."""
import json
import os
import subprocess
import sys
import tempfile

kernel = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tensor/wgmma_bf16.cu")
with open(kernel, encoding="utf-8") as file:
    text = file.read()
timed = "M = 4096, N = 4096, K = 4096"
assert text.count(timed) == 1
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "product.cu")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(timed, "M = 4096, N = 4096, K = 2048"))
    said = subprocess.run([sys.argv[1], "run", path, "--json"], capture_output=True, text=True, check=True).stdout
once, moved = 2 * (2 * 4096 * 2048 + 4096 * 4096), json.loads(said)["metrics"]["dram__bytes.sum"]["value"]
print(f"{moved / 1e6:.1f} MB through DRAM, {once / 1e6:.1f} MB at least")
assert 0.9 * once < moved < 1.1 * once
