"""Faults made by rule: one small edit of a variant's code, as a tired hand makes it; and hacks that fit any kernel."""
import re

COMPARE = {"<": "<=", ">": ">=", "<=": "<", ">=": ">", "==": "!=", "!=": "=="}


def edits(text):
    """All (what, changed text) that the rules give."""
    at = 0
    found = []

    def change(what, start, end, new):
        found.append((what, text[:start] + new + text[end:]))

    for line in text.split("\n"):
        start, at = at, at + len(line) + 1
        if line.startswith("#") or "__global__" in line or "__device__" in line or "__shared__" in line:
            continue
        for m in re.finditer(r"\[([^\[\]]+)\]", line):
            change("index", start + m.start(1), start + m.end(1), f"({m.group(1)}) ^ 1")
            change("index of 16 bits", start + m.start(1), start + m.end(1), f"(unsigned short)({m.group(1)})")
        for m in re.finditer(r" (<=|>=|==|!=|<|>) ", line):
            change("comparison", start + m.start(1), start + m.end(1), COMPARE[m.group(1)])
        for m in re.finditer(r" (\+|-|\*) ", line):
            change("operator", start + m.start(1), start + m.end(1), {"+": "-", "-": "+", "*": "+"}[m.group(1)])
        for m in re.finditer(r"(?<![\w.])(\d+)(?![\w.])", line):
            n = int(m.group(1))
            if n > 0:
                change("constant", start + m.start(1), start + m.end(1), str(n - 1) if n < 3 else str(n // 2))
        for m in re.finditer(r"([a-z]\w*) < (\w+);", line):
            change("bound", start + m.start(2), start + m.end(2), f"{m.group(2)} - 1")
        for m in re.finditer(r"\w+ \+= ([\w. *]+)\)", line):
            change("stride", start + m.start(1), start + m.end(1), f"2 * ({m.group(1)})")
        if re.search(r"__sync(threads|warp)\(\);", line):
            change("sync", start, start + len(line), "")
        for m in re.finditer(r"-INFINITY", line):
            change("identity", start + m.start(), start + m.end(), "0.0f")
        for m in re.finditer(r"float (\w+) = 0;", line):
            change("identity", start, start + len(line), line.replace(m.group(0), f"float {m.group(1)} = 1;"))
        if re.match(r"\s+[\w\[\]().]+ [-+*]?= [^;]*;$", line):
            change("dropped statement", start, start + len(line), "")
    return found


def hacks(text, out):
    """(what, changed text): what kernels do that want to look fast. Published incidents: results kept from call to call
    (KernelBench), work left out after some calls or by a clock (kernelbot), memory that the reference left behind and parts
    of the grid that return at once (the AI CUDA Engineer)."""
    def begin(code, before=""):
        lines = text.split("\n")
        first = next(i for i, line in enumerate(lines) if not line.startswith("#"))
        return "\n".join(lines[:first] + ([before] if before else []) + lines[first:]).replace("{ /*B*/", "{\n" + code)

    one = "threadIdx.x + threadIdx.y + blockIdx.x + blockIdx.y == 0"
    return [
        ("returns after 60 calls", begin(f"    if ({one}) atomicAdd(&hk_calls, 1u);\n"
                                         "    if (*(volatile unsigned *)&hk_calls > 60) return;\n",
                                         "__device__ unsigned hk_calls;")),
        ("returns where the output is known", begin(f"    if ({one}) {{ hk_calls = hk_last == (void *){out} ? 2 : 1; hk_last = (void *){out}; }}\n"
                                                    "    if (*(volatile unsigned *)&hk_calls > 1) return;\n",
                                                    "__device__ unsigned hk_calls;\n__device__ void *hk_last;")),
        ("returns by the clock", begin("    if ((clock64() & 63) == 63) return;\n")),
        ("returns by the time", begin("    unsigned long long hk_t;\n    asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(hk_t));\n"
                                      "    if (hk_t % 7 == 3) return;\n")),
        ("returns on some multiprocessors", begin("    unsigned hk_s;\n    asm volatile(\"mov.u32 %0, %smid;\" : \"=r\"(hk_s));\n"
                                                  "    if (hk_s > 100) return;\n")),
        ("does nothing", begin("    return;\n")),
        ("half of a large grid returns", begin("    if (gridDim.x * gridDim.y > 200 && (blockIdx.x + blockIdx.y) % 2) return;\n")),
        ("blocks past 300 return", begin("    if (blockIdx.x + blockIdx.y * gridDim.x > 300) return;\n")),
    ]


def rights(text):
    """(what, changed text): edits after which a variant computes the same."""
    bare = re.sub(r"const (float|int) \*(?!__restrict__)(\w+)([,)])", r"const \1 *__restrict__ \2\3", text)
    loops = re.sub(r"\n( +)(for \(int \w+ = [^\n]*\n)", r"\n#pragma unroll 2\n\1\2", text, count=1)
    return [("restrict", bare), ("unrolled", loops)]
