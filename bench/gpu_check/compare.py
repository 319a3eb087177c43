"""What gpu_check compares with what: arrays, counters, ranks. Pure functions; no GPU, no files but
.npy. `python3 compare.py` tests them on hand-made cases."""

import ast
import math
import struct

# Metrics in which PTX, which the emulator runs, and SASS, which a card runs, may honestly differ.
SASS_DIFFERS = "PTX is not SASS: ptxas unrolls, merges and expands instructions"
IF_CONVERTED = "ptxas turns short branches into predicates"
EXPLAINED = {
    "smsp__inst_executed.sum": SASS_DIFFERS,
    "smsp__thread_inst_executed_pred_on.sum": SASS_DIFFERS,
    "smsp__sass_branch_targets.sum": IF_CONVERTED,
    "smsp__sass_branch_targets_threads_divergent.sum": IF_CONVERTED,
    "keet__flops.sum": "ptxas fuses and expands: divisions and square roots become several operations",
    "keet__warp_inst_executed_op_matrix.sum": "one matrix instruction of PTX is one or more of SASS",
}
EXPLAINED_BEGINNINGS = {"smsp__sass_thread_inst_executed_op_": SASS_DIFFERS}
TOLERANCE = {"counted": 0.01, "sampled": 0.05}

# A chip's conflicts of banks include those with requests of other warps; the emulator's are those
# within a request. dot.cu on an H100: 1.0% of the wavefronts of loads, 2.2% of those of stores.
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"
ARBITRATION = 0.03

# ptxas unrolls a loop whose number of rounds differs between the lanes of a warp: the rounds that are
# left of each lane are then requests of their own, for the same bytes. spmv_csr.cu on an H100: 4.9%
# more (its second loop is 16, 8 and 4 rounds at a time in SASS, and 4 in PTX).
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_"
BYTES = "smsp__sass_data_bytes_mem_global_op_"
DIVERGENT = "smsp__sass_branch_targets_threads_divergent.sum"
ROUNDS_APART = 0.1


def value(metrics, name):
    return metrics[name]["value"] if name in metrics else math.nan


def apart(a, b):
    return abs(a - b) / max(abs(a), abs(b)) if a != b else 0.0


def arbitration(metric, emulated, measured):
    extra = value(measured, metric) - value(emulated, metric)
    wavefronts = value(measured, WAVEFRONTS + metric[len(CONFLICTS):])
    if 0 < extra <= ARBITRATION * wavefronts:
        return f"requests of other warps were in the way: {100 * extra / wavefronts:.1f}% of the wavefronts"
    return None


def rounds_apart(metric, emulated, measured):
    ours, theirs = value(emulated, metric), value(measured, metric)
    of_bytes = BYTES + metric[len(REQUESTS):]
    same_bytes = apart(value(emulated, of_bytes), value(measured, of_bytes)) <= 0.01
    if same_bytes and ours < theirs <= (1 + ROUNDS_APART) * ours and value(emulated, DIVERGENT) > 0:
        return "ptxas unrolls a loop that lanes leave at different times: more requests for the same bytes"
    return None


def explanation(metric, emulated, measured):
    for beginning, why in EXPLAINED_BEGINNINGS.items():
        if metric.startswith(beginning):
            return why
    if metric.startswith(CONFLICTS):
        return arbitration(metric, emulated, measured)
    if metric.startswith(REQUESTS):
        return rounds_apart(metric, emulated, measured)
    return EXPLAINED.get(metric)


def counters(emulated, measured, origin="measured"):
    """Rows (metric, emulated, measured, relative difference, "agree" | "explained" | "differ", why)
    of what the emulator counts and the GPU measured. (A stand-in's counters say "modelled".)"""
    rows = []
    for metric, ours in emulated.items():
        theirs = measured.get(metric)
        if theirs is None or theirs["from"] != origin or ours["from"] not in TOLERANCE:
            continue
        a, b = ours["value"], theirs["value"]
        difference = apart(a, b)
        why = explanation(metric, emulated, measured)
        if difference <= TOLERANCE[ours["from"]]:
            rows.append((metric, a, b, difference, "agree", ""))
        elif why:
            rows.append((metric, a, b, difference, "explained", why))
        else:
            rows.append((metric, a, b, difference, "differ", ours["from"]))
    return rows


# --- arrays ---

FORMATS = {"<f8": "d", "<f4": "f", "<f2": "e", "<i8": "q", "<i4": "i", "<i2": "h", "|i1": "b",
           "<u8": "Q", "<u4": "I", "<u2": "H", "|u1": "B", "|b1": "?"}


def read_npy(path):
    """(type, shape, bytes) of a .npy file."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:6] != b"\x93NUMPY":
        raise ValueError(f"{path} is no .npy file")
    wide = data[6] >= 2
    size = struct.unpack_from("<I" if wide else "<H", data, 8)[0]
    start = 12 if wide else 10
    header = ast.literal_eval(data[start:start + size].decode("latin-1"))
    return header["descr"], header["shape"], data[start + size:]


def arrays(a, b, rel, absolute):
    """("bitwise" | "within tolerance" | "wrong" | "unknown", largest error)"""
    if a[:2] != b[:2] or len(a[2]) != len(b[2]):
        return "wrong", math.inf
    if a[2] == b[2]:
        return "bitwise", 0.0
    form = FORMATS.get(a[0])
    if form is None:
        return "unknown", math.nan
    nr = len(a[2]) // struct.calcsize(form)
    x, y = struct.unpack(f"<{nr}{form}", a[2]), struct.unpack(f"<{nr}{form}", b[2])
    worst, wrong = 0.0, False
    for p, q in zip(x, y):
        if p == q or (p != p and q != q):
            continue
        error = abs(p - q)
        worst = max(worst, error) if error == error else math.inf
        wrong |= not error <= absolute + rel * abs(q)
    return ("wrong" if wrong else "within tolerance"), worst


# --- ranks ---

def ranks(values):
    """Ranks from 1, those that tie sharing their mean."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result, i = [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            result[order[k]] = (i + j) / 2 + 1
        i = j + 1
    return result


def spearman(x, y):
    """NaN where one of them is constant, or there are fewer than three."""
    a, b = ranks(x), ranks(y)
    nr = len(a)
    if nr < 3:
        return math.nan
    mean = (nr + 1) / 2
    cov = sum((p - mean) * (q - mean) for p, q in zip(a, b))
    va, vb = sum((p - mean) ** 2 for p in a), sum((q - mean) ** 2 for q in b)
    return cov / math.sqrt(va * vb) if va > 0 and vb > 0 else math.nan


def kendall(x, y):
    """tau-b."""
    nr = len(x)
    if nr < 3:
        return math.nan
    agree = against = tied_x = tied_y = 0
    for i in range(nr):
        for j in range(i):
            p, q = (x[i] > x[j]) - (x[i] < x[j]), (y[i] > y[j]) - (y[i] < y[j])
            agree += p * q > 0
            against += p * q < 0
            tied_x += p == 0
            tied_y += q == 0
    pairs = nr * (nr - 1) / 2
    least = (pairs - tied_x) * (pairs - tied_y)
    return (agree - against) / math.sqrt(least) if least > 0 else math.nan


def test():
    def close(a, b):
        return abs(a - b) < 1e-12

    assert ranks([30, 10, 20, 10]) == [4, 1.5, 3, 1.5]
    assert close(spearman([1, 2, 3, 4], [10, 20, 30, 40]), 1)
    assert close(spearman([1, 2, 3, 4], [4, 3, 2, 1]), -1)
    # by hand: differences of ranks 0 1 1 0: 1 - 6*2/(4*15) = 0.8
    assert close(spearman([1, 2, 3, 4], [1, 3, 2, 4]), 0.8)
    # by hand: one of six pairs out of order: (5 - 1)/6
    assert close(kendall([1, 2, 3, 4], [1, 3, 2, 4]), 4 / 6)
    # by hand: x ties once: agree 5, tied_x 1: 5/sqrt(5*6)
    assert close(kendall([1, 1, 2, 3], [1, 2, 3, 4]), 5 / math.sqrt(30))
    assert math.isnan(spearman([1, 1, 1], [1, 2, 3])) and math.isnan(kendall([1, 2], [1, 2]))

    emulated = {"a": {"value": 1000, "from": "counted"}, "b": {"value": 1000, "from": "counted"},
                "s": {"value": 1000, "from": "sampled"}, "t": {"value": 5, "from": "modelled"},
                "smsp__inst_executed.sum": {"value": 10, "from": "counted"},
                "zero": {"value": 0, "from": "counted"}}
    measured = {"a": {"value": 1009, "from": "measured"}, "b": {"value": 1020, "from": "measured"},
                "s": {"value": 1020, "from": "measured"}, "t": {"value": 9, "from": "measured"},
                "smsp__inst_executed.sum": {"value": 20, "from": "measured"},
                "zero": {"value": 0, "from": "measured"}, "other": {"value": 1, "from": "measured"}}
    verdicts = {row[0]: row[4] for row in counters(emulated, measured)}
    assert verdicts == {"a": "agree", "b": "differ", "s": "agree", "zero": "agree",
                        "smsp__inst_executed.sum": "explained"}, verdicts
    assert counters(emulated, {"a": {"value": 1000, "from": "modelled"}}) == []

    def verdict(name, ours, theirs):
        def metrics(of, origin):
            return {metric: {"value": v, "from": origin} for metric, v in of.items()}
        rows = counters(metrics(ours, "counted"), metrics(theirs, "measured"))
        return {row[0]: row[4] for row in rows}[name]

    conflicts, wavefronts = CONFLICTS + "ld.sum", WAVEFRONTS + "ld.sum"
    assert verdict(conflicts, {conflicts: 0}, {conflicts: 15925, wavefronts: 1556e3}) == "explained"
    assert verdict(conflicts, {conflicts: 0}, {conflicts: 60e3, wavefronts: 1556e3}) == "differ"
    assert verdict(conflicts, {conflicts: 15925}, {conflicts: 0, wavefronts: 1556e3}) == "differ"
    assert verdict(conflicts, {conflicts: 0}, {conflicts: 1}) == "differ"
    requests, of_bytes = REQUESTS + "ld.sum", BYTES + "ld.sum"
    ours = {requests: 358328, of_bytes: 25.4e6, DIVERGENT: 900}
    theirs = {requests: 376736, of_bytes: 25.4e6, DIVERGENT: 1000}
    assert verdict(requests, ours, theirs) == "explained"
    assert verdict(requests, {**ours, DIVERGENT: 0}, theirs) == "differ"
    assert verdict(requests, ours, {**theirs, of_bytes: 26e6}) == "differ"
    assert verdict(requests, ours, {**theirs, requests: 400e3}) == "differ"
    assert verdict(requests, {**ours, requests: 376736}, {**theirs, requests: 358328}) == "differ"

    def f4(*values):
        return "<f4", (len(values),), struct.pack(f"<{len(values)}f", *values)

    assert arrays(f4(1, 2), f4(1, 2), 0, 0)[0] == "bitwise"
    assert arrays(f4(1, 2), f4(1, 2.001), 1e-3, 0)[0] == "within tolerance"
    assert arrays(f4(1, 2), f4(1, 2.01), 1e-3, 0)[0] == "wrong"
    assert arrays(f4(1, math.nan), f4(1, 2), 1, 1)[0] == "wrong"
    assert arrays(f4(1, math.nan), f4(2, math.nan), 1, 1)[0] == "within tolerance"
    assert arrays(f4(1), f4(1, 2), 1, 1)[0] == "wrong"
    print("compare.py: as worked out by hand")


if __name__ == "__main__":
    test()
