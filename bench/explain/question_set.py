"""Sets of questions that readers answer from one file an arm: made, written, answered, scored.

A set is {"seed", "commit", "sheets", "questions"}. A sheet is a kernel with what each arm shows of it; a question
belongs to a sheet. WORK/NAME/set.json holds the set, WORK/NAME/prompts/SPLIT/ARM.md what a reader gets, and
DIR/ARM.txt a reader's answers, a line "Q001 B" or "Q002 1.85" each (DIR: --answers)."""

import concurrent.futures
import json
import random
import re
import sqlite3
import sys

import arms
import asking
import question_kinds
import stats

ROOT, ARMS, OURS = arms.ROOT, arms.ARMS, arms.OURS
QUOTA = {"dev": 5, "test": 16}  # so many questions of each kind
EACH = 2        # at most so many of a kind are of one kernel; of the rare `resident` twice as many
PLANTED = 24    # so many planted kernels join the suite and asked/, by lot
SEARCH = 10     # evaluations of the search whose variants are asked about
SEARCHED = 11   # so many files of a part are searched; the others are asked as they are
ORDER = 7       # the seed of those searches and of the order of the files, the same for all sets: searches are dear
BATCH = 2       # files that are asked at a time, until a kind has its number
DEV = 1 / 3     # this part of the planted kernels with cures is for looking at

TRIED = 24      # files of the suite, asked/ and planted ones that joined which are asked for a kind, whether it finds a question or not

# Kernels of more than 32 registers, which `resident` asks about (measured once, at 2e2c5ac).
MANY = frozenset("""gravity_tiles inner_product lowest_of_columns nbody project_queries residual_block score_profiles
softmax_in_registers thomas_solver weight_gradients""".split())

# Files whose original takes keet-opt more than 0.9 s of processor time (measured once, at 2e2c5ac): too dear to ask.
DEAR = frozenset("""codebook_rows european_calls fixed_point_forces matmul_bf16 reload_matmul tall_product tensor_bf16""".split())

# Families whose questions were looked at in earlier sets: of these alone are the questions to look at.
LOOKED = frozenset("""argmax attention bags bank_strided_reduction bank_structs batched_matmul batchnorm_relu box_blur
clusters conv1d_bias_relu conv2d conv_bn_relu_pool distance diverge_one_lane embedding good_xor histogram layernorm
loops masked_softmax mlp parents prefix_sum probe ragged_rows ranks records residual_layernorm separable_conv softmax
spmv_csr sum swiglu transformer_block transpose""".split())

INTRO = """CUDA kernels on an NVIDIA H100 SXM: 132 SMs, each with 64 warps, 65536 registers and 228 KB of shared memory at most;
50 MB of L2, 3.35 TB/s of DRAM, about 1.75 GHz. `#pragma keet` lines say what a host would: sizes, arrays with their
contents, tuning parameters (T0 = 16: macro T0 is 16) and launches, which run one after the other. Times are those of a
simulated H100, caches cold, with 1 us between launches. An edit is shown by the line where it begins, lines that go (-)
and lines that come (+); edits are never combined. Each question is about the kernel above it. It has one right answer, one
of its choices or, where it has none, a number. Answer every question, if need be by an educated guess, with one line each:
the question's number, a space, one letter or one plain number. Examples: Q001 B, and Q002 1.85
"""


def families(only):
    """Files in an order by lot: the suite, those in asked/ and some planted ones; and the other planted ones."""
    rng = random.Random(ORDER)

    def planted_in(*names):
        return [p for n in names for p in sorted((ROOT / "tests/explain" / n / "kernels").glob("*.cu")) if not cured(p).exists()]

    planted, blind = planted_in("", "heldout"), planted_in("blind", "blind2")
    rng.shuffle(planted)
    paths = sorted((ROOT / "bench/explain/asked").glob("*.cu")) + sorted((ROOT / "kernels").glob("*.cu")) + planted[:PLANTED]
    rng.shuffle(paths)
    rest = planted[PLANTED:] + blind
    rng.shuffle(rest)
    return [[p for p in part if p.stem not in DEAR and (not only or p.stem in only)] for part in (paths, rest)]


def cured(path):
    """Where the cure of a planted kernel lies, if there is one."""
    return path.parent.parent / "cured" / path.name


def with_cures(only):
    """Planted kernels that have a cure by hand. Those of the second blind set are not looked at, nor two thirds of the rest,
    by one lot for all seeds."""
    rng = random.Random("6 cures")
    for folder in ("tests/explain/kernels", "tests/explain/blind2/kernels"):
        for path in sorted((ROOT / folder).glob("*.cu")):
            looked = "blind2" not in folder and rng.random() < DEV or path.stem in LOOKED
            if cured(path).exists() and (not only or path.stem in only):
                yield path, "dev" if looked else "test"


def registers(kernel):
    return kernel.base["metrics"].get("launch__registers_per_thread") or 0


def may_ask(kind, path):
    """Whether the text alone does not rule the kind out."""
    text = path.read_text()
    if kind == "launch":
        return len(set(re.findall(r"^#pragma keet launch (\w+)", text, re.M))) > 1
    if kind == "data":
        return bool(re.search(r"^#pragma keet in\s+\w+\s*: [iu](32|8)\[.*= (integers|permutation|iota|sorted)", text, re.M))
    return path.stem in MANY if kind == "resident" else True


def has_edits(path, searched):
    """Whether there may be edits other than of sizes."""
    return searched or bool(re.search(r"^#pragma keet\s+tune", path.read_text(), re.M))


def of_family(path, budget, program, args):
    """A file's kernel or, after a search, one of its variants, by lot: one's profile would tell what the other asks. Variants
    of many registers are rare, and come first. None if the program does not take it."""
    try:
        kernels = asking.Kernel.family(path, program, budget, ORDER)
    except asking.Broken:
        return None
    kernels += [made for kernel in kernels for made in of_settings(kernel, program, args)]
    many = [k for k in kernels if registers(k) > 32 and len(k.launches) == 1]
    return random.Random(f"{args.seed} {path.stem}").choice(many or kernels)


def of_settings(kernel, program, args):
    """A kernel of many tuning parameters at other settings that are no slower."""
    tried = question_kinds.combined(kernel, random.Random(f"{args.seed} {kernel.name} settings"), 6)
    return [asking.Kernel(f"{kernel.name}{'+' * nr}", text, program)
            for nr, (gain, _, text) in enumerate(sorted(tried, reverse=True), 2) if gain > 1]


def of_cure(path, split, program):
    """A planted kernel that has a cure, and its part."""
    names = asking.anonymous.Names(path.read_text())
    try:
        kernel = asking.Kernel(path.stem, names.apply(path.read_text()), program)
        names.settled = frozenset()  # the cure has names of its own
        kernel.cured, kernel.split = names.apply(cured(path).read_text()), split
        return kernel
    except asking.Broken:
        return None


def ask(kind, kernel, args):
    """Questions of a kind on a kernel, less those on runs that ours shows."""
    try:
        found = question_kinds.GENERATORS[kind](kernel, random.Random(f"{args.seed} {kernel.name} {kind}"))
    except asking.Broken:
        return []
    shown = set(map(question_kinds.key, kernel.beside() + (kernel.tried() if found else [])))
    return [(kernel, q) for q in found if kind == "differs" or not shown & set(q["asks"])]


def fill(kind, sources, quota, pool, args):
    """[(kernel, question)] of the sources in their order, a batch at a time, until there are enough to choose from."""
    def of_source(make):
        kernel = make()
        return ask(kind, kernel, args) if kernel else []

    found, enough = [], 0
    for at in range(0, len(sources), BATCH):
        if enough >= quota:
            break
        batch = list(pool.map(of_source, sources[at:at + BATCH]))
        found += [x for asked in batch for x in asked]
        enough += sum(min(len(asked), EACH) for asked in batch)
    return found


def part_of_set(split, pool, program, args):
    """[(kernel, question)] of one part: each kind of the files that may be asked it, and what limits also after cures."""
    joined, rest = ([p for p in paths if (p.stem in LOOKED) == (split == "dev")] for paths in families(args.only))
    cures = [(p, part) for p, part in with_cures(args.only) if part == split]
    random.Random(f"{args.seed} {split} cures").shuffle(cures)
    made, found, searched = {}, [], joined[:SEARCHED]

    def source(make, path, *more):
        def kernel():
            if path not in made:
                made[path] = make(path, *more)
            return made[path]
        return kernel

    for kind in question_kinds.GENERATORS:
        asked = [p for p in joined if may_ask(kind, p) or kind == "resident" and p in searched]
        asked = [p for p in asked if kind not in ("gain", "differs", "edit") or has_edits(p, p in searched)] if kind != "cure" else []
        files = [source(of_family, p, SEARCH if p in searched else 0, program, args) for p in asked[:TRIED]]
        if kind in ("data", "resident"):  # they are rare
            files += [source(of_family, p, 0, program, args) for p in rest if may_ask(kind, p)]
        cured_files = [source(of_cure, p, part, program) for p, part in cures] if kind in ("cure", "next") else []
        quota = QUOTA[split] / (2 if kind == "next" else 1)
        for sources in (files, cured_files):
            got = fill(kind, sources, quota, pool, args)
            print(f"{split} {kind}: {len(got)} of {len({k.name for k, _ in got})} kernels", file=sys.stderr, flush=True)
            found += got
    return select(found, args.seed, split)


def clash(a, b):
    """Whether one question's extra shows a run that the other asks about."""
    return bool(set(a["asks"]) & set(b["shows"]) or set(a["shows"]) & set(b["asks"]))


def split_of(kernel):
    return kernel.split or ("dev" if kernel.name.rstrip("+") in LOOKED else "test")


def select(found, seed, split):
    """[(kernel, question)]: each kind's number, few of a kernel and kind, answers of all sorts, no clash; of what limits after
    an edit half after cures."""
    rng, out = random.Random(f"{seed} {split}"), []
    for kind in question_kinds.GENERATORS:
        labels, each, nr = {}, {}, QUOTA[split]
        for half in (True, False) if kind == "next" else (None,):
            pool = [(k, q) for k, q in found if q["kind"] == kind and half in (None, bool(k.cured))]
            rng.shuffle(pool)
            for _ in range(nr // 2 if half else nr):
                pool = [(k, q) for k, q in pool if each.get(k.name, 0) < EACH * (1 + (kind == "resident")) and
                        not any(k is other and clash(q, asked) for other, asked in out)]
                if not pool:
                    break
                best = min(pool, key=lambda x: (labels.get(x[1]["label"], 0) // 2, each.get(x[0].name, 0)))
                pool.remove(best)
                labels[best[1]["label"]] = labels.get(best[1]["label"], 0) + 1
                each[best[0].name] = each.get(best[0].name, 0) + 1
                out.append(best)
                nr -= 1
    return out


def generic_advice(program, text):
    """The paragraph that is the same for every kernel."""
    path = program.place(text, {})
    db = path.with_name("generic.db")
    program.say(path, "--budget", 1, "--feedback", "generic", "-q", "--db", db, "-o", path.with_name("o.cu"))
    con = sqlite3.connect(db)
    said = con.execute("SELECT summary FROM explanation").fetchone()[0]
    con.close()
    return said


def generate(args):
    """The new set, or the part of it that --split names."""
    program = asking.Program(args.binary, args.work / "asked")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        parts = ("dev", "test") if args.split == "all" else (args.split,)
        picked = [x for split in parts for x in part_of_set(split, pool, program, args)]
        kernels = {k.name: k for k, _ in picked}
    split = {name: split_of(k) for name, k in kernels.items()}
    sheets = {name: {"split": split[name], "text": k.text, "source": asking.anonymous.numbered(k.text), "told": {
        "none": "", "generic": "", "counters": asking.table([k.base], [""])}} for name, k in kernels.items()}
    questions = [dict(q, sheet=k.name, split=sheets[k.name]["split"]) for k, q in picked]
    questions.sort(key=lambda q: (q["split"], list(kernels).index(q["sheet"])))
    for i, q in enumerate(questions, 1):
        q["id"] = f"Q{i:03}"
    first = next(iter(kernels.values()))
    return {"seed": args.seed, "commit": args.commit, "told": None, "generic": generic_advice(program, first.text), "sheets": sheets,
            "questions": questions}


def tell(made, args):
    """The set with what the program says of its kernels; with --tell of those of one part."""
    program = asking.Program(args.binary, args.work / "asked")
    part = args.split if args.tell else "all"
    sheets = {name: s for name, s in made["sheets"].items() if part in (s["split"], "all")}
    asked = [q for q in made["questions"] if q["sheet"] in sheets]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        texts = dict(zip(sheets, pool.map(lambda s: program.tell(s["text"]), sheets.values())))
        extras = list(pool.map(lambda q: q["told"] and getattr(program, q["told"][0])(*q["told"][1:]), asked))
    donors = other_part({name: s["split"] for name, s in sheets.items()}, made["seed"])
    for name, sheet in sheets.items():
        sheet["told"] |= {OURS: texts[name], "other": texts[donors[name]]}
    for q, extra in zip(asked, extras):
        q["extra"] |= {OURS: extra} if extra else {}
    borrow(made["questions"])
    return made | {"told": args.commit}


def other_part(split, seed):
    """Another kernel for each, of the other part: in one file a reader would put explanations back to their kernels."""
    rng = random.Random(f"{seed} donors")
    return {name: rng.choice(sorted(n for n in split if split[n] != part) or sorted(set(split) - {name}))
            for name, part in split.items()}


def borrow(questions):
    """The arm `other` shows beside a question what ours shows beside one of its kind in the other part."""
    for q in questions:
        if q["extra"]:
            alike = [o for o in questions if OURS in o["extra"] and o["kind"] == q["kind"] and o["sheet"] != q["sheet"]]
            apart = [o for o in alike if o["split"] != q["split"]] or alike
            if apart:
                q["extra"]["other"] = random.Random(q["id"]).choice(apart)["extra"][OURS]


def prompt(made, split, arm):
    """What a reader under this arm gets."""
    out = [INTRO]
    if arm == "generic":
        out.append("Known of all kernels:\n\n" + made["generic"] + "\n")
    for name, sheet in made["sheets"].items():
        asked = [q for q in made["questions"] if q["sheet"] == name and q["split"] == split]
        if not asked:
            continue
        out += [f"\n# Kernel {list(made['sheets']).index(name) + 1}\n", sheet["source"]]
        if sheet["told"].get(arm):
            out += ["\nWhat is known of its profile:\n", sheet["told"][arm]]
        shown = None
        for q in asked:
            extra = q["extra"].get(arm)
            if extra and extra != shown:
                out += [f"\nKnown for {q['id']} and later questions:\n", extra]
                shown = extra
            out += [f"\n{q['id']}. {q['text']}"] + [f"{'ABCD'[i]}. {c}" for i, c in enumerate(q["choices"])]
    return "\n".join(out) + "\n"


def write_prompts(made, folder):
    for split in sorted({q["split"] for q in made["questions"]}):
        (folder / split).mkdir(parents=True, exist_ok=True)
        for arm in ARMS:
            (folder / split / f"{arm}.md").write_text(prompt(made, split, arm))


def read_answers(text):
    """{id: letter or number} of lines "Q001 B", "Q002: about 1.85x"; the last one counts."""
    out = {}
    for name, letter, digits in re.findall(
            r"\b(Q\d{3,})\b(?:[\s:)*=~\u2248-]|\.(?!\d)|about|approx)*(?:\(?([A-D])\b|(\.?\d[\d,]*(?:\.\d+)?(?:[eE][+-]?\d+)?))", text):
        out[name] = letter or float(digits.replace(",", ""))
    return out


def is_right(question, said):
    if question["choices"]:
        return said == "ABCD"[question["right"]]
    return isinstance(said, float) and question["low"] <= said <= question["high"]


def score(made, answers, split):
    """Per kind and over all: {arm: right, of, interval, against ours}. An unanswered question is a wrong answer."""
    questions = [q for q in made["questions"] if split in (q["split"], "all")]
    out = {}
    for kind in [*dict.fromkeys(q["kind"] for q in questions), "all"]:
        mine = [q for q in questions if kind in (q["kind"], "all")]
        right = {a: [is_right(q, answers[a].get(q["id"])) for q in mine] for a in ARMS if a in answers}
        out[kind] = {}
        for a, marks in right.items():
            low, high = stats.wilson(sum(marks), len(mine))
            row = out[kind][a] = {"right": sum(marks), "of": len(mine), "low": low, "high": high}
            if a != OURS and OURS in right:
                row["only_ours"] = sum(o and not t for o, t in zip(right[OURS], marks))
                row["only_theirs"] = sum(t and not o for o, t in zip(right[OURS], marks))
                row["p"] = stats.mcnemar(row["only_ours"], row["only_theirs"])
    return out


def result_text(made, verdicts, title, who, titles):
    told = made.get("told") or made["commit"]  # the old set tells nothing of its own
    by = "" if told == made["commit"] else f", explanations of commit {told}"
    lines = [f"# {title}", "", f"`bench/explain/questions.py` at commit {made['commit']}{by}, seed {made['seed']}, emulated H100; "
             f"{who}. {verdicts['all'][next(iter(verdicts['all']))]['of']} questions; guessing gets a quarter of those with choices.", ""]
    for kind, rows in verdicts.items():
        lines += [f"## {titles.get(kind, 'All questions')}", "",
                  "| feedback | right | 95% interval | only ours right : only this right | exact McNemar p |",
                  "|---|---:|---|---|---:|"]
        for a, r in rows.items():
            against = f"{r['only_ours']} : {r['only_theirs']}" if "p" in r else ""
            p = arms.p_text(r["p"]) if "p" in r else ""
            lines.append(f"| {arms.TITLES[a]} | {r['right']} of {r['of']} ({100 * r['right'] / r['of']:.0f}%) | "
                         f"{100 * r['low']:.0f}% to {100 * r['high']:.0f}% | {against} | {p} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def run(args, name, make, titles, ask):
    """Makes the set unless WORK/NAME/set.json holds it, writes its prompts, and scores the answers there are."""
    folder = args.work / name
    held = folder / "set.json"
    made = json.loads(held.read_text()) if held.exists() and not args.again else None
    if not made or made["seed"] != args.seed or (made["commit"] != args.commit and not args.tell):
        folder.mkdir(parents=True, exist_ok=True)
        made = make(args)
    if made.get("told", args.commit) != args.commit and not args.untold:
        made = tell(made, args)
    held.write_text(json.dumps(made, indent=1) + "\n")
    if not args.untold:
        write_prompts(made, folder / "prompts")
    print(f"{len(made['questions'])} questions; prompts: {folder / 'prompts' / args.split}")
    texts = {}
    for arm in ARMS:
        said = args.answers / f"{arm}.txt" if args.answers else None
        if said and said.exists():
            texts[arm] = said.read_text()
        elif args.model:
            texts[arm] = ask(args.model, prompt(made, args.split, arm))
    if not texts:
        return
    write_results(args, name, made, texts, titles)


def write_results(args, name, made, texts, titles):
    """OUT/questions_NAME.md and .json, and the answers beside them."""
    answers = {arm: read_answers(text) for arm, text in texts.items()}
    verdicts = score(made, answers, args.split)
    who = f"part {args.split}; answered by {args.model or 'separate readers, one an arm, who had the prompts alone'}"
    text = result_text(made, verdicts, f"Questions from profiles: {name}", who, titles)
    kept = args.out / "answers" / name
    kept.mkdir(parents=True, exist_ok=True)
    (args.out / f"questions_{name}.md").write_text(text)
    keys = ("id", "kind", "sheet", "split", "text", "choices", "right", "low", "high")
    asked = [{k: q[k] for k in keys if k in q} | {"answers": {a: answers[a].get(q["id"]) for a in answers}}
             for q in made["questions"] if args.split in (q["split"], "all")]
    (args.out / f"questions_{name}.json").write_text(json.dumps(
        {"commit": made["commit"], "told": made.get("told"), "seed": made["seed"], "split": args.split, "verdicts": verdicts,
         "questions": asked}, indent=1) + "\n")
    for arm, said in answers.items():
        lines = [f"{i} {answer}" for i, answer in sorted(said.items())]
        (kept / f"{arm}.txt").write_text("\n".join(lines) + "\n")
    print(text)
