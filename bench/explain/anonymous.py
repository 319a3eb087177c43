"""Kernel files without telling names: comments go, every name of the file's own becomes a short letter name."""

import difflib
import re

# Words of C++, CUDA and the task language, and functions that kernels call: what is not the file's own.
KEPT = set("""alignas alignof asm auto bool break case char class const constexpr continue default define delete do double
else endif enum extern false float for goto if ifdef ifndef include inline int long namespace new operator pragma register
reinterpret_cast return short signed sizeof static static_cast struct switch template this true typedef typename undef union
unroll unsigned using virtual void volatile while size_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
threadIdx blockIdx blockDim gridDim warpSize dim3 float2 float3 float4 int2 int3 int4 uint2 uint3 uint4 double2 half half2
uchar4 char4 make_float2 make_float3 make_float4 make_int2 make_int4 make_uint2 make_uint4 make_uchar4 make_char4
atomicAdd atomicMax atomicMin atomicCAS atomicExch atomicOr min max abs fabsf fabs fmaxf fminf fmax fmin fmaf fma expf exp exp2f
logf log log2f log1pf sqrtf sqrt rsqrtf rsqrt sinf cosf tanhf tanh powf pow floorf ceilf roundf erff copysignf fmodf cosf sincosf
nvcuda wmma fragment matrix_a matrix_b accumulator row_major col_major load_matrix_sync store_matrix_sync mma_sync
fill_fragment mem_row_major num_elements cooperative_groups INFINITY FLT_MAX INT_MAX assert printf rcp
""".split())
PRAGMA = set("""keet size check in out inout symbol scalar tolerance work reference expect pytorch launch temp tune where flops bytes rel
ceil_div uniform normal integers sorted skewed nearly_sorted sorted_skewed permutation runs constant iota file cluster texture
f64 f32 tf32 f16 bf16 e4m3 e5m2 i64 i32 i16 i8 u64 u32 u16 u8""".split())
NAME = re.compile(r"(?<![\w.\"])(?<!->)[A-Za-z_]\w*(?!\")")
HIDDEN = re.compile(r"^#pragma keet\s+(check|tolerance|work|where|pytorch)\b")
LITERAL = re.compile(r'("[^"\n]*"|^#include.*$)', re.M)


def without_comments(text):
    """The same lines; those that held comments alone are gone."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    kept = []
    for line in text.splitlines():
        bare = re.sub(r"//.*$", "", line).rstrip()
        if (bare or not line.strip()) and not re.match(r"#pragma keet\s+pytorch", bare):
            kept.append(bare)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept).strip("\n")) + "\n"


def letters(n):
    """a, b, ..., z, aa, ab, ..."""
    out = ""
    while True:
        out = chr(97 + n % 26) + out
        n = n // 26 - 1
        if n < 0:
            return out


class Names:
    """One renaming, which later versions of the file go on with."""

    def __init__(self, text):
        fields = " ".join(re.findall(r"\bstruct\b[^;{]*\{(.*?)\}\s*;", text, re.S))
        self.kept = KEPT | set(NAME.findall(fields))
        self.given = {}
        self.settled = frozenset()  # the first text's new names, which later versions of it have already
        self.used = {}

    def of(self, word, kind):
        if word in self.kept or word.startswith("__") or word in self.settled:
            return word
        if word not in self.given:
            while True:
                n = self.used.get(kind, 0)
                self.used[kind] = n + 1
                new = letters(n) if kind == "v" else f"{kind}{n}"
                if new not in self.kept and new not in ("or", "if", "do"):
                    break
            self.given[word] = new
        return self.given[word]

    def apply(self, text):
        text = without_comments(text)
        for kernel in re.findall(r"#pragma keet\s+(?:launch|reference)\s+(\w+)", text):
            self.of(kernel, "k")
        for line in re.findall(r"#pragma keet\s+size\s+(.*)", text):
            for name in re.findall(r"([A-Za-z_]\w*)\s*=", line):
                self.of(name, "N")
        for name in re.findall(r"#pragma keet\s+tune\s+(\w+)", text):
            self.of(name, "T")
        for name in re.findall(r"#pragma keet\s+(?:in|out|inout|temp|scalar|symbol(?: in| out| inout)?)\s+(\w+)\s*:", text):
            self.of(name, "P")
        out = []
        for line in text.splitlines(keepends=True):
            words = PRAGMA if line.startswith("#pragma keet") else ()
            pieces = LITERAL.split(line)
            out += [p if i % 2 else NAME.sub(lambda m: m.group() if m.group() in words else self.of(m.group(), "v"), p)
                    for i, p in enumerate(pieces)]
        out = "".join(out)
        self.settled = self.settled or frozenset(self.given.values())
        return out


def canonical(text):
    """The same for texts that differ in names and spaces alone."""
    given = {}
    words = re.findall(r"[A-Za-z_]\w*|\S", without_comments(text))
    return " ".join(f"n{given.setdefault(w, len(given))}" if w[0].isalpha() or w[0] == "_" else w for w in words)


def numbered(text):
    """The lines with their numbers, less those that only the checker reads."""
    return "\n".join(f"{i:3}| {line}" for i, line in enumerate(text.splitlines(), 1)
                     if not HIDDEN.match(line) and line.strip())


def change(old, new, most=None):
    """What differs: "at line" of the old file, lines out, lines in. None when more than `most` lines change."""
    a, b = old.splitlines(), new.splitlines()
    out, nr = [], 0
    for tag, a0, a1, b0, b1 in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        gone = [line for line in a[a0:a1] if line.strip() and not HIDDEN.match(line)]
        come = [line for line in b[b0:b1] if line.strip() and not HIDDEN.match(line)]
        if tag == "equal" or not gone + come:
            continue
        nr += len(gone) + len(come)
        whole = len(gone) > 4 and f"  - lines {a0 + 1} to {a1}"
        out += [f"  @ line {a0 + 1}"] + ([whole] if whole else [f"  - {x}" for x in gone]) + [f"  + {x}" for x in come]
    return None if most and nr > most else "\n".join(out)
