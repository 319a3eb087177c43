"""The whole way: optimise a file with host code, write the winner back, compile the patched file.

    roundtrip.py KEET-OPT few|all [NVCC]

Each file gets the few variants that it is known to need for a winner with other code than the original.
Where the host's sizes are so small that a launch takes nothing but its start, the test makes them larger.
few: only one file each with a launcher, with several kernels, and with a header."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FILES = {  # the budget
    "matmul_launcher": 4, "matvec": 12, "sum_atomic": 4, "transpose_naive": 6, "softmax_rows": 4,
    "column_sums": 4, "two_kernels": 8, "single_main": 6, "constant_memory": 6, "operators": 8, "with_header": 6,
}

FEW = ("matmul_launcher", "two_kernels", "with_header")

# What takes microseconds gains too little for any one move to be sure to.
LARGER = {"constant_memory": ("n = 1000", "n = 4000000"),
          "matmul_launcher": ("rows = 128, cols = 192, inner = 160", "rows = 512, cols = 384, inner = 320"),
          "transpose_naive": ("width = 256, height = 512", "width = 2048, height = 2048")}


def copy_files(to):
    for source in HERE.glob("*.cu*"):
        text = source.read_text()
        if source.stem in LARGER:
            small, large = LARGER[source.stem]
            assert small in text, source
            text = text.replace(small, large)
        (to / source.name).write_text(text)


def run(command, folder, seconds=300):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=seconds)


def problem_of(program, nvcc, name, sources, folder):
    done = run([program, sources / f"{name}.cu", "--budget", str(FILES[name]), "--json", "-q"], folder)
    if done.returncode != 0:
        return f"keet-opt: {done.stderr.strip()[:400]}"
    result = json.loads(done.stdout)
    if not result.get("patched"):
        return f"no patched file: {result.get('not_written_back', 'the original is the best')}"
    patched = folder / result["patched"]
    files = [patched] if patched.parent == folder else list(patched.parent.iterdir())
    if all(f.read_text() == (sources / f.name.replace(".patched", "")).read_text() for f in files):
        return "the patched file is the original"
    done = run([nvcc, "-gencode", "arch=compute_90a,code=sm_90a", "-std=c++17", "-c", "-o", os.devnull, patched], folder)
    if done.returncode != 0:
        return f"nvcc: {done.stderr.strip()[:800]}\n{(folder / result['patch']).read_text()}"
    copy_files(folder)
    done = run(["git", "apply", "-p0", "--check", result["patch"]], folder)
    return "" if done.returncode == 0 else f"git apply: {done.stderr.strip()}"


def contract_from_anywhere(program):
    """What init writes does not depend on how the file is named: a search's seed is its text."""
    texts = []
    with tempfile.TemporaryDirectory() as folder:
        copy_files(pathlib.Path(folder))
        for name in (pathlib.Path(folder) / "matvec.cu", "matvec.cu"):
            done = run([program, "init", name, "-o", "task.cu"], folder)
            texts.append(done.stderr if done.returncode else (pathlib.Path(folder) / "task.cu").read_text())
            (pathlib.Path(folder) / "task.cu").unlink(missing_ok=True)
    return "" if texts[0] == texts[1] and "#pragma keet" in texts[0] else "init depends on the path:\n" + "\n".join(texts)


def main():
    if len(sys.argv) < 4:
        print("skipped: there is no nvcc here")
        return 77
    program, nvcc = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[3])
    problem = contract_from_anywhere(program)
    print(problem, end="")
    failed = bool(problem)
    names = FEW if sys.argv[2] == "few" else FILES
    for name in names:
        with tempfile.TemporaryDirectory() as temp, tempfile.TemporaryDirectory() as sources:
            copy_files(pathlib.Path(sources))
            problem = problem_of(program, nvcc, name, pathlib.Path(sources), pathlib.Path(temp))
        failed += bool(problem)
        print(f"{'FAILED' if problem else 'ok    '} {name}" + (f"\n{problem}" if problem else ""), flush=True)
    print(f"{failed} of {1 + len(names)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
