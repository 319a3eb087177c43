"""A real Slurm on this machine for tests: munged, slurmctld and two slurmd with one made-up GPU each.

Everything lives in a temporary folder, on free ports, with a key and a socket of its own; nothing
of the system's configuration is read or changed. The programs are the system's, else those that
setup.sh unpacked. Runs as root or as any user. The daemons stay in the foreground as our children
and die when we do, by whatever death.

    with Cluster() as cluster:            # exits with 77, and says why, where there is no Slurm
        subprocess.run(["sbatch", ...], env=cluster.env)
"""

import atexit
import ctypes
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIP = 77
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")
UNPACKED = pathlib.Path(__file__).resolve().parents[2] / ".deps/slurm/usr"
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36

CONF = """\
ClusterName=keet
{plugins}SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=300
BatchStartTimeout=1
MessageTimeout=5
KillWait=2
SchedulerParameters=sched_interval=1,sched_min_interval=0,bf_interval=1
NodeName=keet[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{ports[1]}-{ports[2]}] CPUs=2 Gres=gpu:1 Features=keet
Prolog={folder}/prolog
PartitionName=tests Nodes=ALL Default=YES MaxTime=10 DefaultTime=5
"""


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def free_ports():
    """A free port, and two free ones that follow each other."""
    while True:
        with socket.socket() as a, socket.socket() as b, socket.socket() as c:
            a.bind(("127.0.0.1", 0))
            b.bind(("127.0.0.1", 0))
            try:
                c.bind(("127.0.0.1", b.getsockname()[1] + 1))
            except (OSError, OverflowError):
                continue
            return [s.getsockname()[1] for s in (a, b, c)]


def find_programs():
    """Where each program is, the variables that they need, and a line of slurm.conf."""
    search = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    programs = {name: shutil.which(name, path=search) for name in PROGRAMS}
    if all(programs.values()):
        return programs, {"PATH": search}, ""
    search = f"{UNPACKED}/bin:{UNPACKED}/sbin:{search}"
    programs = {name: shutil.which(name, path=search) or shutil.which(f"{name}-wlm", path=search)
                for name in (*PROGRAMS, "slurmstepd")}
    missing = [name for name, path in programs.items() if not path]
    plugins = next(UNPACKED.glob("lib/*/slurm-wlm"), None)
    if missing or not plugins:
        skip(f"no Slurm here ({' '.join(missing)} not found); on Debian, ./setup.sh gets it")
    libraries = [str(plugins), str(plugins.parent), os.environ.get("LD_LIBRARY_PATH", "")]
    variables = {"PATH": search, "LD_LIBRARY_PATH": ":".join(filter(None, libraries))}
    return programs, variables, f"PluginDir={plugins}\n"


def prctl(option, value):
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def wait_until(condition, seconds, what, step=0.1):
    """The condition's first true value; an error after so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(step)
    raise TimeoutError(f"{what}: not within {seconds} s")


def descendants(pid):
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found += [int(stat.parent.name)] + descendants(int(stat.parent.name))
    return found


class Cluster:
    nodes = ("keet1", "keet2")

    # A daemon that comes back says which jobs it has; those begun so recently may yet turn up there,
    # and are not missed (BatchStartTimeout + MessageTimeout, in seconds).
    blind_s = 6

    def __init__(self):
        self.children = {}

    def __enter__(self):
        self.programs, variables, plugins = find_programs()
        self.env = dict(os.environ, **variables)
        prctl(PR_SET_CHILD_SUBREAPER, 1)  # a job's slurmstepd outlives its slurmd, but not us
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        signal.signal(signal.SIGHUP, lambda *_: sys.exit(1))
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="keet-slurm."))
        atexit.register(self.stop)
        self.configure(plugins)
        try:
            self.start("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket",
                       f"--key-file={self.folder}/munge.key", f"--log-file={self.folder}/munge.log",
                       f"--pid-file={self.folder}/munge.pid", f"--seed-file={self.folder}/munge.seed")
            wait_until((self.folder / "munge.socket").exists, 20, "munged's socket")
            self.start("slurmctld", "-D", "-i", "-f", self.env["SLURM_CONF"])
            for node in self.nodes:
                self.start_node(node)
            wait_until(self.is_ready, 60, "both nodes idle")
        except (TimeoutError, OSError) as e:
            for log in sorted(self.folder.glob("*.out")):
                print(f"--- {log.name}\n{log.read_text(errors='replace')[-2000:]}")
            skip(f"Slurm does not start here: {e}")
        return self

    def configure(self, plugins):
        folder = self.folder
        folder.chmod(0o755)
        (folder / "state").mkdir()
        for node in self.nodes:
            (folder / f"spool.{node}").mkdir()
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o600)
        (folder / "slurm.conf").write_text(CONF.format(
            plugins=plugins, host=socket.gethostname().split(".")[0], folder=folder,
            ports=free_ports(), user=pwd.getpwuid(os.getuid()).pw_name))
        (folder / "gres.conf").write_text("NodeName=keet[1-2] Name=gpu File=/dev/null\n")
        (folder / "cgroup.conf").write_text("")
        # What a node does before a job; where it fails, the job is not started, and held.
        (folder / "prolog").write_text(f"#!/bin/sh\n[ ! -e {folder}/broken ]\n")
        (folder / "prolog").chmod(0o755)
        (folder / "bin").mkdir()
        for name, path in self.programs.items():  # they look at the names they are called by
            (folder / "bin" / name).symlink_to(path)
        self.env["SLURM_CONF"] = str(folder / "slurm.conf")

    def start(self, program, *arguments, name=None):
        name = name or program
        with open(self.folder / f"{name}.out", "ab") as log:
            self.children[name] = subprocess.Popen(
                [self.folder / "bin" / program, *arguments], env=self.env, cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log,
                preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL))

    def start_node(self, node):
        stepd = self.folder / "bin/slurmstepd"
        stepd = ["-d", stepd] if stepd.exists() else []
        self.start("slurmd", "-D", "-N", node, "-f", self.env["SLURM_CONF"], *stepd, name=node)

    def break_nodes(self, broken):
        """Whether jobs can be started on any node."""
        if broken:
            (self.folder / "broken").touch()
        else:
            (self.folder / "broken").unlink()

    def set_nodes(self, *words):
        for node in self.nodes:
            self.run("scontrol", "update", f"NodeName={node}", *words)

    def kill_node(self, node):
        """kill -9 of a node's daemon; its jobs go on without it."""
        child = self.children.pop(node)
        child.kill()
        child.wait()

    def run(self, *command):
        """Standard output of one of Slurm's commands, or None when it fails."""
        done = subprocess.run(command, env=self.env, text=True, capture_output=True, timeout=60,
                              check=False)
        return done.stdout if done.returncode == 0 else None

    def is_ready(self):
        for name, child in self.children.items():
            if child.poll() is not None:
                raise OSError(f"{name} ended with status {child.returncode}")
        states = self.run("sinfo", "-h", "-N", "-o", "%T")
        return states is not None and states.split() == ["idle"] * len(self.nodes)

    def stop(self):
        """All daemons, and all jobs that still run, are dead afterwards."""
        for _ in range(20):  # children of the dead become ours
            pids = descendants(os.getpid())
            if not pids:
                break
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                pass
            time.sleep(0.05)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __exit__(self, *_):
        self.stop()
