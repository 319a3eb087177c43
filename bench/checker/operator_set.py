"""What an operator of the bench is: an original with its contract, right variants, and faults as edits of a variant.

A variant's text may hold @NAME@, for which each of the values that PARAMETERS gives is put in: each makes a right variant
of its own. /*B*/ stands at the beginning of a kernel's body, where the general hacks go.
"""
import itertools
import re

KINDS = ("generic", "semantic", "hack", "order")


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

    def wider(self):
        """The original with more sizes to check."""
        lines = self.original.split("\n")
        at = max(i for i, line in enumerate(lines) if line.startswith("#pragma keet check"))
        return "\n".join(lines[:at + 1] + [f"#pragma keet check {w}" for w in self.wide] + lines[at + 1:])
