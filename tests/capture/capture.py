#!/usr/bin/env python3
"""keet-opt capture of a program that nvcc built: what it says, what it keeps, and the tasks that it makes.
usage: capture.py KEET-OPT"""
import array as arrays
import ast
import bisect
import json
import os
import re
import subprocess
import sys
import tempfile

import build

keet = os.path.abspath(sys.argv[1])
N, M = 5000, 1500


def capture(*words, ok=True):
    done = subprocess.run([keet, "capture", *words], text=True, capture_output=True)
    assert (done.returncode == 0) == ok, done.stdout + done.stderr
    return done


def check(condition, *what):
    if not condition:
        sys.exit(f"wrong: {what}")


def load(path):
    """A .npy of i32 or f32, as a list."""
    with open(path, "rb") as file:
        bytes_ = file.read()
    at = 10 + int.from_bytes(bytes_[8:10], "little")
    header = ast.literal_eval(bytes_[10:at].decode())
    values = arrays.array({"<i4": "i", "<f4": "f"}[header["descr"]], bytes_[at:])
    check(header["shape"] == (len(values),) and not header["fortran_order"], path, header)
    return list(values)


def array(launch, name, when):
    return load(next(a for a in launch["arrays"] if a["name"] == name)[when])


def check_contents(launch):
    """What the program does, said again."""
    table = [3 * i for i in range(N)]
    wanted = [2654435761 * i % 2**32 % (3 * N) for i in range(M)]
    check(array(launch, "arg0", "before") == table, "the table")
    check(array(launch, "arg2", "before") == wanted, "what is wanted")
    check(array(launch, "arg4", "after") == [bisect.bisect_left(table, x) for x in wanted], "places")
    roles = {a["name"]: (a["written"], a["changed"], a["type"]) for a in launch["arrays"]}
    check(roles == {"arg0": (True, False, "i32"), "arg2": (True, False, "i32"),
                    "arg4": (False, True, "i32")}, roles)
    check([p["pointers"] == [] for p in launch["params"]] == [False, True, False, True, False],
          launch["params"])


def check_tasks(launches):
    for launch in launches:
        check(launch["from_text"] and launch["task"], launch["why"])
        text = open(launch["task"]).read()
        check(f"size   n = {N}, m = {M}" in text or f"size   m = {M}, n = {N}" in text, text)
        check('.data/' in text, text)
        done = subprocess.run([keet, launch["task"], "--budget", "2", "--device", "emu", "--json",
                               "--no-memory"], text=True, capture_output=True)
        check(done.returncode == 0, done.stderr)
    # The sanitizers, a dump and inference find the data beside the task, too.
    task = os.path.abspath(launches[0]["task"])
    done = subprocess.run([keet, "run", task, "--device", "emu", "--sanitize", "memory"], text=True,
                          capture_output=True)
    check(done.returncode == 0, done.stdout, done.stderr)
    done = subprocess.run([keet, "run", task, "--device", "emu", "--dump", "dumped"], text=True,
                          capture_output=True)
    check(done.returncode == 0 and "d_table.npy" in os.listdir("dumped"), done.stdout, done.stderr)


with tempfile.TemporaryDirectory() as folder:
    # Two programs of one object file: only the linking differs.
    build.build(folder, ["search"], ["-c"])
    os.rename(f"{folder}/search", f"{folder}/search.o")
    for runtime in ("shared", "static"):
        subprocess.run([build.nvcc(), "-cudart", runtime, "-o", f"{folder}/{runtime}",
                        f"{folder}/search.o"], check=True)
    source, program = f"{build.HERE}/programs/search.cu", f"{folder}/shared"
    arguments = ["--", program, str(N), str(M)]
    os.chdir(folder)

    said = capture("--", f"{folder}/static", ok=False)
    check('NVCC_APPEND_FLAGS="-cudart shared"' in said.stderr, said.stderr)
    check("no program" in capture("--", "./nothing", ok=False).stderr)
    check("-cudart shared" in capture("--", "/bin/true", ok=False).stderr, "what has no kernel of its own")

    found = json.loads(capture("--json", source, *arguments).stdout)
    check(found["status"] == 0 and not found["dry"], found)
    check([(k["kernel"], k["launches"]) for k in found["kernels"]] == [("weigh", 3), ("find", 2)] or
          [(k["kernel"], k["launches"]) for k in found["kernels"]] == [("find", 2), ("weigh", 3)],
          found["kernels"])
    check(all(0 < k["floor_ns"] < k["time_ns"] for k in found["kernels"]), found["kernels"])
    check([x["kernel"] for x in found["launches"]] == ["find", "weigh"], found["launches"])
    check(found["launches"][0]["grid"] == [(M + 127) // 128, 1, 1], found["launches"][0])
    check_contents(found["launches"][0])
    check_tasks(found["launches"])

    # What an earlier capture recorded goes; what the user has there stays.
    os.makedirs("third/2026-01-notes")
    capture("-q", "-o", "third", *arguments)
    third = json.loads(capture("--json", "-o", "third", "--launch", "3", "--kernel", "weigh",
                               *arguments).stdout)
    check([(x["kernel"], x["launch"]) for x in third["launches"]] == [("weigh", 2)], third)
    sums, first = array(third["launches"][0], "arg3", "before"), array(found["launches"][1], "arg3", "after")
    check(sums != first and all(x >= y for x, y in zip(sums, first)), "the third launch's data")

    check(os.path.isdir("third/2026-01-notes") and
          sum(name[0].isdigit() for name in os.listdir("third")) == 2, os.listdir("third"))

    # A launch that stores what stands there already has a result as well.
    again = json.loads(capture("--json", "-o", "again", "--launch", "2", "--kernel", "find", source, *arguments).stdout)
    stored = {a["name"]: (a["stored"], a["changed"]) for a in again["launches"][0]["arrays"]}
    check(stored == {"arg0": (False, False), "arg2": (False, False), "arg4": (True, False)}, stored)
    check(again["launches"][0]["task"], again["launches"][0]["why"])

    dry = json.loads(capture("--json", "--dry", "-o", "dry", *arguments).stdout)
    check(dry["dry"] and dry["status"] == 1, "kernels that do nothing, and a program that notices")
    check([k["launches"] for k in dry["kernels"]] in ([3, 2], [2, 3]), dry["kernels"])
    check(not any(a["changed"] for x in dry["launches"] for a in x["arrays"]), dry["launches"])

    # What a limit leaves out is not taken for something else, and its task gets the like of it: the table is sorted.
    alone = json.loads(capture("--json", "-o", "alone", "--limit", "1", source, "--", program, "400000", "64").stdout)
    kept = {a["name"]: a["kept"] for a in alone["launches"][0]["arrays"]}
    check(kept == {"arg0": False, "arg2": True, "arg4": True}, kept)
    text = open(alone["launches"][0]["task"]).read()
    check(re.search(r"in +d_table : i32\[n\] = (sorted|iota)\(0, ", text) and "d_table.npy" not in text, text)

    # The kernel is in a file beside the one that is named, and its template argument only in the capture.
    kept = build.build(folder, ["kept", "kept_main"])
    made = json.loads(capture("--json", "-o", "kept-all", f"{build.HERE}/programs/kept_main.cu", "--", kept).stdout)
    check(made["launches"][0]["task"] == "kept-all/keep_Line.cu", made["launches"][0]["why"])
    done = subprocess.run([keet, "run", "kept-all/keep_Line.cu", "--device", "emu", "--sanitize", "memory"], text=True,
                          capture_output=True)
    check(done.returncode == 0, done.stdout, done.stderr)

    # What the text lacks is numbers alone: the capture has them, and names and sizes stay.
    lacking = build.build(folder, ["lacking", "lacking_line", "lacking_set", "lacking_main"])
    made = json.loads(capture("--json", "-o", "lacking-all", f"{build.HERE}/programs/lacking_main.cu", "--", lacking).stdout)
    check(made["status"] == 0, made["status"])
    why = {launch["kernel"]: launch["why"] for launch in made["launches"] if not launch["from_text"]}
    check(list(why) == ["set_step<float>"] and "argument 2 is a real number" in why["set_step<float>"], why)
    text = open("lacking-all/shift_all.cu").read()
    for line in ("size +rows = 30", "size +columns = 41", r"scalar factor : f32 = -1\.5",
                 r"in +d_x : f32\[rows\*columns\] = file", r"launch shift_all<<<.*factor, \{0 : i32, \(-4\) : i32, w_scale\}"):
        check(re.search("pragma keet " + line, text), line, text)
    # The text has one launch of a template; a launch with other arguments has their types.
    for stem, elem, step in (("float", "f32", r"0\.5"), ("double", "f64", r"0\.25"), ("int", "i32", 0x40400000)):
        text = open(f"lacking-all/add_step_{stem}.cu").read()
        for line in ("size +n = 777", f"inout +d_t : {elem}", f"scalar step : {elem} = {step}",
                     f"launch add_step<{stem}><<<.n.63./64, 64>>>"):
            check(re.search("pragma keet " + line, text), line, text)
    # The text's number is that of the first launch: the second one has its own.
    capture("-q", "-o", "lacking-second", "--launch", "2", "--kernel", "add_step", f"{build.HERE}/programs/lacking_main.cu",
            "--", lacking)
    text = open("lacking-second/add_step_float.cu").read()
    check(re.search(r"pragma keet scalar step : f32 = 0\.125\n", text) and "size   n = 777" in text, text)
    # The text has 3 for what is an integer in its launch: no scalar of the capture's type.
    text = open("lacking-all/set_step_float.cu").read()
    check(re.search("pragma keet scalar arg2 : f32 = 3\n", text), text)
    # `rows` stands in no argument: the bytes of x say it, once `columns` is known.
    text = open("lacking-all/add_line.cu").read()
    for line in ("size +rows = 30", "size +columns = 41", r"inout +d_x : f32\[rows\*columns\]"):
        check(re.search("pragma keet " + line, text), line, text)
    for stem in ("shift_all", "add_step_float", "add_step_double", "add_step_int", "set_step_float", "add_line"):
        done = subprocess.run([keet, "check", *2 * [f"lacking-all/{stem}.cu"], "--device", "emu"], text=True, capture_output=True)
        check(done.returncode == 0 and "ok" in done.stdout, done.stdout, done.stderr)
print("captured")
