#!/usr/bin/env python3
"""bench/model/arms.py with a command that gives the same answer always: folders, resumed runs, the table.

usage: arms.py ROOT KEET_OPT"""

import os
import subprocess
import sys
import tempfile

KERNEL = """#pragma keet size N = 4096
#pragma keet check N = 77
#pragma keet in x : f32[N] = uniform(-1, 1)
#pragma keet out y : f32[N]
#pragma keet work flops = N, bytes = 8*N
#pragma keet launch scale<<<ceil_div(N, BLOCK), BLOCK>>>(x, y, N)
__global__ void scale(const float *x, float *y, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        y[i] = FACTOR * x[i];
}
"""


def kernel(block, factor):
    return KERNEL.replace("BLOCK", str(block)).replace("FACTOR", str(factor))


def main():
    root, keet_opt = sys.argv[1:]
    driver = os.path.join(root, "bench", "model", "arms.py")
    with tempfile.TemporaryDirectory() as folder:
        def put(name, text):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)

        def run(*words):
            return subprocess.run([sys.executable, driver, *words], cwd=folder, check=True, capture_output=True,
                                  text=True).stdout

        put("two.cu", kernel(1, 2))
        put("three.cu", kernel(1, 3))
        # The first answer is better than the original, the others decline.
        put("ask", "cat > $1/prompt; echo x >> $1/n\n"
                   "if [ $(wc -l < $1/n) != 1 ]; then echo 'DECLINE: done'; exit; fi\n"
                   "echo 'MOVE: much-broader-blocks'; echo '```cuda'\n"
                   "if grep -q '2 \\* x' $1/prompt; then cat two.wide; else cat three.wide; fi; echo '```'\n")
        put("two.wide", kernel(64, 2))
        put("three.wide", kernel(128, 3))
        arms = [word for arm in ("ours", "no_feedback", "other_kernel", "episodes") for word in ("--arm", arm)]
        command = ["run", "--out", "out", "--ask", f"cd {folder}; sh ask", "--calls", "2", "--repeats", "1", "--jobs",
                   "2", "--keet-opt", keet_opt, *arms, "two.cu", "three.cu"]
        # An answer that does not depend on which run asks.
        put("alike", "cat > $1/prompt\nif grep -q much-broader-blocks $1/prompt; then echo 'DECLINE: done'; exit; fi\n"
                     "echo x >> designs; echo 'MOVE: much-broader-blocks'; echo '```cuda'\n"
                     "if grep -q '2 \\* x' $1/prompt; then cat two.wide; else cat three.wide; fi; echo '```'\n")
        shared = ["run", "--out", "shared", "--ask", f"cd {folder}; sh alike", "--share", "--jobs", "2", "--keet-opt", keet_opt,
                  "--arm", "ours", "--arm", "no_best", "two.cu", "three.cu", "--calls"]
        said = run(*command)
        assert said.count(": done\n") == 8, said
        assert run(*command).count(": done before\n") == 8
        assert len(os.listdir(os.path.join(folder, "out", "asked"))) == 8
        text = run("table", "--out", "out")
        print(text)
        assert "| ours | 2 | " in text and "| other_kernel | 2 | 1.000 | 0, 2, 0 | 1 | 1 |" in text, text
        assert "donors" not in text

        # Two arms begin with the same prompt: it is asked once a task. More calls take runs that are done further.
        assert run(*shared, "1").count(": done\n") == 4
        with open(os.path.join(folder, "designs"), encoding="utf-8") as file:
            assert len(file.readlines()) == 2
        assert "| no_best | 2 | 1.000 | 0, 2, 0 | 1 | 1 |" in run("table", "--out", "shared")
        assert run(*shared, "1").count(": done before\n") == 4
        assert run(*shared, "2").count(": done\n") == 4


if __name__ == "__main__":
    main()
