#!/usr/bin/env python3
"""What each part of the loop is worth with a language model: the same tasks, asked under several arms.

  bench/model/arms.py run   --out DIR --ask COMMAND [--arm NAME]... [--repeats N] [--calls N] [--jobs N]
                            [--tokens N] [--share] [--memory FILE] [--keet-opt PROGRAM] TASK.cu...
  bench/model/arms.py table --out DIR [--against NAME] [--after N | --equal-tokens]
  bench/model/arms.py list

COMMAND answers prompts from a folder: `COMMAND FOLDER` gets a prompt on stdin, puts it into the folder, waits for the
answer there and prints it. `run` makes two folders for each arm, task and repeat: OUT/ARM/TASK-REPEAT/ with the database
in run.db and the replies in record.jsonl, and OUT/asked/NUMBER/ with the prompts and answers, so that whoever answers sees
one run at a time and not the arm's name. Tasks come in an order by lot and, for each task, its arms (a fixed seed), so that a
driver that is stopped leaves whole pairs. A run whose `done` file is there is not run
again; one that was cut off is resumed. --jobs runs wait for answers at once. Every run has --in-flight 1, seed = repeat
number, --no-memory (but in the arm `memory`, each run of which has a copy of --memory FILE, so that no run learns from
another) and a budget of --calls answered versions; --tokens ends runs at so many tokens instead. All arms but
`fill` and `fill_off` leave the rewriter and the tuner out. A run that is done is taken further when --calls has grown.

--share: where arms send the same prompt for the same task and repeat, it is asked once and all get the answer. Arms then differ
by what they do differently and not by the luck of the answer before, and the first answers cost one call in place of one an arm.

`table` reads the databases: speedups after each answered version, calls, tokens, and each arm against one other, in pairs of
task and repeat: the ratio of the final speedups (geometric mean), Wilcoxon's p, and Holm's over all arms; with --after N of
the speedups after N answered versions, with --equal-tokens of those that both had when the cheaper of the two had spent its
tokens. It writes OUT/table.md and prints it."""

import argparse
import concurrent.futures
import fcntl
import hashlib
import math
import pathlib
import random
import shlex
import shutil
import sqlite3
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "explain"))
import stats  # noqa: E402

ALONE = ["--model-only"]
ARMS = {
    "ours": ALONE,
    # what the model is told of a profile
    "no_feedback": [*ALONE, "--feedback", "none"],
    "raw_counters": [*ALONE, "--feedback", "counters"],
    "generic_advice": [*ALONE, "--feedback", "generic"],
    "other_kernel": [*ALONE, "--feedback", "other:DONOR"],
    # parts of the loop
    "no_techniques": [*ALONE, "--no-techniques"],
    "no_best": [*ALONE, "--no-best"],
    "plans": [*ALONE, "--plan"],
    "best_of_n": [*ALONE, "--policy", "best_of_n"],
    "episodes": [*ALONE, "--episodes", "only"],
    "memory": [*ALONE, "--memory", "MEMORY"],
    "episodes_too": [*ALONE, "--episodes", "on"],
    "fill": [],
    "fill_off": ["--fill", "0"],
}
DONOR_BUDGET = 20


def donor_of(options, task, tasks):
    """The database of another task, searched without a model: the explanation that is not ours."""
    other = tasks[(tasks.index(task) + 1) % len(tasks)]
    database = options.out / "donors" / (other.stem + ".db")
    if other == task:
        sys.exit("arms.py: the arm other_kernel needs two tasks or more")
    if not (database.parent / (other.stem + ".done")).exists():
        database.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([options.keet_opt, other, "--budget", str(DONOR_BUDGET), "--db", database, "-o",
                        database.with_suffix(".cu"), "-q", "--device", "emu"], check=True)
        (database.parent / (other.stem + ".done")).touch()
    return database


def memory_of(options, folder):
    """The run's own copy of what earlier runs, of other tasks, left."""
    if not options.memory:
        sys.exit("arms.py: the arm memory needs --memory FILE")
    copy = folder / "memory.db"
    if not copy.exists():
        shutil.copyfile(options.memory, copy)
    return copy


def answer(options):
    """One call under --share. The k-th time that a run sends a prompt is one key: the first who has the key's lock asks."""
    prompt, folder = sys.stdin.buffer.read(), options.folder
    sent = hashlib.sha256(prompt).hexdigest()
    before = (folder / "sent").read_text().split() if (folder / "sent").exists() else []
    (folder / "sent").write_text("\n".join([*before, sent, ""]))
    key = hashlib.sha256(f"{options.of}/{sent}/{before.count(sent)}".encode()).hexdigest()[:16]
    options.answers.mkdir(parents=True, exist_ok=True)
    reply = options.answers / f"{key}.reply"
    with open(options.answers / f"{key}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not reply.exists():
            asked = subprocess.run(f"{options.ask} {shlex.quote(str(folder))}", shell=True, input=prompt,
                                   stdout=subprocess.PIPE, check=True)
            reply.write_bytes(asked.stdout)
    sys.stdout.buffer.write(reply.read_bytes())


def one(options, arm, task, repeat, tasks):
    folder = options.out / arm / f"{task.stem}-{repeat}"
    if (folder / "done").exists() and int((folder / "done").read_text() or options.calls) >= options.calls:
        return f"{folder}: done before"
    number = hashlib.sha256(f"{arm}/{folder.name}".encode()).hexdigest()[:8]
    asked = options.out / "asked" / number
    for made in (folder, asked):
        made.mkdir(parents=True, exist_ok=True)
    words = [w.replace("DONOR", str(donor_of(options, task, tasks))) if "DONOR" in w else w for w in ARMS[arm]]
    if "MEMORY" in words:
        words[words.index("MEMORY")] = memory_of(options, folder)
    else:
        words.append("--no-memory")
    ask = f"cmd:{options.ask} {shlex.quote(str(asked))}"
    if options.share:
        ask = "cmd:" + shlex.join([sys.executable, __file__, "answer", "--answers", str(options.out / "answers"), "--of",
                                   folder.name, "--ask", options.ask, str(asked)])
    command = [options.keet_opt, task, "--device", "emu", "--model", ask, "--in-flight", "1", "--seed",
               str(repeat), "--budget", str(options.calls), "--call-time", "86400", "--db", folder / "run.db", "-o",
               folder / "best.cu", "--record", folder / "record.jsonl", "--json", *words]
    if options.tokens:
        command += ["--max-tokens", str(options.tokens)]
    if (folder / "run.db").exists():
        command.append("--resume")
    with open(folder / "result.json", "wb") as out, open(folder / "log", "wb") as log:
        status = subprocess.run(command, stdout=out, stderr=log, check=False).returncode
    if status == 0:
        (folder / "done").write_text(str(options.calls))
    return f"{folder}: {'done' if status == 0 else f'ended with status {status}, see log'}"


def run(options):
    tasks = [pathlib.Path(t).resolve() for t in options.tasks]
    arms = options.arm or [arm for arm in ARMS if arm != "memory" or options.memory]
    chance = random.Random(1)
    blocks = [(task, repeat) for repeat in range(1, options.repeats + 1) for task in tasks]
    chance.shuffle(blocks)
    work = [(arm, *block) for block in blocks for arm in chance.sample(arms, len(arms))]
    if "other_kernel" in arms:
        for task in tasks:
            donor_of(options, task, tasks)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for said in pool.map(lambda w: one(options, *w, tasks), work):
            print(said, flush=True)


def read(database):
    """([best speedup after each answered version], calls, tokens in and out, [(tokens spent, best speedup)] after each node)"""
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    best, after, spent, course = 1.0, [], 0, []
    calls = dict(db.execute("SELECT number, total(tokens_in + tokens_out) FROM model_call WHERE run = (SELECT max(id) FROM run)"
                            " GROUP BY number"))
    for number, verdict, speedup, proposer, recalled in db.execute(
            "SELECT number, verdict, speedup, proposer, recalled_from FROM node WHERE number > 0 AND"
            " run = (SELECT max(id) FROM run) ORDER BY id"):
        spent += calls.get(number, 0)
        if verdict == "ok" and speedup:
            best = max(best, speedup)
        course.append((spent, best))
        if proposer == "model" and verdict not in ("declined", "no_answer") and recalled is None:
            after.append(best)
        elif after:
            after[-1] = best  # what rewriter and tuner made of it
    nr, tokens = db.execute("SELECT count(*), total(tokens_in + tokens_out) FROM model_call WHERE"
                            " run = (SELECT max(id) FROM run)").fetchone()
    db.close()
    return after or [1.0], nr, tokens, course


def ends_of(one, other, options):
    """The speedups of two runs that are compared."""
    if not options.equal_tokens:
        return [run[0][min(options.after or len(run[0]), len(run[0])) - 1] for run in (one, other)]
    limit = min(run[3][-1][0] if run[3] else 0 for run in (one, other))
    return [max([best for spent, best in run[3] if spent <= limit], default=1.0) for run in (one, other)]


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def table(options):
    found = {}
    for done in sorted(options.out.glob("*/*/done")):
        found.setdefault(done.parent.parent.name, {})[done.parent.name] = read(done.parent / "run.db")
    if not found:
        sys.exit(f"arms.py: no run in {options.out} is done")
    lines = ["| arm | runs | speedup at the end, geomean | after 1 | after 2 | after 3 | calls | tokens |",
             "|---|---|---|---|---|---|---|---|"]
    for arm, runs in found.items():
        at = [geomean([r[0][min(k, len(r[0]) - 1)] for r in runs.values()]) for k in (0, 1, 2)]
        lines.append(f"| {arm} | {len(runs)} | {geomean([r[0][-1] for r in runs.values()]):.2f} | "
                     + " | ".join(f"{x:.2f}" for x in at)
                     + f" | {sum(r[1] for r in runs.values())} | {sum(r[2] for r in runs.values()):.0f} |")
    where = ", at equal tokens" if options.equal_tokens else f", after {options.after} answers" if options.after else ""
    lines += ["", f"Against {options.against}, in pairs{where}:", "",
              "| arm | pairs | speedup, ratio | better, equal, worse | p | p, Holm |", "|---|---|---|---|---|---|"]
    ours, rows = found.get(options.against, {}), []
    for arm, runs in found.items():
        pairs = sorted(set(runs) & set(ours)) if arm != options.against else []
        if pairs:
            logs = [math.log(mine / theirs) for mine, theirs in (ends_of(runs[p], ours[p], options) for p in pairs)]
            rows.append((arm, logs, stats.wilcoxon(logs)[2]))
    adjusted = stats.holm([r[2] for r in rows]) if rows else []
    for (arm, logs, p), holm in zip(rows, adjusted):
        signs = (sum(x > 0 for x in logs), sum(x == 0 for x in logs), sum(x < 0 for x in logs))
        lines.append(f"| {arm} | {len(logs)} | {math.exp(sum(logs) / len(logs)):.3f} | {signs[0]}, {signs[1]}, {signs[2]}"
                     f" | {p:.3g} | {holm:.3g} |")
    lines += ["", "| run | " + " | ".join(found) + " |", "|---|" + "---|" * len(found)]
    for name in sorted({n for runs in found.values() for n in runs}):
        lines.append(f"| {name} | " + " | ".join(
            "  ".join(f"{x:.2f}" for x in runs[name][0]) if name in runs else "" for runs in found.values()) + " |")
    text = "\n".join(lines) + "\n"
    (options.out / "table.md").write_text(text)
    print(text, end="")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    runs = verbs.add_parser("run")
    runs.add_argument("--out", type=pathlib.Path, required=True)
    runs.add_argument("--ask", required=True)
    runs.add_argument("--arm", action="append", choices=list(ARMS))
    runs.add_argument("--repeats", type=int, default=1)
    runs.add_argument("--calls", type=int, default=6)
    runs.add_argument("--jobs", type=int, default=1)
    runs.add_argument("--tokens", type=int)
    runs.add_argument("--share", action="store_true")
    runs.add_argument("--memory", type=pathlib.Path)
    runs.add_argument("--keet-opt", default=ROOT / "build" / "release" / "keet-opt")
    runs.add_argument("tasks", nargs="+")
    tables = verbs.add_parser("table")
    tables.add_argument("--out", type=pathlib.Path, required=True)
    tables.add_argument("--against", default="ours", choices=list(ARMS))
    tables.add_argument("--after", type=int)
    tables.add_argument("--equal-tokens", action="store_true")
    verbs.add_parser("list")
    answers = verbs.add_parser("answer")  # by run --share
    for name, kind in (("--answers", pathlib.Path), ("--of", str), ("--ask", str)):
        answers.add_argument(name, type=kind, required=True)
    answers.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    if options.verb == "list":
        for arm, words in ARMS.items():
            print(f"{arm:16} {' '.join(words)}")
        return
    if options.verb == "answer":
        answer(options)
        return
    options.out = options.out.resolve()
    if options.verb == "run":
        options.keet_opt = pathlib.Path(options.keet_opt).resolve()
    (run if options.verb == "run" else table)(options)


if __name__ == "__main__":
    main()
