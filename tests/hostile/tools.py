"""Cases of users' tools: what one that means harm can do; and of a system that cannot confine anything."""
import ctypes
import json
import os
import shutil
import struct
import subprocess

from cases import cases

CASES, case = cases()


def survivors(word):
    """Processes whose command line holds the word."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if word.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def escapes(bench, user):
    """The tool tries all; as `user` where that is not None."""
    here = os.path.dirname(os.path.abspath(__file__))
    how = {"env": {**os.environ, "KEET_API_KEY": "secret-of-the-test"}}
    if user is not None:
        how.update(user=user, group=user, extra_groups=[])
    tools = bench.path("tools")
    os.mkdir(tools)
    shutil.copy(os.path.join(here, "escapes.py"), os.path.join(tools, "escapes.py"))
    key, file = bench.put("home/key", "secret"), bench.put("home/file", "mine")
    os.symlink(file, os.path.join(tools, "link"))
    bench.put("tools/own.txt", "own")
    bench.kernel()
    os.environ["XDG_CACHE_HOME"] = bench.path("cache")
    how["env"]["XDG_CACHE_HOME"] = bench.path("cache")
    os.mkdir(bench.path("cache"))
    victim = {"pid": 0, "group": 0, "file": file, "key": key, "folder": os.path.dirname(file),
              "home": os.path.dirname(file)}
    bench.put("tools/victim.json", json.dumps(victim))
    if user is not None:
        for root, folders, names in os.walk(bench.folder):
            for one in [root] + [os.path.join(root, name) for name in folders + names]:
                os.chown(one, user, user, follow_symlinks=False)
    # pylint: disable-next=consider-using-with
    other = subprocess.Popen(["sleep", "600"],
                             start_new_session=True, **how)
    try:
        victim["pid"] = victim["group"] = other.pid
        bench.put("tools/victim.json", json.dumps(victim))
        before = os.stat(file)
        said = bench.run("explain", "dot.cu", "--device", "emu", "--tools", "tools", "-v", status=0,
                         **how)
        bench.check("attempts; escaped: none." in said,
                    *[line for line in said.split("\n") if "escape" in line])
        alive = other.poll() is None
    finally:
        other.kill()
        other.wait()
    bench.check(alive, "another process was ended")
    bench.check(os.stat(file).st_mtime_ns == before.st_mtime_ns and
                os.stat(file).st_mode == before.st_mode, "a file was changed")
    bench.check(not survivors(os.path.join(tools, "escapes.py")), "a child of the tool lives on")


@case(20)
def escapes_of_a_tool(bench):
    """As whoever runs the test."""
    escapes(bench, None)


@case(20)
def escapes_of_a_tool_without_root(bench):
    """As a user that is not root, where the test may become one."""
    if os.getuid() == 0:
        os.chmod(bench.folder, 0o755)
        escapes(bench, 65534)


@case(40)
def tools_that_misbehave(bench):
    """Tools that fork, flood, sleep, close their streams, or need memory: each is ended and named."""
    for name, text in (
            ("forks", "#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8; do sleep 61 & done\nexec sleep 61\n"),
            ("closes", "#!/bin/sh\nexec <&- >&- 2>&-\nsleep 62\n"),
            ("ignores", "#!/bin/sh\ntrap '' TERM INT HUP\nwhile :; do :; done\n"),
            ("grows", "#!/usr/bin/env python3\nx = 'x' * (3 << 30)\n"),
            ("grows_in_a_child", "#!/bin/sh\n/usr/bin/env python3 -c \"x = 'x' * (3 << 30)\"\nexit 7\n"),
            ("stderr", "#!/bin/sh\ncat /dev/zero >&2\n"),
            ("binary", "#!/bin/sh\nhead -c 100000 /dev/urandom\n"),
            ("deep", "#!/usr/bin/env python3\nprint('[' * 500000)\n"),
            ("nul", "#!/bin/sh\nprintf '{\"keet_tool\": 1, \"findings\": [{\"text\": \"a\\\\u0000b\"}]}'\n")):
        os.chmod(bench.put("tools/" + name, text), 0o755)
    bench.kernel()
    said = bench.run("explain", "dot.cu", "--device", "emu", "--tools", "tools", status=0)
    for name in ("forks", "closes", "ignores", "grows", "grows_in_a_child", "stderr", "binary", "deep",
                 "nul"):
        bench.check(f"tool {name}:" in said, name, "is not named", said[-500:])
    bench.check(not survivors("sleep\x0061") and not survivors("sleep\x0062"), "a child lives on")


def refuse(*calls):
    """From now on these system calls, by their numbers, fail as on a kernel that has none of them."""
    def rule(code, yes, no, value):
        return struct.pack("HBBI", code, yes, no, value)
    rules = [rule(0x20, 0, 0, 0)]  # load the number
    rules += [rule(0x15, len(calls) - i, 0, call) for i, call in enumerate(calls)]
    rules += [rule(0x06, 0, 0, 0x7fff0000), rule(0x06, 0, 0, 0x00050000 | 38)]  # allow; ENOSYS
    text = b"".join(rules)
    held = ctypes.create_string_buffer(text, len(text))
    program = struct.pack("HxxxxxxP", len(rules), ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no filter")


LANDLOCK = (444, 445, 446)


@case(20)
def without_a_sandbox(bench):
    """Where the kernel has no Landlock, neither compiler nor tool runs, and the error says so; --no-sandbox goes on, and says so."""
    bench.kernel()
    os.chmod(bench.put("tools/says", "#!/bin/sh\necho '{\"keet_tool\": 1, \"findings\": []}'\n"), 0o755)
    own = ("--device", "emu", "--cache", bench.path("cache"))

    def blind():
        refuse(*LANDLOCK)
    for words in (["run", "dot.cu"], ["dot.cu", "--budget", "2", "-q"], ["check", "dot.cu", "dot.cu"]):
        said = bench.run(*words, *own, status=1, says="--no-sandbox", preexec_fn=blind)
        bench.check("Landlock" in said, said)
    for words in (["run", "dot.cu"], ["dot.cu", "--budget", "2", "-q"]):
        bench.run(*words, *own, "--no-sandbox", status=0, says="not for kernels from strangers", preexec_fn=blind)
    # the cache has the kernel now: only the tool is left to run
    bench.run("explain", "dot.cu", *own, "--tools", "tools", status=(0, 1), says="Landlock", preexec_fn=blind)
