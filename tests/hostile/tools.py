"""Cases of users' tools: what one that means harm can do."""
import json
import os
import shutil
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
