#!/usr/bin/env python3
"""keet-opt capture on a GPU, against the stand-ins: what CUPTI's callbacks show of a program is what the software driver
records of it. The program runs on the software driver, which a library before it has call back as CUPTI does.
usage: inject.py KEET-OPT FOLDER-OF-THE-BUILD"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import build

keet, built = map(os.path.abspath, sys.argv[1:])
calls = f"{built}/fake/libkeet-fake-calls.so"


def capture(folder, *words, **more):
    done = subprocess.run([keet, "capture", "--json", "-o", folder, *words], text=True, capture_output=True,
                          env=dict(os.environ, **more))
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def check(condition, *what):
    if not condition:
        sys.exit(f"wrong: {what}")


def contents(array, when):
    if array[when] is None:
        return None
    with open(array[when], "rb") as file:
        return file.read()


def same(launch, other):
    for key in ("symbol", "grid", "block", "cluster", "smem_bytes", "ran", "fault"):
        check(launch[key] == other[key], key, launch[key], other[key])
    check(len(launch["params"]) == len(other["params"]), launch["params"], other["params"])
    for a, b in zip(launch["params"], other["params"]):
        check(a["bytes"] == b["bytes"] and a["type"] == b["type"] and a["pointers"] == b["pointers"], a, b)
    arrays = {a["name"]: a for a in other["arrays"]}
    check(set(arrays) == {a["name"] for a in launch["arrays"]}, launch["arrays"], other["arrays"])
    for a in launch["arrays"]:
        b = arrays[a["name"]]
        for key in ("type", "bytes", "kept", "changed"):
            check(a[key] == b[key], a, b)
        check(a["kind"].replace("registered", "host") == b["kind"], "a GPU does not say who allocated it", a, b)
        check(b["written"], "a GPU does not say what nobody has written", b)
        check(a["before"] is None or contents(a, "before") == contents(b, "before"), "before", a, launch, other)
        if launch["kernel"] != "sample":  # whose blocks store at the same places
            check(not a["changed"] or contents(a, "after") == contents(b, "after"), "after", a, launch, other)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    gpu = {"LD_PRELOAD": calls, "KEET_CUPTI": f"{built}/fake/libkeet-fake-cupti.so",
           "LD_LIBRARY_PATH": f"{built}/swdriver", "KEET_CUDA_DRIVER": f"{built}/libkeet-cuda.so"}
    for name, words in (("search", ["5000", "1500"]), ("features", [])):
        program = build.build(folder, [name])
        build.build(folder, [name], ["-cubin", "-o", f"{name}.cubin"])
        seen = capture("emulated", "--launches", "3", "--", program, *words)
        told = capture("injected", "--launches", "3", "--device", "gpu", "--", program, *words,
                       KEET_FAKE_CUBIN=f"{folder}/{name}.cubin", **gpu)
        check((seen["device"], told["device"]) == ("emu", "gpu"))
        check(all(x["status"] == x["signal"] == 0 for x in (seen, told)), told["status"], told["signal"])
        check(all(k["time_ns"] > 0 and k["floor_ns"] == 0 for k in told["kernels"]), told["kernels"])
        # What the driver refuses is a launch that failed; the software driver does not come to see it.
        check([x["fault"] for x in told["launches"] if not x["ran"]] ==
              (["the driver refused the launch"] if name == "features" else []), told["launches"])
        ran = [x for x in told["launches"] if x["ran"]]
        # Kernels of a graph are seen by their times alone.
        check({x["symbol"] for x in seen["launches"]} == {x["symbol"] for x in ran}, ran)
        if name == "search":
            check([(k["symbol"], k["launches"], k["timed"]) for k in told["kernels"]] ==
                  [(k["symbol"], k["launches"], k["launches"]) for k in seen["kernels"]], told["kernels"])
            check(len(ran) == len(seen["launches"]) == 5, ran)
        for launch in seen["launches"]:
            others = [x for x in ran if x["symbol"] == launch["symbol"]]
            if launch["launch"] < len(others):
                same(launch, others[launch["launch"]])
        variables = {a["name"] for x in told["launches"] for a in x["arrays"] if a["kind"] in ("constant", "variable")}
        check(name == "search" or variables, "variables of the module")

    # A task of a launch that a GPU has run.
    source = f"{build.HERE}/programs/search.cu"
    told = capture("tasks", source, "--device", "gpu", "--", f"{folder}/search", "5000", "1500", **gpu)
    check(all(x["task"] for x in told["launches"]), told["launches"])
    done = subprocess.run([keet, "run", told["launches"][0]["task"], "--device", "emu"], text=True, capture_output=True)
    check(done.returncode == 0, done.stdout, done.stderr)

    # Where CUPTI does not call back, the program runs, and the reason is said.
    os.mkdir("refusing")
    refusing = shutil.copy(gpu["KEET_CUPTI"], "refusing")
    with open("refusing/fake.txt", "w", encoding="utf-8") as file:
        file.write("fail cuptiSubscribe 39\n")
    done = subprocess.run([keet, "capture", "-o", "nothing", "--device", "gpu", "--", f"{folder}/search", "5000", "1500"],
                          text=True, capture_output=True,
                          env=dict(os.environ, **gpu) | {"KEET_CUPTI": f"{folder}/{refusing}"})
    check("another tool has subscribed already" in done.stderr, done.stderr)
    check(done.returncode != 0 and "PASS" in done.stdout, done.returncode, done.stdout)

    done = subprocess.run([keet, "capture", "--device", "gpu", "--dry", "--", f"{folder}/search"], text=True,
                          capture_output=True)
    check(done.returncode != 0 and "--dry is for the software driver" in done.stderr, done.stderr)
print("injected")
