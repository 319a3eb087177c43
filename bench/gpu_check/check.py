"""What gpu_check.sh runs: the stages, one after the other, each with its part of the time, and the
report. See gpu_check.sh for its use. With KEET_CUDA_DRIVER set it is a dry run: the same steps on
the software driver, whose numbers say nothing of a card."""

import argparse
import concurrent.futures
import datetime
import json
import math
import os
import random
import re
import sqlite3
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import compare
import program

# An original that takes longer than this on the card takes most of a minute for each ten variants.
SLOW_NS = 20e6

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Check:
    """The options, the clock, and what was found so far."""

    def __init__(self, options):
        self.options = options
        self.dry = bool(os.environ.get("KEET_CUDA_DRIVER"))
        self.began = time.monotonic()
        self.out = Path(options.out)
        self.work = self.out / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        self.holds = []  # (what, True | False | None: could not be looked at, words)
        self.tables = []
        self.gpu_ns = {}  # kernel -> time of the original

    def left(self):
        return self.options.seconds - (time.monotonic() - self.began)

    def say(self, text):
        print(f"[{time.monotonic() - self.began:5.0f} s] {text}", flush=True)

    def judge(self, what, holds, words):
        self.holds.append((what, holds, words))
        self.say(f"{ {True: 'holds', False: 'DOES NOT HOLD', None: 'not looked at'}[holds] }: "
                 f"{what}: {words}")

    def keet(self, *arguments, seconds=120, **how):
        """(exit code, stdout, stderr) of keet-opt."""
        return program.run(self.options.program, [*arguments, "--cache", self.work / "cache"], seconds, **how)

    def node(self, *arguments, **keywords):
        """The JSON of `keet-opt run`, or None and why not."""
        node, why = program.document(*self.keet("run", *arguments, "--json", **keywords))
        if node and node["verdict"] != "ok":
            return None, f"{node['verdict']}: {node['verdict_text']}"
        return node, why

    def table(self, title, head, rows, name):
        """A table of the report; all of it in a file of tab-separated values as well."""
        with open(self.out / name, "w", encoding="utf-8") as file:
            for row in [head, *rows]:
                file.write("\t".join(str(cell) for cell in row) + "\n")
        self.tables.append((title, head, rows, name))


# --- the machine ---

def first_line(command):
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=20, cwd=ROOT)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run.stdout.strip().splitlines()[0] if run.returncode == 0 and run.stdout.strip() else None


def machine(check):
    code, text, errors = check.keet("doctor", "--json", seconds=60)
    (check.out / "doctor.json").write_text(text or errors, encoding="utf-8")
    try:
        doctor = json.loads(text)
    except json.JSONDecodeError:
        sys.exit(f"gpu_check: keet-opt doctor failed with exit code {code}: {errors.strip()}")
    rows = {row["name"]: row for row in doctor["rows"]}
    driver = rows.get("GPU driver", {"state": "absent", "text": "no driver"})
    software = "software driver" in " ".join(driver["text"].split())
    if software != check.dry or (not check.dry and not doctor["gpu_found"]):
        words = "; ".join(" ".join(rows[n]["text"].split()) for n in ("GPU driver", "GPU") if n in rows)
        sys.exit(f"gpu_check: there is no GPU to check here: {words}\n"
                 "gpu_check: --dry-run goes through all steps on the software driver")
    query = "name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks_throttle_reasons.active," \
            "temperature.gpu,power.limit"
    facts = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": first_line(["git", "rev-parse", "HEAD"]) or "unknown",
        "changed_since_commit": bool(first_line(["git", "status", "--porcelain"])),
        "gpu": " ".join(rows.get("GPU", {"text": "?"})["text"].split()),
        "driver": " ".join(driver["text"].split()),
        "nvidia_smi": {"query": query, "answer": None if check.dry else first_line(
            ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"])},
        "counters": " ".join(rows.get("counters", {"text": "?"})["text"].split()),
        "host_cores": os.cpu_count(),
        "dry_run": check.dry,
        "command": "bench/gpu_check.sh " + " ".join(sys.argv[1:]),
    }
    (check.out / "machine.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    check.judge("keet-opt doctor", code == 0, facts["gpu"])
    return facts


# --- the stages ---

def run_tests(check):
    build = Path(check.options.program).parent
    if check.dry or not (build / "CTestTestfile.cmake").exists():
        check.judge("tests of the label gpu", None,
                    "a dry run is one of them" if check.dry else f"no tests were built in {build}")
        return
    try:
        run = subprocess.run(
            ["ctest", "--test-dir", str(build), "-L", "gpu", "-E", "gpu_check", "-j4",
             "--output-on-failure"],
            capture_output=True, text=True, timeout=max(1, min(150, check.left())))
        text, words = run.stdout + run.stderr, f"exit code {run.returncode}"
        passed = run.returncode == 0
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode(errors="replace")
        words, passed = "not done after its part of the time", False
    (check.out / "tests.txt").write_text(text, encoding="utf-8")
    summary = re.search(r"\d+% tests passed.*", text)
    check.judge("tests of the label gpu", passed, summary[0] if summary else words)


def tolerance_of(kernel):
    match = re.search(r"#pragma keet tolerance\s+(.*)", kernel.read_text(encoding="utf-8"))
    values = dict(re.findall(r"(rel|abs)\s*=\s*([-+.\deE]+)", match[1])) if match else {}
    return float(values.get("rel", 1e-5)), float(values.get("abs", 1e-6))


def run_on(check, kernel, device, options=()):
    folder = check.work / f"{kernel.stem}.{device}"
    node, why = check.node(kernel, "--device", device, "--dump", folder, *options,
                           seconds=min(120, check.left()), cpu_only=device == "emu")
    return node, why, folder


def compare_results(kernel, gpu, emu):
    """The worst of all arrays."""
    order = ["bitwise", "within tolerance", "unknown", "wrong"]
    worst, error = "bitwise", 0.0
    for path in sorted(emu.glob("*.npy")):
        if not (gpu / path.name).exists():
            return "wrong", math.inf
        verdict, far = compare.arrays(compare.read_npy(gpu / path.name), compare.read_npy(path),
                                      *tolerance_of(kernel))
        if order.index(verdict) > order.index(worst):
            worst = verdict
        error = max(error, far)
    return worst, error


def kernels(check, pool):
    """Each kernel on both: results, and what both counted."""
    on_emulator = {k: pool.submit(run_on, check, k, "emu", ("--threads", "1"))
                   for k in check.options.kernels}
    rows, counted, wrong, differing, absent = [], [], [], 0, None
    for kernel, future in on_emulator.items():
        gpu, why, gpu_folder = run_on(check, kernel, "gpu")
        emu, emu_why, emu_folder = future.result()
        if gpu is None or emu is None:
            rows.append((kernel.stem, "failed", "", "", "", why or emu_why))
            wrong.append(kernel.stem)
            continue
        check.gpu_ns[kernel] = gpu["time_ns"]
        verdict, error = compare_results(kernel, gpu_folder, emu_folder)
        if verdict == "wrong":
            wrong.append(kernel.stem)
        both = compare.counters(emu["metrics"], gpu["metrics"],
                                "modelled" if check.dry else "measured")
        absent = absent or (None if both else gpu.get("no_counters") or "no counter was measured")
        differing += sum(row[4] == "differ" for row in both)
        counted += [(kernel.stem, *row) for row in both]
        rows.append((kernel.stem, verdict, f"{error:.3g}", f"{gpu['time_ns']:.0f}",
                     f"{emu['time_ns']:.0f}", f"{sum(r[4] == 'agree' for r in both)} of {len(both)}"))
    check.table("Kernels on both", ("kernel", "results", "largest difference",
                                    f"GPU ns ({'modelled' if check.dry else 'measured'})",
                                    "emulator ns (modelled)", "counters within 1%"), rows,
                "kernels.tsv")
    check.judge("results of emulator and GPU", not wrong,
                f"{len(rows) - len(wrong)} of {len(rows)} kernels agree" +
                (f"; not {', '.join(wrong)}" if wrong else ""))
    if counted:
        check.table("Counters that are not within 1%", ("kernel", "metric", "emulator", "GPU",
                    "relative difference", "verdict", "why"),
                    [row for row in counted if row[5] != "agree"], "counters.tsv")
        check.judge("counted metrics within 1% or explained", differing == 0,
                    f"{differing} of {len(counted)} differ without an explanation")
    else:
        check.judge("counted metrics within 1% or explained", None, absent or "no kernel ran")


def variants_of(check, kernel, budget, seconds):
    """Distinct variants that the GPU timed: (number, source, time)."""
    database = check.work / f"{kernel.stem}.db"
    check.keet(kernel, "--device", "gpu", "--budget", str(budget), "--policy", "random", "--seed", "1",
               "--db", database, "-o", check.work / f"{kernel.stem}.best.cu", "-q", seconds=seconds,
               counts=False)
    if not database.exists():
        return []
    with sqlite3.connect(database) as db:
        found = db.execute(
            "select node.number, source.text, measurement.time_ns from node "
            "join source on source.hash = node.source join measurement on measurement.node = node.id "
            "where node.verdict = 'ok' and node.recalled_from is null and measurement.time_from = ? "
            "order by node.number", ("modelled" if check.dry else "measured",)).fetchall()
    return found


class Emulation:
    """Variants whose times the emulator models beside the GPU's searches, one to a core."""

    def __init__(self, check, pool):
        self.check, self.pool = check, pool
        self.pending, self.took = [], []

    def run(self, path):
        began = time.monotonic()
        node, _ = self.check.node(path, "--device", "emu", "--threads", "1", cpu_only=True,
                                  seconds=min(120, self.check.left()))
        self.took.append(time.monotonic() - began)
        return node["time_ns"] if node else None

    def add(self, kernel, number, source, time_ns):
        path = self.check.work / f"{kernel.stem}.{number}.cu"
        path.write_text(source, encoding="utf-8")
        self.pending.append((kernel.stem, number, time_ns, self.pool.submit(self.run, path)))

    def behind(self):
        """Seconds until all that is pending will be done, about."""
        waiting = sum(not row[3].done() for row in self.pending)
        mean = sum(self.took) / len(self.took) if self.took else 1
        return math.ceil(waiting / self.check.options.jobs) * mean

    def pairs(self):
        rows = [(name, number, ns, future.result()) for name, number, ns, future in self.pending]
        return [row for row in rows if row[3]]


def keep_sources(check, pairs):
    """The sources of all variants in one file, so that the model can be tried on them again."""
    def plain(member):
        member.uid = member.gid = member.mtime = 0
        member.uname = member.gname = ""
        return member

    with tarfile.open(check.out / "variants.tar.xz", "w:xz") as file:
        for name, number, *_ in pairs:
            file.add(check.work / f"{name}.{number}.cu", f"{name}.{number}.cu", filter=plain)


def time_model(check, pool):
    """Variants of the suite: the order of the modelled times against that of the GPU's."""
    wanted = check.options.variants
    order = list(check.options.kernels)
    random.Random(1).shuffle(order)
    order.sort(key=lambda kernel: check.gpu_ns.get(kernel, 0) > SLOW_NS)
    budget = math.ceil(wanted * 1.5 / len(order)) + 1
    emulation = Emulation(check, pool)
    for kernel in order:
        seconds = min(45, check.left() - emulation.behind() - 30)
        if seconds < 10 and not check.dry:
            break
        for number, source, time_ns in variants_of(check, kernel, budget, max(seconds, 10)):
            emulation.add(kernel, number, source, time_ns)
    pairs = emulation.pairs()
    keep_sources(check, pairs)
    check.table("Variants", ("kernel", "node", "GPU ns", "emulator ns (modelled)"), pairs,
                "variants.tsv")
    rows, logs = [], ([], [])
    for name in sorted({pair[0] for pair in pairs}):
        x, y = ([p[i] for p in pairs if p[0] == name] for i in (2, 3))
        rows.append((name, len(x), f"{compare.spearman(x, y):.3f}", f"{compare.kendall(x, y):.3f}"))
        # Overall, a variant is set beside the original of its kernel: sizes are no merit of a model.
        logs[0].extend(value / x[0] for value in x)
        logs[1].extend(value / y[0] for value in y)
    overall = compare.spearman(*logs), compare.kendall(*logs)
    rows.append(("all, relative to their originals", len(pairs), *(f"{r:.3f}" for r in overall)))
    check.table("Time model: rank correlation", ("kernel", "variants", "Spearman", "Kendall"), rows,
                "time_model.tsv")
    check.judge(f"at least {wanted} variants timed on both", len(pairs) >= wanted,
                f"{len(pairs)} variants; Spearman {overall[0]:.3f}, Kendall {overall[1]:.3f} overall")


def search(check):
    kernel = check.options.search
    name = f"{kernel.name} --budget {check.options.budget}"
    said = check.keet(kernel, "--device", "gpu", "--budget", str(check.options.budget), "--json", "-q", "--db",
                      check.work / "search.db", "-o", check.out / f"{kernel.stem}.best.cu",
                      seconds=max(30, check.left() - 30))
    run, why = program.document(*said)
    if not run:
        check.judge(name, False, why)
        return None
    (check.out / f"{kernel.stem}.json").write_text(said[1], encoding="utf-8")
    best, original = run["best"], run["original"]
    word = "speedup" if run["speedup_from"] == "measured" else f"{run['speedup_from']} speedup"
    expected = "modelled" if check.dry else "measured"
    check.judge(name,
                run["speedup_from"] == expected and best["verdict"] == "ok",
                f"{run['speedup']:.2f}x {word}, {original['time_ns'] / 1e3:.1f} us -> "
                f"{best['time_ns'] / 1e3:.1f} us, {run['evaluated']} variants")
    return best["time_ns"]


def baselines(check, best_ns):
    if check.dry:
        check.judge("baselines", None, "libraries do not run on the software driver")
        return
    try:
        run = subprocess.run([sys.executable, str(HERE / "baselines.py")], capture_output=True,
                             text=True, timeout=max(20, min(60, check.left())))
        found = json.loads(run.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        check.judge("baselines", None, "they did not end well; run bench/gpu_check/baselines.py alone")
        return
    rows = []
    for name, what in found.items():
        ours = best_ns / what["time_ns"] if best_ns and "time_ns" in what and "1024" in name and \
            ("sgemm" in name or "f32" in name) else None
        rows.append((name, f"{what['time_ns']:.0f}" if "time_ns" in what else what["absent"],
                     f"{ours:.2f}" if ours else ""))
    check.table("Libraries", ("what", "ns (measured)", "best matmul.cu takes so many times as long"),
                rows, "baselines.tsv")
    check.judge("baselines", True if any("time_ns" in w for w in found.values()) else None,
                ", ".join(f"{n}: {w.get('absent', 'timed')}" for n, w in found.items()))


# --- the report ---

def report(check, facts):
    title = "GPU check: DRY RUN on the software driver, no number here is of a GPU" if check.dry \
        else f"GPU check: {facts['gpu']}"
    lines = [f"# {title}", ""]
    lines += [f"- {key}: {value}" for key, value in facts.items()]
    lines += [f"- took: {time.monotonic() - check.began:.0f} s", "", "| what | holds | |",
              "|---|---|---|"]
    words = {True: "yes", False: "**no**", None: "not looked at"}
    lines += [f"| {what} | {words[holds]} | {text} |" for what, holds, text in check.holds]
    for name, head, rows, file in check.tables:
        lines += ["", f"## {name}", ""]
        if len(rows) > 60:
            lines += [f"{len(rows)} rows, in [{file}]({file})." +
                      (" Their sources are in variants.tar.xz." if name == "Variants" else "")]
            continue
        lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    (check.out / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=470)
    parser.add_argument("--variants", type=int, default=300)
    parser.add_argument("--budget", type=int, default=50)
    parser.add_argument("--search", type=Path, default=ROOT / "kernels/matmul.cu")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("kernels", nargs="*", type=Path)
    options = parser.parse_args()
    options.kernels = options.kernels or sorted((ROOT / "kernels").glob("*.cu"))
    check = Check(options)
    if check.dry and str(check.out.resolve()).startswith(str(ROOT / "results")):
        sys.exit("gpu_check: a dry run writes nothing into results/")
    compare.test()
    facts = machine(check)
    run_tests(check)
    with concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs) as pool:
        kernels(check, pool)
        best_ns = search(check)
        baselines(check, best_ns)
        time_model(check, pool)
    report(check, facts)
    check.say(f"report: {check.out / 'README.md'}")
    sys.exit(1 if any(holds is False for _, holds, _ in check.holds) else 0)


main()
