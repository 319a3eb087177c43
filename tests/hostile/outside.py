"""Cases outside kernels: streams, limits, names, databases, lists of campaigns."""
import os
import pty
import resource
import shutil
import signal
import sqlite3
import subprocess
import time

from cases import cases

CASES, case = cases()


def search(bench, budget=3, *words):
    """A small run."""
    bench.kernel()
    return bench.run("dot.cu", "--budget", str(budget), "-q", "--device", "emu", *words, status=0)


def on_terminal(bench, *words):
    """What a terminal gets of the program, which has no colours of its own there."""
    master, slave = pty.openpty()
    process = bench.start(*words, stdout=slave, stderr=slave, env=dict(os.environ, NO_COLOR="1"))
    os.close(slave)
    seen = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(master)
    process.wait()
    return seen


# --- streams ---

@case(20)
def full_disk_for_every_verb(bench):
    """A full disk at standard output is an error of every verb."""
    search(bench)
    shutil.copy(os.path.join(bench.source, "tests", "corpus", "grid2d.cu"), bench.path("host.cu"))
    bench.put("list.txt", "dot.cu --budget 1 --device emu\n")
    for words in (["run", "dot.cu", "--json", "--device", "emu"], ["runs", "dot.keet.db"],
                  ["show", "dot.keet.db", "best"], ["report", "dot.keet.db", "--as", "json", "-o", "-"],
                  ["explain", "dot.cu", "--device", "emu"], ["--help"], ["help", "run"], ["man"],
                  ["completion", "bash"], ["doctor"], ["status", "dot.keet.db"],
                  ["results", "dot.keet.db"], ["diff", "dot.keet.db", "0", "1"], ["--version"],
                  ["calls", "dot.keet.db"], ["export", "dot.keet.db", "--as", "header", "-o", "-"],
                  ["check", "dot.cu", "dot.cu", "--device", "emu"], ["compare", "dot.cu", "dot.cu", "--device", "emu"],
                  ["watch", "dot.keet.db", "--once"], ["run", "dot.cu", "--moves"], ["init", "host.cu"], ["campaign", "list.txt", "-q"],
                  ["dot.cu", "--budget", "1", "--json", "-q", "--db", "other.db", "--device", "emu"]):
        with open("/dev/full", "wb") as full:
            bench.run(*words, status=1, says="cannot write to standard output", stdout=full)


@case(5)
def reader_that_leaves(bench):
    """A reader that has what it wants is no error."""
    for words in (["man"], ["completion", "bash"]):
        process = bench.start(*words)
        process.stdout.read(10)
        process.stdout.close()
        process.stdout = None
        bench.end(process, status=0)


@case(5)
def closed_streams(bench):
    """Without standard streams the program still ends."""
    for redirection in (">&-", "2>&-", "<&-", ">&- 2>&- <&-"):
        status = subprocess.run(["sh", "-c", f"exec '{bench.keet}' --version {redirection}"],
                                stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False,
                                timeout=600).returncode
        bench.check(status in (0, 1), redirection, status)


# --- limits of files ---

@case(10)
def limit_of_file_size(bench):
    """Over the limit of a file's size: an error with a text, not a death by SIGXFSZ."""
    bench.kernel()
    bench.run("dot.cu", "--budget", "3", "-q", "--device", "emu", status=1, says="--resume",
              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000)))


@case(40)
def database_deleted(bench):
    """The database is deleted while the program runs: an error, and the best kernel is kept."""
    bench.kernel("matmul.cu")
    process = bench.start("matmul.cu", "--budget", "2000", "--window", "5000", "-q", "--device", "emu")
    while process.poll() is None:
        try:
            rows = sqlite3.connect("file:" + bench.path("matmul.keet.db") + "?mode=ro", uri=True)
            if rows.execute("SELECT count(*) FROM node WHERE speedup > 1.1").fetchone()[0] > 0:
                break
        except sqlite3.Error:
            pass
        time.sleep(0.05)
    for suffix in ("", "-wal", "-shm"):
        os.unlink(bench.path("matmul.keet.db" + suffix))
    said = bench.end(process, status=1, says="deleted or replaced")
    bench.check("the best kernel so far" in said, said)
    bench.check(os.path.getsize(bench.path("matmul.keet.cu")) > 100, "the best kernel is lost")


# --- names ---

@case(30)
def names_of_files(bench):
    """Names that mean something to a shell, a compiler, PTX or a terminal are names of files."""
    for name in ("./-x.cu", "ü.cu", "日本.cu", "a\nb.cu", 'a"b.cu', "a b(3).cu", "$(id).cu", "'.cu",
                 "%s%n.cu", "a\\.cu", "\udcff.cu", "\x1b[31m.cu", "-.cu", "a" * 200 + ".cu"):
        bench.kernel(to=name)
        path = name if not name.startswith("-") else "./" + name
        bench.run("run", path, "--json", "--device", "emu", status=0, says='"verdict": "ok"')
    with open(bench.path("dot.cu"), "wb") as file, open(bench.path("ü.cu"), "rb") as other:
        file.write(other.read().replace(b"float *x", b"flat *x"))
    os.rename(bench.path("dot.cu"), bench.path("ä\nb.cu"))
    bench.run("run", "ä\nb.cu", "--device", "emu", status=3, says='identifier "flat" is undefined')


# --- terminals ---

@case(20)
def control_characters(bench):
    """Control characters of foreign text never reach a terminal, and reach a file unchanged."""
    bad = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202e"
    bench.kernel()
    with open(bench.path("dot.cu"), encoding="utf-8") as file:
        text = file.read()
    bench.put("dot.cu", text + f"// {bad}\n")
    bench.run("dot.cu", "--budget", "3", "-q", "--device", "emu", status=0)
    for words in (["show", "dot.keet.db", "0"], ["diff", "dot.keet.db", "0", "1"],
                  ["run", "dot.cu", "--device", "emu"], ["explain", "dot.cu", "--device", "emu"],
                  ["runs", "dot.keet.db"], ["status", "dot.keet.db"], ["no\x1b[2Jverb.cu"],
                  ["--\x1b[2J"], ["report", "dot.keet.db", "--as", "md", "-o", "-"]):
        seen = on_terminal(bench, *words)
        bench.check(b"\x1b" not in seen and b"\x07" not in seen and b"\xc2\x9b" not in seen and
                    b"\xe2\x80\xae" not in seen, words, seen[-300:])
    bench.check(b"\xef\xbf\xbd" in on_terminal(bench, "show", "dot.keet.db", "0"), "nothing stands there")
    bench.run("show", "dot.keet.db", "0", status=0, says=bad)


# --- inputs ---

@case(10)
def inputs_from_strange_files(bench):
    """file() opens regular files only."""
    os.mkfifo(bench.path("fifo.npy"))
    os.mkdir(bench.path("folder.npy"))
    bench.kernel()
    with open(bench.path("dot.cu"), encoding="utf-8") as file:
        text = file.read()
    for name in ("fifo.npy", "folder.npy", "/dev/zero", "/dev/stdin", "/proc/self/mem", "/dev/tty"):
        bench.put("strange.cu", text.replace("X : f32[N] = uniform(0, 1)",
                                             f'X : f32[N] = file("{name}")'))
        bench.run("run", "strange.cu", "--device", "emu", status=(1, 3))


# --- databases ---

@case(20)
def databases_of_strangers(bench):
    """Each change to a database ends each verb with an error, at once."""
    search(bench)
    with open(bench.path("dot.keet.db"), "rb") as file:
        whole = file.read()
    for sql in ("UPDATE node SET number = 4000000000 WHERE number = 2",
                "ALTER TABLE node RENAME TO n; CREATE VIEW node AS WITH RECURSIVE r(id) AS "
                "(SELECT 1 UNION ALL SELECT id + 1 FROM r) SELECT * FROM r",
                "CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM node; END",
                "UPDATE node SET speedup = 9e999", "UPDATE measurement SET time_ns = -9e999",
                "UPDATE node SET parent = number", "UPDATE measurement SET nr_launches = 4000000000",
                "UPDATE evidence SET finding = finding + 4000000",
                "UPDATE finding SET severity = 99", "PRAGMA user_version = 99"):
        with open(bench.path("bad.db"), "wb") as file:
            file.write(whole)
        other = sqlite3.connect(bench.path("bad.db"))
        other.executescript(sql)
        other.close()
        bench.run("report", "bad.db", "-o", "bad.html", status=(0, 1))
        bench.run("dot.cu", "--resume", "--budget", "4", "-q", "--db", "bad.db", "--device", "emu",
                  status=1)


@case(10)
def databases_that_are_none(bench):
    """Text, an empty file, a folder, a pipe and a device are no databases."""
    search(bench, 1)
    os.mkdir(bench.path("folder.db"))
    bench.put("text.db", "no database\n" * 999)
    for name in ("folder.db", "text.db", "/dev/zero", "/dev/null", "absent.db"):
        bench.run("report", name, "-o", "x.html", status=(1, 2))


# --- lists of campaigns ---

@case(20)
def lists_that_start_programs(bench):
    """A list that starts programs asks for --trust, and so does a campaign of another."""
    bench.kernel()
    bench.put("tool.sh", "#!/bin/sh\ntouch ran\n")
    bench.put("list.txt", "dot.cu --budget 1 --device emu --model 'cmd:touch " + bench.path("ran") + "'\n")
    bench.run("campaign", "list.txt", "-q", status=1, says="--trust")
    bench.put("list.txt", "dot.cu --budget 1 --device emu --tools tools\n")
    bench.run("campaign", "list.txt", "-q", status=1, says="--trust")
    bench.check(not os.path.exists(bench.path("ran")), "the list ran a program")
    bench.run("campaign", "list.txt", "-q", "--out", "trusted", "--trust", never="give --trust")
    bench.run("campaign", "trusted", "-q", "--resume", status=1, says="--trust")


@case(10)
def lists_of_rubbish(bench):
    """Lists that are no lists."""
    for i, text in enumerate((b"\0", b"'" * 5000, b"--name\n", b"\xff\xfe\n", b"dot.cu --seeds 1-99999999\n",
                              b"dot.cu --seeds -\n", b"/dev/zero\n", b"list.txt\n", b"-o x\n" * 9)):
        bench.kernel()
        bench.put("list.txt", text)
        bench.run("campaign", "list.txt", "-q", "--out", f"c{i}", status=(0, 1, 2))


# --- signals ---

def has_nodes(database):
    """How many nodes a database has that may not be there yet."""
    try:
        opened = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
        try:
            return opened.execute("SELECT count(*) FROM node").fetchone()[0]
        finally:
            opened.close()
    except sqlite3.Error:
        return 0


@case(30)
def interrupts_of_a_search(bench):
    """Ctrl-C and SIGTERM end a search within a second, and what was found is kept."""
    for number in (signal.SIGINT, signal.SIGTERM):
        bench.kernel("matmul.cu")
        process = bench.start("matmul.cu", "--budget", "5000", "--window", "5000", "-q", "--device", "emu")
        while has_nodes(bench.path("matmul.keet.db")) < 2 and process.poll() is None:
            time.sleep(0.1)
        process.send_signal(number)
        begun = time.monotonic()
        bench.end(process, status=0)
        # A second on an idle machine; a busy one is no fault.
        bench.check(time.monotonic() - begun < 1 + 4 * bench.slow, time.monotonic() - begun)
        os.unlink(bench.path("matmul.keet.db"))


ENDLESS = """\
#pragma keet size   N = 4096
#pragma keet in     X : f32[N]
#pragma keet out    Y : f32[N]
#pragma keet launch f<<<64, 64>>>(X, Y, N)
__global__ void f(const float *x, float *y, int n)
{
    for (int i = 0; i < 100000000; i++)
        atomicAdd(&y[i % n], x[(i + 1) % n]);
}
"""


def processor_of(session):
    """Seconds of the processor of all processes of a session, and of those that they have waited for."""
    ticks = 0
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def interrupt(bench, words, moment, twice=False, number=signal.SIGINT):
    """A signal when the program has had the processor for `moment` seconds: what it then still took of the processor, and the wall.
    None: it had ended before."""
    process = bench.start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while processor_of(process.pid) < moment:
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            process.wait()
            return None
        time.sleep(0.005)
    begun, before = time.monotonic(), processor_of(process.pid)
    os.kill(process.pid, number)
    if twice:
        time.sleep(0.05)
        begun = time.monotonic()
        os.kill(process.pid, number)
    while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        if time.monotonic() - begun > 60:
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(0.002)
    wall = time.monotonic() - begun
    _, process.returncode, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime - before, wall


def put_endless(bench):
    """A kernel that goes on for minutes, whose every instruction is watched."""
    bench.put("endless.cu", ENDLESS)
    return (("run", ["run", "endless.cu", "--device", "emu"]), ("explain", ["explain", "endless.cu", "--device", "emu"]),
            ("check", ["check", "matmul.cu", "matmul.cu", "endless.cu", "--device", "emu"]))


@case(40)
def interrupts_of_long_kernels(bench):
    """Ctrl-C ends what a long kernel runs in before the processor has worked for 0.3 s more."""
    bench.kernel("matmul.cu")
    for name, words in put_endless(bench):
        found = interrupt(bench, words, 2 * bench.slow if name == "check" else 0.5)  # the check has processes of its own by then
        bench.check(found and found[0] < 0.3 * bench.slow, name, found)


@case(200, long=True)
def interrupts_of_every_phase(bench):
    """Ctrl-C ends each verb within 0.3 s of the processor wherever it is, and a second one at once."""
    bench.kernel("matmul.cu")
    bench.kernel()
    bench.put("list.txt", "matmul.cu --budget 500 --device emu\ndot.cu --budget 500 --device emu\n")
    longest = {}
    for name, words in (("search", ["matmul.cu", "--budget", "5000", "--window", "5000", "-q", "--db", "s.db", "--device", "emu"]),
                        ("model", ["dot.cu", "--budget", "9", "-q", "--db", "m.db", "--device", "emu", "--model", "cmd:sleep 100"]),
                        *put_endless(bench), ("explain matmul", ["explain", "matmul.cu", "--device", "emu"]),
                        ("campaign", ["campaign", "list.txt", "-q", "--out", "c", "--resume"])):
        for moment in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2.5):
            if name == "model" and moment > 0.1:
                break  # it waits, and takes nothing of the processor
            for twice in (False, True) if moment in (0.1, 0.5) else (False,):
                found = interrupt(bench, words, moment, twice)
                if found:
                    kind = f"{name}, {'twice' if twice else 'once'}"
                    longest[kind] = max(longest.get(kind, (0, 0, 0)), (*found, moment))
    print("".join(f"       {took:6.2f} s of the processor, wall {wall:6.2f} s  {kind}, at {moment} s\n"
                  for kind, (took, wall, moment) in longest.items()), end="")
    for kind, (took, _, moment) in longest.items():
        bench.check(took < 0.3 * bench.slow, f"{took:.2f} s for {kind} at {moment} s")
