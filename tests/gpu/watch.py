"""What the tests of whole runs on the software driver share: a kernel, and a watch over the processes
of a run."""
import ctypes
import os
import struct
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
                if state != "Z" and (pid in self.pids or alive(pid)):  # once a worker, it is one to its end
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


class Opens:
    """Counts how often a file is opened, however briefly: each worker process opens the driver once.
    The kernel joins events that are equal and follow each other, which an open and its close are
    not."""

    OPEN, CLOSE_UNWRITTEN, NONBLOCK = 0x20, 0x10, 0o4000  # IN_OPEN, IN_CLOSE_NOWRITE, IN_NONBLOCK
    HEAD = struct.Struct("iIII")  # struct inotify_event

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        self.events = libc.inotify_init1(self.NONBLOCK)
        watch = libc.inotify_add_watch(self.events, os.fsencode(path), self.OPEN | self.CLOSE_UNWRITTEN)
        if self.events < 0 or watch < 0:
            raise OSError(ctypes.get_errno(), "inotify", path)

    def count(self):
        """How many since it was made, once."""
        nr, data = 0, os.read(self.events, 1 << 20)
        os.close(self.events)
        while data:
            _, mask, _, name = self.HEAD.unpack_from(data)
            nr += bool(mask & self.OPEN)
            data = data[self.HEAD.size + name:]
        return nr


def alive(pid):
    try:
        with open(f"/proc/{pid}/maps") as file:
            return "libkeet-cuda" in file.read()
    except OSError:
        return False
