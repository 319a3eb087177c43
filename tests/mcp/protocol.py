#!/usr/bin/env python3
"""The server spoken to by hand: both eras of the protocol, messages that are wrong, cancellation, progress, time
limits, the end of the input, and paths outside of the folder.

usage: protocol.py KEET_OPT ROOT"""
import json
import os
import tempfile

from server import PREFIX, SCALE, Server, VERSION, arguments, check, meta, until, write

NESTED = b'{"jsonrpc":"2.0","id":7,"method":"ping","params":' + b'{"a":' * 200 + b"1" + b"}" * 200 + b"}"


def error_of(answer, code, said=""):
    check(answer.get("error", {}).get("code") == code and said in answer["error"]["message"], "expected", code, said,
          "got", answer)
    return answer["error"]


def wrong_messages(server):
    """Each is answered by one error, and the next request works."""
    for line, code, number in [
            (b"nothing", -32700, None), (b"[]", -32700, None), (b'{"jsonrpc":"2.0","id":1', -32700, None),
            (NESTED, -32700, None), (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
            (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
            (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None),
            (b'{"jsonrpc":"1.0","id":"a","method":"ping"}', -32600, "a"),
            (b'{"jsonrpc":"2.0","id":"b"}', -32600, "b"), (b'{"jsonrpc":"2.0","id":"c","method":3}', -32600, "c"),
            (b'{"jsonrpc":"2.0","id":"d","method":"ping","params":[]}', -32600, "d"),
            (b" " * (9 << 20), -32600, None)]:
        server.send(line)
        answer = server.next()
        error_of(answer, code)
        check(answer["id"] == number, line[:80], answer)
    for line in (b"", b"  \r", b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
                 b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}}',
                 b'{"jsonrpc":"2.0","method":"nothing/known"}', b'{"jsonrpc":"2.0","id":5,"result":{}}'):
        server.send(line)
    check(server.ask("ping")["result"] is not None, "ping after wrong messages")


def newest(keet, folder):
    server = Server(keet, folder)
    found = server.ask("server/discover")["result"]
    check(found["supportedVersions"] == [VERSION] and found["resultType"] == "complete", found)
    check(found["_meta"][PREFIX + "serverInfo"]["name"] == "keet-opt" and "check" in found["instructions"], found)
    check(set(found["capabilities"]) == {"tools", "resources", "prompts"} and found["ttlMs"] > 0, found)
    wrong_messages(server)

    def raw(params):
        server.say({"jsonrpc": "2.0", "id": "raw", "method": "tools/list", "params": params})
        return server.wait("raw")

    error_of(raw({}), -32602, "protocolVersion")
    error_of(raw({"_meta": {PREFIX + "protocolVersion": VERSION}}), -32602, "clientCapabilities")
    error = error_of(raw({"_meta": {**meta(), PREFIX + "protocolVersion": "1900-01-01"}}), -32022)
    check(error["data"] == {"supported": [VERSION], "requested": "1900-01-01"}, error)
    error_of(server.ask("nothing/known"), -32601, "nothing/known")
    error_of(server.ask("tools/call", {"name": "rm"}), -32602, "there is no tool rm")
    error_of(server.ask("tools/call", {"name": "run", "arguments": []}), -32602, "arguments")
    for uri in ("keet://docs/none", "file:///etc/passwd", "keet://kernel/../../etc/passwd", "keet://kernel/", "keet://chip/b9"):
        error_of(server.ask("resources/read", {"uri": uri}), -32602, "there is no resource")
    error_of(server.ask("prompts/get", {"name": "none"}), -32602, "there is no prompt")
    error_of(server.ask("prompts/get", {"name": "mend", "arguments": {"original": "a.cu"}}), -32602, "candidate")
    said = server.ask("prompts/get", {"name": "mend", "arguments": {"original": "a.cu", "candidate": "{original}"}})
    text = said["result"]["messages"][0]["content"]["text"]
    check("`a.cu` computes" in text and "`{original}` is wrong" in text, text)
    number = server.begin("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    heard = server.next()
    check(heard["method"] == "notifications/subscriptions/acknowledged" and heard["params"]["notifications"] == {}
          and heard["params"]["_meta"][PREFIX + "subscriptionId"] == number, heard)
    check("lines" in server.ask("resources/read", {"uri": "keet://docs/agents"})["result"]["contents"][0]["text"],
          "the page for agents")
    check("__global__" in server.ask("resources/read", {"uri": "keet://kernel/matmul"})["result"]["contents"][0]["text"],
          "an example")
    server.close()


def older(keet, folder):
    """`initialize`, then requests without a version; answers without what came later."""
    for asked, got in [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")]:
        server = Server(keet, folder)
        server.modern = False
        check(server.ask("ping")["result"] == {}, "ping comes before initialize")
        error_of(server.ask("tools/list"), -32602, "initialize")
        result = server.ask("initialize", {"protocolVersion": asked, "capabilities": {}})["result"]
        check(result["protocolVersion"] == got and result["serverInfo"]["name"] == "keet-opt", result)
        listed = server.ask("tools/list")["result"]
        check("resultType" not in listed and "_meta" not in listed and len(listed["tools"]) == 11, listed)
        error_of(server.ask("resources/read", {"uri": "keet://docs/none"}), -32002)
        server.close()


def wrong_arguments(keet, folder):
    server = Server(keet, folder)
    write(folder, "scale.cu", SCALE)
    for tool, given, said in [
            ("run", {}, "kernel is missing"), ("run", {"kernel": 3}, "kernel: expected a string"),
            ("run", {"kernel": "scale.cu", "sed": 3}, "run takes no sed; it takes kernel, device, seed, time_limit_s"),
            ("run", {"kernel": "scale.cu", "device": "tpu"}, "device: expected a string, each one of: auto emu"),
            ("run", {"kernel": "scale.cu", "seed": -1}, "seed: expected an integer from 0 to"),
            ("run", {"kernel": "scale.cu", "seed": 1.5}, "seed: expected an integer"),
            ("run", {"kernel": "scale.cu", "time_limit_s": 0}, "time_limit_s: expected an integer from 1 to 3600"),
            ("run", {"kernel": "scale.cu\0"}, "no such file"), ("run", {"kernel": ""}, "no such file"),
            ("run", {"kernel": "int x;\n"}, "pragma keet"), ("run", {"kernel": "x\n" * (1 << 20)}, "more than 1 MiB"),
            ("sanitize", {"kernel": "scale.cu", "checks": ["all", "rm -rf"]}, "checks: expected a list of 1 to 6 strings"),
            ("sanitize", {"kernel": "scale.cu", "checks": "all"}, "checks: expected a list"),
            ("compare", {"old": "scale.cu", "new": "scale.cu", "limits": ["fast"]}, "--fail-if fast: expected slower=5%"),
            ("sweep", {"kernel": "scale.cu", "parameter": "BLOCK"}, "values: expected a list of 3 to 32"),
            ("sweep", {"kernel": "scale.cu", "parameter": "A=B", "values": [1, 2, 3]}, "parameter: expected a string"),
            ("sweep", {"kernel": "scale.cu", "parameter": "NONE", "values": [1, 2, 3]}, "has no `size NONE"),
            ("optimize", {"kernel": SCALE}, "no such file"), ("show", {"database": "scale.cu"}, "scale.cu"),
            ("show", {"database": "scale.cu", "node": "--help"}, "node: expected a string")]:
        text = server.wrong(tool, **given)
        check(said in text, tool, str(given)[:200], "says", text)
    check(server.right("run", kernel=SCALE, seed=2.0)["verdict"] == "ok", "a whole number with a point")
    server.close()


def outside(keet, folder):
    """No path leads out of the folder: not by name, not by a link, not from within a file."""
    home, inside = os.path.join(folder, "home"), os.path.join(folder, "home", "project")
    os.makedirs(inside)
    write(home, "secret.cuh", "#define TOKEN 77123\n#define FACTOR 1.5f\n")
    write(home, "secret.cu", SCALE)
    with open(os.path.join(home, "x.npy"), "wb") as file:
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (65536,), }"
        header += b" " * (118 - len(header) - 1) + b"\n"
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(4 * 65536))
    os.symlink("../secret.cu", os.path.join(inside, "link.cu"))
    os.symlink("..", os.path.join(inside, "up"))
    write(inside, "scale.cu", SCALE)
    os.symlink("scale.cu", os.path.join(inside, "alias.cu"))
    os.symlink(os.path.join(home, "made.db"), os.path.join(inside, "scale.keet.db"))
    server = Server(keet, folder, inside)
    for path in ("../secret.cu", os.path.join(home, "secret.cu"), "link.cu", "up/secret.cu", "/etc/passwd",
                 "/proc/self/environ", "."):
        text = server.wrong("run", kernel=path)
        check("is outside of the folder" in text or "there is no such file" in text, path, text)
    check(server.right("run", kernel="alias.cu")["verdict"] == "ok", "a link inside")
    check(server.right("run", kernel=os.path.join(inside, "scale.cu"))["verdict"] == "ok", "an absolute path inside")
    within = SCALE.replace("__global__", '#include "../secret.cuh"\n__global__').replace("1.5f", "FACTOR * TOKEN") + \
        "int main() { scale<<<1, 1>>>(nullptr, nullptr, 1); }\n"
    write(inside, "within.cu", within)
    write(inside, "input.cu", SCALE.replace("uniform(-1, 1)", 'file("../x.npy")'))
    for name in ("within.cu", "input.cu"):  # these work where nothing confines them
        done = os.spawnlp(os.P_WAIT, "sh", "sh", "-c", f"cd {inside} && {keet} run {name} --device emu >/dev/null 2>&1")
        check(done == 0, name, "works by itself", done)
        result = server.call("run", kernel=name, device="emu")
        text = result["content"][0]["text"]
        check("77123" not in text and '"verdict":"ok"' not in text, name, text)
    server.wrong("optimize", kernel="scale.cu", budget=1)
    check(not os.path.exists(os.path.join(home, "made.db")), "a database outside")
    check(sorted(os.listdir(home)) == ["project", "secret.cu", "secret.cuh", "x.npy"], os.listdir(home))
    server.close()


def long_calls(keet, folder, root):
    """While calls are under way the server answers; they report, are cancelled, and end at their limits."""
    with open(os.path.join(root, "kernels", "matmul.cu"), encoding="utf-8") as file:
        write(folder, "long.cu", file.read())
    server = Server(keet, folder, "--device", "emu")
    number = server.begin_call("optimize", {"kernel": "long.cu", "budget": 10000}, progressToken="p")
    until(server.children, "a process")
    server.say({"jsonrpc": "2.0", "id": number, "method": "tools/list", "params": {"_meta": meta()}})
    error_of(server.wait(number), -32600, "under way")
    check(server.ask("ping")["result"] is not None, "ping beside a call")
    while len(server.others) < 2:  # the original, then variants
        server.others.append(server.next())
    told = [other["params"] for other in server.others]
    check(all(one["progressToken"] == "p" and one["total"] == 10000 for one in told), told)
    check(all(a["progress"] < b["progress"] for a, b in zip(told, told[1:])) and "variants" in told[-1]["message"], told)
    server.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, "reason": "test"}})
    until(lambda: not server.children(), "the end of a cancelled search")
    check(len(server.right("results", database="long.keet.db", top=3)["variants"]) >= 1, "what the search found is kept")
    check(number not in server.got, "an answer to a cancelled call", server.got)
    again = server.call("optimize", kernel="long.cu", budget=10000, resume=True, time_limit_s=1)
    check("time limit of 1 s" in again["content"][0]["text"], again)
    text = server.wrong("sweep", kernel="long.cu", parameter="N", values=[1024 + i for i in range(32)], time_limit_s=1)
    check("time limit of 1 s" in text, text)
    # more calls than may run at once: the last one, which waits, is cancelled before it began
    numbers = [server.begin_call("optimize", {"kernel": "long.cu", "budget": 10000, "resume": True}) for _ in range(3)]
    until(lambda: len(server.children()) >= 2, "two processes")
    server.say({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": numbers[2]}})
    check(server.ask("ping")["result"] is not None, "ping beside calls")
    scratch = [name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("keet-mcp-")]
    check(len(scratch) == 1, scratch)
    children = server.children()
    server.close()  # calls under way end with the server
    until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in children), "the end of the calls")
    check(not [name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("keet-mcp-")], "scratch is left")


def the_software_driver(keet, folder, driver):
    """A card's side under the same confinement, on the software driver."""
    write(folder, "scale.cu", SCALE)
    server = Server(keet, folder, env={"KEET_CUDA_DRIVER": driver, "KEET_LOCK_DIR": folder})
    found = server.right("check", original="scale.cu", candidate=SCALE.replace("1.5f *", "1.25f *"), device="gpu")
    check(found["verdict"] == "wrong" and "candidate.cu:11: Y[0]" in found["reason"], found)
    check(server.right("check", original="scale.cu", candidate=SCALE, device="gpu")["verdict"] == "ok", "on a card")
    server.close()


def main():
    keet, root = arguments()
    with tempfile.TemporaryDirectory(prefix="keet-mcp-test-") as folder:
        os.environ["TMPDIR"] = os.path.join(folder, "tmp")
        os.mkdir(os.environ["TMPDIR"])
        newest(keet, folder)
        older(keet, folder)
        wrong_arguments(keet, folder)
        outside(keet, folder)
        long_calls(keet, folder, root)
        the_software_driver(keet, folder, os.path.abspath(__import__("sys").argv[3]))
    print(json.dumps({"passed": True}))


main()
