"""What the tests of whole runs on the software driver share: a kernel, and a watch over the processes
of a run."""
import os
import threading
import time

ORIGINAL = """\
#pragma keet size  N = 4096
#pragma keet check N = 300
#pragma keet in    A : f32[N]
#pragma keet out   C : f32[N]
#pragma keet launch twice<<<ceil_div(N, 128), 128>>>(A, C, N)
extern "C" __global__ void twice(const float *A, float *C, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        C[i] = A[i] * 2;
}
"""


def save_reply(purpose, number, text):
    """One answer of --model script:script."""
    os.makedirs("script", exist_ok=True)
    with open(f"script/{purpose}-{number}.md", "w") as file:
        file.write("```cuda\n" + text + "```\n")


class Watch(threading.Thread):
    """Counts the run's worker processes, which are those that hold the driver, and how long the dead
    stay unfetched."""

    def __init__(self, pid):
        super().__init__()
        self.pid, self.most, self.pids, self.longest_dead = pid, 0, set(), 0.0
        self.ended, self.dead_since = threading.Event(), {}

    def children(self):
        """Of all threads of the run."""
        found = set()
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{thread}/children") as file:
                found |= {int(pid) for pid in file.read().split()}
        return found

    def look(self):
        workers, now = set(), time.monotonic()
        for pid in self.children():
            try:
                with open(f"/proc/{pid}/stat") as file:
                    state = file.read().rsplit(")", 1)[1].split()[0]
                with open(f"/proc/{pid}/maps") as file:
                    if state != "Z" and "libkeet-cuda" in file.read():
                        workers.add(pid)
            except OSError:
                continue
            if state == "Z":
                since = self.dead_since.setdefault(pid, now)
                self.longest_dead = max(self.longest_dead, now - since)
        self.most = max(self.most, len(workers))
        self.pids |= workers

    def run(self):
        while not self.ended.is_set():
            try:
                self.look()
            except OSError:
                pass
            time.sleep(0.003)


def alive(pid):
    try:
        with open(f"/proc/{pid}/maps") as file:
            return "libkeet-cuda" in file.read()
    except OSError:
        return False
