"""init, patch and a run as a person uses them on files with host code.

    verbs.py KEET-OPT

init overwrites no file unasked; patch says what to do with a file that has no host code; a file that says its task itself
beside its host code is run, searched and written back."""

import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def check(true, *what):
    if not true:
        sys.exit("verbs.py: " + " ".join(str(part) for part in what))


def run(program, *words, cwd, code=0):
    done = subprocess.run([program, *words], cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
    check(done.returncode == code, words, done.returncode, done.stdout, done.stderr)
    return done


def asked(program, answer, cwd):
    """init on a terminal, where a person answers."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([program, "init", "matvec.cu", "-o", "task.cu"], cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    while b"[y/N]" not in text:
        text += os.read(ours, 4096)
    os.write(ours, answer)
    try:
        while chunk := os.read(ours, 4096):
            text += chunk
    except OSError:  # its end, on Linux
        pass
    os.close(ours)
    return child.wait(), text.decode()


def overwriting(program, cwd):
    task = cwd / "task.cu"
    shutil.copy(HERE / "matvec.cu", cwd)
    run(program, "init", "matvec.cu", "-o", "task.cu", cwd=cwd)
    written = task.read_text()
    task.write_text("// mine\n")
    said = run(program, "init", "matvec.cu", "-o", "task.cu", cwd=cwd, code=1).stderr
    check("task.cu is there already" in said and "--force" in said, said)
    check(task.read_text() == "// mine\n", "overwritten")
    said = run(program, "init", "matvec.cu", "-o", "./matvec.cu", "--force", cwd=cwd, code=1).stderr
    check("is the file that is read" in said and (cwd / "matvec.cu").read_text() == (HERE / "matvec.cu").read_text(), said)
    shutil.copy(HERE.parents[1] / "kernels/saxpy.cu", cwd / "task.keet.cu")
    said = run(program, "patch", "task.keet.cu", "matvec.cu", cwd=cwd, code=1).stderr
    check("swapped" in said and "keet-opt patch matvec.cu task.keet.cu" in said, said)
    code, said = asked(program, b"\n", cwd)
    check(code == 1 and "stays as it is" in said and task.read_text() == "// mine\n", code, said)
    code, said = asked(program, b"y\n", cwd)
    check(code == 0 and task.read_text() == written, code, said)
    task.write_text("// mine\n")
    run(program, "init", "matvec.cu", "-o", "task.cu", "--force", cwd=cwd)
    check(task.read_text() == written, "--force")
    run(program, "init", "matvec.cu", "-o", "/dev/null", cwd=cwd)


def no_host_code(program, cwd):
    shutil.copy(HERE / "../kernels/scale.cu", cwd)
    shutil.copy(cwd / "scale.cu", cwd / "best.cu")
    said = run(program, "patch", "scale.cu", "best.cu", cwd=cwd, code=1).stderr
    check("scale.cu has no host code" in said and "cp best.cu scale.cu" in said and "export" in said, said)


def own_task(program, cwd):
    shutil.copy(HERE / "patch/own_task.cu", cwd)
    text = (cwd / "own_task.cu").read_text()
    init = run(program, "init", "own_task.cu", cwd=cwd)
    check("says its task itself" in init.stderr and init.stdout.count("#pragma keet") == 7, init.stderr, init.stdout)
    for number, line in enumerate(init.stdout.splitlines()):  # each line is where it was, or blank
        check(line in ("", text.splitlines()[number]), number, line)
    for word in ("cudaMalloc", "main(", "vector"):
        check(word not in init.stdout, word)
    check("own_task.cu: ok" in run(program, "run", "own_task.cu", cwd=cwd).stdout, "run")
    said = run(program, "own_task.cu", "--device", "emu", "--budget", "6", cwd=cwd).stdout
    check("own_task.patched.cu" in said and "own_task.patch" in said, said)
    patched = (cwd / "own_task.patched.cu").read_text()
    check("int main()" in patched and "std::vector" in patched and patched.count("#pragma keet launch") == 1, patched)
    check("own_task.patched.cu: ok" in run(program, "run", "own_task.patched.cu", cwd=cwd).stdout, "run of the patched")
    (cwd / "broken.cu").write_text(text.replace("pragma keet out    S", "pragma keet out    S :"))
    check("broken.cu:12:" in run(program, "run", "broken.cu", cwd=cwd, code=1).stderr, "lines keep their numbers")
    check("the same" in run(program, "patch", "own_task.cu", "own_task.cu", cwd=cwd).stdout, "patch with itself")


def main():
    program = sys.argv[1]
    for test in (overwriting, no_host_code, own_task):
        with tempfile.TemporaryDirectory() as folder:
            test(program, pathlib.Path(folder))


if __name__ == "__main__":
    main()
