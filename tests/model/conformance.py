#!/usr/bin/env python3
"""conformance.py llama|litellm ASK DEPS: drives a server that others wrote, on loopback: llama.cpp's
(package xllamacpp) with random weights made on the spot, or the gateway LiteLLM with its own mock
replies. ASK is the program of ask.c. DEPS is the folder .deps: setup.sh puts the first into
.deps/llama, get_servers.sh both into .deps/servers. Exit code 77, which CTest shows as skipped, when
the server is not installed."""
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
KEY = "sk-conformance-0123456789"
MOCK = "a reply of the mock, with \u00fcml\u00e4uts and ```code```"
PROTOCOLS = ("", "/responses", "/messages")
failures = []


def check(name, is_so, what=""):
    print(("ok      " if is_so else "FAILED  ") + name, "" if is_so else what, flush=True)
    if not is_so:
        failures.append(name)


def clean_env(**more):
    drop = ("_proxy", "_PROXY", "_API_KEY", "_BASE_URL")
    env = {name: value for name, value in os.environ.items() if not name.endswith(drop)}
    return {**env, **more}


def ask(ask_program, spec, *options, key=KEY):
    done = subprocess.run([ask_program, spec, *options], env=clean_env(KEET_API_KEY=key),
                          capture_output=True, timeout=100, check=False)
    assert key.encode() not in done.stdout + done.stderr
    if done.returncode:
        return [{"outcome": "none", "error": done.stderr.decode(), "text": ""}]
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_llama(program, base):
    texts = set()
    for path in PROTOCOLS:
        spec = f"{base}{path}#tiny"
        for way in ([], ["--whole"]):
            name = f"llama.cpp {path or '/chat/completions'} {'whole' if way else 'streamed'}"
            reply, = ask(program, spec, "--max-tokens", "16", *way)
            check(name + ": 16 tokens, then cut",
                  reply["outcome"] == "truncated" or 0 < reply["out"] < 16, reply)
            check(name + ": usage as told", not reply["estimated"] and 0 < reply["out"] <= 16
                  and reply["in"] > 20, reply)
            check(name + ": model", reply["model"] == "tiny", reply)
            texts.add(reply["text"])
    # Temperature 0 and one seed: the same words, however they come.
    check("llama.cpp: the same text in all six ways", len(texts) == 1, texts)
    replies = ask(program, base + "#tiny", "--times", "8", "--max-tokens", "64")
    check("llama.cpp: 8 at a time", len(replies) == 8
          and all(r["outcome"] in ("ok", "truncated") for r in replies), replies)
    reply, = ask(program, base + "#tiny", "--tools")
    check("llama.cpp: takes tools", reply["outcome"] in ("ok", "truncated"), reply)
    reply, = ask(program, base + "#tiny", key="sk-wrong-0123456789")
    check("llama.cpp: wrong key", reply["outcome"] == "failed" and reply["final"]
          and "401" in reply["error"] and reply["attempts"] == 1, reply)
    reply, = ask(program, base + "#tiny", "--text", "x" * 60000)
    check("llama.cpp: prompt beyond its context", reply["outcome"] == "failed"
          and not reply["final"] and reply["attempts"] == 1 and "context" in reply["error"], reply)
    reply, = ask(program, base.replace("/v1", "/nowhere") + "#tiny")
    check("llama.cpp: no such path", reply["final"] and "404" in reply["error"], reply)


def check_litellm(program, base):
    for path in PROTOCOLS:
        # Its mock cannot stream responses: status 500, "Error processing stream start".
        for way in ([["--whole"]] if path == "/responses" else [[], ["--whole"]]):
            name = f"litellm {path or '/chat/completions'} {'whole' if way else 'streamed'}"
            reply, = ask(program, f"{base}{path}#mock", "--max-tokens", "4000", *way)
            check(name + ": the mock's words", reply["outcome"] == "ok"
                  and reply["text"] == MOCK, reply)
            check(name + ": usage", reply["out"] > 0 and reply["in"] > 0, reply)
    reply, = ask(program, base + "#limited")
    check("litellm: rate limit", reply["outcome"] == "failed" and "429" in reply["error"]
          and reply["attempts"] == 3, reply)
    reply, = ask(program, base + "#broken")
    check("litellm: internal error", reply["outcome"] == "failed" and "500" in reply["error"]
          and reply["attempts"] == 3, reply)
    reply, = ask(program, base + "#mock", key="sk-wrong-0123456789")
    check("litellm: wrong key", reply["outcome"] == "failed" and reply["attempts"] == 1, reply)
    reply, = ask(program, base + "#no-such-model")
    check("litellm: no such model", reply["outcome"] == "failed" and reply["attempts"] == 1, reply)
    replies = ask(program, base + "#mock", "--times", "8")
    check("litellm: 8 at a time", [r["text"] for r in replies] == [MOCK] * 8, replies)


LITELLM = f"""
general_settings:
  master_key: {KEY}
litellm_settings:
  telemetry: false
router_settings:
  num_retries: 0
model_list:
  - model_name: mock
    litellm_params: {{model: openai/mock, api_key: unused, mock_response: {json.dumps(MOCK)}}}
  - model_name: limited
    litellm_params: {{model: openai/mock, api_key: unused,
                      mock_response: "litellm.RateLimitError"}}
  - model_name: broken
    litellm_params: {{model: openai/mock, api_key: unused,
                      mock_response: "litellm.InternalServerError"}}
"""


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def wait_for(port, process, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            connection.request("GET", "/health/liveliness")
            connection.getresponse()
            return True
        except OSError:
            time.sleep(0.3)
    return False


def run_llama(program, python, folder, env):
    model = os.path.join(folder, "tiny.gguf")
    subprocess.run([sys.executable, os.path.join(HERE, "tiny_gguf.py"), model], check=True)
    with subprocess.Popen([python, os.path.join(HERE, "llama_serve.py"), model, KEY],
                          env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as server:
        port = None
        for line in server.stdout:
            if line.startswith(b"port "):
                port = int(line.split()[1])
                break
        check("llama.cpp serves", port is not None)
        if port:
            check_llama(program, f"http://127.0.0.1:{port}/v1")
        server.stdin.close()


def run_litellm(program, python, folder):
    config = os.path.join(folder, "litellm.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(LITELLM)
    port = free_port()
    env = clean_env(HOME=folder, LITELLM_LOCAL_MODEL_COST_MAP="True")
    with open(os.path.join(folder, "log"), "w+", encoding="utf-8") as log:
        server = subprocess.Popen([os.path.join(os.path.dirname(python), "litellm"), "--config",
                                   config, "--host", "127.0.0.1", "--port", str(port)], env=env,
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            serves = wait_for(port, server, 90)
            log.seek(0)
            check("litellm serves", serves, log.read()[-2000:])
            if serves:
                check_litellm(program, f"http://127.0.0.1:{port}/v1")
        finally:
            server.terminate()
            server.wait()


def imports(python, module, env):
    return os.path.exists(python) and not subprocess.run(
        [python, "-c", "import " + module], env=env, capture_output=True, check=False).returncode


def skip(command):
    print(f"skipped: the server is not installed; {command} installs it")
    sys.exit(77)


def main():
    which, program, deps = sys.argv[1:4]
    python = os.path.join(deps, "servers/bin/python")
    with tempfile.TemporaryDirectory() as folder:
        if which == "llama":
            env = clean_env(PYTHONPATH=os.path.join(deps, "llama"))
            if imports(sys.executable, "xllamacpp", env):
                python = sys.executable
            elif not imports(python, "xllamacpp", env):
                skip("setup.sh")
            run_llama(program, python, folder, env)
        else:
            if not imports(python, "litellm", clean_env()):
                skip("tests/model/get_servers.sh")
            run_litellm(program, python, folder)
    if failures:
        sys.exit(f"{len(failures)} failed: " + "; ".join(failures))


if __name__ == "__main__":
    main()
