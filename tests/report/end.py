#!/usr/bin/env python3
"""The end of a run: what stands first, sums that are right, one and many, narrow terminals; and the
output file, which no worse run and no run at all of another database takes away."""
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

SECTIONS = ["The moves that led there", "What limits it now", "What to try", "Where things are"]
ONE_SHAPE = """#pragma keet in x : f32[4096]
#pragma keet out y : f32[4096]
#pragma keet launch twice<<<64, 64>>>(x, y)
__global__ void twice(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
}
"""


def check(true, *what):
    if not true:
        sys.exit("end.py: " + " ".join(str(part) for part in what))


def run(keet, *words, cwd, code=0):
    done = subprocess.run([keet, *words], cwd=cwd, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, timeout=600)
    check(code is None or done.returncode == code, words, done.returncode, done.stdout, done.stderr)
    return done


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def search(keet, cwd, *words, kernel="row_sum.cu"):
    common = ["--device", "emu", "--no-memory"]
    return run(keet, kernel, *common, *words, cwd=cwd).stdout


def sums(text):
    """30 variants evaluated: 28 right, 2 race; 4 more compiled to the same as one of them"""
    counts = re.search(r"(\d+) variants? evaluated: ([^;]*);", text.replace("\n", " "))
    check(counts, "no counts", text)
    parts = [int(number) for number in re.findall(r"(\d+) [a-z]", counts.group(2))]
    check(sum(parts) == int(counts.group(1)), "the sum is wrong", counts.group(0))
    wrong = re.search(r"\b1 (variants|shapes|runs|moves|pairs|calls)\b", text)
    check(not wrong, wrong)


def order(keet, cwd):
    text = search(keet, cwd, "--budget", "12")
    check(re.match(r"row_sum\.cu: [\d.]+x modelled speedup, ", text), text)
    places = [text.index(section) for section in SECTIONS]
    check(places == sorted(places), places, text)
    check("What changed" not in text and "\n--- " not in text, "tables without -v", text)
    check("keet-opt diff row_sum.keet.db original best" in text, text)
    check("--resume --budget 24" in text, text)
    sums(text)
    status = run(keet, "status", "row_sum.keet.db", cwd=cwd).stdout
    sums(status.replace("\n", ";\n"))
    said = json.loads(search(keet, cwd, "--budget", "12", "--json"))
    check(sum(said["verdicts"].values()) == said["nodes"], said["verdicts"])
    check(said["evaluated"] == said["nodes"] - sum(said["recalled"].values()), said["recalled"])
    text = search(keet, cwd, "--budget", "2", "-v")
    check("What changed" in text and "\n--- row_sum.cu\n+++ row_sum.keet.cu\n@@ " in text, text)
    path = search(keet, cwd, "--budget", "40").partition(SECTIONS[0])[2].partition("\n\n")[0]
    gains = [1.0] + [float(number) for number in re.findall(r"node \d+ +([\d.]+)x", path)]
    check(len(gains) > 1 and all(b > a * 1.004 for a, b in zip(gains, gains[1:])), path)


def one(keet, cwd):
    """A kernel of one size: one shape, one evaluation; and nothing gained by it."""
    with open(os.path.join(cwd, "twice.cu"), "w", encoding="utf-8") as file:
        file.write(ONE_SHAPE)
    text = search(keet, cwd, "--budget", "1", kernel="twice.cu")
    check("verified on 1 shape in" in text or "by more than 1%" in text, text)
    check(re.search(r"\b1 variant evaluated: 1 right;", text), text)
    sums(text)
    text = search(keet, cwd, "--budget", "1", "--policy", "random", "--seed", "2", "--db",
                  "random.db")
    check("No variant was faster than the original by more than 1% (" in text, text)
    check(SECTIONS[0] not in text and "speedup" not in text, text)
    said = run(keet, "report", "random.db", "--md", cwd=cwd).stdout
    check("more than 1%" in said, said)


def kept(keet, cwd):
    """A worse run leaves the file as it is; what the user wrote is moved aside, and named."""
    first = search(keet, cwd, "--budget", "1", "--db", "kept.db", "-o", "kept.cu")
    best = read(cwd, "kept.cu")
    worse = ["--budget", "1", "--db", "kept.db", "-o", "kept.cu", "--policy", "random"]
    text = search(keet, cwd, *worse)
    check(read(cwd, "kept.cu") == best, "a worse run took the file")
    speedup = re.search(r"([\d.]+)x modelled", first).group(1)
    check(re.search(rf"this run: 1\.\d\dx; kept: {speedup}x of run 1, node 1; kept.cu is unchanged",
                    text.replace("\n ", "")), text)
    check("What limits the kept kernel now" in text and "best --run 1" in text, text)
    check("kept.cu.1" not in os.listdir(cwd), "moved though it is of the database")
    said = json.loads(search(keet, cwd, *worse, "--json"))
    check(said["kept"]["run"] == 1 and said["kept"]["node"] == 1 and said["run"] == 3, said["kept"])
    check(f"kept: {speedup}x of run 1" in search(keet, cwd, *worse, "-q"), "-q")
    os.remove(os.path.join(cwd, "kept.cu"))
    check("kept.cu holds that one again" in search(keet, cwd, *worse), "put back")
    check(read(cwd, "kept.cu") == best, "not put back")
    for number in ("1", "2"):
        with open(os.path.join(cwd, "kept.cu"), "w", encoding="utf-8") as file:
            file.write("// by hand " + number)
        text = search(keet, cwd, *worse)
        check(f"kept.cu.{number}" in text, text)
        check(read(cwd, "kept.cu." + number) == "// by hand " + number, "lost")
        check(read(cwd, "kept.cu") == best, "not the best")
    # another text is another contract: its own best goes to the file
    with open(os.path.join(cwd, "row_sum.cu"), "a", encoding="utf-8") as file:
        file.write("// changed\n")
    text = search(keet, cwd, *worse)
    check("kept:" not in text and read(cwd, "kept.cu") != best, text)
    before = read(cwd, "row_sum.cu")
    text = search(keet, cwd, "--budget", "1", "--db", "other.db", "-o", "row_sum.cu")
    check(read(cwd, "row_sum.cu.1") == before and "row_sum.cu.1" in text, text)
    shutil.move(os.path.join(cwd, "row_sum.cu.1"), os.path.join(cwd, "row_sum.cu"))


def on_terminal(keet, cwd, columns, words):
    """What a terminal of so many columns gets: both streams in one."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen([keet, "row_sum.cu", "--device", "emu", *words],
                             cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    try:
        while chunk := os.read(ours, 65536):
            text += chunk
    except OSError:  # its end, on Linux
        pass
    os.close(ours)
    check(child.wait() == 0, text)
    return text.decode()


def narrow(keet, cwd):
    for columns in (80, 50):
        text = on_terminal(keet, cwd, columns, ["--budget", "12", "--seed", "7"])
        live = re.findall(r"\[\d+/12\] fastest so far [^\r\n]*?(?=\r|\x1b|\[)", text)
        check(live, "no live line", text)
        check(all(len(line) < columns for line in live), columns, live)
        summary = text[text.index("row_sum.cu: "):].replace("\r\n", "\n")
        long = [line for line in summary.split("\n")
                if len(line) > columns and not re.match(r" *(node|keet-opt) ", line)]
        check(not long, columns, long)
    said = run(keet, "row_sum.cu", "--device", "emu", "--budget", "12", cwd=cwd)
    check("\r" not in said.stderr and "\x1b" not in said.stderr, "a live line in a file")


def main():
    keet, root = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as cwd:
        shutil.copy(f"{root}/tests/kernels/row_sum.cu", cwd)
        order(keet, cwd)
        one(keet, cwd)
        kept(keet, cwd)
        narrow(keet, cwd)


if __name__ == "__main__":
    main()
