#!/usr/bin/env python3
"""Captures programs of a collection that is not in this repository, and says what became of each.

usage: programs.py KEET-OPT FOLDER OUT [--take N] [--seed N] [--pattern P] [--line COMMAND] [--dry] [NAME | NAME=ARGUMENTS]...

A program is a folder of FOLDER (--pattern, default *-cuda; NAME is what the star stands for). NAME captures it dry, for 10 s of
processor time, with the arguments of its makefile's `run`; --take N adds N programs by lot. NAME=ARGUMENTS captures it for
real with these arguments, makes tasks, and runs these under the sanitizer of memory; with --dry it is dry with these arguments.
Each is built once: by `make ARCH=sm_90` with NVCC_APPEND_FLAGS="-cudart shared", or by COMMAND in its folder, which makes ./main. Programs
whose makefile links a library of NVIDIA's, MPI or GSL are not built. Writes OUT/rows.jsonl, a line as each program ends; what is there already is not run again."""
import argparse
import glob
import json
import os
import random
import re
import resource
import subprocess
import sys
import time

PASS = re.compile(r"\b(PASS|PASSED|passed|Success)\b")
FAIL = re.compile(r"FAIL|failed|mismatch|ERROR|CUDA error")
LIBRARY = re.compile(r"-l(cublas|cufft|cusparse|cusolver|curand|cudnn|nccl|mpi|gsl|npp|nvjpeg)\w*")


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (22 << 30, 22 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))


def run(words, folder, wall_s, stderr=subprocess.STDOUT, **more):
    """Status (None: over the wall time), (output, errors: None where they are in output), seconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=stderr, text=True,
                          errors="replace", stdin=subprocess.DEVNULL, preexec_fn=limits,
                          start_new_session=True, **more) as child:
        try:
            streams = child.communicate(timeout=wall_s)
            status = child.returncode
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            streams = child.communicate()
            status = None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return status, streams, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def build(folder, line):
    env = dict(os.environ, NVCC_APPEND_FLAGS="-cudart shared")
    return run(["sh", "-c", line] if line else ["make", "ARCH=sm_90"], folder, 300, env=env)


def makefile_run(folder):
    """The words of the makefile's `run`, its program first."""
    if not glob.glob(f"{folder}/[Mm]akefile"):
        return ["./main"]
    done = subprocess.run(["make", "-n", "-s", "ARCH=sm_90", "run"], cwd=folder, text=True, capture_output=True)
    lines = [line for line in done.stdout.splitlines() if re.search(r"(^|\s|/)\./\w|\.\./", line)]
    return lines[-1].split() if lines else None


def main_source(folder):
    """The .cu file that has main, or the first one; None: there is none."""
    files = sorted(glob.glob(f"{folder}/**/*.cu", recursive=True))
    with_main = [f for f in files if re.search(r"\bmain\s*\(", open(f, errors="replace").read())]
    return next((os.path.relpath(f, folder) for f in with_main + files), None)


def capture(keet, folder, out, options, words, wall_s):
    line = [keet, "capture", *options, "--json", "-o", out, "--", *words]
    # With --json the program's own output goes to stderr.
    status, (document, said), cpu_s = run(line, folder, wall_s, stderr=subprocess.PIPE)
    try:
        document = json.loads(document)
    except json.JSONDecodeError:
        document = None
    return status, said, document, cpu_s


def real(keet, folder, out, words):
    """One program to its own end, its tasks, and these under the sanitizer."""
    source = main_source(folder)
    if not source:
        return {"outcome": "no .cu file", "end": ""}
    status, output, document, cpu_s = capture(keet, folder, out, [source], words, 240)
    row = {"status": status, "cpu_s": round(cpu_s, 1), "end": output[-600:]}
    row["pass"] = bool(PASS.search(output)) and not FAIL.search(output)
    if not document:
        return row
    row["program_status"] = document["status"]
    row["tasks"] = []
    for launch in document["launches"]:
        task = {"kernel": launch["kernel"], "stores": any(a["changed"] for a in launch["arrays"]),
                "task": bool(launch["task"]), "from_text": launch["from_text"], "why": launch["why"]}
        if launch["task"]:
            done, (said, _), cpu_s = run([keet, "run", launch["task"], "--device", "emu", "--sanitize", "memory"], folder, 120)
            task.update(clean=done == 0, said="" if done == 0 else said[-400:], cpu_s=round(cpu_s, 1))
        row["tasks"].append(task)
    return row


def dry(keet, folder, out, words):
    status, output, document, cpu_s = capture(keet, folder, out, ["--dry", "--seconds", "10s"], words, 120)
    captured = bool(document and document["launches"])
    return {"outcome": "captured" if captured else "not", "words": " ".join(words), "status": status,
            "signal": document and document["signal"], "stopped": document and document["stopped"],
            "cpu_s": round(cpu_s, 1), "end": "" if captured else output[-600:]}


def one(keet, folder, target, arguments, line, only_dry):
    makefile = "".join(open(p, errors="replace").read() for p in glob.glob(f"{folder}/[Mm]akefile"))
    row = {}
    if not line and LIBRARY.search(makefile):
        return {"outcome": "library", "end": LIBRARY.search(makefile).group(0)}
    if not os.path.exists(f"{folder}/.built"):
        status, (output, _), cpu_s = build(folder, line)
        row["build_s"] = round(cpu_s, 1)
        if status != 0:
            return {**row, "outcome": "no build", "end": output[-600:]}
        open(f"{folder}/.built", "w").close()
    words = ["./main"] if line else makefile_run(folder)
    if not words:
        return {**row, "outcome": "no run line", "end": ""}
    if arguments is not None:
        words = [words[0], *arguments.split()]
    way = dry if arguments is None or only_dry else real
    return {**row, **way(keet, folder, target, words)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("keet")
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--take", type=int, default=0)
    parser.add_argument("--seed", type=int, default=23)
    parser.add_argument("--pattern", default="*-cuda")
    parser.add_argument("--line")
    parser.add_argument("--dry", action="store_true")
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    keet, folder, out = (os.path.abspath(p) for p in (given.keet, given.folder, given.out))
    os.makedirs(out, exist_ok=True)
    todo = [(name, arguments if equals else None) for name, equals, arguments in (n.partition("=") for n in given.names)]
    ends = given.pattern.rpartition("*")[2]
    have = sorted(os.path.relpath(p, folder)[:-len(ends) or None] for p in glob.glob(f"{folder}/{given.pattern}")
                  if os.path.isdir(p))
    todo += [(name, None) for name in random.Random(given.seed).sample(have, min(given.take, len(have)))]
    path = f"{out}/rows.jsonl"
    done = {(r["name"], r["arguments"]) for r in map(json.loads, open(path))} if os.path.exists(path) else set()
    for name, arguments in todo:
        if (name, arguments) in done:
            continue
        start = time.monotonic()
        target = f"{out}/{name.replace('/', '_')}.capture"
        row = {"name": name, "arguments": arguments,
               **one(keet, f"{folder}/{name}{ends}", target, arguments, given.line, given.dry)}
        row["wall_s"] = round(time.monotonic() - start, 1)
        with open(path, "a") as file:
            file.write(json.dumps(row) + "\n")


sys.exit(main())
