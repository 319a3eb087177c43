#!/usr/bin/env python3
"""An episode by function calling over each protocol, with a server that is as strict as the vendors': every call of a
function is answered, once, right behind it.

usage: episode_http.py KEET_OPT"""

import http.server
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading

KERNEL = """#pragma keet size N = 4096
#pragma keet check N = 77
#pragma keet in x : f32[N] = uniform(-1, 1)
#pragma keet out y : f32[N]
#pragma keet work flops = N, bytes = 8*N
#pragma keet launch scale<<<ceil_div(N, BLOCK), BLOCK>>>(x, y, N)
__global__ void scale(const float *x, float *y, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        y[i] = 3 * x[i];
}
"""
TOOLS = {"try_version", "read_version", "diff", "counters", "read_technique", "finish"}


def try_of(block):
    return {"answer": "MOVE: blocks\n```cuda\n" + KERNEL.replace("BLOCK", str(block)) + "```\n"}


# What the model says, turn by turn: calls as (name, arguments). A try may stand beside look-ups.
TURNS = [[("counters", {"node": 0}), ("read_technique", {})],
         [("read_version", {"node": 0}), ("try_version", try_of(64))],
         [("try_version", try_of(64) | {"answer": "no code"})],
         [("try_version", try_of(128))],
         [("finish", {"reason": "done"})]]


def calls_of(turn):
    return [(f"id_{turn}_{at}", name, arguments) for at, (name, arguments) in
            enumerate(TURNS[turn] if turn < len(TURNS) else TURNS[-1])]


def check_pairs(events):
    """events: ("calls", {ids}) and ("result", id), in order."""
    open_ids = set()
    for kind, what in events:
        if kind == "calls":
            assert not open_ids, f"no result for {open_ids}"
            open_ids = set(what)
        elif kind == "result":
            assert what in open_ids, f"a result for {what} out of place"
            open_ids.remove(what)
        else:
            assert not open_ids, f"{kind} before the results of {open_ids}"
    assert not open_ids, f"no result for {open_ids}"


def chat(body):
    events = []
    for m in body["messages"]:
        if m["role"] == "tool":
            events.append(("result", m["tool_call_id"]))
        elif m.get("tool_calls"):
            events.append(("calls", [c["id"] for c in m["tool_calls"]]))
        else:
            events.append((m["role"], None))
    tools = {t["function"]["name"] for t in body["tools"]}
    turn = sum(kind == "calls" for kind, _ in events)
    message = {"role": "assistant", "content": None, "tool_calls": [
        {"id": i, "type": "function", "function": {"name": n, "arguments": json.dumps(a)}} for i, n, a in calls_of(turn)]}
    return events, tools, {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}}


def responses(body):
    events, calls = [], []
    for item in body["input"]:
        if item.get("type") == "function_call":
            calls.append(item["call_id"])
            continue
        if calls:
            events.append(("calls", calls))
            calls = []
        if item.get("type") == "function_call_output":
            events.append(("result", item["call_id"]))
        else:
            events.append((item["role"], None))
    tools = {t["name"] for t in body["tools"]}
    turn = sum(kind == "calls" for kind, _ in events)
    output = [{"type": "function_call", "id": "fc_" + i, "call_id": i, "name": n, "arguments": json.dumps(a),
               "status": "completed"} for i, n, a in calls_of(turn)]
    return events, tools, {"id": "r", "object": "response", "model": "m", "output": output, "error": None,
                           "status": "completed", "incomplete_details": None,
                           "usage": {"input_tokens": 10, "output_tokens": 5}}


def messages(body):
    events, last = [], None
    for m in body["messages"]:
        assert m["role"] != last, "two turns of one role"
        last = m["role"]
        parts = m["content"] if isinstance(m["content"], list) else []
        used = [p["id"] for p in parts if p["type"] == "tool_use"]
        if used:
            events.append(("calls", used))
            continue
        results = [("result", p["tool_use_id"]) for p in parts if p["type"] == "tool_result"]
        events += results or [(m["role"], None)]
    marked = json.dumps(body).count('"cache_control"')
    assert 1 <= marked <= 4, f"{marked} marks for the cache"
    tools = {t["name"] for t in body["tools"]}
    turn = sum(kind == "calls" for kind, _ in events)
    content = [{"type": "tool_use", "id": i, "name": n, "input": a} for i, n, a in calls_of(turn)]
    return events, tools, {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
                           "usage": {"input_tokens": 10, "output_tokens": 5}, "stop_reason": "tool_use"}


PATHS = {"/v1/chat/completions": chat, "/v1/responses": responses, "/v1/messages": messages}


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_args):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            events, tools, answer = PATHS[self.path](body)
            check_pairs(events)
            assert tools == TOOLS, tools
            status = 200
        except (AssertionError, KeyError, TypeError) as fault:
            self.server.faults.append(f"{self.path}: {fault!r}")
            status, answer = 400, {"error": {"message": f"{fault!r}", "type": "invalid_request_error"}}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def main():
    keet_opt = os.path.abspath(sys.argv[1])
    drop = ("_proxy", "_PROXY", "_API_KEY", "_API_KEY_FILE", "_BASE_URL")
    env = {n: v for n, v in os.environ.items() if not n.endswith(drop)} | {"KEET_CUTLASS": "none"}
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.faults = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}/v1"
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "scale.cu"), "w", encoding="utf-8") as file:
            file.write(KERNEL.replace("BLOCK", "32"))
        for name, path in (("chat", ""), ("responses", "/responses"), ("messages", "/messages")):
            done = subprocess.run(
                [keet_opt, "scale.cu", "--device", "emu", "--model", f"{base}{path}#m", "--model-only", "--episodes",
                 "only", "--in-flight", "1", "--budget", "3", "--db", name + ".db", "-o", name + ".out.cu", "-q"],
                cwd=folder, env=env, capture_output=True, text=True, check=False)
            assert not server.faults, server.faults
            assert done.returncode == 0, done.stderr
            db = sqlite3.connect(os.path.join(folder, name + ".db"))
            verdicts = [v for v, in db.execute("SELECT verdict FROM node WHERE number > 0 ORDER BY number LIMIT 3")]
            assert verdicts == ["ok", "no_kernel", "ok"], (name, verdicts)
            parents = [p for p, in db.execute("SELECT parent FROM node WHERE number > 0 ORDER BY number LIMIT 3")]
            assert parents == [0, 1, 1], (name, parents)
            db.close()
            print(name, "as expected")


if __name__ == "__main__":
    main()
