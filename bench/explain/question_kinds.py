"""Questions whose answers come from running what is asked of: eight kinds, each from a kernel without names.

A generator takes (kernel, rng) and returns questions: {"kind", "text", "choices", "right" (an index), "label" (what
kind of answer it is, for balance), "extra" ({arm: what the arm shows beside the kernel's own})}. It asks only where
the right answer is ahead of the others by a margin, and shows no run of what it asks."""

import math
import re

import anonymous
import asking

TITLES = {
    "edit": "Which edit gains most", "gain": "How much an edit gains", "next": "What limits it after an edit",
    "launch": "Which launch, and what share", "knee": "Where the knee lies", "data": "What other data does",
    "differs": "What differs between two versions", "resident": "What holds the occupancy",
}
AHEAD = 1.25    # the best edit is so much faster than the second
LINES = 60      # an edit that is shown changes at most so many lines
WORTH = 1.15    # what counts as a gain

UNITS = {
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "the bandwidth of DRAM",
    "lts__t_sectors.avg.pct_of_peak_sustained_elapsed": "the bandwidth of L2",
    "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed": "the load/store unit (L1 and shared memory)",
    "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active": "the FMA pipe",
    "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active": "the integer pipe",
    "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active": "the FP64 pipe",
    "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active": "the special-function pipe",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active": "the tensor pipe",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "the issue slots",
}
STALL = "smsp__average_warps_issue_stalled_%s_per_issue_active.pct"
STALLS = {
    "long_scoreboard": "no unit is busy for half of the time; warps wait for global memory",
    "short_scoreboard": "no unit is busy for half of the time; warps wait for shared memory or special functions",
    "barrier": "no unit is busy for half of the time; warps wait at barriers",
    "wait": "no unit is busy for half of the time; warps wait for the fixed latency of arithmetic",
    "mio_throttle": "no unit is busy for half of the time; warps wait for the queue to shared memory and atomics",
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


def brackets(rng, value, ratio, unit="x as fast"):
    """Four neighbouring ranges, ratio apart, the value in the middle of one: the right index and their texts."""
    right = rng.randrange(4)
    shift = rng.uniform(-0.2, 0.2)
    edges = [asking.short(value * ratio ** (i - right - 0.5 + shift)) for i in range(1, 4)]
    texts = [f"less than {edges[0]}{unit}", f"{edges[0]} to {edges[1]}{unit}", f"{edges[1]} to {edges[2]}{unit}",
             f"more than {edges[2]}{unit}"]
    low, high = ([0] + [float(e) for e in edges])[right], ([float(e) for e in edges] + [math.inf])[right]
    return (right, texts) if low * 1.05 < value < high / 1.05 else (None, None)


def chosen(rng, right, wrong):
    """Choices in an order by lot, and where the right one is."""
    options = [right, *wrong]
    rng.shuffle(options)
    return options.index(right), options


def make(kind, text, right, choices, label=None, extra=None):
    return {"kind": kind, "text": text, "choices": choices, "right": right, "label": label or str(right),
            "extra": extra or {}}


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
    """Edits of a number: other values of tuning parameters, other launch bounds."""
    out = []
    for name, now, values in kernel.tunes():
        for value in values:
            if value != now:
                text = kernel.with_tune(name, value)
                try:
                    time = kernel.program.profile(text)["time"]
                except asking.Broken:
                    continue
                out.append((kernel.base["time"] / time, anonymous.change(kernel.text, text), text))
    return out


def edit(kernel, rng):
    """Four edits of one kernel; the best is ahead."""
    out = []
    edits = sorted(children(kernel) + settings(kernel), key=lambda e: -e[0])
    for at in range(2):
        rest = [e for e in edits[at + 1:] if e[0] * AHEAD < edits[at][0]]
        if len(rest) < 3 or edits[at][0] < WORTH:
            break
        # The better a wrong edit is, the harder the question: the best two and one by lot.
        wrong = rest[:2] + [rng.choice(rest[2:])]
        right, options = chosen(rng, edits[at], wrong)
        out.append(make("edit", "Which of these edits makes it fastest?", right, [f"\n{e[1]}" for e in options]))
    return out


def gain(kernel, rng):
    out = []
    for factor, what, _ in rng.sample(edits := children(kernel), len(edits)):
        if factor > WORTH or factor < 1 / WORTH or rng.random() < 0.3:
            right, options = brackets(rng, factor, 1.4)
            if options:
                out.append(make("gain", f"This edit makes the kernel how many times as fast?\n{what}", right, options))
    return out[:2]


def limiter(profile):
    """(what limits it, the runners-up), (None, ...) where two are close."""
    m = profile["metrics"]
    busy = sorted(((m.get(k) or 0, text) for k, text in UNITS.items()), reverse=True)
    if busy[0][0] >= 55 and busy[0][0] >= 1.2 * busy[1][0]:
        return busy[0][1], [t for v, t in busy[1:] if v > 5]
    waits = sorted(((m.get(STALL % k) or 0, text) for k, text in STALLS.items()), reverse=True)
    if busy[0][0] <= 42 and waits[0][0] >= 1.4 * waits[1][0] and waits[0][0] >= 35:
        return waits[0][1], [waits[1][1], busy[0][1], busy[1][1]]
    return None, []


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


def next_limiter(kernel, rng):
    before, _ = limiter(kernel.base)
    edits = [(what, text) for _, what, text in children(kernel)] + resized(kernel, (1 / 8, 4))
    out = []
    for what, text in rng.sample(edits, min(len(edits), 4)):
        try:
            after, others = limiter(kernel.program.profile(text))
        except asking.Broken:
            continue
        if not after:
            continue
        rest = [*UNITS.values(), *STALLS.values()]
        rng.shuffle(rest)
        wrong = [w for w in dict.fromkeys([before, *others, *rest]) if w and w != after][:3]
        right, options = chosen(rng, after, wrong)
        out.append(make("next", f"After this edit, what limits the kernel?\n{what}", right, options,
                        label=f"{after} {after == before}"))
    return out


def launch(kernel, rng):
    out = []
    if len(set(kernel.launches)) < 2:
        return out
    edits = resized(kernel, (1 / 4, 1 / 2, 2, 4)) + [(what, text) for _, what, text in children(kernel)]
    base = kernel.program.shares(kernel.text)
    for what, text in rng.sample(edits, min(len(edits), 4)):
        try:
            shares = kernel.program.shares(text)
        except asking.Broken:
            continue
        if [s[0] for s in shares] != [s[0] for s in base] or len({s[0] for s in shares}) < len(shares):
            continue
        top = sorted(shares, key=lambda s: -s[1])
        if rng.random() < 0.4 and top[0][1] > 1.2 * top[1][1] and len(top) > 2:
            right, options = chosen(rng, top[0][0], [s[0] for s in top[1:4]])
            out.append(make("launch", f"After this edit, which launch takes the most time?\n{what}", right, options, "which"))
            continue
        moved = [s for s, b in zip(shares, base) if s[1] > 0.08 and not 0.85 < s[1] / b[1] < 1.18]
        if moved:
            who, share, _ = rng.choice(moved)
            right, options = brackets(rng, 100 * share, 1.35, "%")
            if options and max(float(x) for x in re.findall(r"[\d.]+", options[-1])) < 97:
                out.append(make("launch", f"After this edit, what share of the launches' time does {who} take?\n{what}",
                                right, options, "share"))
    return out


def knee(kernel, rng):
    out = []
    sizes = {n: v for n, v in kernel.sizes().items() if v >= 512}
    for name in rng.sample(sorted(sizes), min(len(sizes), 1)):
        values = [v for v in (sizes[name] * 2 ** i // 64 for i in range(0, 8)) if v >= 8]
        try:
            times = [kernel.program.profile(kernel.with_size(name, v))["time"] for v in values]
        except asking.Broken:
            continue
        coarse = [values[0] // 2, values[0], values[-1]]
        profiles = [kernel.program.profile(kernel.with_size(name, v)) for v in coarse]
        extra = {"findings": kernel.program.sweep(kernel.text, name, coarse),
                 "counters": asking.table(profiles, [f"{name} = {v}" for v in coarse])}
        grown = [t / times[0] for t in times]
        for limit in (1.5, 2, 3):
            first = next((i for i, g in enumerate(grown) if g > limit), None)
            if first and first < len(values) - 1 and grown[first] > 1.07 * limit and grown[first - 1] < limit / 1.07:
                low = max(1, min(first - rng.randrange(4), len(values) - 5))
                options = values[low:low + 4]
                if first - low in range(4):
                    out.append(make("knee", f"At which of these values of {name} (the other sizes as they are) is the time "
                                    f"first more than {limit} times that at {name} = {values[0]}?",
                                    first - low, [str(v) for v in options], "first", extra))
                break
        i = rng.randrange(1, len(values) - 3)
        right, options = brackets(rng, times[i + 2] / times[i], 1.4, " times")
        if options:
            out.append(make("knee", f"The time at {name} = {values[i + 2]} is how many times that at {name} = {values[i]} (the "
                            "other sizes as they are)?", right, options, "ratio", extra))
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
    """[(in words, contents, files)] for an input that holds `row`."""
    _, _, kind, extents, how, args = row
    total, sizes = count_of(kernel, extents)
    if how in ("permutation", "iota"):
        other = [("iota() (0, 1, 2, ...)", "iota()", {}), ("permutation() (0 to n-1 in an order by lot)", "permutation()", {})]
        if kind == "i32" and total <= 1 << 21:
            near = [i ^ rng.randrange(8) for i in range(total // 8 * 8)]
            step = [(i * 32 + i * 32 // total) % total for i in range(total)]
            blocks = list(range(total // 64))
            rng.shuffle(blocks)
            other += [("values that differ from 0, 1, 2, ... in the last three bits alone, by lot", 'file("d.npy")', {"d.npy": near}),
                      ("0, 32, 64, ..., then 1, 33, 65, ...", 'file("d.npy")', {"d.npy": step}),
                      ("runs of 64 successive numbers, the runs in an order by lot", 'file("d.npy")',
                       {"d.npy": [b * 64 + i for b in blocks for i in range(64)]})]
        return [o for o in other if not o[1].startswith(how) and all(len(v) == total for v in o[2].values())]
    low, high = (eval(a.replace("/", "//"), {"__builtins__": {}}, sizes) for a in args.split(","))
    if how == "sorted":
        skew = [low + int((high - low) * (i / (total - 1)) ** 3) for i in range(total)]
        return [(f"evenly spaced from {low} to {high}", f"iota({low}, {(high - low) // (total - 1)})", {}),
                (f"rising as the third power from {low} to {high}", 'file("d.npy")', {"d.npy": skew})] if total <= 1 << 21 else []
    span = high - low + 1
    other = [(f"sorted({low}, {high}) (the same range, rising)", f"sorted({low}, {high})", {}),
             (f"all of them {low + span // 2}", f"constant({low + span // 2})", {})]
    for part in (16, 256):
        if span >= 4 * part:
            other.append((f"integers({low}, {low + span // part - 1}) (a range of one {part}th)",
                          f"integers({low}, {low + span // part - 1})", {}))
    if kind == "i32" and total <= 1 << 21:
        zipf = [low + min(span - 1, int(span ** rng.random()) - 1) for _ in range(total)]
        near = [low + min(span - 1, (i * span // total) // 64 * 64 + rng.randrange(64)) for i in range(total)]
        other += [("skewed: value v about as often as 1/v", 'file("d.npy")', {"d.npy": zipf})]
        other += [("clustered: rising over the array, with noise of 64", 'file("d.npy")', {"d.npy": near})] if span > 4096 else []
    return other


def data(kernel, rng):
    out = []
    for row in contents(kernel)[:2]:
        others = other_data(kernel, row, rng)
        for words, new, files in rng.sample(others, min(len(others), 3)):
            line = row[0][:row[0].index("= " + row[4])] + "= " + new
            packed = {name: asking.npy(values) for name, values in files.items()}
            try:
                time = kernel.program.profile(kernel.text.replace(row[0], line), packed)["time"]
            except asking.Broken:
                continue
            right, options = brackets(rng, time / kernel.base["time"], 1.5, " times")
            if options:
                label = "same" if 0.93 < time / kernel.base["time"] < 1.07 else str(right)
                out.append(make("data", f"{row[1]} holds this instead of {row[4]}({row[5]}): {words}. The time becomes how "
                                "many times what it was?", right, options, label))
    return out


def differs(kernel, rng):
    out = []
    for factor, what, text in children(kernel):
        if not 0.7 < factor < 1.45 or len(out) == 2:
            continue
        try:
            new = kernel.program.profile(text)
        except asking.Broken:
            continue
        m, n = kernel.base["metrics"], new["metrics"]
        moved = sorted(((abs(math.log(n[c] / m[c])), n[c] / m[c], text_) for c, text_ in COUNTERS.items()
                        if (m.get(c) or 0) > 0 and (n.get(c) or 0) > 0), reverse=True)
        for at in range(min(3, len(moved))):
            rest = [t for size, _, t in moved[at + 1:] if size < 0.6 * moved[at][0] and size < moved[at][0] - math.log(1.12)]
            if moved[at][0] > math.log(1.2) and len(rest) >= 3:
                break
        else:
            continue
        right, options = chosen(rng, moved[at][2], rest[:3])
        extra = {"findings": kernel.program.compare(kernel.text, text),
                 "counters": asking.table([kernel.base, new], ["before", "after"])}
        way = "slower" if factor < 1 else "faster"
        out.append(make("differs", f"A second version is {max(factor, 1 / factor):.2f}x {way}. Which of these counters changed "
                        f"by the largest factor, up or down?\n{what}", right, options, moved[at][2], extra))
    return out


LIMITS = {"registers": "registers", "shared_mem": "shared memory", "warps": "warps per SM (threads of a block)",
          "blocks": "blocks per SM"}


def occupancy(profile):
    """({what: blocks per SM that it allows}, warps of a block), None where the program does not say."""
    m = profile["metrics"]
    limits = {text: m.get(f"launch__occupancy_limit_{key}") for key, text in LIMITS.items()}
    if None in limits.values() or not m.get("launch__block_size"):
        return None
    limits["the grid (too few blocks)"] = -(-m["launch__grid_size"] // 132)
    return limits, -(-m["launch__block_size"] // 32)


def occupancy_edits(kernel, rng):
    out = []
    for name, _, values in kernel.tunes():
        out += [kernel.with_tune(name, v) for v in values]
    plain = re.search(r"^(#pragma keet launch \w+<<<[^<>]*(?:\([^<>]*\))?[^<>]*)>>>", kernel.text, re.M)
    if plain and not re.search(r"extern __shared__", kernel.text):
        for size in (9000, 14000, 20000, 30000, 40000):
            out.append(kernel.text.replace(plain.group(), f"{plain.group(1)}, {size}>>>", 1))
    for threads in (512, 1024, 768, 96):
        out.append(re.sub(r"^(#pragma keet launch .*, )(\d+)(>>>.*)$", rf"\g<1>{threads}\3", kernel.text, flags=re.M))
        out.append(re.sub(r"(ceil_div\([^()]*, )\d+(\), )(\d+)(>>>)", rf"\g<1>{threads}\g<2>{threads}\4", kernel.text))
    for least in (2, 3, 5, 6):
        block = kernel.base["metrics"].get("launch__block_size") or 0
        if block and block * least <= 2048:
            out.append(re.sub(r"__global__ void (\w+)\(", rf"__global__ void __launch_bounds__({int(block)}, {least}) \1(", kernel.text))
    out = [t for t in dict.fromkeys(out) if t != kernel.text]
    return rng.sample(out, min(len(out), 4)) + [t for _, _, t in children(kernel)[:1]]


def resident(kernel, rng):
    out = []
    if len(kernel.launches) != 1:
        return out
    for text in occupancy_edits(kernel, rng):
        try:
            known = occupancy(kernel.program.profile(text))
        except asking.Broken:
            continue
        what = anonymous.change(kernel.text, text, LINES)
        if not known or not what:
            continue
        limits, warps = known
        ranked = sorted((v, k) for k, v in limits.items())
        if ranked[0][0] < 1 or ranked[0][0] == ranked[1][0]:
            continue
        say = lambda who, n: f"{who}: {int(n)} warps"  # noqa: E731
        truth = min(ranked[0][0] * warps, 64)
        wrong = [say(k, min(v * warps, 64)) for v, k in ranked[1:] if v * warps <= 96]
        for n in (truth * 2, truth - warps, truth + warps, truth / 2):
            if 0 < n <= 64:
                wrong.append(say(ranked[0][1], n))
        wrong = [w for w in dict.fromkeys(wrong) if w != say(ranked[0][1], truth)]
        if len(wrong) < 3:
            continue
        right, options = chosen(rng, say(ranked[0][1], truth), rng.sample(wrong, 3))
        lines = [line for line in asking.table([kernel.base], [""]).splitlines() if re.match(r"launch__|sm__maximum", line)]
        out.append(make("resident", "After this edit, what holds the number of warps that are resident on an SM, and how many "
                        f"can be resident?\n{what}", right, options, ranked[0][1], {"findings": "\n".join(lines)}))
    return out


GENERATORS = {"edit": edit, "gain": gain, "next": next_limiter, "launch": launch, "knee": knee, "data": data,
              "differs": differs, "resident": resident}
