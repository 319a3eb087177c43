"""What an operator of the bench is: an original with its contract, right variants, and faults as edits of a variant.

A variant's text may hold @NAME@, for which each of the values that PARAMETERS gives is put in: each makes a right variant
of its own. /*B*/ stands at the beginning of a kernel's body, where the general hacks go.
"""
import itertools
import re

KINDS = ("generic", "semantic", "hack", "order")


def fit(sizes, shared):
    """Rounds sizes up to multiples of what the given ones share."""
    return re.sub(r"(\w+) = (\d+)", lambda m: f"{m[1]} = {-(-int(m[2]) // shared[m[1]]) * shared[m[1]]}", sizes)


class Operator:
    def __init__(self, name, original, out, wide, variants, faults=(), parameters=None):
        self.name = name
        self.original = original.strip() + "\n"
        self.out = out              # the output's parameter in the kernels, for hacks
        self.wide = wide            # check lines of the wider contract
        self.variants = {}          # name: text with parameters put in
        self.first = {}             # name of a text: its first parameters
        for variant, text in variants.items():
            names = sorted(set(re.findall(r"@(\w+)@", text)))
            choices = [(parameters or {}).get(n, [128]) for n in names]
            for values in itertools.product(*choices):
                filled = text
                for n, v in zip(names, values):
                    filled = filled.replace(f"@{n}@", str(v))
                full = "_".join([variant, *map(str, values)])
                self.variants[full] = filled.strip() + "\n"
                self.first.setdefault(variant, full)
        self.faults = []            # (kind, name, text)
        for kind, variant, what, *edits in faults:
            text = self.variants[self.first[variant]]
            for old, new in edits:
                if old not in text:
                    raise SystemExit(f"{name}: {variant}: {what}: no '{old}'")
                text = text.replace(old, new)
            self.faults.append((kind, f"{variant}: {what}", text))

    def shared(self):
        """By name: the largest number up to 8 by which all given values of a size can be divided. The checker keeps these
        divisibilities, and so does the wider contract."""
        given = {}
        for line in re.findall(r"#pragma keet (?:size|check) +(.*)", self.original):
            for name, value in re.findall(r"(\w+) = (\d+)", line):
                given.setdefault(name, []).append(int(value))
        return {name: max(d for d in range(1, 9) if all(v % d == 0 for v in values)) for name, values in given.items()}

    def wider(self):
        """The original with more sizes to check."""
        lines = self.original.split("\n")
        shared = self.shared()
        at = max(i for i, line in enumerate(lines) if line.startswith("#pragma keet check"))
        return "\n".join(lines[:at + 1] + [f"#pragma keet check {fit(w, shared)}" for w in self.wide] + lines[at + 1:])
