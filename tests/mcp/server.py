"""A server under test: `keet-opt mcp` in a folder, spoken to in lines of JSON."""
import json
import os
import queue
import subprocess
import sys
import threading
import time

VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
WAIT_S = 120

SCALE = """#pragma keet size   N = 65536
#pragma keet check  N = 1001
#pragma keet in     X : f32[N] = uniform(-1, 1)
#pragma keet out    Y : f32[N]
#pragma keet tune   BLOCK = 128 in {64, 128, 256}
#pragma keet launch scale<<<ceil_div(N, BLOCK), BLOCK>>>(X, Y, N)
__global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 1.5f * x[i];
}
"""


def check(fact, *said):
    if not fact:
        raise SystemExit("FAILED: " + " ".join(str(word) for word in said)[:4000])


def meta(**more):
    return {PREFIX + "protocolVersion": VERSION, PREFIX + "clientCapabilities": {}, **more}


class Server:
    """modern: requests carry their version. Otherwise `initialize` comes first."""

    def __init__(self, keet, folder, *words, modern=True, env=None):
        self.process = subprocess.Popen([keet, "mcp", *words], cwd=folder, env={**os.environ, **(env or {})},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.modern, self.number, self.got, self.others = modern, 0, {}, []
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()
        if not modern:
            self.initialised = self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                                       "clientInfo": {"name": "test", "version": "1"}})["result"]
            self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def say(self, message):
        self.send(json.dumps(message).encode())

    def next(self, wait_s=WAIT_S):
        """The next message of the server; None after its end."""
        line = self.lines.get(timeout=wait_s)
        return line if line is None else json.loads(line)

    def begin(self, method, params=None, **of_meta):
        self.number += 1
        params = dict(params or {})
        if self.modern:
            params["_meta"] = meta(**of_meta)
        elif of_meta:
            params["_meta"] = of_meta
        self.say({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def wait(self, number):
        """The answer with this id. Notifications are kept in self.others."""
        while number not in self.got:
            message = self.next()
            check(message is not None, "the server ended")
            if "id" in message:
                self.got[message["id"]] = message
            else:
                self.others.append(message)
        return self.got.pop(number)

    def ask(self, method, params=None):
        return self.wait(self.begin(method, params))

    def begin_call(self, tool, arguments, **of_meta):
        return self.begin("tools/call", {"name": tool, "arguments": arguments}, **of_meta)

    def call(self, tool, **arguments):
        """The result of a tool."""
        answer = self.wait(self.begin_call(tool, arguments))
        check("result" in answer, tool, answer)
        return answer["result"]

    def right(self, tool, **arguments):
        """The document of a call that works."""
        result = self.call(tool, **arguments)
        check(result["isError"] is False, tool, result)
        check(json.loads(result["content"][0]["text"]) == result["structuredContent"], "two answers", result)
        return result["structuredContent"]

    def wrong(self, tool, **arguments):
        """The text of a call that does not."""
        result = self.call(tool, **arguments)
        check(result["isError"] is True and "structuredContent" not in result, tool, result)
        return result["content"][0]["text"]

    def children(self):
        """The processes of calls that are there."""
        try:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
                return file.read().split()
        except OSError:
            return []

    def close(self):
        """The server ends by itself when its input does; all that it said is read."""
        self.process.stdin.close()
        status = self.process.wait(timeout=WAIT_S)
        said = self.process.stderr.read().decode()
        check(status == 0, "status", status, said)
        return said


def until(fact, what, wait_s=WAIT_S):
    end = time.monotonic() + wait_s
    while not fact():
        check(time.monotonic() < end, "never:", what)
        time.sleep(0.02)


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)
    return name


def arguments():
    """The program, and the root of the sources."""
    return os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
