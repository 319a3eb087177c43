"""Questions whose answers come from running what is asked of: eight kinds, each from a kernel without names.

A generator takes (kernel, rng) and returns questions: {"kind", "text", "choices", "right", "label" (what kind of answer
it is, for balance), "extra" ({arm: what the arm shows beside the kernel's own}), "told" (what makes ours of these: a method of the program
and its arguments), "asks", "shows" (keys of the kernel
texts whose runs the answer comes from, and of those whose runs the extra shows)}. With choices, right is an index;
without, a number, and "low" and "high" bound the numbers that count as right."""

import hashlib
import itertools
import math
import re

import anonymous
import asking

TITLES = {
    "edit": "Which edit gains second most", "gain": "How much an edit gains", "cure": "How much a cure by hand gains",
    "next": "How busy a unit is after an edit", "launch": "What share a launch takes", "knee": "What other sizes do",
    "data": "What other data does", "differs": "How much a counter differs between two versions",
    "resident": "How many warps fit after an edit",
}
AHEAD = 1.12    # the second best of four edits is so much faster than the third, and slower than the first
LINES = 60      # an edit that is shown changes at most so many lines

UNITS = {
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "the bandwidth of DRAM",
    "lts__t_sectors.avg.pct_of_peak_sustained_elapsed": "the bandwidth of L2",
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed": "the load/store unit (L1 and shared memory)",
    "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active": "the FMA pipe",
    "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active": "the integer pipe",
    "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active": "the FP64 pipe",
    "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active": "the special-function pipe",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active": "the tensor pipe",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "the issue slots",
}
COUNTERS = {
    "smsp__inst_executed.sum": "warp instructions executed",
    "dram__bytes.sum": "bytes from and to DRAM",
    "lts__t_sectors_op_read.sum": "sectors read from L2",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": "sectors of global loads",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": "requests of global loads",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": "wavefronts of shared loads",
    "launch__registers_per_thread": "registers per thread",
    "smsp__sass_thread_inst_executed_op_integer_pred_on.sum": "integer instructions",
    "smsp__sass_thread_inst_executed_op_control_pred_on.sum": "control instructions",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps active on average",
    "keet__local_bytes.sum": "bytes of local memory",
}


def key(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def chosen(rng, right, wrong):
    """Choices in an order by lot, and where the right one is."""
    options = [right, *wrong]
    rng.shuffle(options)
    return options.index(right), options


def make(kind, text, right, choices, label=None, extra=None, told=None, asks=(), shows=()):
    return {"kind": kind, "text": text, "choices": choices, "right": right, "label": label or str(right), "told": told,
            "extra": extra or {}, "asks": sorted(map(key, asks)), "shows": sorted(map(key, shows))}


def number(kind, text, right, relative, absolute=0, **more):
    """A question that a number answers, right within the larger of the two tolerances."""
    low, high = min(right / (1 + relative), right - absolute), max(right * (1 + relative), right + absolute)
    more.setdefault("label", str(round(math.log2(right))))
    return dict(make(kind, text, right, [], **more), low=low, high=high)


def near(value, guesses, tolerance):
    """Whether one of the guesses that anybody makes would count as right, or nearly."""
    return any(abs(math.log(value / g)) < 1.1 * math.log(1 + tolerance) for g in guesses)


def children(kernel, lines=LINES):
    """The small edits that a search tried: [(gain, what changes, text)], no two alike."""
    out, seen = [], set()
    for factor, text in kernel.edits:
        what = anonymous.change(kernel.text, text, lines)
        if what and what not in seen:
            seen.add(what)
            out.append((factor, what, text))
    return out


def settings(kernel):
    """Edits of a number: values of tuning parameters that --what-if does not run."""
    out, shown = [], kernel.beside()
    for name, now, values in kernel.tunes():
        for value in values:
            text = kernel.with_tune(name, value)
            if value != now and text not in shown:
                try:
                    time = kernel.program.profile(text)["time"]
                except asking.Broken:
                    continue
                out.append((kernel.base["time"] / time, anonymous.change(kernel.text, text), text))
    return out


def combined(kernel, rng, nr=8):
    """Several tuning parameters set at once: [(gain, what changes, text)] of those that keet-opt takes."""
    tunes, out = kernel.tunes(), {}
    for _ in range(nr if len(tunes) > 2 else 0):
        text = kernel.text
        for name, _, values in rng.sample(tunes, 3):
            text = kernel.with_tune(name, rng.choice(values), text)
        what = anonymous.change(kernel.text, text)
        try:
            out[text] = (kernel.base["time"] / kernel.program.profile(text)["time"], what, text)
        except asking.Broken:
            continue
    return [e for e in out.values() if e[1]]


def touched(kernel, text):
    """The kernels that an edit changes: those whose lines or launch differ, or that name a changed parameter."""
    def parts(source):
        out = {}
        for piece in re.split(r"(?=^(?:template.*\n)?(?:extern \"C\" )?__global__)", source, flags=re.M)[1:]:
            name = next((n for n in re.findall(r"(\w+)\s*\(", piece) if n in kernel.launches), None)
            heads = re.findall(rf"^#pragma keet launch {name}\b.*$", source, re.M)
            body = piece + "".join(heads)
            out[name] = body + "".join(f"{n}={v}" for n, v in re.findall(r"^#pragma keet\s+tune\s+(\w+)\s*=\s*(\d+)", source, re.M)
                                       if re.search(rf"\b{n}\b", body))
        return out
    before, after = parts(kernel.text), parts(text)
    return {name for name in before if before[name] != after.get(name)}


def size_of(edit):
    """What the eye goes by: how far an edit of numbers raises them, or how many lines another edit brings."""
    values = [[float(v) for v in re.findall(rf"^  [{sign}] #pragma keet\s+tune\s+\w+\s*=\s*(\d+)", edit[1], re.M)] for sign in "-+"]
    if values[0] and len(values[0]) == len(values[1]):
        return sum(map(math.log, values[1])) - sum(map(math.log, values[0]))
    return edit[1].count("\n  + ")


def plausible(kernel, best, wrong, hot):
    """Whether the best does not stand out: not the largest or the smallest edit, not alone at the slowest launch."""
    sizes = [size_of(e) for e in wrong]
    if not min(sizes) <= size_of(best) <= max(sizes):
        return False
    return hot not in touched(kernel, best[2]) or sum(hot in touched(kernel, e[2]) for e in wrong) >= 2


def grid(kernel, rng, nr=12):
    """Edits of the same two tuning parameters: how far to go is what the source does not tell."""
    tunes, out = kernel.tunes(), {}
    names = rng.sample(tunes, min(2, len(tunes)))
    values = list(itertools.product(*[values for _, _, values in names]))
    for row in rng.sample(values, min(nr, len(values))) if names else []:
        text = kernel.text
        for (name, _, _), value in zip(names, row):
            text = kernel.with_tune(name, value, text)
        what = anonymous.change(kernel.text, text)
        if text in kernel.beside():
            continue
        try:
            out[what] = (kernel.base["time"] / kernel.program.profile(text)["time"], what, text)
        except asking.Broken:
            continue
    return [e for e in out.values() if e[1]]


def best_of_four(kernel, pool, large, rng):
    """A question on the second best of four edits, which asks for their order: the best alone is often plain; or None."""
    hot = max(kernel.program.shares(kernel.text), key=lambda s: s[1], default=("", 0))[0] or kernel.launches[0]
    edits = sorted(pool, key=lambda e: -e[0])
    for second in [e for e in edits if e[0] > 1.05]:
        above = [e for e in edits if e[0] > AHEAD * second[0]][-3:]
        below = [e for e in edits if e[0] * AHEAD < second[0]][:4]
        for _ in range(16 if above and len(below) > 1 else 0):
            wrong = [rng.choice(above), *rng.sample(below, 2)]
            alone = sum(e in large for e in [second, *wrong]) == 1
            if not alone and plausible(kernel, second, wrong, hot):
                right, options = chosen(rng, second, wrong)
                return make("edit", "Which of these edits is the second best: one other makes the kernel faster, two make it less "
                            "fast?", right, [f"\n{e[1]}" for e in options], asks=[e[2] for e in options])
    return None


def edit(kernel, rng):
    """Four edits of one kernel, whose gains lie apart, the second best of which does not stand out."""
    large = children(kernel)
    pools = [grid(kernel, rng), large + settings(kernel)]
    out = [best_of_four(kernel, pool, large, rng) for pool in pools]
    best = {q["choices"][q["right"]]: q for q in out if q}
    return list(best.values())


def gain(kernel, rng):
    """The gain of an edit that does something, up or down."""
    out = []
    edits = children(kernel) + settings(kernel)
    for factor, what, text in rng.sample(edits, len(edits)):
        if factor > 1.25 or factor < 0.8:
            out.append(number("gain", "This edit makes the kernel how many times as fast (below 1: slower)? A number, right "
                              f"within 20%.\n{what}", factor, 0.2, asks=[text]))
    return out[:3]


def cure(kernel, _rng):
    """The gain of a cure by hand that the folder of planted kernels holds."""
    factor = kernel.base["time"] / kernel.program.profile(kernel.cured)["time"]
    what = anonymous.change(kernel.text, kernel.cured, LINES)
    if not what or factor < 1.2:
        return []
    return [number("cure", "This edit makes the kernel how many times as fast? A number, right within 20%.\n" + what,
                   factor, 0.2, asks=[kernel.cured])]


def resized(kernel, factors):
    """Edits of one size: [(what changes, text)]."""
    out = []
    for name, value in kernel.sizes().items():
        for factor in factors:
            new = int(value * factor)
            if new >= 32 and new * factor <= 1 << 23:
                text = kernel.with_size(name, new)
                out.append((f"  {name} = {new} instead of {value}", text))
    return out


def busiest(profile):
    """[(how busy in percent, unit)], the busiest first."""
    return sorted(((profile["metrics"].get(k) or 0, text) for k, text in UNITS.items()), reverse=True)


def next_limiter(kernel, rng):
    """How busy the unit is that comes nearest to its limit after an edit."""
    before = {unit: value for value, unit in busiest(kernel.base)}
    edits = [(what, text) for _, what, text in children(kernel)] + resized(kernel, (1 / 16, 8))
    if kernel.cured:
        edits = [(what, kernel.cured) for what in [anonymous.change(kernel.text, kernel.cured, LINES)] if what]
    out = []
    for what, text in rng.sample(edits, min(len(edits), 5)):
        try:
            value, unit = busiest(kernel.program.profile(text))[0]
        except asking.Broken:
            continue
        if 15 < value < 95 and abs(value - before[unit]) > 10:
            out.append(number("next", f"After this edit, in percent of its peak, how busy is this: {unit} (the mean over the launches' "
                              f"time)? A number, right within 8 points.\n{what}", value, 0, 8, label=unit, asks=[text]))
    return out


def swept(kernel, name, values):
    """What the arms with runs show of a size at values that are not asked about."""
    texts = [kernel.with_size(name, v) for v in values]
    table = asking.table([kernel.program.profile(t) for t in texts], [f"{name} = {v}" for v in values])
    return {"extra": {"counters": table}, "told": ("sweep", kernel.text, name, values), "shows": texts}


def launch(kernel, rng):
    out = []
    if len(set(kernel.launches)) < 2:
        return out
    edits = [(what, text) for _, what, text in children(kernel)] + resized(kernel, (1 / 4, 1 / 2, 2, 4))
    base = kernel.program.shares(kernel.text)
    for what, text in rng.sample(edits, min(len(edits), 6)):
        try:
            shares = kernel.program.shares(text)
        except asking.Broken:
            continue
        if [s[0] for s in shares] != [s[0] for s in base] or len({s[0] for s in shares}) < len(shares):
            continue
        moved = [s for s, b in zip(shares, base) if 0.06 < s[1] < 0.8 and abs(s[1] - b[1]) > max(0.04, 0.12 * s[1])]
        if moved:
            who, share, _ = rng.choice(moved)
            size = re.match(r"  (N\d+) = (\d+) instead of (\d+)$", what)
            more = {}
            if size and int(size[3]) >= 256:
                try:
                    more = swept(kernel, size[1], [int(size[3]) // 8, int(size[3]), int(size[3]) * 3])
                except asking.Broken:
                    more = {}
            out.append(number("launch", f"After this edit, what share of the launches' time does {who} take, in percent? A "
                              f"number, right within 3 points or 10%.\n{what}", 100 * share, 0.1, 3, asks=[text], **more))
    return out


def knee(kernel, rng):
    """Times over a size, of which the arms with runs see four others."""
    out = []
    sizes = {n: v for n, v in kernel.sizes().items() if v >= 512}
    for name in rng.sample(sorted(sizes), min(len(sizes), 1)):
        values = [v for v in (sizes[name] * 2 ** i // 64 for i in range(0, 8))]
        texts = [kernel.with_size(name, v) for v in values]
        try:
            times = [kernel.program.profile(t)["time"] for t in texts]
            more = swept(kernel, name, [values[i] for i in (0, 2, 4, 7)])
        except asking.Broken:
            continue
        pairs = [(i, j) for i, j in ((1, 3), (1, 5), (3, 5), (1, 6), (3, 6))
                 if not near(times[j] / times[i], (1, values[j] / values[i]), 0.1)]
        if pairs:
            i, j = rng.choice(pairs)
            out.append(number("knee", f"The time at {name} = {values[j]} is how many times that at {name} = {values[i]} (the other "
                              "sizes as they are)? A number, right within 10%.", times[j] / times[i], 0.1,
                              asks=[texts[i], texts[j]], **more))
        i = rng.choice((1, 3, 5))
        if not near(times[i] / times[0], (1,), 0.1):
            out.append(number("knee", f"How many microseconds do all launches take together at {name} = {values[i]} (the other "
                              "sizes as they are)? A number, right within 10%.", times[i] / 1000, 0.1, asks=[texts[i]], **more))
    return out


def contents(kernel):
    """Index-like inputs: [(line, name, type, extents, what it holds)]"""
    rows = re.findall(r"^(#pragma keet in\s+(\w+)\s*: ([iu](?:32|8))(\[.*\]) = (\w+)\((.*)\))$", kernel.text, re.M)
    return [r for r in rows if r[4] in ("integers", "permutation", "iota", "sorted")]


def count_of(kernel, extents):
    sizes = dict(kernel.sizes(), ceil_div=lambda a, b: -(-a // b), min=min, max=max)
    total = 1
    for e in re.findall(r"\[([^\]]*)\]", extents):
        total *= eval(e.replace("/", "//"), {"__builtins__": {}}, sizes)  # expressions of this repository's files
    return total, sizes


def other_data(kernel, row, rng):
    """[(in words, contents, makes the elements of d.npy or None)] for an input that holds `row`: other contents than those
    that --what-if tries."""
    _, _, kind, extents, how, args = row
    total, sizes = count_of(kernel, extents)
    small = kind == "i32" and total <= 1 << 21
    held = 'file("d.npy")'
    if how in ("permutation", "iota"):
        def blocks():
            order = list(range(total // 64))
            rng.shuffle(order)
            return [b * 64 + i for b in order for i in range(64)]
        if not small or total % 64:
            return []
        return [("values that differ from 0, 1, 2, ... in the last three bits alone, by lot", held,
                 lambda: [i ^ rng.randrange(8) for i in range(total)]),
                ("0, 32, 64, ..., then 1, 33, 65, ...", held, lambda: [(i * 32 + i * 32 // total) % total for i in range(total)]),
                ("runs of 64 successive numbers, the runs in an order by lot", held, blocks)]
    low, high = (eval(a.replace("/", "//"), {"__builtins__": {}}, sizes) for a in args.split(","))
    if how == "sorted":
        return [(f"rising as the third power from {low} to {high}", held,
                 lambda: [low + int((high - low) * (i / (total - 1)) ** 3) for i in range(total)])] if small else []
    span = high - low + 1
    other = [(f"integers({low}, {low + span // part - 1}) (a range of one {part}th)", f"integers({low}, {low + span // part - 1})", None)
             for part in (16, 256) if span >= 4 * part]
    if small:
        other += [("skewed: value v about as often as 1/v", held,
                   lambda: [low + min(span - 1, int(span ** rng.random()) - 1) for _ in range(total)])]
    if small and span > 4096:
        other += [("clustered: rising over the array, with noise of 64", held,
                   lambda: [low + min(span - 1, (i * span // total) // 64 * 64 + int(64 * rng.random())) for i in range(total)])]
    return other


def data(kernel, rng):
    """What other contents do to the time, where neither "nothing" nor the number of instructions tells."""
    out = []
    for row in contents(kernel)[:2]:
        others = other_data(kernel, row, rng)
        for words, new, values in rng.sample(others, min(len(others), 3)):
            line = row[0][:row[0].index("= " + row[4])] + "= " + new
            packed = {"d.npy": asking.npy(values())} if values else {}
            try:
                after = kernel.program.profile(kernel.text.replace(row[0], line), packed)
            except asking.Broken:
                continue
            ratio = after["time"] / kernel.base["time"]
            work = after["metrics"]["smsp__inst_executed.sum"] / kernel.base["metrics"]["smsp__inst_executed.sum"]
            if not near(ratio, (1, work), 0.12):
                out.append(number("data", f"{row[1]} holds this instead of {row[4]}({row[5]}): {words}. The time becomes how many "
                                  "times what it was? A number, right within 10%.", ratio, 0.1))
    return out


def differs(kernel, rng):
    """By what factor a counter moves from one version to another that is about as fast; ratios of small numbers are guessed."""
    simple = [a / b for a in range(1, 9) for b in range(1, 9) if min(a, b) == 1 or a + b < 8]
    out = []
    edits = children(kernel) + settings(kernel)
    for factor, what, text in rng.sample(edits, len(edits)):
        if not 0.7 < factor < 1.45 or len(out) == 2:
            continue
        try:
            new, said = kernel.program.profile(text), kernel.program.compare(kernel.text, text)
        except asking.Broken:
            continue
        m, n = kernel.base["metrics"], new["metrics"]
        moved = [(n[c] / m[c], words) for c, words in COUNTERS.items() if (m.get(c) or 0) > 0 and (n.get(c) or 0) > 0 and c in said]
        moved = [x for x in moved if abs(math.log2(x[0])) > 0.2 and not near(x[0], simple, 0.04)]
        if moved:
            ratio, words = rng.choice(moved)
            extra = {"findings": said, "counters": asking.table([kernel.base, new], ["before", "after"])}
            out.append(number("differs", f"A second version is about as fast. How many times what it was does this counter become: "
                              f"{words}? A number, right within 10%.\n{what}", ratio, 0.1, label=words, extra=extra, asks=[text],
                              shows=[text], told=("compare", kernel.text, text)))
    return out


def warps(profile):
    """How many warps of it can be resident on an SM by registers, shared memory, block size and blocks; by what."""
    m = profile["metrics"]
    limits = sorted((m.get(f"launch__occupancy_limit_{key}") or 0, key) for key in ("registers", "shared_mem", "warps", "blocks"))
    return int(min(64, limits[0][0] * -(-(m.get("launch__block_size") or 0) // 32))), limits


def occupancy_edits(kernel, rng):
    """Other block sizes, other tuning parameters, more shared memory."""
    out = []
    for name, _, values in kernel.tunes():
        out += [kernel.with_tune(name, v) for v in values]
    for threads in (1024, 768, 640, 512, 384, 320, 224, 160, 96, 64):
        out.append(re.sub(r"(ceil_div\([^()]*, )\d+(\), )(\d+)(>>>)", rf"\g<1>{threads}\g<2>{threads}\4", kernel.text))
    if not re.search("extern __shared__", kernel.text):
        out += [re.sub(r"^(#pragma keet launch .*?)>>>", rf"\g<1>, {size}>>>", kernel.text, flags=re.M) for size in (14000, 20000, 28000)]
    out = [t for t in dict.fromkeys(out) if t != kernel.text]
    return rng.sample(out, min(len(out), 6)) + [t for _, _, t in children(kernel)[:2]]


def resident(kernel, rng):
    """Asked of kernels that need more than the 32 registers that fill an SM, and keep them in the edit."""
    before = kernel.base["metrics"].get("launch__registers_per_thread") or 0
    out = []
    if len(kernel.launches) != 1 or before <= 32:
        return out
    for text in occupancy_edits(kernel, rng):
        what = anonymous.change(kernel.text, text, LINES)
        try:
            profile = kernel.program.profile(text)
        except asking.Broken:
            continue
        fit, limits = warps(profile)
        same = -(-profile["metrics"].get("launch__registers_per_thread", 0) // 8) == -(-before // 8)
        if what and fit and fit < 64 and same and fit not in [q["right"] for q in out]:
            label = f"registers {fit}" if limits[0][1] == "registers" else "other"
            out.append(number("resident", "After this edit, how many warps can be resident on an SM at once, if there were "
                              f"blocks enough? A whole number, which must be exact.\n{what}", fit, 0, 0.01, label=label, asks=[text]))
    return out


GENERATORS = {"cure": cure, "next": next_limiter, "gain": gain, "launch": launch, "data": data, "resident": resident, "knee": knee,
              "differs": differs, "edit": edit}
