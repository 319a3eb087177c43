"""usage: gpus.py keet-opt libkeet-cuda.so

Several GPUs, on a software driver that has three: the same tree as with one at the same --in-flight,
one worker process for each at the same time, and a GPU belongs to one run at a time."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from watch import Watch


def start(program, name, *options):
    process = subprocess.Popen(
        [program, "saxpy.cu", "--budget", "8", "--seed", "5", "--db", name + ".db", "--json",
            "-o", name + ".cu", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watch = Watch(process.pid)
    watch.start()
    return process, watch


def end(process, watch):
    output, errors = process.communicate()
    watch.ended.set()
    watch.join()
    return process.returncode, output, errors


def must(process, watch):
    status, output, errors = end(process, watch)
    assert status == 0, errors
    return json.loads(output)


def locks_of(pid):
    """How many GPUs that run holds."""
    return sum(path.read_text() == f"{pid}\n" for path in pathlib.Path().glob("keet-opt-gpu-*.lock"))


def main():
    program, driver = sys.argv[1:3]
    with open(os.path.dirname(os.path.abspath(__file__)) + "/../../kernels/saxpy.cu") as file:
        kernel = file.read()
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    with open("saxpy.cu", "w") as file:
        file.write(kernel.replace("N = 8388608", "N = 65536"))
    os.environ.update(KEET_CUDA_DRIVER=driver, KEET_LOCK_DIR=folder.name, KEET_CUDA_THREADS="1",
        KEET_CUDA_DEVICES="3", XDG_CACHE_HOME=folder.name)
    os.environ.pop("KEET_NVML", None)

    one = start(program, "one", "--gpus", "0", "--in-flight", "3")
    tree = must(*one)["tree"]
    assert one[1].most == 1, one[1].most

    # Two, and while they are at work the second one is taken and the third is not.
    two = start(program, "two", "--gpus", "2,0", "--in-flight", "3")
    while locks_of(two[0].pid) < 2 and two[0].poll() is None:
        time.sleep(0.01)
    status, _, errors = end(*start(program, "late", "--device", "gpu:2"))
    assert status == 1 and "in use by another keet-opt" in errors, errors
    assert f"process {two[0].pid})" in errors, errors
    assert two[0].poll() is None, "over too soon to tell"
    status, _, errors = end(*start(program, "other", "--device", "gpu:1", "--budget", "1"))
    assert status == 0, errors
    again = must(*two)
    assert two[1].most == 2, two[1].most
    assert again["evaluated"] == 8, again["evaluated"]
    assert again["tree"] == tree, (again["tree"], tree)

    status, _, errors = end(*start(program, "none", "--gpus", "0,3"))
    assert status == 1 and "there is no GPU 3" in errors, errors
    for wrong in ("0,0", "", "0,", "gpu:0", "-1", "64"):
        status, _, errors = end(*start(program, "none", "--gpus", wrong))
        assert status == 2 and "expected numbers of GPUs" in errors, (wrong, errors)
    status, _, errors = end(*start(program, "none", "--gpus", "0", "--device", "emu"))
    assert status == 2 and "--gpus" in errors, errors


main()
