#!/usr/bin/env python3
"""Programs that nvcc built for the shared runtime, unmodified, on the software runtime and driver."""
import sys
import tempfile

import build

driver = sys.argv[1]
with tempfile.TemporaryDirectory() as folder:
    for names, options in ((["features"], []), (["errors"], ["--compress-mode=none"]),
                           (["parts", "twice"], ["-rdc=true"])):
        done = build.run(build.build(folder, names, options), driver)
        print(f"{names[0]}: {done.stdout.strip()}", done.stderr.strip(), sep="\n")
        if done.returncode != 0 or "PASS" not in done.stdout:
            sys.exit(f"{names[0]}: status {done.returncode}")
        if names[0] == "errors" and done.stderr.count("cudaIpcGetMemHandle") != 1:
            sys.exit("what is refused is to be named once")
