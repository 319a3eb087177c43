#!/usr/bin/env python3
"""Programs that nvcc built for the shared runtime, unmodified, on the software runtime and driver."""
import os
import re
import subprocess
import sys
import tempfile

import build

driver = sys.argv[1]
with tempfile.TemporaryDirectory() as folder:
    for names, options in ((["features"], []), (["errors"], ["--compress-mode=none"]), (["graphs"], []),
                           (["parts", "twice"], ["-rdc=true"])):
        done = build.run(build.build(folder, names, options), driver)
        print(f"{names[0]}: {done.stdout.strip()}", done.stderr.strip(), sep="\n")
        if done.returncode != 0 or "PASS" not in done.stdout:
            sys.exit(f"{names[0]}: status {done.returncode}")
        if names[0] == "errors" and done.stderr.count("cudaIpcGetMemHandle") != 1:
            sys.exit("what is refused is to be named once")

    # What ptxas says of a kernel is read from the machine code that stands beside its PTX.
    program = f"{folder}/registers"
    said = subprocess.run([build.nvcc(), "-arch=sm_90", "--resource-usage", "-cudart", "shared", "-o", program,
                           f"{build.HERE}/programs/registers.cu"], check=True, text=True, capture_output=True).stderr
    by_ptxas = re.search(r"Used \d+ registers", said).group()
    done = build.run(program, driver)
    print(f"registers: {by_ptxas}; {done.stdout.strip()}")
    if done.stdout.strip() != by_ptxas or by_ptxas == "Used 32 registers":
        sys.exit("registers: not what ptxas says")

    # So is whether ptxas waits for each product of warpgroups.
    program = f"{folder}/serial"
    said = subprocess.run([build.nvcc(), "-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]", "-cudart", "shared",
                           "-o", program, f"{build.HERE}/programs/serial.cu"],
                          check=True, text=True, capture_output=True).stderr
    done = build.run(program, driver)
    print(f"serial: {done.stdout.strip()}", done.stderr.strip(), sep="\n")
    if said.count("are serialized") != 1 or done.returncode != 0 or "PASS" not in done.stdout:
        sys.exit("serial: not what ptxas says: " + said)

    # The runtime of CUDA 12, by its name and in its ways.
    older = f"{folder}/older"
    subprocess.run([build.nvcc(), "-arch=sm_90", "-c", "-o", f"{older}.o",
                    f"{build.HERE}/programs/older_kernel.cu"], check=True)
    subprocess.run(["gcc", "-o", older, f"{build.HERE}/programs/older.c",
                    f"{older}.o", os.path.realpath(f"{driver}/libcudart.so.12"), "-lstdc++"], check=True)
    done = build.run(older, driver)
    print(f"older: {done.stdout.strip()}", done.stderr.strip(), sep="\n")
    needed = subprocess.run(["readelf", "-d", older], text=True, capture_output=True).stdout
    if done.returncode != 0 or "PASS" not in done.stdout or "[libcudart.so.12]" not in needed:
        sys.exit("older: the runtime of CUDA 12")
