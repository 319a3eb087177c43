#!/usr/bin/env python3
"""fault_runs.py KEET_OPT [--quick]: whole runs against server.py, without faults and with all of them.

The server deals faults from a deck: each kind comes at just its rate, in an order that a seed decides.
Every run ends at its budget; every fault is met, and has the effect it must have; every request that
the server saw belongs to a call on record, and every answer, token and attempt agrees; the key is in no
file. With one request at a time, waits add up, so the run with faults takes as long as the one without
and the waits that were injected or asked for, within 20%. With four at a time it takes at most 20%
longer than the one without, a quarter of the waits, and the longest of them. --quick: only the run with
faults, four at a time, without looking at the clock; for builds with sanitizers."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
KEY = "sk-fault-runs-0123456789"
SLOW_S, RETRY_AFTER_S, BACKOFF_S, DELAY_MS, ATTEMPTS = 1, 1, 1, 150, 5
# What makes a client ask again, and what is an answer to be lived with.
AGAIN = ("429", "429_after", "500", "503", "cut", "truncated", "wrong_type")
ANSWERED = ("slow", "stall", "huge", "empty", "refusal", "bad_utf8", "foreign", "unknown_tool")
DECK = ",".join(AGAIN + ANSWERED) + ",ok*10"
NR_IN_DECK, NR_FINAL = 25, 18

KERNEL = """#pragma keet size   N = 4096
#pragma keet check  N = 1000
#pragma keet in     x : f32[N]
#pragma keet out    y : f32[N]
#pragma keet launch scale<<<ceil_div(N, 128), 128>>>(x, y, N)

__global__ void scale(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 3.0f * x[i] + 1.0f;
}
"""


def make_replies(folder, nr):
    """No two compile to the same code, so that each is an evaluation of its own."""
    os.makedirs(folder)
    for i in range(nr):
        code = KERNEL.replace("i < n)", f"i < n && i != n + {i + 1})")
        with open(os.path.join(folder, f"{i:03}.md"), "w", encoding="utf-8") as file:
            file.write(f"Variant {i}.\n\n```cuda\n{code}```\n")


class Server:
    def __init__(self, folder, deck, delay_ms):
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "server.py"), "--delay-ms", str(delay_ms),
             "--slow-s", str(SLOW_S), "--retry-after-s", str(RETRY_AFTER_S), "--replies",
             os.path.join(folder, "replies"), "--deck", deck, "--seed", "3"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.base = "http://127.0.0.1:" + self.process.stdout.readline().split()[1].decode()

    def __enter__(self):
        return self

    def log(self):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return json.loads(opener.open(self.base + "/log").read())

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


class Run:
    """One run to its budget, with what the server and the database say of it."""

    def __init__(self, keet_opt, folder, name, deck, budget, in_flight, delay_ms=DELAY_MS):
        database = os.path.join(folder, name + ".db")
        drop = ("_proxy", "_PROXY", "_API_KEY", "_API_KEY_FILE", "_BASE_URL")
        env = {n: v for n, v in os.environ.items() if not n.endswith(drop)}
        with Server(folder, deck, delay_ms) as server:
            began = time.monotonic()
            done = subprocess.run(
                [keet_opt, os.path.join(folder, "scale.cu"), "--model", server.base + "/v1#m",
                 "--model-only", "--no-plan", "--budget", str(budget), "--in-flight",
                 str(in_flight), "--window", "1000", "--db", database, "--cache",
                 os.path.join(folder, "cache"), "--output", os.path.join(folder, name + ".cu"),
                 "-v", "--json"],
                env=dict(env, KEET_API_KEY=KEY, KEET_CUTLASS="none"), capture_output=True, timeout=500, check=False)
            self.took_s = time.monotonic() - began
            everything = server.log()
        # Leaks and other findings of sanitizers show in the exit status, too.
        assert done.returncode == 0, (done.returncode, done.stderr[-6000:].decode())
        self.log, self.most_running = everything["requests"], everything["most_running"]
        calls = subprocess.run([keet_opt, "calls", database, "--json"], capture_output=True,
                               check=True)
        for text in (done.stdout, done.stderr, calls.stdout):
            assert KEY.encode() not in text
        self.result, self.rows = json.loads(done.stdout), json.loads(calls.stdout)
        assert self.result["stopped_by"] == "budget", self.result["stopped_by"]
        assert self.result["evaluated"] == budget, self.result["evaluated"]
        assert self.most_running <= in_flight
        assert all(entry["key"] for entry in self.log)
        self.match()

    def match(self):
        """Every request belongs to a call, and every call has the requests that it says."""
        requests, calls = {}, {}
        for entry in self.log:
            requests.setdefault(prompt_of(entry["body"]["messages"]), []).append(entry)
        for row in self.rows:
            calls.setdefault(row["prompt"], []).append(row)
        assert set(requests) <= set(calls), "a request that is not on record"
        self.pairs = []
        for prompt, rows in calls.items():
            # The same words may be said again to repair the same failure, one after the other.
            assert len({row["node"] for row in rows}) == 1, "two nodes with the same prompt"
            entries = sorted(requests.get(prompt, []), key=lambda entry: entry["began"])
            for row in rows:
                assert row["outcome"] != "asked", "a call without an end"
                mine, entries = entries[:row["attempts"]], entries[row["attempts"]:]
                if row["error"] and row["error"].startswith("given up"):
                    # The run ended first, perhaps before its request was on its way.
                    assert row["attempts"] - 1 <= len(mine), row
                else:
                    assert row["attempts"] == len(mine), row
                    self.pairs.append((row, mine))
            assert not entries, "requests that are not on record"
        total = self.result["model"]
        for name in ("attempts", "tokens_in", "tokens_out", "tokens_cached", "lost_in", "lost_out"):
            assert total[name] == sum(row[name] for row in self.rows), name
        assert total["calls"] == len(self.rows)

    def met(self):
        return [entry["met"] for _, entries in self.pairs for entry in entries]


def prompt_of(messages):
    """As the database has it: keet-opt's llm/llm.h, llm_prompt_text."""
    if [m["role"] for m in messages] == ["system", "user"]:
        return "\n\n".join(m["content"] for m in messages) + "\n"
    return "\n\n".join(f"[{m['role']}]\n{m['content']}" for m in messages) + "\n"


def check_effects(run):
    """What each fault must have led to."""
    for row, entries in run.pairs:
        *before, last = entries
        said = [e["met"] for e in entries], {n: row[n] for n in row if n not in ("prompt", "reply")}
        assert all(entry["met"] in AGAIN for entry in before), said
        broken = [e for e in entries if e["met"] in ("cut", "truncated", "wrong_type")]
        assert (row["lost_in"] > 0) == bool(broken), said
        assert (row["lost_out"] > 0) == any(e["met"] in ("cut", "truncated") for e in entries), said
        if last["met"] in AGAIN:  # bad luck five times in a row
            assert len(entries) == ATTEMPTS and row["reply"] is None, said
            assert (row["outcome"], row["verdict"]) == ("failed", "no_answer"), said
            continue
        assert len(entries) <= ATTEMPTS, said
        if not row["tokens_estimated"]:
            assert [row["tokens_in"], row["tokens_cached"], row["tokens_out"]] == last["tokens"]
        expected = {"ok": ("ok", "ok"), "slow": ("ok", "ok"), "stall": ("ok", "ok"),
                    "huge": ("truncated", "no_kernel"), "empty": ("empty", "no_kernel"),
                    "refusal": ("refused", "no_kernel"), "bad_utf8": ("ok", "no_kernel"),
                    "foreign": ("ok", "contract"), "unknown_tool": ("ok", "no_kernel")}
        # What no evaluation came to at the end has no verdict yet.
        assert row["outcome"] == expected[last["met"]][0], said
        assert row["verdict"] == expected[last["met"]][1] or row["move"] is None, said
        if last["met"] in ("ok", "slow", "stall", "foreign"):
            assert row["reply"] == last["text"], said
            assert not row["tokens_estimated"], said
        elif last["met"] == "bad_utf8":
            assert row["reply"].startswith("before \ufffd") and row["reply"].endswith(" after")
        elif last["met"] == "huge":
            assert len(row["reply"]) <= 1 << 20 and row["tokens_estimated"], said
        elif last["met"] == "unknown_tool":
            assert row["reply"] == 'no_such_tool({"a": 1})', said
        if last["met"] in ("slow", "stall"):
            assert row["latency_ms"] >= 1000 * SLOW_S, said


def waits_of(run):
    """Seconds that calls were kept waiting: by the server, and between a fault and the next attempt.
    These follow the server's wish or the stated back-off."""
    waits = []
    for row, entries in run.pairs:
        waits += [entry["kept_waiting_s"] for entry in entries if entry["kept_waiting_s"]]
        said_s = 0
        for number, (entry, after) in enumerate(zip(entries, entries[1:])):
            gap_s = after["began"] - entry["ended"]
            most_s = BACKOFF_S * 2 ** number
            least_s = most_s / 2
            if entry["met"] == "429_after":
                least_s, most_s = RETRY_AFTER_S, 1.05 * RETRY_AFTER_S
            assert least_s - 0.05 < gap_s < most_s + 0.5, (entry["met"], number, gap_s)
            waits.append(gap_s)
            said_s += gap_s
        assert abs(row["waited_ms"] / 1000 - said_s) < 0.3 * len(entries), (row, said_s)
    return waits


def check_all_met(run):
    missing = set(AGAIN + ANSWERED) - set(run.met())
    assert not missing, f"faults that never came: {missing}"


def grep_key(folder):
    nr = 0
    for path in glob.glob(folder + "/**", recursive=True):
        if os.path.isfile(path):
            nr += 1
            with open(path, "rb") as file:
                assert KEY.encode() not in file.read(), path
    assert nr > 10


def rough_run(keet_opt, folder, name, in_flight):
    run = Run(keet_opt, folder, name, DECK, 2 * NR_FINAL, in_flight)
    check_all_met(run)
    check_effects(run)
    return run, waits_of(run)


def time_serial(keet_opt, folder, turn):
    """What the run with faults took, over what it should have taken."""
    calm = Run(keet_opt, folder, f"calm-1-{turn}", "", 2 * NR_FINAL, 1)
    rough, waits = rough_run(keet_opt, folder, f"rough-1-{turn}", 1)
    expected_s = calm.took_s + sum(waits)
    print(f"one at a time: {calm.took_s:.2f} s without faults, {sum(waits):.2f} s of waits in "
          f"{len(rough.log)} requests: expected {expected_s:.2f} s, took {rough.took_s:.2f} s, "
          f"ratio {rough.took_s / expected_s:.3f}", flush=True)
    assert sum(waits) > 2 * SLOW_S, "hardly any waits"
    return rough.took_s / expected_s


def time_parallel(keet_opt, folder, turn):
    calm = Run(keet_opt, folder, f"calm-4-{turn}", "", 2 * NR_FINAL, 4)
    rough, waits = rough_run(keet_opt, folder, f"rough-4-{turn}", 4)
    limit_s = calm.took_s + sum(waits) / 4 + max(waits)
    print(f"four at a time: {calm.took_s:.2f} s without faults, {sum(waits):.2f} s of waits, the "
          f"longest {max(waits):.2f} s: at most {limit_s:.2f} s, took {rough.took_s:.2f} s, ratio "
          f"{rough.took_s / limit_s:.3f}", flush=True)
    assert rough.most_running == 4
    return rough.took_s / limit_s


def check_times(keet_opt, folder):
    """A machine that does something else meanwhile gets a second chance."""
    Run(keet_opt, folder, "warm", "", 3 * NR_FINAL, 4, 0)  # all that will be compiled, once
    assert any(0.8 < time_serial(keet_opt, folder, turn) < 1.2 for turn in (1, 2))
    assert any(time_parallel(keet_opt, folder, turn) < 1.2 for turn in (1, 2))


def main():
    keet_opt = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        make_replies(os.path.join(folder, "replies"), 4 * NR_FINAL)
        with open(os.path.join(folder, "scale.cu"), "w", encoding="utf-8") as file:
            file.write(KERNEL)
        if "--quick" in sys.argv:
            run = Run(keet_opt, folder, "rough", DECK, 2 * NR_FINAL + 4, 4, 20)
            check_all_met(run)
            check_effects(run)
            print(f"{len(run.log)} requests, {len(run.rows)} calls, {run.took_s:.1f} s")
        else:
            check_times(keet_opt, folder)
        grep_key(folder)


if __name__ == "__main__":
    main()
