#!/usr/bin/env python3
"""A language model's endpoint that fails on request: chat completions, responses and messages, whole
and streamed, on loopback. Python's standard library only.

    server.py [--replies DIR] [--delay-ms MS] [--deck 429*2,cut,ok*7] [--seed N] [--log FILE]
              [--slow-s S] [--retry-after-s S] [--tls CERT.pem]

Prints "port N" when it listens, and ends when its standard input does. What a request meets is named
by its model: "name!503,429_after,ok" meets these in turn, and the last from then on; a name without
"!" meets what the next card of --deck says, else `ok`. The deck is shuffled, dealt to its end and
shuffled again, so that every fault comes at just its rate. A reply's text is the next file of
--replies, in order of name and over again, or else "reply to: " and the last message. GET /log gives
all requests so far, with what each met, when it began and ended, how long it was kept waiting on
purpose and what was answered, and the largest number at a time.
"""
import argparse
import email.utils
import http.server
import json
import os
import random
import ssl
import sys
import threading
import time

HUGE_BYTES = 50_000_000
PIECES = 6
# Bytes that UTF-8 and JSON do not allow, and the marks that stand for them in an answer.
SPOILED = {b"@BAD@": b"\xff\xc0\xaf\xed\xa0\x80", b"@NUL@": b"\\u0000", b"@HALF@": b"\\ud83d"}


# A kernel file that is right in itself, and about something else than what was asked.
FOREIGN = """Done.

```cuda
#pragma keet size   N = 8
#pragma keet out    x : f32[N]
#pragma keet launch f<<<1, 8>>>(x)
__global__ void f(float *x) { x[threadIdx.x] = 1.0f; }
```
"""


class State:
    def __init__(self, args):
        self.args = args
        self.lock = threading.Lock()
        self.rng = random.Random(args.seed)
        self.deck = [name for card in args.deck.split(",") if card
                     for name, _, times in [card.partition("*")] for _ in range(int(times or 1))]
        self.undealt = []
        self.turns = {}
        self.log = []
        self.nr_replies = 0
        self.nr_running = 0
        self.most_running = 0
        self.replies = []
        if args.replies:
            for name in sorted(os.listdir(args.replies)):
                with open(os.path.join(args.replies, name), encoding="utf-8") as file:
                    self.replies.append(file.read())

    def fault_for(self, model):
        with self.lock:
            if "!" in model:
                turns = model.split("!", 1)[1].split(",")
                turn = self.turns.get(model, 0)
                self.turns[model] = turn + 1
                return turns[min(turn, len(turns) - 1)]
            if not self.undealt:
                self.undealt = self.rng.sample(self.deck, len(self.deck))
            return self.undealt.pop() if self.undealt else "ok"

    def next_reply(self, prompt):
        with self.lock:
            self.nr_replies += 1
            if self.replies:
                return self.replies[(self.nr_replies - 1) % len(self.replies)]
        return "reply to: " + prompt


def last_text(body):
    message = (body.get("messages") or body.get("input") or [{}])[-1]
    content = message.get("content", message.get("output", ""))
    if isinstance(content, list):
        content = "".join(part.get("text", part.get("content", "")) for part in content)
    return content or ""


def pieces_of(text):
    if any(mark.decode() in text for mark in SPOILED):
        return [text]  # a mark must not be cut
    step = max(1, -(-len(text) // PIECES))
    return [text[at:at + step] for at in range(0, len(text), step)]


class Answer:
    """What is to be said, before any protocol."""

    def __init__(self, fault, text, body):
        self.text = text
        self.calls = []
        self.finish = "stop"
        if fault == "empty":
            self.text = ""
        elif fault == "length":
            self.finish = "length"
        elif fault == "refusal":
            self.finish, self.text = "refusal", "I cannot help with that."
        elif fault == "unknown_tool":
            self.calls = [("call_1", "no_such_tool", '{"a": 1}')]
            self.text, self.finish = "", "tool"
        elif fault == "tool":
            self.calls = [("call_1", "search", '{"query": "wgmma"}'),
                          ("call_2", "read", '{"path": "a/b.hpp", "line": 7}')]
            self.text, self.finish = "", "tool"
        elif fault == "bad_arguments":
            self.calls = [("call_1", "search", '{"query": ')]
            self.text, self.finish = "", "tool"
        elif fault == "bad_utf8":
            self.text = "before @BAD@ after"
        elif fault == "nul":
            self.text = "before @NUL@ after"
        elif fault == "surrogate":
            self.text = "before @HALF@ after \U0001F600"
        elif fault == "foreign":
            self.text = FOREIGN
        elif fault == "echo_key":
            self.text = "your key is " + body["@key"] + ", is it not?"
        self.tokens_in = 100 + len(last_text(body)) // 4
        self.tokens_out = len(self.text) // 4 + 20 * len(self.calls)
        self.tokens_cached = 64


def chat_whole(a, model):
    message = {"role": "assistant", "content": a.text}
    reason = {"stop": "stop", "length": "length", "tool": "tool_calls", "refusal": "stop"}[a.finish]
    if a.finish == "refusal":
        message["content"], message["refusal"] = None, a.text
    if a.calls:
        message["content"] = None
        message["tool_calls"] = [{"id": i, "type": "function",
                                  "function": {"name": n, "arguments": j}} for i, n, j in a.calls]
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": chat_usage(a)}


def chat_usage(a):
    return {"prompt_tokens": a.tokens_in, "completion_tokens": a.tokens_out,
            "total_tokens": a.tokens_in + a.tokens_out,
            "prompt_tokens_details": {"cached_tokens": a.tokens_cached}}


def chat_events(a, model, body):
    def chunk(delta, reason=None):
        return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], "usage": None}
    yield None, chunk({"role": "assistant", "content": ""})
    for piece in pieces_of(a.text):
        yield None, chunk({"refusal" if a.finish == "refusal" else "content": piece})
    for at, (ident, name, arguments) in enumerate(a.calls):
        yield None, chunk({"tool_calls": [{"index": at, "id": ident, "type": "function",
                                           "function": {"name": name, "arguments": ""}}]})
        for piece in pieces_of(arguments):
            yield None, chunk({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    yield None, chunk({}, {"stop": "stop", "length": "length", "tool": "tool_calls",
                           "refusal": "stop"}[a.finish])
    if body.get("stream_options", {}).get("include_usage"):
        yield None, {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": model,
                     "choices": [], "usage": chat_usage(a)}
    yield None, "[DONE]"


def responses_whole(a, model):
    output = [{"type": "reasoning", "id": "rs_1", "summary": []}]
    if a.text or not a.calls:
        kind = "refusal" if a.finish == "refusal" else "output_text"
        part = {"type": kind, "refusal" if kind == "refusal" else "text": a.text}
        output.append({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                       "content": [part]})
    for ident, name, arguments in a.calls:
        output.append({"type": "function_call", "id": "fc_" + ident, "call_id": ident, "name": name,
                       "arguments": arguments, "status": "completed"})
    cut = a.finish == "length"
    return {"id": "resp_1", "object": "response", "model": model, "output": output, "error": None,
            "status": "incomplete" if cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "usage": {"input_tokens": a.tokens_in, "output_tokens": a.tokens_out,
                      "input_tokens_details": {"cached_tokens": a.tokens_cached}}}


def responses_events(a, model, _body):
    def event(kind, **members):
        return kind, {"type": kind, **members}
    whole = responses_whole(a, model)
    yield event("response.created", response={"id": "resp_1", "status": "in_progress"})
    kind = "refusal" if a.finish == "refusal" else "output_text"
    for piece in pieces_of(a.text):
        yield event(f"response.{kind}.delta", item_id="msg_1", delta=piece)
    for _, _, arguments in a.calls:
        yield event("response.function_call_arguments.delta", delta=arguments)
    yield event("response." + whole["status"], response=whole)


def messages_usage(a):
    return {"input_tokens": a.tokens_in - a.tokens_cached - 10, "output_tokens": a.tokens_out,
            "cache_read_input_tokens": a.tokens_cached, "cache_creation_input_tokens": 10}


def messages_whole(a, model):
    content = [{"type": "text", "text": a.text}] if a.text else []
    for ident, name, arguments in a.calls:
        try:
            arguments = json.loads(arguments)
        except ValueError:
            arguments = {}
        content.append({"type": "tool_use", "id": ident, "name": name, "input": arguments})
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": model,
            "content": content, "usage": messages_usage(a),
            "stop_reason": {"stop": "end_turn", "length": "max_tokens", "tool": "tool_use",
                            "refusal": "refusal"}[a.finish]}


def messages_events(a, model, _body):
    def event(kind, **members):
        return kind, {"type": kind, **members}
    whole = messages_whole(a, model)
    usage = dict(whole["usage"], output_tokens=1)
    yield event("message_start", message=dict(whole, content=[], stop_reason=None, usage=usage))
    at = 0
    if a.text:
        yield event("content_block_start", index=at, content_block={"type": "text", "text": ""})
        yield event("ping")
        for piece in pieces_of(a.text):
            yield event("content_block_delta", index=at, delta={"type": "text_delta", "text": piece})
        yield event("content_block_stop", index=at)
        at += 1
    for ident, name, arguments in a.calls:
        yield event("content_block_start", index=at,
                    content_block={"type": "tool_use", "id": ident, "name": name, "input": {}})
        for piece in pieces_of(arguments):
            yield event("content_block_delta", index=at,
                        delta={"type": "input_json_delta", "partial_json": piece})
        yield event("content_block_stop", index=at)
        at += 1
    yield event("message_delta", delta={"stop_reason": whole["stop_reason"]},
                usage={"output_tokens": a.tokens_out})
    yield event("message_stop")


PROTOCOLS = {"/chat/completions": (chat_whole, chat_events),
             "/responses": (responses_whole, responses_events),
             "/messages": (messages_whole, messages_events)}


def spoil(data):
    for mark, what in SPOILED.items():
        data = data.replace(mark, what)
    return data


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state = None
    running = False

    def log_message(self, *_args):
        pass

    def do_GET(self):
        state = self.state
        with state.lock:
            data = json.dumps({"most_running": state.most_running, "requests": state.log})
        self.send_whole(200, data.encode())

    def do_POST(self):
        state = self.state
        began = time.monotonic()
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        body["@key"] = (self.headers.get("x-api-key") or self.headers.get("Authorization", "none")
                        .removeprefix("Bearer "))
        fault = state.fault_for(body["model"])
        entry = {"met": fault, "model": body["model"], "began": began, "ended": None,
                 "path": self.path, "key": body["@key"] != "none", "kept_waiting_s": 0,
                 "body": {name: value for name, value in body.items() if name != "@key"}}
        self.entry = entry
        self.running = True
        with state.lock:
            state.nr_running += 1
            state.most_running = max(state.most_running, state.nr_running)
            state.log.append(entry)
        try:
            self.answer(fault, body)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True
        finally:
            self.end_waits()
            with state.lock:
                entry["ended"] = time.monotonic()
                if state.args.log:
                    with open(state.args.log, "a", encoding="utf-8") as file:
                        file.write(json.dumps(entry) + "\n")

    def end_waits(self):
        """A request counts as running until what is left of its answer is sent without a wait. The
        client may ask again as soon as it has read that, before this thread runs once more."""
        with self.state.lock:
            self.state.nr_running -= self.running
            self.running = False

    def keep_waiting(self):
        began = time.monotonic()
        time.sleep(self.state.args.slow_s)
        self.entry["kept_waiting_s"] += time.monotonic() - began

    # ---- ways to answer ----

    def send_whole(self, status, data, kind="application/json", headers=(), declared=None,
                   more=False):
        if not more:
            self.end_waits()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data) if declared is None else declared))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def send_error_json(self, status, message, kind, headers=(), code=None):
        error = {"message": message, "type": kind, "code": code}
        self.send_whole(status, json.dumps({"error": error}).encode(), headers=headers)

    def send_chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def hang_up(self):
        self.end_waits()
        self.close_connection = True
        self.wfile.flush()
        self.connection.close()

    def send_stream(self, fault, events, kind="text/event-stream"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.send_chunk(b": welcome\n\n")
        events = list(events)
        for at, (name, data) in enumerate(events):
            if at == max(1, len(events) // 2):
                if fault == "stall":
                    self.keep_waiting()
                self.end_waits()
                if fault == "cut":
                    return self.hang_up()
                elif fault == "truncated":
                    break
                elif fault == "bad_event":
                    self.send_chunk(b"data: {\"choices\": [{\"ind\n\n")
                elif fault == "error_event":
                    self.send_chunk(b'event: error\ndata: {"type": "error", "error": {"type": '
                                    b'"overloaded_error", "message": "Overloaded"}}\n\n')
                    break
                elif fault == "huge":
                    piece = spoil(json.dumps(data).encode())
                    for _ in range(HUGE_BYTES // len(piece)):
                        self.send_chunk(b"data: " + piece + b"\n\n")
            text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
            line = b"data: " + spoil(text.encode()) + b"\n\n"
            self.send_chunk((b"event: " + name.encode() + b"\n" if name else b"") + line)
        self.send_chunk(b"")
        return None

    def answer(self, fault, body):
        args = self.state.args
        time.sleep(args.delay_ms / 1000)
        path = self.path.split("?")[0]
        protocol = next((p for end, p in PROTOCOLS.items() if path.endswith(end)), None)
        if not protocol:
            return self.send_error_json(404, "no such path", "not_found_error")
        if self.answer_status(fault, body):
            return None
        if fault == "slow":
            self.keep_waiting()
        if fault == "drop":
            return self.hang_up()
        if fault == "wrong_type":
            return self.send_whole(200, b"<html><body>Please log in</body></html>", "text/html")
        if fault == "other_json":
            return self.send_whole(200, b'{"hello": "world"}')
        if fault == "deep":
            return self.send_whole(200, b'{"a":' + b"[" * 100000)
        answer = Answer(fault, self.state.next_reply(last_text(body)), body)
        self.entry["text"] = answer.text
        self.entry["tokens"] = [answer.tokens_in, answer.tokens_cached, answer.tokens_out]
        if body.get("stream") and fault != "whole_anyway":
            kind = "application/octet-stream" if fault == "odd_type" else "text/event-stream"
            return self.send_stream(fault, protocol[1](answer, body["model"], body), kind)
        return self.answer_whole(fault, protocol[0](answer, body["model"]))

    def answer_whole(self, fault, root):
        data = spoil(json.dumps(root, ensure_ascii=False).encode())
        if fault == "huge":
            data = data[:-1] + b', "filler": "' + b"x" * HUGE_BYTES + b'"}'
        if fault == "truncated":
            data = data[:len(data) // 2]
        if fault == "cut":
            self.send_whole(200, data[:len(data) // 2], declared=len(data))
            return self.hang_up()
        if fault == "stall":
            self.send_whole(200, data[:len(data) // 2], declared=len(data), more=True)
            self.wfile.flush()
            self.keep_waiting()
            self.end_waits()
            return self.wfile.write(data[len(data) // 2:])
        return self.send_whole(200, data)

    def answer_status(self, fault, body):
        after = self.state.args.retry_after_s
        if fault == "429":
            self.send_error_json(429, "slow down", "rate_limit_error")
        elif fault == "429_after":
            self.send_error_json(429, "slow down", "rate_limit_error",
                                 [("Retry-After", str(after))])
        elif fault == "429_date":
            date = email.utils.formatdate(time.time() + after + 1, usegmt=True)
            self.send_error_json(429, "slow down", "rate_limit_error", [("Retry-After", date)])
        elif fault == "429_hour":
            self.send_error_json(429, "slow down", "rate_limit_error", [("Retry-After", "3600")])
        elif fault == "429_quota":
            self.send_error_json(429, "no money left", "insufficient_quota",
                                 code="insufficient_quota")
        elif fault == "401_echo":
            self.send_error_json(401, "Incorrect API key: " + body["@key"], "auth")
        elif fault == "no_effort" and any(name in body for name in ("reasoning", "reasoning_effort", "output_config")):
            name = "output_config" if "output_config" in body else "reasoning"
            self.send_error_json(400, f"Unsupported parameter: '{name}'", "invalid_request")
        elif fault == "no_temperature" and "temperature" in body:
            self.send_error_json(400, "Unsupported parameter: 'temperature'", "invalid_request")
        elif fault == "no_max_tokens" and "max_tokens" in body:
            self.send_error_json(400, "Unsupported parameter: 'max_tokens' is not supported with "
                                 "this model. Use 'max_completion_tokens' instead.", "invalid")
        elif fault == "302":
            self.send_whole(302, b"", headers=[("Location", "http://127.0.0.1:9/steal")])
        elif fault.isdigit():
            self.send_error_json(int(fault), "trouble", "server_error")
        else:
            return False
        return True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_args):
        pass  # clients that hang up are what this is about


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--replies")
    parser.add_argument("--delay-ms", type=float, default=0)
    parser.add_argument("--deck", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slow-s", type=float, default=30)
    parser.add_argument("--retry-after-s", type=int, default=1)
    parser.add_argument("--log")
    parser.add_argument("--tls")
    args = parser.parse_args()
    Handler.state = State(args)
    server = Server(("127.0.0.1", 0), Handler)
    if args.tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(args.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("port", server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
