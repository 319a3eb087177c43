#!/usr/bin/env python3
"""A model writes the first kernel of a task: a wrong one is sent back with what is wrong with it."""
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def check(true, what):
    if not true:
        sys.exit(f"write.py: {what}")


def keet(program, *args):
    return subprocess.run([program, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def script(folder, *kernels):
    """A model that answers with these, one after the other."""
    os.makedirs(folder)
    for i, kernel in enumerate(kernels):
        with open(os.path.join(folder, f"write-{i + 1}.md"), "w") as f:
            f.write(kernel if "```" in kernel or not kernel.startswith("#")
                    else f"Rows are independent.\n\n```cuda\n{kernel}```\n")
    return f"script:{folder}"


def main():
    program = sys.argv[1]
    with open(os.path.join(HERE, "kernels/level1/1.cu")) as f:
        right = f.read()
    wrong = right.replace("float sum = bias[c];", "float sum = 0;")
    broken = right.replace("int row = blockIdx.y,", "int row = blockIdy.y,")
    changed = "#pragma keet tolerance rel = 1, abs = 1\n" + wrong
    with tempfile.TemporaryDirectory() as folder:
        task = os.path.join(folder, "task.cu")
        shutil.copytree(os.path.join(HERE, "recorded"), folder, dirs_exist_ok=True)
        with open(task) as f:
            whole = f.read()
        contract = whole[:whole.index("#pragma keet tune")]
        with open(task, "w") as f:
            f.write(contract)
        first = os.path.join(folder, "task.first.cu")

        done = keet(program, task, "--budget", "1", "--db", os.path.join(folder, "run.db"))
        check(done.returncode == 1 and "no launch" in done.stderr, f"it runs: {done.stderr}")
        done = keet(program, "write", task)
        check(done.returncode == 1 and "--model" in done.stderr, done.stderr)

        model = script(os.path.join(folder, "bad"), wrong, broken, changed, "I would rather not.")
        done = keet(program, "write", task, "--model", model, "--device", "emu")
        check(done.returncode == 1 and "no kernel that is right after 4 tries" in done.stderr,
              f"a wrong kernel is taken: {done.stderr}")
        tries = [line for line in done.stderr.split("\n") if line.startswith("try ")]
        check(len(tries) == 4, done.stderr)
        check("does not compute what `expect` says" in tries[0], tries[0])
        check("blockIdy" in tries[1], tries[1])
        check("does not compute what `expect` says" in tries[2], f"own tolerance: {tries[2]}")
        check(not os.path.exists(first), "a wrong kernel is written")

        model = script(os.path.join(folder, "good"), wrong, right)
        done = keet(program, "write", task, "--model", model, "--device", "emu")
        check(done.returncode == 0 and done.stdout == first + "\n", done.stderr)
        with open(first) as f:
            written = f.read()
        check(written.startswith(contract) and "float sum = bias[c];" in written, written)
        left = set(os.listdir(folder)) - set(os.listdir(os.path.join(HERE, "recorded")))
        check(left == {"bad", "good", "task.first.cu"}, f"files are left: {left}")
        done = keet(program, first, "--budget", "1", "--device", "emu", "--db",
                    os.path.join(folder, "run.db"), "-o", os.path.join(folder, "best.cu"))
        check(done.returncode == 0, done.stderr)
        done = keet(program, "write", first, "--model", model)
        check(done.returncode == 1 and "has a kernel already" in done.stderr, done.stderr)


if __name__ == "__main__":
    main()
