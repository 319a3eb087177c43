#!/usr/bin/env python3
"""Multiple-choice questions from profiles with known answers, under the same five kinds of feedback as arms.py.

  bench/explain/questions.py [--model SPEC] [--seed N] [--jobs N] [--work DIR] [--out DIR] [--arms-work DIR]
  bench/explain/questions.py --new|--old [--answers DIR | --model SPEC] [--split dev|test|all] [--again] [...]

Questions: which bottleneck a kernel has, and on which line it is (planted kernels of tests/explain/ and its held-out
set, labelled); and which move on a suite kernel's original gains most (known from the runs of arms.py: the moves that
those tried on the original, at most 9 tenths as good in log2 as the best to be a wrong answer). Wrong bottlenecks are
of the same family of metrics as the right one. SPEC: http://host:port/v1#NAME (chat completions; OPENAI_API_KEY is
sent if set) or cmd:'PROGRAM' (prompt on stdin, answer on stdout). Without a model, fixed rules stand for a reader; see
bench/explain/README.md. Writes OUT/questions.md and OUT/questions.json; WORK/answers.jsonl keeps a model's answers.

--new: questions that the source does not answer (question_kinds.py), --old: those on held-out planted kernels, one file
of prompts an arm: WORK/new/prompts/SPLIT/ARM.md. DIR/ARM.txt holds a reader's answers, lines "Q001 B" or "Q002 1.85"; a model gets an
arm's file as one prompt. Writes OUT/questions_new.md and .json, and OUT/answers/new/ARM.txt."""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import random
import re
import shlex
import sqlite3
import subprocess
import sys
import threading
import urllib.request

import arms
import question_kinds
import question_set
import stamp  # found by arms
import stats

ROOT = arms.ROOT
ARMS, OURS, TITLES = arms.ARMS, arms.OURS, arms.TITLES
KINDS = {"cause": "Which bottleneck", "line": "Which line", "move": "Which move"}
TITLE_OF = dict(KINDS, heldout="Of these, on held-out planted kernels (bottleneck and line)", all="All questions")

FAMILIES = [
    ["coalescing", "redundant_loads", "narrow_access", "cache_misses", "bandwidth", "serial_rows", "misalignment",
     "aliasing", "dead_stores"],
    ["bank_conflicts", "shared_traffic", "barriers", "atomics", "short_scoreboard", "async_copy"],
    ["fp64", "special_functions", "conversions", "instruction_overhead", "tensor_cores", "divergence", "unrolling",
     "recomputation"],
    ["few_blocks", "tail_effect", "occupancy", "launch_overhead", "latency", "register_spills", "tiny_launches"],
]
MEANINGS = {
    "coalescing": "neighbouring lanes access addresses far apart",
    "redundant_loads": "the same data is loaded again and again from global memory",
    "narrow_access": "loads and stores are narrower than they could be",
    "cache_misses": "reused data does not fit the caches",
    "bandwidth": "DRAM is saturated by more traffic than needed",
    "serial_rows": "one thread walks a whole row alone",
    "misalignment": "accesses straddle sectors",
    "aliasing": "a possible overlap of pointers forces loads to be repeated",
    "dead_stores": "values are stored that nothing reads",
    "bank_conflicts": "lanes hit the same bank of shared memory",
    "shared_traffic": "too many shared-memory loads for each arithmetic instruction",
    "barriers": "warps wait for each other at barriers",
    "atomics": "atomics contend",
    "short_scoreboard": "each step waits for the last one's shared memory or special function",
    "async_copy": "copies to shared memory pass through registers, and nothing else runs meanwhile",
    "fp64": "unneeded double precision",
    "special_functions": "exponentials, divisions and roots",
    "conversions": "conversions between types",
    "instruction_overhead": "index arithmetic and loop control",
    "tensor_cores": "a matrix product without tensor cores",
    "divergence": "lanes of a warp take different ways",
    "unrolling": "a short loop that is not unrolled",
    "recomputation": "the same values are computed again and again",
    "few_blocks": "too few blocks or threads for the chip",
    "tail_effect": "a last wave that is nearly empty",
    "occupancy": "too few warps fit on a multiprocessor",
    "launch_overhead": "gaps between launches",
    "latency": "dependent memory accesses with nothing to do meanwhile",
    "register_spills": "private data in local memory",
    "tiny_launches": "launches too small to be worth one each",
}
# What a counters reader without understanding would look at for each: the metrics of that name.
WORDS = {
    "coalescing": "sectors_pipe", "redundant_loads": "data_bytes", "narrow_access": "requests_pipe",
    "cache_misses": "hit_rate", "bandwidth": "dram", "serial_rows": "warps_launched", "misalignment": "sectors_global",
    "aliasing": "op_ld", "dead_stores": "op_st", "bank_conflicts": "bank_conflict",
    "shared_traffic": "wavefronts_mem_shared", "barriers": "barrier", "atomics": "atom",
    "short_scoreboard": "short_scoreboard", "async_copy": "op_shared_st", "fp64": "fp64",
    "special_functions": "special", "conversions": "conversion", "instruction_overhead": "integer",
    "tensor_cores": "tensor", "divergence": "divergent", "unrolling": "control", "recomputation": "fp32",
    "few_blocks": "grid_size", "tail_effect": "waves", "occupancy": "warps_active", "launch_overhead": "time_duration",
    "latency": "long_scoreboard", "register_spills": "local", "tiny_launches": "cycles_elapsed",
}


def planted():
    """(path, tool, lines) of all kernels that have one planted bottleneck."""
    out = []
    for folder in ("tests/explain", "tests/explain/heldout"):
        for line in (ROOT / folder / "planted.txt").read_text().splitlines():
            if not line.startswith("#") and line.split()[1] != "none":
                name, tool, lines = line.split()
                out.append((ROOT / folder / "kernels" / f"{name}.cu", tool, [int(n) for n in lines.split(",") if n != "0"]))
    return out


def profile(args, path, feedback, name):
    """What the database says of the original under this feedback; None where it cannot run."""
    db = args.work / f"{name}.db"
    for old in args.work.glob(f"{name}.db*"):
        old.unlink()
    pool = args.arms_work / f"{path.stem}.pool.db"
    pool = pool if pool.exists() else args.work / f"{path.stem}.pool.db"
    run = subprocess.run([str(args.binary), str(path), "--budget", "1", "--feedback", feedback, "--device", "emu",
                          "--threads", "1", "-q", "--reuse", str(pool), "--db", str(db), "-o", str(args.work / "x.cu")],
                         capture_output=True, text=True)
    if run.returncode != 0:
        print(f"left out: {run.stderr.strip()}", file=sys.stderr)
        return None
    con = sqlite3.connect(db)
    node = con.execute("SELECT id FROM node WHERE number = 0").fetchone()[0]
    get = lambda sql: con.execute(sql, (node,)).fetchall()  # noqa: E731
    priors = {}
    for action, prior in get("SELECT action, prior FROM option WHERE node = ?"):
        priors[action] = priors.get(action, 0) + prior
    out = {"counters": dict(get("SELECT metric, value FROM counter WHERE node = ? AND launch = -1")),
           "lines": dict(get("SELECT line, warp_inst FROM line_cost WHERE node = ? AND launch = -1")),
           "findings": get("SELECT tool, line, text, max_gain FROM finding WHERE node = ? ORDER BY seq"),
           "summary": get("SELECT summary FROM explanation WHERE node = ?")[0][0] or "", "priors": priors}
    con.close()
    return out


def choices(rng, right, wrong, nr=3):
    picked = [right] + rng.sample(wrong, min(nr, len(wrong)))
    rng.shuffle(picked)
    return picked


def planted_questions(path, tool, lines, seen, rng):
    family = next(f for f in FAMILIES if tool in f)
    out = [{"kind": "cause", "kernel": path.stem, "right": tool,
            "choices": choices(rng, tool, [t for t in family if t != tool])}]
    wrong = sorted(n for n in seen["lines"] if n not in lines)
    ours = [n for n in lines if n in seen["lines"]]
    if ours and wrong:
        out.append({"kind": "line", "kernel": path.stem, "right": ours[0], "choices": choices(rng, ours[0], wrong)})
    return out


def gains_on_originals(folder, kernel):
    """log2 of the best that each move did on the original, over the runs of the arm `findings`."""
    best = {}
    for db in folder.glob(f"{kernel}-*-findings.db"):
        con = sqlite3.connect(db)
        for action, speedup in con.execute("SELECT action, speedup FROM node WHERE parent = 0 AND verdict = 'ok'"):
            best[action] = max(best.get(action, -9), math.log2(speedup))
        con.close()
    return best


def move_question(kernel, gains, rng):
    right = max(gains, key=lambda a: (gains[a], a), default=None)
    if right is None or gains[right] < 0.1:
        return []
    wrong = sorted(a for a in gains if a != right and gains[a] < 0.9 * gains[right])
    return [{"kind": "move", "kernel": kernel, "right": right, "choices": choices(rng, right, wrong)}] if wrong else []


# --- who answers ---

def first_among(ranked, options):
    return next((r for r in ranked if r in options), None)


def rule(question, arm, seen, others, rng):
    """What a fixed rule answers under each kind of feedback; None: it cannot tell."""
    options, kind = question["choices"], question["kind"]
    if arm == "none":
        return rng.choice(options)
    if kind == "move":
        priors = others[arm]["priors"]
        return max(options, key=lambda a: priors.get(a, 0))
    if arm == "generic":  # the same order for every kernel: that of the families, and of the source
        return first_among([t for f in FAMILIES for t in f] if kind == "cause" else sorted(options), options)
    if arm == "counters" and kind == "cause":
        says = {t: max([math.log2(1 + max(v, 0)) for m, v in seen["counters"].items() if WORDS[t] in m] or [0])
                for t in options}
        return max(options, key=lambda t: says[t])
    if arm == "counters":
        return max(options, key=lambda n: seen["lines"].get(n, 0))
    found = others["other"]["findings"] if arm == "other" else seen["findings"]
    return first_among([f[0] if kind == "cause" else f[1] for f in found], options)


def told(arm, seen, others):
    if arm == "none":
        return "(nothing is known of its profile)"
    if arm in ("counters", "generic"):
        return others[arm]["summary"]
    source = others["other"] if arm == "other" else seen
    return "\n".join([source["summary"]] + [f"- {text} At most {gain:.1f}x." for _, _, text, gain in source["findings"]])


def in_words(question):
    """The question, and its choices."""
    ask = {"cause": "What limits this kernel most?", "line": "On which line is its bottleneck?",
           "move": "Which of these changes makes it fastest?"}[question["kind"]]
    text = {"cause": lambda c: MEANINGS[c], "line": lambda c: f"line {c}", "move": lambda c: c}[question["kind"]]
    return ask, [text(c) for c in question["choices"]]


def numbered_lines(source):
    return "\n".join(f"{i:4}| {line}" for i, line in enumerate(source.splitlines(), 1))


def prompt_of(question, arm, seen, others, source):
    ask, choices = in_words(question)
    options = "\n".join(f"{'ABCD'[i]}. {c}" for i, c in enumerate(choices))
    return (f"A CUDA kernel on an NVIDIA H100:\n\n{numbered_lines(source)}\n\nWhat is known of its profile:\n\n"
            f"{told(arm, seen, others)}\n\n{ask}\n{options}\n\nAnswer with one letter.")


def old_set(args):
    """The questions on held-out planted kernels, as question_set.py holds a set."""
    names = {p.stem for p, _, _ in planted() if "heldout" in p.parts}
    args.only = sorted(names & set(args.only) if args.only else names)
    questions, known, _ = gather(args)
    sheets, asked = {}, []
    for i, (q, (path, seen, others)) in enumerate(zip(questions, known), 1):
        tells = {a: told(a, seen, others) for a in ARMS} | {"none": "", "generic": ""}
        sheets[path.stem] = {"split": "test", "source": numbered_lines(path.read_text()), "told": tells}
        ask, choices = in_words(q)
        asked.append({"id": f"Q{i:03}", "kind": q["kind"], "sheet": path.stem, "split": "test", "text": ask,
                      "choices": choices, "right": q["choices"].index(q["right"]), "extra": {}})
    generic = told("generic", *known[0][1:])
    return {"seed": args.seed, "commit": args.commit, "generic": generic, "sheets": sheets, "questions": asked}


def ask(spec, prompt):
    if spec.startswith("cmd:"):
        return subprocess.run(shlex.split(spec[4:]), input=prompt, capture_output=True, text=True, check=True).stdout
    base, _, name = spec.partition("#")
    headers = {"Content-Type": "application/json"}
    if os.environ.get("OPENAI_API_KEY"):
        headers["Authorization"] = "Bearer " + os.environ["OPENAI_API_KEY"]
    body = {"model": name, "messages": [{"role": "user", "content": prompt}], "temperature": 0}
    request = urllib.request.Request(base.rstrip("/") + "/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=300) as reply:
        return json.load(reply)["choices"][0]["message"]["content"] or ""


def letter(reply, options):
    """The choice that an answer names: its last letter that stands alone."""
    found = re.findall(r"\b([A-D])\b", reply)
    at = "ABCD".index(found[-1]) if found else len(options)
    return options[at] if at < len(options) else None


# --- the table ---

def judge(questions, answers):
    """answers[arm][i] right or wrong -> per kind, accuracy and ours against each other arm."""
    out = {}
    for kind in [*KINDS, "heldout", "all"]:
        mine = [i for i, q in enumerate(questions) if kind in (q["kind"], q.get("set"), "all")]
        if not mine:
            continue
        right = {a: [answers[a][i] == questions[i]["right"] for i in mine] for a in ARMS}
        rows = {}
        for a in ARMS:
            low, high = stats.wilson(sum(right[a]), len(mine))
            rows[a] = {"right": sum(right[a]), "of": len(mine), "low": low, "high": high}
            if a != OURS:
                only_ours = sum(o and not t for o, t in zip(right[OURS], right[a]))
                only_theirs = sum(t and not o for o, t in zip(right[OURS], right[a]))
                rows[a].update(only_ours=only_ours, only_theirs=only_theirs, p=stats.mcnemar(only_ours, only_theirs))
        out[kind] = rows
    return out


def write_table(args, questions, verdicts, out_of):
    who = f"answered by {args.model}" if args.model else "answered by fixed rules, no model (see bench/explain/README.md)"
    lines = ["# Questions from profiles, with known answers", "",
             f"`bench/explain/questions.py` at commit {args.commit}, emulated H100; {who}. {len(questions)} questions on "
             f"{out_of} kernels; bottlenecks and lines are planted, wrong bottlenecks are of the same family of metrics; "
             "guessing gets about a quarter.", ""]
    for kind, rows in verdicts.items():
        lines += [f"## {TITLE_OF[kind]}", "",
                  "| feedback | right | 95% interval | only ours right : only this right | exact McNemar p |",
                  "|---|---:|---|---|---:|"]
        for a, r in rows.items():
            against = "" if a == OURS else f"{r['only_ours']} : {r['only_theirs']}"
            p = "" if a == OURS else arms.p_text(r["p"])
            lines.append(f"| {TITLES[a]} | {r['right']} of {r['of']} ({100 * r['right'] / r['of']:.0f}%) | "
                         f"{100 * r['low']:.0f}% to {100 * r['high']:.0f}% | {against} | {p} |")
        lines.append("")
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "questions.md").write_text("\n".join(lines).rstrip() + "\n")
    print("\n".join(lines))


def gather(args):
    """All questions, each with what is known under each kind of feedback."""
    rng = random.Random(args.seed)
    labelled = [p for p in planted() if not args.only or p[0].stem in args.only]
    suite = [] if args.only else sorted((ROOT / "kernels").glob("*.cu"))
    suite = [p for p in suite if gains_on_originals(args.arms_work, p.stem)]
    paths = [p for p, _, _ in labelled] + suite
    wanted = [(p, a) for p in paths for a in ARMS if a != "other"]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:  # one kernel's runs share a file
        by_kernel = pool.map(lambda p: {a: profile(args, p, a, f"{p.stem}-{a}") for q, a in wanted if q == p}, paths)
        seen = dict(zip(paths, by_kernel))
    paths = [p for p in paths if all(seen[p].values())]
    donors = arms.donors([str(p) for p in paths], args.seed)
    by_path = {str(p): p for p in paths}
    questions, known = [], []
    for p in paths:
        donor = by_path[donors[str(p)]]
        others = dict(seen[p], other=seen[donor][OURS])
        label = next((x for x in labelled if x[0] == p), None)
        if not label:
            others["other"] = profile(args, p, f"other:{args.work / f'{donor.stem}-{OURS}.db'}", f"{p.stem}-other")
        new = planted_questions(p, label[1], label[2], seen[p][OURS], rng) if label else \
            move_question(p.stem, gains_on_originals(args.arms_work, p.stem), rng)
        questions += [dict(q, set="heldout") if "heldout" in p.parts else q for q in new]
        known += [(p, seen[p][OURS], others)] * len(new)
    return questions, known, len(paths)


def answer_all(args, questions, known):
    if not args.model:
        answers = {a: [rule(q, a, seen, others, random.Random(f"{args.seed} {a} {i}"))
                       for i, (q, (_, seen, others)) in enumerate(zip(questions, known))] for a in ARMS}
        return answers
    log, lock, held = args.work / "answers.jsonl", threading.Lock(), {}
    if log.exists():
        for line in log.read_text().splitlines():
            said = json.loads(line)
            held[said["model"], said["prompt"]] = said["reply"]

    def one(job):
        a, q, (path, seen, others) = job
        prompt = prompt_of(q, a, seen, others, path.read_text())
        reply = held.get((args.model, prompt))
        if reply is None:
            reply = ask(args.model, prompt)
            with lock, open(log, "a") as file:
                file.write(json.dumps({"model": args.model, "arm": a, "prompt": prompt, "reply": reply}) + "\n")
        return letter(reply, q["choices"])
    jobs = [(a, q, k) for a in ARMS for q, k in zip(questions, known)]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        replies = list(pool.map(one, jobs))
    return {a: replies[i * len(questions):(i + 1) * len(questions)] for i, a in enumerate(ARMS)}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--model")
    parser.add_argument("--seed", type=int, help="by default 1, with --new 2: the questions of 1 were looked at")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "keet-out/explain-questions")
    parser.add_argument("--arms-work", type=pathlib.Path, default=ROOT / "keet-out/explain-arms")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "results/explain")
    parser.add_argument("--binary", type=pathlib.Path, default=ROOT / "build/release/keet-opt")
    parser.add_argument("--commit", default=stamp.commit())
    parser.add_argument("--only", type=lambda text: text.split(","), help="planted kernels, by name")
    parser.add_argument("--new", action="store_true", help="questions that the source does not answer")
    parser.add_argument("--old", action="store_true", help="those on held-out planted kernels, a file an arm")
    parser.add_argument("--answers", type=pathlib.Path, help="a folder of ARM.txt")
    parser.add_argument("--split", default="test", choices=["dev", "test", "all"])
    parser.add_argument("--untold", action="store_true", help="make the questions alone, without any explanation")
    parser.add_argument("--tell", action="store_true", help="the held questions, with what --binary says of their kernels")
    parser.add_argument("--again", action="store_true", help="make the set anew")
    args = parser.parse_args()
    args.seed = args.seed or (2 if args.new else 1)
    args.work.mkdir(parents=True, exist_ok=True)
    if args.new or args.old:
        question_set.run(args, "new" if args.new else "old", question_set.generate if args.new else old_set,
                         dict(TITLE_OF, **question_kinds.TITLES, all=TITLE_OF["all"]), ask)
        return
    questions, known, nr_kernels = gather(args)
    if not questions:
        sys.exit("no question: no kernel could be profiled")
    answers = answer_all(args, questions, known)
    verdicts = judge(questions, answers)
    write_table(args, questions, verdicts, nr_kernels)
    (args.out / "questions.json").write_text(json.dumps(
        {"commit": args.commit, "model": args.model, "verdicts": verdicts,
         "questions": [dict(q, answers={a: answers[a][i] for a in ARMS}) for i, q in enumerate(questions)]}, indent=1) + "\n")


if __name__ == "__main__":
    main()
