#!/usr/bin/env python3
"""keet-opt optimize-program on a program with a makefile and several files: what is accepted, and that the
program refuses winners that are wrong in it, by name.
usage: whole.py KEET-OPT"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
keet = os.path.abspath(sys.argv[1])
nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
if not nvcc or not os.path.exists("/usr/local/cuda/lib64/libcudart.so"):
    print("skipped: no nvcc, or no shared runtime to link with")
    sys.exit(77)
os.environ["NVCC"] = nvcc
ARGUMENTS = ["--", "./solver", "96", "128", "3"]

SUM = "sum_rows<<<(rows + 127) / 128, 128>>>(d_new, d_sums, rows, columns)"

FAST_SUM = ("sum_rows<<<ceil_div(rows, 4), 128>>>(d_new, d_sums, rows, columns)", """
__global__ void sum_rows(const float *field, float *sums, int rows, int columns)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32;
    float sum = 0;
    if (row < rows)
        for (int column = threadIdx.x % 32; column < columns; column += 32)
            sum += field[row * columns + column] * field[row * columns + column];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (row < rows && threadIdx.x % 32 == 0)
        sums[row] = sum;
}
""")
# Wrong in each launch: the last column is left out.
SHORT_SUM = (SUM, """
__global__ void sum_rows(const float *field, float *sums, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int column = 0; column < columns - 1; column++)
        sum += field[row * columns + column] * field[row * columns + column];
    sums[row] = sum;
}
""")
FAST_SMOOTH = """
{
    int column = threadIdx.x, row = blockIdx.x;
    ONCE
    for (; column < columns; column += blockDim.x) {
        int left = column > 0 ? column - 1 : column;
        int right = column < columns - 1 ? column + 1 : column;
        new_field[row * columns + column] = 0.25f * old_field[row * columns + left] +
                                            0.5f * old_field[row * columns + column] +
                                            0.25f * old_field[row * columns + right];
    }
}
"""
HEAD = "__global__ void smooth(const float *old_field, float *new_field, int rows, int columns)"
ROWS = "smooth<<<rows, 64>>>(d_old, d_new, rows, columns)"
# Right in its first launch alone, which is all that a check of the captured launch sees.
ONCE_SMOOTH = (ROWS, "__device__ unsigned launches;\n" + HEAD + FAST_SMOOTH.replace("ONCE", """
    unsigned before = atomicAdd(&launches, threadIdx.x == 0);
    if (__syncthreads_or(threadIdx.x == 0 && before >= gridDim.x))
        return;"""))
# Neither the text of its file nor a capture says what half_block() is: the task of scale_each is of the capture
# alone, and only a winner with the same launch can be written back.
SCALE = """
__global__ void scale_each(float *field, int rows, int columns, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns)
        field[i] *= factor;
}
"""

HEADER = open(f"{HERE}/solver/include/kernels.cuh").read()


def check(condition, *what):
    if not condition:
        sys.exit(f"wrong: {what}")


def winners(folder, **given):
    """Kernel files, each of which is the header with another version of one kernel, as those of a search."""
    os.makedirs(folder)
    for name, (launch, code) in given.items():
        new = re.sub(rf"__global__ void {name}.*?\n}}\n", lambda _: code.lstrip(), HEADER, flags=re.S)
        with open(f"{folder}/{name}.cu", "w") as file:
            file.write(f"{new}\n#pragma keet launch {launch}\n")
    return folder


def add_scale(folder, launch, more=""):
    """A kernel file with the names of a capture."""
    with open(f"{folder}/scale_each.cu", "w") as file:
        file.write(f"{more}{SCALE}\n#pragma keet launch scale_each<<<{launch}>>>(arg0, 96, 128, arg3)\n")
    return folder


def optimize(*words, status):
    done = subprocess.run([keet, "optimize-program", "--json", "--build", "make -j2", *words, *ARGUMENTS], text=True,
                          capture_output=True)
    check(done.returncode == status, done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout) if done.stdout else done.stderr


def contents(top):
    return {os.path.relpath(os.path.join(at, name), top): open(os.path.join(at, name), "rb").read()
            for at, _, names in os.walk(top) for name in names}


with tempfile.TemporaryDirectory() as top:
    shutil.copytree(f"{HERE}/solver", f"{top}/solver")
    os.chdir(f"{top}/solver")
    before = contents(".")

    # A wrong winner, and one that cannot be written back: neither the tree nor a patch comes of them.
    given = add_scale(winners(f"{top}/wrong", sum_rows=SHORT_SUM), "24, 512")
    found = optimize("--winners", given, "-o", f"{top}/out", status=3)
    by = {k["kernel"]: k for k in found["kernels"]}
    check(by["sum_rows"]["fate"] == by["scale_each"]["fate"] == "refused", found)
    check("step 0: sum" in by["sum_rows"]["why"], by["sum_rows"])
    check("launched in another way" in by["scale_each"]["why"], by)
    check(by["smooth"]["fate"] == "no gain" and "no winner" in by["smooth"]["why"], by)
    check(found["accepted"] is None and found["patch"] is None and found["speedup"] is None, found)
    check(by["sum_rows"]["source"] == "src/main.cu" and by["sum_rows"]["launches"] == 3, by)
    check(contents(".") == before, "the user's tree")

    # One right, one that is wrong from its second launch on, and one that the program cannot be built with,
    # since its host code has another function of a name that it takes: the right one stays, in place.
    given = add_scale(winners(f"{top}/mixed", sum_rows=FAST_SUM, smooth=ONCE_SMOOTH), "48, 256",
                      "__device__ int scale(float *, int, int, float) { return 1; }\n")
    found = optimize("--winners", given, "-o", f"{top}/out", "--in-place", status=0)
    by = {k["kernel"]: k for k in found["kernels"]}
    check(by["sum_rows"]["fate"] == "taken" and by["smooth"]["fate"] == "refused", found)
    check("step 1: sum" in by["smooth"]["why"], by["smooth"])
    check(by["scale_each"]["fate"] == "refused" and
          "the build (make -j2) ended with status" in by["scale_each"]["why"], by["scale_each"])
    check(found["times"] == "modelled" and found["speedup"] > 1.1, found)
    check(found["after_ns"] < found["before_ns"] and by["sum_rows"]["after_ns"] <
          by["sum_rows"]["before_ns"], found)
    check(0 < found["changed_share"] < 1 and found["compared"]["files"] == 1, found)
    check(found["compared"]["not_compared"] >= 2, found)  # the time of the run, the time of day
    check(sorted(by["sum_rows"]["files"]) == ["include/kernels.cuh", "src/main.cu"], by["sum_rows"])
    after = contents(".")
    check(sorted(name for name in after if after[name] != before.get(name)) ==
          ["include/kernels.cuh", "src/main.cu"], sorted(after))
    accepted = contents(found["accepted"])
    check(all(accepted[name] == after[name] for name in after), "the accepted copy")
    check(subprocess.run(["patch", "-p0", "-R", "--dry-run", "-i", found["patch"]],
                         capture_output=True).returncode == 0, "the diff is that of the tree")

    # A folder of somebody else's is not taken.
    os.makedirs(f"{top}/notes/mine")
    check("optimize-program did not make it" in optimize("-o", f"{top}/notes", status=1), "notes")
print("the whole way")
