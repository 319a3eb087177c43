#!/usr/bin/env python3
"""Turns KernelBench's problems into tasks of keet-opt.

    import_problems.py CHECKOUT -o FOLDER [--level 1,2,3] [--problem 1,5-9] [--full]
                       [--kernels FOLDER | --kernel FILE] [--table FILE.md]

CHECKOUT is a checkout of KernelBench. Each problem becomes FOLDER/level1/1_Name/: 1_Name.cu with the
contract and the PyTorch text, and a folder of .npy files for each seed and scale of the inputs. It
runs at reduced sizes unless --full is given. Without a kernel the task waits for one: --kernel, or
--kernels with files level1/1.cu, adds plan lines (launch, temp, tune, where) and device code to it.
Needs PyTorch, no GPU. Each problem runs in a process of its own, with limits."""
import argparse
import collections
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import problem as kb  # noqa: E402
import stamp  # noqa: E402
import task as kbt  # noqa: E402


def numbers(text):
    found = set()
    for part in text.split(","):
        low, _, high = part.partition("-")
        found.update(range(int(low), int(high or low) + 1))
    return found


def problems(checkout, levels, wanted):
    for level in sorted(levels):
        folder = os.path.join(checkout, "KernelBench", f"level{level}")
        files = [f for f in os.listdir(folder) if re.match(r"\d+_.*\.py$", f)]
        for file in sorted(files, key=lambda f: int(f.split("_")[0])):
            if not wanted or int(file.split("_")[0]) in wanted:
                yield level, file


def kernel_text(args, level, number):
    path = args.kernel or (args.kernels
                           and os.path.join(args.kernels, f"level{level}", f"{number}.cu"))
    if not path or (args.kernels and not os.path.exists(path)):
        return None
    with open(path) as f:
        return f.read()


def import_one(args, level, file):
    """What became of it, for the table."""
    path = os.path.join(args.checkout, "KernelBench", f"level{level}", file)
    with open(path) as f:
        problem = kb.Problem(f"level{level}/{file}", f.read())
    values = {k.name: k.value for k in problem.knobs}
    try:
        if not args.full:
            values = kb.reduced(problem, args.elements, args.flops)
        now = kb.can(problem, values)
        if now and kb.elements(now) > args.most_elements:
            raise kb.Refused("too large" if args.full else "too large, also at reduced sizes",
                             f"{kb.elements(now)} elements, the limit is {args.most_elements}")
        made = kbt.Task(problem, values, args.seeds)
        folder = os.path.join(args.output, f"level{level}", file[:-3])
        text = made.contract(made.save(folder))
        kernel = kernel_text(args, level, int(file.split("_")[0]))
        path = os.path.join(folder, f"{file[:-3]}.cu")
        with open(path, "w") as f:
            f.write(text + ("\n" + kernel if kernel else ""))
        told = {"ok": True, "odd": made.odd, "kernel": kernel is not None, "sizes": made.sizes}
        if kernel and args.keet:
            told.update(passes(args, path))
        return told
    except kb.Refused as refused:
        return {"ok": False, "kind": refused.kind, "text": str(refused)}


def passes(args, path):
    """Whether the kernel gives PyTorch's numbers, in all cases, on the emulator."""
    done = subprocess.run([args.keet, path, "--device", "emu", "--budget", "1", "-q", "--db",
                           path.replace(".cu", ".keet.db"), "-o", path.replace(".cu", ".keet.cu")],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = done.stderr.strip() or done.stdout.strip()
    return {"passes": done.returncode == 0, "said": said.replace(os.path.dirname(path) + "/", "")}


def run_one(args, level, file):
    """In a fork, so that PyTorch is loaded once and nothing of one problem reaches the next."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (args.memory << 20, args.memory << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (args.timeout, args.timeout))
        try:
            told = import_one(args, level, file)
        except BaseException as e:
            told = {"ok": False, "kind": "PyTorch could not run it",
                    "text": f"{type(e).__name__}: {e}".split("\n")[0][:200]}
        os.write(write, json.dumps(told).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    status = os.waitpid(child, 0)[1]
    if told:
        return json.loads(told)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        return {"ok": False, "kind": "took too long", "text": f"over {args.timeout} s of processor time"}
    return {"ok": False, "kind": "PyTorch could not run it", "text": f"it ended with {status}"}


def kept(path, rows):
    """All rows of a log, its newest for each problem, with those of now; the log has these alone."""
    last = {}
    if os.path.exists(path):
        with open(path) as f:
            last = {(level, file): told for level, file, told in map(json.loads, f)}
    last.update({(level, file): told for level, file, told in rows})
    rows = sorted(((level, file, told) for (level, file), told in last.items()),
                  key=lambda row: (row[0], int(row[1].split("_")[0])))
    with open(path + ".new", "w") as f:
        f.writelines(json.dumps(row) + "\n" for row in rows)
    os.replace(path + ".new", path)
    return rows


def table(args, rows, nr_now):
    levels = sorted({level for level, _, _ in rows})
    commits = collections.Counter(r["commit"] for _, _, r in rows)
    out = ["# KernelBench, imported", "",
           f"    bench/kernelbench/import_problems.py CHECKOUT {' '.join(args.shown)}", "",
           f"{len(rows)} problems, " + ("at their own sizes" if args.full else "at reduced sizes")
           + f", PyTorch {torch.__version__} on the CPU. Imported at "
           + ", ".join(f"{at} ({nr})" for at, nr in commits.items())
           + (f"; {len(rows) - nr_now} of the rows are of earlier runs, kept in the log" if nr_now
              < len(rows) else "") + ".", "",
           "| level | problems | imported | refused | flagged as odd |", "|---|---|---|---|---|"]
    for level in levels:
        of = [r for at, _, r in rows if at == level]
        ok = [r for r in of if r["ok"]]
        out.append(f"| {level} | {len(of)} | {len(ok)} | {len(of) - len(ok)} | "
                   f"{sum(bool(r['odd']) for r in ok)} |")
    kinds = collections.Counter((r["kind"], level) for level, _, r in rows if not r["ok"])
    if kinds:
        out += ["", "## Refused, by reason", "",
                "| reason | " + " | ".join(f"level {n}" for n in levels) + " |",
                "|---" * (len(levels) + 1) + "|"]
        for kind in sorted({k for k, _ in kinds}):
            out.append(f"| {kind} | " + " | ".join(str(kinds[kind, n]) for n in levels) + " |")
        out += ["", "| problem | reason |", "|---|---|"]
        out += [f"| level{level}/{file} | {r['text']} |" for level, file, r in rows if not r["ok"]]
    checked = [(level, file, r) for level, file, r in rows if "passes" in r]
    if checked:
        out += ["", "## Naive kernels against PyTorch's outputs, on the emulator", "",
                f"{sum(r['passes'] for _, _, r in checked)} of {len(checked)} pass, each in all its "
                "cases.", "", "| problem | outcome |", "|---|---|"]
        out += [f"| level{level}/{file} | {'passes' if r['passes'] else r['said']} |"
                for level, file, r in checked]
    odd = [(level, file, r) for level, file, r in rows if r["ok"] and r["odd"]]
    if odd:
        out += ["", "## Flagged as odd", "", "| problem | what |", "|---|---|"]
        out += [f"| level{level}/{file} | {'; '.join(r['odd'])} |" for level, file, r in odd]
    return "\n".join(out) + "\n"


def arguments(argv):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("checkout")
    p.add_argument("-o", "--output", required=True)
    p.add_argument("--level", type=numbers, default={1, 2, 3})
    p.add_argument("--problem", type=numbers, default=set())
    p.add_argument("--full", action="store_true", help="at the problem's own sizes")
    p.add_argument("--kernel", help="a .cu with plan lines and device code, for one problem")
    p.add_argument("--kernels", help="a folder of them: level1/1.cu")
    p.add_argument("--keet", help="keet-opt: check the kernels against PyTorch's numbers")
    p.add_argument("--seeds", type=int, default=3)
    p.add_argument("--elements", type=int, default=40000, help="that reduced problems should have")
    p.add_argument("--flops", type=int, default=20_000_000, help="that they should need")
    p.add_argument("--most-elements", type=int, help="refuse larger ones: over 2 million, with "
                   "--full over 128 million, which are files of half a gigabyte for each case")
    p.add_argument("--timeout", type=int, default=300, help="seconds of processor time for a problem")
    p.add_argument("--memory", type=int, default=12000, help="megabytes for a problem")
    p.add_argument("--table", help="write the outcome as Markdown")
    p.add_argument("--log", help="keep outcomes in this file, the newest of each problem; the table has all")
    args = p.parse_args(argv)
    if args.most_elements is None:
        args.most_elements = 128_000_000 if args.full else 2_000_000
    args.shown = [a for a in argv if a != args.checkout]
    return args


def main():
    args = arguments(sys.argv[1:])
    torch.set_num_threads(1)
    kb.warm_up()
    rows = []
    at = stamp.commit("src", "bench/kernelbench", "kernels/kernelbench") or "an unknown commit"
    for level, file in problems(args.checkout, args.level, args.problem):
        rows.append((level, file, dict(run_one(args, level, file), commit=at)))
        r = rows[-1][2]
        print(f"level{level}/{file}: " + (("; ".join(r["odd"]) or "imported") if r["ok"]
                                          else "refused, " + r["text"])
              + ("" if "passes" not in r else "; its kernel passes" if r["passes"]
                 else "; its kernel FAILS: " + r["said"]), flush=True)
        if args.log:
            with open(args.log, "a") as f:
                f.write(json.dumps(rows[-1]) + "\n")
    nr_now = len(rows)
    if args.log:
        rows = kept(args.log, rows)
    if args.table:
        os.makedirs(os.path.dirname(os.path.abspath(args.table)), exist_ok=True)
        with open(args.table, "w") as f:
            f.write(table(args, rows, nr_now))
    ok = sum(r["ok"] for _, _, r in rows)
    print(f"{ok} of {len(rows)} imported")


if __name__ == "__main__":
    main()
