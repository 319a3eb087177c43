#!/usr/bin/env python3
"""usage: campaign.py keet-opt KERNELS
A campaign of eight tasks through a real Slurm on this machine: one node crashes in the middle (its
daemon and all that it runs die by kill -9) and comes back, a task is put back into the queue, and
the campaign itself is stopped, killed and resumed. Every task ends with the score that it has when the same
campaign runs without Slurm, and no array of jobs is submitted twice."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from cluster import Cluster, descendants, wait_until

PROGRAM, KERNELS = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
ROUNDS, NR_TASKS = 2, 8


def make_tasks(folder):
    """Small sizes, and a tool that takes its time: jobs last seconds without work for a processor."""
    for name in ("sum", "dot", "saxpy"):
        lines = (KERNELS / f"{name}.cu").read_text().splitlines()
        lines = ["#pragma keet size N = 32768" if "keet size" in line else line for line in lines]
        (folder / f"{name}.cu").write_text("\n".join(lines) + "\n")
    (folder / "tools").mkdir()
    tool = folder / "tools/slow"
    tool.write_text("#!/bin/sh\nsleep 0.7\n")
    tool.chmod(0o755)
    (folder / "list.txt").write_text(
        f"--device emu --budget 6 --cache {folder}/cache --tools {folder}/tools\n"
        "sum.cu --seeds 1,2,3\ndot.cu --seeds 1,2,3\nsaxpy.cu --seeds 1,2\n")


def scores(folder):
    state = json.loads((folder / "state.json").read_text())
    assert state["ended"] == "complete", state["ended"]
    return {name: [(s["target"], s["evaluated"], s["right"], s["speedup"], s["problem"])
                   for s in task["slices"]] for name, task in state["tasks"].items()}


class Queue:
    """What squeue says of the campaign's jobs: one row for each task of an array."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.tasks = set()  # (job, index) of all that were seen
        self.stopped = set()  # jobs that are of no interest any more

    def rows(self):
        text = self.cluster.run("squeue", "--noheader", "--array", "--states=all",
                                "--format=%F|%K|%T|%N") or ""
        rows = [line.split("|") for line in text.split()]
        self.tasks |= {(job, index) for job, index, _, _ in rows if job not in self.stopped}
        return rows

    def running(self, node):
        return next((f"{job}_{index}" for job, index, state, where in self.rows()
                     if state == "RUNNING" and where == node), None)

    def hurry(self):
        """Slurm lets what it put back into the queue wait for two minutes."""
        for job, index, state, _ in self.rows():
            if state == "PENDING":
                self.cluster.run("scontrol", "update", f"JobId={job}_{index}", "StartTime=now")


def crash(cluster, node):
    """All processes of the node: its daemon, those that watch over its jobs, then the jobs."""
    cluster.kill_node(node)
    jobs, watchers = set(), set()
    for pid in descendants(os.getpid()):
        process = pathlib.Path(f"/proc/{pid}")
        try:
            if f"SLURMD_NODENAME={node}\0".encode() in (process / "environ").read_bytes():
                jobs.add(pid)
                watchers.add(int((process / "stat").read_text().rpartition(")")[2].split()[1]))
        except OSError:
            continue
    for pid in [*(watchers - jobs - {os.getpid()}), *jobs]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def expect_error(command, words, **keywords):
    done = subprocess.run(command, text=True, capture_output=True, timeout=100, check=False,
                          **keywords)
    assert done.returncode == 1 and words in done.stderr, (done.returncode, done.stderr)


def test_refusals(cluster, command):
    """Said in clear words, and nothing is left behind."""
    empty = dict(os.environ, PATH="/nowhere")
    expect_error(command, "sbatch is not found in PATH", env=empty)
    expect_error([*command, "--slurm", "-p nowhere"], "invalid partition", env=cluster.env)
    assert cluster.run("squeue", "--noheader", "--states=all").strip() == ""


class Campaign:
    """keet-opt campaign as a process that is begun, ended and begun again."""

    def __init__(self, queue, command):
        self.queue, self.command, self.process = queue, command, None

    def start(self):
        self.process = subprocess.Popen(self.command, env=self.queue.cluster.env,
                                        stdout=subprocess.DEVNULL)

    def end(self, number):
        self.process.send_signal(number)
        return self.process.wait(timeout=150)

    def go_on(self):
        def over():
            self.queue.hurry()
            return self.process.poll() is not None

        try:
            wait_until(over, 150, "the campaign's end", step=0.5)
        except TimeoutError:
            print(self.queue.cluster.run("squeue", "--array", "--states=all"))
            print((self.queue.cluster.folder / "slurmctld.out").read_text()[-6000:])
            raise
        assert self.process.returncode == 0, self.process.returncode


def run_with_trouble(cluster, command):
    queue = Queue(cluster)
    campaign = Campaign(queue, command)
    campaign.start()
    wait_until(lambda: queue.running("keet1"), 60, "a task on keet1")
    assert campaign.end(signal.SIGTERM) == 1
    live = [row for row in queue.rows() if row[2] in ("PENDING", "RUNNING")]
    assert not live, live
    queue.stopped = {job for job, _ in queue.tasks}
    queue.tasks.clear()

    campaign.start()
    task = wait_until(lambda: queue.running("keet1"), 60, "a task on keet1")
    assert cluster.run("scontrol", "requeue", task) is not None, task
    wait_until(lambda: queue.running("keet2"), 60, "a task on keet2")
    crash(cluster, "keet2")
    campaign.end(signal.SIGKILL)  # the other node goes on
    time.sleep(1)
    campaign.start()
    time.sleep(cluster.blind_s + 2)
    cluster.start_node("keet2")
    campaign.go_on()
    return queue


def main():
    with Cluster() as cluster, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_tasks(folder)
        command = [PROGRAM, "campaign", str(folder / "list.txt"), "--rounds", str(ROUNDS), "-q", "--trust",
                   "--resume"]
        local = [*command, "--jobs", "8", "--out", str(folder / "local")]
        subprocess.run(local, check=True, stdout=subprocess.DEVNULL, timeout=200)
        command += ["--out", str(folder / "slurm"), "--executor", "slurm", "--gres", "gpu:1"]
        test_refusals(cluster, command)
        queue = run_with_trouble(cluster, [*command, "--slurm", "--time=5 --comment='two words'"])

        # Each task was a job once in each round; one more may be for what the crash took.
        assert 0 <= len(queue.tasks) - NR_TASKS * ROUNDS <= 1, sorted(queue.tasks)
        expected, got = scores(folder / "local"), scores(folder / "slurm")
        assert len(expected) == NR_TASKS and expected == got, (expected, got)
        assert any(slices[-1][3] > 1 for slices in got.values()), got
        left = [p.name for p in (folder / "slurm/slurm").iterdir()
                if p.suffix in (".list", ".sh", ".exit")]
        assert not left, left


main()
