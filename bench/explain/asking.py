"""What question_kinds.py asks of keet-opt: profiles, explanations and searches of kernel texts, each made once."""

import array
import hashlib
import json
import re
import sqlite3
import subprocess
import threading

import anonymous

TIME = "gpu__time_duration.sum"


class Broken(Exception):
    """The program does not take this text: no question comes of it."""


class Program:
    """keet-opt on the emulated H100; each text has a folder of its own under work."""

    def __init__(self, binary, work):
        self.binary = binary
        self.work = work / hashlib.sha256(binary.read_bytes()).hexdigest()[:12]  # another program says other things
        self.lock, self.busy = threading.Lock(), {}
        (self.work / "said").mkdir(parents=True, exist_ok=True)

    def place(self, text, files):
        folder = self.work / hashlib.sha256(repr((text, sorted(files.items()))).encode()).hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        (folder / "k.cu").write_text(text)
        return folder / "k.cu"

    def say(self, *words):
        """What the program prints; each call is made once, also when an interrupted generation goes on."""
        words = tuple(map(str, words))
        key = hashlib.sha256(repr(words).encode()).hexdigest()[:16]
        held = self.work / "said" / key
        with self.lock:
            busy = self.busy.setdefault(key, threading.Lock())
        with busy:
            if not held.exists():
                run = subprocess.run([str(self.binary), *words, "--device", "emu:h100", "--threads", "1"], text=True,
                                     capture_output=True, check=False)
                held.with_suffix(".new").write_text(f"{run.returncode}\n{run.stdout}")
                held.with_suffix(".new").rename(held)
        code, _, said = held.read_text().partition("\n")
        if code != "0":
            raise Broken(words)
        return said

    def profile(self, text, files=None):
        """{"time": ns, "metrics": {name: value}, "units": {...}}"""
        said = json.loads(self.say("run", self.place(text, files or {}), "--json"))
        metrics = {name: m["value"] for name, m in said["metrics"].items()}
        return {"time": said["time_ns"], "metrics": metrics,
                "units": {name: m["unit"] for name, m in said["metrics"].items()}}

    def explain(self, text):
        path = self.place(text, {})
        return self.tidy(self.say("explain", path, "-v"), path)

    def tell(self, text):
        """What ours shows of a kernel: its explanation, with runs at other sizes and contents than any that are asked about."""
        path = self.place(text, {})
        return self.tidy(self.say("explain", path, "-v", "--what-if"), path)

    def compare(self, old, new):
        """What changed, and the figures of both; what each version's own explanation says beside them is left out."""
        said = self.tidy(self.say("explain", self.place(old, {}), self.place(new, {})), None)
        moved, _, each = said.partition("\nBefore\n")
        parts = zip(("Before", "After"), each.partition("\nAfter\n")[::2])
        figures = [f"{head}: {line}" for head, part in parts for line in re.findall(r"^Figures: (.*)$", part, re.M)]
        return "\n".join([moved.strip(), *figures])

    def sweep(self, text, name, values):
        path = self.place(text, {})
        return self.tidy(self.say("explain", path, "--sweep", f"{name}={','.join(map(str, values))}"), path)

    def tidy(self, said, path):
        """No paths of this machine."""
        lines = [line for line in said.splitlines() if line.strip() != str(path)]
        return re.sub(r"\S*/([0-9a-f]{16})/k\.cu", "k.cu", "\n".join(lines)).strip()

    def shares(self, text):
        """Of the launches' time: [(kernel, share)], in their order."""
        rows = re.findall(r"^\s+([\d.]+)%\s+(\d+)\s+[\d.]+ \w+\s+(\w+),", self.explain(text), re.M)
        return [(kernel, float(share) / 100, int(nr)) for share, nr, kernel in rows]

    def search(self, text, budget, seed):
        """The right variants of a search: [{"number", "parent", "speedup", "text"}]."""
        path = self.place(text, {})
        db = path.with_name(f"search-{budget}-{seed}.db")
        self.say(path, "--budget", budget, "--seed", seed, "--policy", "mcts", "-q", "--db", db, "-o", path.with_name("o.cu"))
        con = sqlite3.connect(db)
        rows = con.execute("SELECT number, parent, speedup, text FROM node JOIN source ON source.hash = node.source"
                           " WHERE verdict = 'ok' ORDER BY number").fetchall()
        con.close()
        return [dict(zip(("number", "parent", "speedup", "text"), row)) for row in rows]


class Kernel:
    """A kernel text without names, and the variants that a search made of it."""

    def __init__(self, name, text, program):
        self.name, self.text, self.program = name, text, program
        self.base = program.profile(text)
        self.launches = re.findall(r"^#pragma keet launch (\w+)", text, re.M)
        self.edits = []    # (gain, text) of what a search tried on it
        self.cured = None  # its text with a cure by hand, if there is one
        self.split = None  # dev or test, where the file says so

    @classmethod
    def family(cls, path, program, budget, seed):
        """The file's kernel, and of its variants the one of which a search tried most variants."""
        source = path.read_text()
        names = anonymous.Names(source)
        root = cls(path.stem, names.apply(source), program)
        if not budget:
            return [root]
        nodes = {n["number"]: n for n in program.search(root.text, budget, seed)}
        nodes[0]["text"] = root.text
        under = {}
        for number in sorted(nodes):
            if number:
                nodes[number]["text"] = names.apply(nodes[number]["text"])
                under.setdefault(nodes[number]["parent"], []).append(nodes[number])
        out = [root]
        most = max((n for n in under if n in nodes and n), key=lambda n: len(under[n]), default=0)
        if most and len(under[most]) >= 3:
            out.append(cls(f"{path.stem}+", nodes[most]["text"], program))
        for kernel, number in zip(out, (0, most)):
            kernel.edits = [(n["speedup"] / nodes[number]["speedup"], n["text"]) for n in under.get(number, [])]
        return out

    def sizes(self):
        """{name: value} of the plain numbers on the size lines."""
        out = {}
        for line in re.findall(r"^#pragma keet\s+size\s+(.*)$", self.text, re.M):
            out.update({k: int(v) for k, v in re.findall(r"(\w+)\s*=\s*(\d+)\s*(?:,|$)", line)})
        return out

    def with_size(self, name, value):
        return re.sub(rf"^(#pragma keet\s+size\b.*\b{name}\s*=\s*)\d+", rf"\g<1>{value}", self.text, count=1, flags=re.M)

    def tunes(self):
        """[(name, chosen, [choices])]"""
        rows = re.findall(r"^#pragma keet\s+tune\s+(\w+)\s*=\s*(\d+)\s+in\s+\{([^}]*)\}", self.text, re.M)
        return [(n, int(v), [int(x) for x in c.split(",")]) for n, v, c in rows]

    def beside(self):
        """Texts that --what-if runs: each parameter at the next smaller and the next larger of its values."""
        out = []
        for name, now, values in self.tunes():
            below, above = [v for v in values if v < now], [v for v in values if v > now]
            out += [self.with_tune(name, v) for v in below and [max(below)]] + [self.with_tune(name, v) for v in above and [min(above)]]
        return out

    def tried(self):
        """Texts of its edits that --what-if runs too: the moves that findings ask for."""
        if not self.edits:
            return []
        said = json.loads(self.program.say("explain", self.program.place(self.text, {}), "--what-if", "--json"))
        made = {anonymous.canonical(run["source"]) for run in said["what_if"] if "source" in run}
        return [text for _, text in self.edits if anonymous.canonical(text) in made]

    def with_tune(self, name, value, text=None):
        return re.sub(rf"^(#pragma keet\s+tune\s+{name}\s*=\s*)\d+", rf"\g<1>{value}", text or self.text, count=1, flags=re.M)


def npy(values):
    """An int32 array as a file of NumPy's format 1.0."""
    head = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({len(values)},), }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + array.array("i", values).tobytes()


def table(profiles, heads):
    """Counters side by side, as a reader without theory would see them: without the model's times without a cause."""
    rows = ["counter: " + ", ".join(heads)] if len(heads) > 1 else []
    for name, unit in profiles[0]["units"].items():
        if name.startswith("keet__time_without_"):
            continue
        values = [p["metrics"].get(name) for p in profiles]
        if any(values):
            rows.append(f"{name} ({unit}): " + ", ".join("-" if v is None else f"{v:.5g}" for v in values))
    return "\n".join(rows)
