"""Other people's CUDA files as tasks: how many compile after the split, have a complete contract, run.

    tasks.py --keet-opt PROGRAM --out results/corpus/tasks.md [--limit N [--shift N [--held-out]]] [--seconds N]
             CHECKOUT...

Takes files with a kernel and a launch under the CHECKOUTs (never copied; HIP's folders left out), every k-th of
all in order of their paths when --limit is less. Where a Makefile beside the file has a `run:` line, its first
arguments are given as --args. Contracts with numbers that `init` chose, since the file does not give them, are
counted apart too; it keeps only such with which the original passes the check. "compiles" is NVRTC's word where the contract is complete,
nvcc -ptx's on the device text elsewhere; a file that does not compile after the split is given to nvcc as it
is, with headers from wherever they lie in its checkout, and counted apart where nvcc does not take it either. Two
halves, the files by turns."""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import stamp  # noqa: E402


CUTLASS = pathlib.Path(__file__).resolve().parents[2] / ".deps" / "cutlass" / "include"  # as keet-opt finds it


def candidates(folders):
    found = []
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.cu")):
            text = path.read_text(errors="replace")
            if "__global__" in text and "<<<" in text and "-hip/" not in str(path):
                found.append(path)
    return found


def sampled(files, limit, shift):
    if not limit or len(files) <= limit:
        return files
    return [files[(i * len(files) // limit + shift) % len(files)] for i in range(limit)]


def run_line(path):
    """The first arguments that a Makefile beside the file runs its program with; None: there is no such line."""
    for name in ("Makefile", "makefile"):
        if (path.parent / name).exists():
            recipe = re.search(r"^run:.*\n\t(.*)$", (path.parent / name).read_text(errors="replace"), re.M)
            words = recipe.group(1).replace("$(LAUNCHER)", "").split() if recipe else []
            if words and words[0].startswith("./"):
                return " ".join(words[1:])
    return None


def run(command, seconds):
    """Seconds are the processor's: other work on the machine does not count."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))

    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20 * seconds, errors="replace",
                              preexec_fn=limit)
        if done.returncode not in (-24, -9):
            return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        pass
    return -1, "", f"more than {seconds} s"


def class_of(text):
    """A message without names and numbers, so that like ones fall together."""
    text = re.sub(r"^keet-opt: ", "", text.strip().split("\n")[-1] if text.strip() else "?")
    text = re.sub(r"\S*/\S+\.(cuh?|hpp|h):?(\d+:)*\s*", "", text)
    text = re.sub(r"\(line.*", "", text)
    return text[:90]


def why_missing(line):
    text = re.sub(r"^(the number of elements of|parameter|the value of) \S+?[:,]?\s", r"\1: ", line["from"])
    text = re.sub(r"(only the caller knows) .*", r"\1 a size", text)
    return re.sub(r"\b(gives|at|of|value|expression:) \S+$", r"\1 ...", text)[:80]


def refused(args, path):
    """nvcc takes the file itself neither, also where headers are found for it that lie elsewhere in the checkout."""
    checkout = next(f for f in args.folders if str(path).startswith(f))
    folders = [CUTLASS]
    with tempfile.TemporaryDirectory() as out:
        for _ in range(12):
            code, _, err = run(["nvcc", "-ptx", "-arch=sm_90", "-w", "-std=c++17", "--expt-relaxed-constexpr",
                                *(f"-I{f}" for f in folders), str(path), "-o", out + "/x.ptx"], 120)
            lacks = re.search(r"fatal error: (\S+): No such file", err)
            found = sorted(pathlib.Path(checkout).rglob(lacks.group(1)), key=lambda f: -len(
                os.path.commonpath([f, path]))) if lacks and not lacks.group(1).startswith((".", "/")) else []
            if not found:
                return code > 0
            folders.append(str(found[0])[:-len(lacks.group(1)) - 1])
    return True


def judge(args, path):
    result = split(args, path)
    return dict(result, refused=not result["compiles"] and path.suffix == ".cu" and refused(args, path))


def split(args, path):
    """(compiles, complete, complete but for sizes, runs, reason)"""
    given = run_line(path)
    code, out, err = run([args.keet_opt, "init", str(path), "--json"] + (["--args", given] if given else []), 20)
    if code != 0:
        return dict(path=path, compiles=False, complete=False, by_args=False, assumed=False, part=False, sizes=False,
                    runs=False,
                    reason="init: " + class_of(err))
    task = json.loads(out)
    missing = [l for l in task["lines"] if l["missing"]]
    only_sizes = all(re.match("#pragma keet (size|scalar)", l["pragma"]) for l in missing)
    assumed = any(l["assumed"] for l in task["lines"])
    result = dict(path=path, compiles=False, complete=not missing, by_args=not missing and bool(given),
                  assumed=not missing and assumed, part=not missing and task["left_out"] > 0, sizes=only_sizes,
                  runs=False, reason="")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / path.name
        file.write_text(task["text"])
        nvcc = ["nvcc", "-ptx", "-arch=compute_90", "-w", "-std=c++17", "--expt-relaxed-constexpr",
                f"-I{CUTLASS}", str(file), "-o", folder + "/x.ptx"]
        if missing:
            code, _, err = run(nvcc, 120)
            result["compiles"] = code == 0
            tried = re.search(r"no sizes were found at which the original runs: (.*)", task.get("note") or "")
            result["reason"] = "numbers: " + class_of(tried.group(1)) if tried else "contract: " + why_missing(missing[0])
            if code != 0:
                first = [l for l in err.splitlines() if "error" in l]
                result["reason"] = "compile: " + re.sub(r".*error:\s*", "", first[0] if first else err)[:80]
            return result
        code, out, err = run([args.keet_opt, "run", str(file), "-q", "--threads", "1"], args.seconds)
        if code == -1:  # slow to emulate: the compiler alone may say whether it compiles
            result["compiles"], result["reason"] = run(nvcc, 120)[0] == 0, err
            return result
        first = out.split("\n")[0]
        result["compiles"] = "no_compile" not in first and code != 2 and bool(out)
        result["runs"] = first.endswith(": ok")
        result["reason"] = "" if result["runs"] else class_of("\n".join(out.split("\n")[:2]) if out else err)
        if not out and code == 1 and "does not compile" not in err:
            result["compiles"] = True
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keet-opt", required=True)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--shift", type=int, default=0, help="with --limit: so many files behind those of the sample")
    parser.add_argument("--held-out", action="store_true", help="nobody looked at this sample: the table says so")
    parser.add_argument("--seen", action="append", default=[], metavar="LIMIT:SHIFT:CHECKOUT[,CHECKOUT...]",
                        help="leave out the sample of so many files of these, which was looked at; may repeat")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=120, help="for one emulated run")
    parser.add_argument("folders", nargs="+")
    args = parser.parse_args()
    files = candidates(args.folders)
    for sample in args.seen:
        limit, shift, folders = sample.split(":", 2)
        seen = set(sampled(candidates(folders.split(",")), int(limit), int(shift)))
        files = [f for f in files if f not in seen]
    all_files = len(files)
    files = sampled(files, args.limit, args.shift)
    order = files[0::2] + files[1::2]
    done = {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for path, result in zip(order, pool.map(lambda p: judge(args, p), order)):
            done[path] = result
            print(json.dumps({k: str(v) for k, v in result.items()}), file=sys.stderr, flush=True)
    results = [done[p] for p in files]
    nr = len(results)
    count = {k: sum(r[k] for r in results) for k in ("compiles", "refused", "complete", "by_args", "assumed", "part",
                                                           "sizes", "runs")}
    reasons = collections.Counter(r["reason"] for r in results if r["reason"])
    spread = collections.Counter(next(f for f in args.folders if str(r["path"]).startswith(f)) for r in results)
    shift = (f" --shift {args.shift}" if args.shift else "") + (" --held-out" if args.held_out else "")
    held_out = ("This sample was not looked at while the program grew to this commit." if args.held_out else
                "Failures of both were looked at while the program grew, so neither is held out.")
    lines = ["# Other people's CUDA files as tasks", "",
             f"`bench/corpus/tasks.py --limit {args.limit}{shift} --seconds {args.seconds} CHECKOUT...` at commit {stamp.commit()}; the files stay outside of "
             "this repository: " + ", ".join(f"{os.path.basename(f)} ({n})" for f, n in spread.items()) +
             f"; every k-th of {all_files}. The halves are the files by turns. " + held_out, "",
             "| of files | | share | first half | second half | goal |", "|---|---:|---:|---:|---:|---:|",
             f"| with a kernel and a launch | {nr} | | {len(results[0::2])} | {len(results[1::2])} | |"]
    taken = nr - count["refused"]
    for key, what, goal in (("compiles", "compile after the split", "95%"),
                            ("complete", "have a complete contract", "75%"),
                            ("by_args", "... of these, with the arguments of the Makefile's run line", ""),
                            ("assumed", "... of these, with numbers that were chosen and tried", ""),
                            ("part", "... of these, with some launches left out, which cannot be described", ""),
                            ("sizes", "have one, or lack only numbers that the file does not give", ""),
                            ("runs", "run cleanly on the emulator", "60%")):
        half = [f"{100 * sum(r[key] for r in part) / max(1, len(part)):.0f}%" for part in (results[0::2], results[1::2])]
        lines.append(f"| {what} | {count[key]} | {100 * count[key] / nr:.1f}% | {half[0]} | {half[1]} | {goal} |")
        if key == "compiles":
            lines.append(f"| ... of those that nvcc itself does not refuse ({taken}) | {count[key]} | "
                         f"{100 * count[key] / max(1, taken):.1f}% | | | |")
    lines += ["", "| why not | files |", "|---|---:|"] + [f"| {r} | {n} |" for r, n in reasons.most_common(60)]
    text = "\n".join(lines) + "\n"
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
