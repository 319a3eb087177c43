#!/usr/bin/env python3
"""usage: held.py keet-opt KERNELS
Jobs that Slurm takes and then does not start: on nodes that fail to launch them, held by a person, asking
for what the cluster no longer has. The campaign says so while it waits, submits again what Slurm put
aside, gives up after four times with the reason, and --retry goes on when all is mended."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from cluster import Cluster, wait_until

PROGRAM, KERNELS = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])


class Run:
    """A campaign under way; `said` is its standard error up to now."""

    def __init__(self, cluster, command, log):
        self.cluster, self.log = cluster, log
        with open(log, "wb") as errors:
            self.process = subprocess.Popen(command, env=cluster.env, stdout=subprocess.DEVNULL,
                                            stderr=errors)

    def said(self):
        return self.log.read_text(errors="replace")

    def wait_for(self, words, during=lambda: None, seconds=120):
        def there():
            during()
            return words in self.said() or self.process.poll() is not None

        wait_until(there, seconds, words, step=0.5)
        assert words in self.said(), self.said()

    def end(self, during=lambda: None, seconds=180):
        def over():
            during()
            return self.process.poll() is not None

        wait_until(over, seconds, "the campaign's end", step=0.5)
        assert self.process.returncode == 0, (self.process.returncode, self.said())

    def queue(self):
        rows = self.cluster.run("squeue", "--noheader", "--array", "--states=pending,running",
                                "--format=%F_%K|%T|%r") or ""
        return [line.split("|") for line in rows.splitlines()]


def tasks(folder):
    return json.loads((folder / "state.json").read_text())["tasks"]


def last(task):
    return task["slices"][-1]


def cannot_launch(cluster, command, folder):
    """The prolog fails: Slurm holds the job and takes the node away; we bring the node back."""
    def mend():
        cluster.set_nodes("State=RESUME")

    cluster.break_nodes(True)
    campaign = Run(cluster, command, folder / "launch.log")
    campaign.wait_for("(launch failed requeued held)", mend)
    campaign.end(mend)
    for name, task in tasks(folder / "out").items():
        assert "Slurm held its job 4 times (last: launch failed requeued held)" \
            in last(task)["problem"], (name, task)
    assert campaign.queue() == [], campaign.queue()
    cluster.break_nodes(False)
    wait_until(lambda: mend() or cluster.is_ready(), 60, "both nodes idle")


def held_by_a_person(cluster, command, folder):
    """With --retry, since all tasks failed before."""
    campaign = Run(cluster, [*command, "--retry", "--slurm", "--hold"], folder / "hold.log")
    campaign.wait_for("`scontrol release ")
    time.sleep(11)  # two more looks: nothing is submitted again
    queue = campaign.queue()
    assert len(queue) == 2 and all(state == "PENDING" for _, state, _ in queue), queue
    assert all(reason in ("JobHeldUser", "JobHeldAdmin") for _, _, reason in queue), queue
    for job, _, _ in queue:
        assert cluster.run("scontrol", "release", job) is not None, job
    campaign.end()
    for name, task in tasks(folder / "out").items():
        assert not last(task)["problem"] and last(task)["right"] == 3, (name, task)


def bad_constraints(cluster, command, folder):
    """While the jobs wait, the nodes lose what they ask for; submitted again, they fit."""
    campaign = Run(cluster, [*command, "--slurm", "--hold --constraint=keet"], folder / "fit.log")
    queue = wait_until(lambda: len(campaign.queue()) == 2 and campaign.queue(), 60, "two jobs")
    cluster.set_nodes("AvailableFeatures=other", "ActiveFeatures=other")
    cluster.run("scontrol", "release", *(job for job, _, _ in queue))
    campaign.wait_for("(BadConstraints)")
    cluster.set_nodes("AvailableFeatures=keet", "ActiveFeatures=keet")
    campaign.end(lambda: [cluster.run("scontrol", "release", job)  # held again, as was asked for
                          for job, _, reason in campaign.queue() if reason.startswith("JobHeld")])
    for name, task in tasks(folder / "fit").items():
        assert not last(task)["problem"] and last(task)["right"] == 3, (name, task)


def main():
    with Cluster() as cluster, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        text = (KERNELS / "sum.cu").read_text().splitlines()
        text = ["#pragma keet size N = 32768" if "keet size" in line else line for line in text]
        (folder / "sum.cu").write_text("\n".join(text) + "\n")
        (folder / "list.txt").write_text(
            f"--device emu --budget 3 --cache {folder}/cache\nsum.cu --seeds 1,2\n")
        command = [PROGRAM, "campaign", str(folder / "list.txt"), "--rounds", "1", "--resume",
                   "--executor", "slurm"]
        here = [*command, "--out", str(folder / "out")]
        cannot_launch(cluster, here, folder)
        held_by_a_person(cluster, here, folder)
        bad_constraints(cluster, [*command, "--out", str(folder / "fit")], folder)


main()
