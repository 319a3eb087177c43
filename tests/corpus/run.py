"""keet-opt init on every file here against the contract that stands beside it.

    run.py KEET-OPT

A file x.cu (or inline_x.py) has x.expect: its pragmas in order, one a line; a line that the user must complete begins with
`? `, one with numbers that were chosen, since the file does not give them, with `~ `. x.args, where it stands, is given as --args. Files whose contract is complete are also run: they must compile and be clean on the emulator."""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ["program/kernels.cu", "made/src/scale.cu", "listed/warp/lanes.cu", "quoted/src/halves.cu", "linked/waves.cu", "included/histogram_kernel.cu"]  # with files around


def given(path):
    """The program's own arguments, from x.args; -I and -D, from x.flags."""
    args, flags = path.with_suffix(".args"), path.with_suffix(".flags")
    return (["--args", args.read_text().strip()] if args.exists() else []) + (
        flags.read_text().split() if flags.exists() else [])


def contract(program, path):
    done = subprocess.run([program, "init", str(path), "--json", *given(path)], capture_output=True, text=True)
    if done.returncode != 0:
        return [f"error: {done.stderr.strip()}"]
    return [("? " if l["missing"] else "~ " if l["assumed"] else "") + l["pragma"] for l in json.loads(done.stdout)["lines"]]


def main():
    program, failed = sys.argv[1], 0
    files = sorted([*HERE.glob("*.cu"), *HERE.glob("inline_*.py")]) + [HERE / f for f in FOLDERS]
    for path in files:
        expected = path.with_suffix(".expect").read_text().splitlines()
        got = contract(program, path)
        problem = ""
        if got != expected:
            problem = "\n".join(["  expected:"] + [f"    {l}" for l in expected] + ["  got:"] + [f"    {l}" for l in got])
        elif not any(l.startswith("? ") for l in got):
            done = subprocess.run([program, "run", str(path), "-q", *given(path)], capture_output=True, text=True)
            if done.returncode != 0:
                problem = f"  run: {done.stdout.strip()[:300]} {done.stderr.strip()[:300]}"
        failed += bool(problem)
        print(f"{'FAILED' if problem else 'ok    '} {path.name}" + ("\n" + problem if problem else ""))
    print(f"{len(files) - failed} of {len(files)} files")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
