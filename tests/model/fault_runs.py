#!/usr/bin/env python3
"""fault_runs.py KEET_OPT: whole runs against server.py, one without faults and one with all of them at
set rates. Both end at their budget; the second takes at most 20% longer than the first, plus the waits
that were injected or asked for; every request that the server answered for good is a call on record;
the key is in no file."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
KERNEL = os.path.join(HERE, "../../kernels/matmul.cu")
KEY = "sk-fault-runs-0123456789"
BUDGET, SLOW_S = 48, 2
FAULTS = ("429", "429_after", "500", "503", "slow", "stall", "cut", "truncated", "wrong_type", "huge",
          "empty", "refusal", "bad_utf8", "unknown_tool")


def run(keet_opt, folder, name, rates):
    replies = os.path.join(folder, "replies")
    os.makedirs(replies, exist_ok=True)
    for path in glob.glob(os.path.join(HERE, "matmul/write-*.md")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(replies, os.path.basename(path)), "w", encoding="utf-8") as file:
            file.write(text)
    with open(os.path.join(replies, "write-9.md"), "w", encoding="utf-8") as file:
        file.write("```cuda\n#pragma keet size N = 8\n#pragma keet out x : f32[N]\n"
                   "#pragma keet launch f<<<1, 8>>>(x)\n__global__ void f(float *x) {}\n```\n")
    server = subprocess.Popen(
        [sys.executable, os.path.join(HERE, "server.py"), "--delay-ms", "500", "--slow-s",
         str(SLOW_S), "--replies", replies, "--rates", rates, "--seed", "3"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    base = "http://127.0.0.1:" + server.stdout.readline().split()[1].decode()
    database = os.path.join(folder, name + ".db")
    drop = ("_proxy", "_PROXY", "_API_KEY", "_BASE_URL")
    env = {n: v for n, v in os.environ.items() if not n.endswith(drop)}
    began = time.monotonic()
    done = subprocess.run(
        [keet_opt, KERNEL, "--model", base + "/v1#m", "--model-only", "--no-plan", "--budget",
         str(BUDGET), "--db", database, "--output", os.path.join(folder, name + ".cu"), "-v"],
        env=dict(env, KEET_API_KEY=KEY), capture_output=True, timeout=200, check=False)
    took_s = time.monotonic() - began
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    log = json.loads(opener.open(base + "/log").read())["requests"]
    server.stdin.close()
    server.wait()
    calls = subprocess.run([keet_opt, "calls", database, "--json"], capture_output=True, check=True)
    assert done.returncode == 0, done.stderr[-2000:]
    for text in (done.stdout, done.stderr, calls.stdout):
        assert KEY.encode() not in text
    assert f"{BUDGET} variants evaluated".encode() in done.stdout, done.stdout[:300]
    assert b"stopped by: budget" in done.stdout, done.stdout[:300]
    return took_s, log, json.loads(calls.stdout)


def main():
    keet_opt = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        calm_s, calm_log, _ = run(keet_opt, folder, "calm", "")
        rough_s, log, rows = run(keet_opt, folder, "rough",
                                        ",".join(f"{fault}=0.03" for fault in FAULTS))
        assert all(entry["key"] for entry in calm_log)
        for path in glob.glob(folder + "/**", recursive=True):
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    assert KEY.encode() not in file.read(), path
    met = [entry["met"] for entry in log]
    asks_again = ("429", "429_after", "500", "503", "cut", "truncated", "wrong_type")
    final = sum(m not in asks_again for m in met)
    # A status that asks to come again, and an answer that broke, cost a back-off (1 s, then 2).
    injected_s = SLOW_S * sum(m in ("slow", "stall") for m in met) + sum(
        m in asks_again for m in met)
    print(f"calm {calm_s:.1f} s, rough {rough_s:.1f} s, of which injected {injected_s:.1f} s in 4 "
          f"lanes; {len(log)} requests, {final} of them final, {len(rows)} calls; met "
          f"{sorted(set(met))}")
    assert len(set(met)) > 10
    assert rough_s < 1.2 * calm_s + injected_s
    # Calls that were waiting to ask again when the run ended have had no final request.
    assert final <= len(rows) <= final + 4, "requests and calls do not match"



if __name__ == "__main__":
    main()
