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
AHEAD = 1.2     # the best edit is so much faster than the second
LINES = 60      # an edit that is shown changes at most so many lines

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


def best_of_four(pool, large, least, rng):
    """A question on four of these edits, the best ahead, with none or at least `least` large ones among them; or None."""
    edits = sorted(pool, key=lambda e: -e[0])
    for at in range(len(edits) - 3):
        rest = [e for e in edits[at + 1:] if e[0] * AHEAD < edits[at][0]]
        wrong = rest[:2] + rng.sample(rest[2:], min(1, len(rest[2:])))
        if len(wrong) == 3 and edits[at][0] > 1 and sum(e in large for e in [edits[at], *wrong]) >= least:
            right, options = chosen(rng, edits[at], wrong)
            return make("edit", "Which of these edits makes it fastest?", right, [f"\n{e[1]}" for e in options])
    return None


def edit(kernel, rng):
    """Four edits of one kernel, the best ahead. A large edit never stands alone among small ones: it would tell."""
    numbers = list({what: (gain_, what, text) for gain_, what, text in settings(kernel) + combined(kernel, rng)}.values())
    large = [e for e in children(kernel) if e[1].count("\n") >= 4]
    out = [best_of_four(numbers, large, 0, rng), best_of_four(large + numbers, large, 2, rng),
           best_of_four(numbers[::2], large, 0, rng)]
    out = [q for q in out if q]
    return [q for i, q in enumerate(out) if q["choices"] not in [o["choices"] for o in out[:i]]]


def gain(kernel, rng):
    """The gain of an edit that does something, up or down."""
    out = []
    edits = children(kernel) + (settings(kernel) if len(kernel.tunes()) > 2 else [])
    for factor, what, _ in rng.sample(edits, len(edits)):
        if factor > 1.2 or factor < 0.83:
            right, options = brackets(rng, factor, 1.33)
            if options:
                out.append(make("gain", f"This edit makes the kernel how many times as fast?\n{what}", right, options))
    return out[:3]


def levels(rng, first, second, value, step, unit):
    """Choices of one thing at three values and another at one, either the right one: its index, and their texts."""
    up = 1 if unit == "%" and value * step > 97 else 2 if unit == "%" and value * step * step > 97 else 3
    at = rng.randrange(up)  # so many of the three values lie above the right one
    values = [value * step ** (i - 2 + at) for i in range(3)]
    if rng.random() < 0.25:
        wrong = [(second, v) for v in values]
    else:
        wrong = [(first, v) for i, v in enumerate(values) if i != 2 - at] + [(second, rng.choice(values))]
    right, options = chosen(rng, (first, value), wrong)
    return right, [f"{text}, about {asking.short(v)}{unit}" for text, v in options]


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
    """Which unit comes nearest to its limit after an edit, and how near it comes."""
    before = busiest(kernel.base)
    edits = [(what, text) for _, what, text in children(kernel)] + resized(kernel, (1 / 16, 8))
    out = []
    for what, text in rng.sample(edits, min(len(edits), 4)):
        try:
            after = busiest(kernel.program.profile(text))
        except asking.Broken:
            continue
        (first, unit), second = after[0], after[1]
        moved = unit != before[0][1] or not 0.8 < first / before[0][0] < 1.25
        if first < 4 or first < 1.2 * second[0] or not moved:
            continue
        trap = before[0][1] if before[0][1] != unit else second[1]
        right, options = levels(rng, unit, trap, first, 1.4, "%")
        out.append(make("next", f"After this edit, which unit is the busiest, and how busy is it?\n{what}", right, options, unit))
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
        moved = [s for s, b in zip(shares, base) if 0.08 < s[1] < 0.7 and not 0.87 < s[1] / b[1] < 1.15]
        if moved:
            who, share, _ = rng.choice(moved)
            right, options = brackets(rng, 100 * share, 1.3, "%")
            if options and max(float(x) for x in re.findall(r"[\d.]+", options[-1])) < 97:
                out.append(make("launch", f"After this edit, what share of the launches' time does {who} take?\n{what}",
                                right, options))
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
        right, options = brackets(rng, times[i + 2] / times[i], 1.33, " times")
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
        for words, new, files in rng.sample(others, min(len(others), 5)):
            line = row[0][:row[0].index("= " + row[4])] + "= " + new
            packed = {name: asking.npy(values) for name, values in files.items()}
            try:
                time = kernel.program.profile(kernel.text.replace(row[0], line), packed)["time"]
            except asking.Broken:
                continue
            right, options = brackets(rng, time / kernel.base["time"], 1.35, " times")
            if options:
                if 0.87 < time / kernel.base["time"] < 1.15 and rng.random() < 0.9:
                    continue  # a few remain: other data need not matter
                out.append(make("data", f"{row[1]} holds this instead of {row[4]}({row[5]}): {words}. The time becomes how "
                                "many times what it was?", right, options))
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
        moved = [x for x in moved if abs(math.log2(x[1]) - round(math.log2(x[1]))) > 0.06 or abs(math.log2(x[1])) < 0.5]
        if len(moved) < 2 or moved[0][0] < math.log(1.15) or moved[0][0] < 1.2 * moved[1][0]:
            continue
        right, options = levels(rng, moved[0][2], rng.choice(moved[1:4])[2], moved[0][1], 1.4, " times what it was")
        extra = {"findings": kernel.program.compare(kernel.text, text),
                 "counters": asking.table([kernel.base, new], ["before", "after"])}
        way = "slower" if factor < 1 else "faster"
        out.append(make("differs", f"A second version is {max(factor, 1 / factor):.2f}x {way}. Which of these counters changed "
                        f"by the larger factor, up or down, and what did it become?\n{what}", right, options, moved[0][2], extra))
    return out


def warps(profile):
    """How many warps of it can be resident on an SM by registers, shared memory, block size and blocks; by what."""
    m = profile["metrics"]
    limits = sorted((m.get(f"launch__occupancy_limit_{key}") or 0, key) for key in ("registers", "shared_mem", "warps", "blocks"))
    return int(min(64, limits[0][0] * -(-(m.get("launch__block_size") or 0) // 32))), limits


def occupancy_edits(kernel, rng):
    out = []
    for name, _, values in kernel.tunes():
        out += [kernel.with_tune(name, v) for v in values]
    for threads in (512, 1024, 384, 96, 64):
        out.append(re.sub(r"(ceil_div\([^()]*, )\d+(\), )(\d+)(>>>)", rf"\g<1>{threads}\g<2>{threads}\4", kernel.text))
    if not re.search("extern __shared__", kernel.text):
        out += [re.sub(r"^(#pragma keet launch .*\))>>>", rf"\g<1>, {size}>>>", kernel.text, flags=re.M) for size in (14000, 20000)]
    block = kernel.base["metrics"].get("launch__block_size") or 0
    for least in (2, 3, 4, 6, 8):
        if 0 < block * least <= 2048 and "__launch_bounds__" not in kernel.text:
            out.append(re.sub(r"__global__ void (\w+)\(", rf"__global__ void __launch_bounds__({int(block)}, {least}) \1(", kernel.text))
    out = [t for t in dict.fromkeys(out) if t != kernel.text]
    return rng.sample(out, min(len(out), 6)) + [t for _, _, t in children(kernel)[:3]]


def resident(kernel, rng):
    """Registers are not in the source: asked of kernels that need more than the 32 that fill an SM."""
    out = []
    if len(kernel.launches) != 1 or (kernel.base["metrics"].get("launch__registers_per_thread") or 0) <= 32:
        return out
    for text in occupancy_edits(kernel, rng):
        what = anonymous.change(kernel.text, text, LINES)
        try:
            fit, limits = warps(kernel.program.profile(text))
        except asking.Broken:
            continue
        if not what or not fit or limits[0][0] == limits[1][0] or limits[0][1] in ("shared_mem", "blocks"):
            continue
        block = min(64, int(fit // limits[0][0])) or 1
        near = [n for n in (fit - block, fit + block, fit - 2 * block, fit + 2 * block, 64, fit // 2, fit * 2, fit - 3 * block,
                            fit + 3 * block) if 0 < n <= 64 and n != fit]
        wrong = sorted(set(near))
        if len(wrong) < 3:
            continue
        right, options = chosen(rng, fit, rng.sample(wrong, 3))
        lines = [line for line in asking.table([kernel.base], [""]).splitlines() if re.match(r"launch__|sm__maximum", line)]
        out.append(make("resident", "After this edit, how many warps can be resident on an SM at once, if there were blocks "
                        f"enough?\n{what}", right, [f"{n} warps" for n in options], limits[0][1], {"findings": "\n".join(lines)}))
    return out


GENERATORS = {"edit": edit, "gain": gain, "next": next_limiter, "launch": launch, "knee": knee, "data": data,
              "differs": differs, "resident": resident}
