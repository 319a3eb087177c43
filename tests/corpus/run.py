"""keet-opt init on a file here against the contract that stands beside it.

    run.py KEET-OPT x.expect...     that these contracts are read from the files beside them
    run.py --complete x.expect...   that these are all the contracts, and that each file has one

The file is x.cu, or inline_x.py. x.expect holds its pragmas in order, one a line; a line that the user must complete
begins with `? `, one with numbers that were chosen, since the file does not give them, with `~ `. x.args, where it stands,
is given as --args; x.flags are further options. A file whose contract is complete is also run: it must compile and be clean
on the emulator. Files that need others around them stand in folders."""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
NOT_RUN = "not run"  # the toolkit lacks what the file includes: skipped


def source(expect):
    return next((path for path in map(expect.with_suffix, (".cu", ".py")) if path.exists()), None)


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


def problem_with(program, expect):
    path, expected = source(expect), expect.read_text().splitlines()
    if path is None:
        return "  there is no such file"
    got = contract(program, path)
    if got != expected:
        return "\n".join(["  expected:"] + [f"    {l}" for l in expected] + ["  got:"] + [f"    {l}" for l in got])
    if not any(l.startswith("? ") for l in got):
        done = subprocess.run([program, "run", str(path), "-q", *given(path)], capture_output=True, text=True)
        if done.returncode != 0 and "<curand_kernel.h> is not allowed" in done.stdout + done.stderr:
            print(f"{path.name}: the contract holds; not run, since this machine has no headers of cuRAND")
            return NOT_RUN
        if done.returncode != 0:
            return f"  run: {done.stdout.strip()[:300]} {done.stderr.strip()[:300]}"
    return ""


def left_out(listed):
    """What is here and would not be looked at."""
    for path in [*HERE.glob("*.cu"), *HERE.glob("inline_*.py")]:
        if not path.with_suffix(".expect").exists():
            yield f"{path.name} has no {path.stem}.expect"
    for expect in HERE.rglob("*.expect"):
        if expect not in listed:
            yield f"{expect.relative_to(HERE)} is not among the tests"
    if not listed:
        yield "there are no tests"


def main():
    program, files = sys.argv[1], [pathlib.Path(name).resolve() for name in sys.argv[2:]]
    if program == "--complete":
        problems = list(left_out(files))
        print("\n".join(problems) or f"{len(files)} files")
        return 1 if problems else 0
    failed = left = 0
    for expect in files:
        problem = problem_with(program, expect)
        left += problem is NOT_RUN
        failed += bool(problem) and problem is not NOT_RUN
        print(f"{'FAILED' if problem else 'ok    '} {expect.stem}" + ("\n" + problem if problem else ""))
    return 1 if failed or not files else 77 if left == len(files) else 0


if __name__ == "__main__":
    sys.exit(main())
