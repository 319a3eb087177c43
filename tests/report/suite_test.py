#!/usr/bin/env python3
"""The suite's levels and its table: kernels/levels.txt names every kernel once, and the table's
figures are those of an example worked out by hand."""
import argparse
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import suite_table  # noqa: E402  (it finds score)
import score  # noqa: E402


def run(speedup):
    return {"speedup": speedup, "speedup_from": "modelled", "device": "a chip", "evaluated": 3,
            "verdicts": {"ok": 2, "wrong": 1}, "path": [{"move": "none"}, {"move": "tune"}]}


# kernel, policy: speedups of seeds 1 and 2
RUNS = {("a", "p"): (2, 8), ("b", "p"): (1, 1), ("c", "p"): (9, 9),
        ("a", "q"): (2, 2), ("b", "q"): (1, 4), ("c", "q"): (9,)}


class Suite(unittest.TestCase):
    def test_levels(self):
        levels = score.read_levels(ROOT / "kernels/levels.txt")
        self.assertEqual(set(levels), {path.stem for path in (ROOT / "kernels").glob("*.cu")})
        self.assertEqual(set(levels.values()), {"1", "2", "3"})
        self.assertGreaterEqual(len(levels), 40)
        for name in (n for n, level in levels.items() if level == "3"):
            text = (ROOT / "kernels" / (name + ".cu")).read_text()
            self.assertGreater(text.count("#pragma keet launch"), 1, name)

    def test_table(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            for (kernel, policy), speedups in RUNS.items():
                for seed, speedup in enumerate(speedups, 1):
                    (work / f"{kernel}-{policy}-{seed}.json").write_text(json.dumps(run(speedup)))
            args = argparse.Namespace(
                kernels=[pathlib.Path(k + ".cu") for k in "abc"], policies=["p", "q"],
                seeds=["1", "2"], work=work, budget="3", commit="0", earlier_note="of before")
            runs, missing = suite_table.load(args)
            text, document = suite_table.page(args, runs, {"a": "1", "b": "2", "c": "1"})
            self.assertEqual(missing, ["c (q, seed 2)"])
            suite_table.add_earlier(runs, missing, args, {
                "budget": 3, "seeds": ["2"], "speedups": {"q": {"a": [99], "c": [4]}}})
            later, _ = suite_table.page(args, runs, {})
        self.assertEqual(missing, [])
        self.assertIn("| - | c | 9.00 | 6.00* | 3 | 1 | tune |", later)   # 9 now, 4 before
        self.assertIn("| - | a | 4.00 | 2.00 |", later)    # what is there is not replaced
        # Of a, p has the geometric mean of 2 and 8, which is 4; q has 2. Of b, p has 1, and q 2.
        self.assertIn("| 1 | a | 4.00 | 2.00 | 3 | 1 | tune |", text)
        self.assertIn("| 1 | c | 9.00 | missing | 3 | 1 | tune |", text)
        # c is left out of the scores, since q has not all of it: p has sqrt(4 * 1), q sqrt(2 * 2),
        # and p over q is sqrt(4/2 * 1/2).
        scored = document["scores"]["all"]
        self.assertEqual([scored[p]["tasks"] for p in "pq"], [2, 2])
        self.assertAlmostEqual(scored["p"]["geomean_all"]["value"], 2, 12)
        self.assertAlmostEqual(scored["q"]["geomean_all"]["value"], 2, 12)
        self.assertAlmostEqual(document["ratios"]["all"]["q"]["value"], 1, 12)
        self.assertAlmostEqual(document["ratios"]["1"]["q"]["value"], 2, 12)
        self.assertEqual(document["scores"]["2"]["p"]["tasks"], 1)
        self.assertIn("| 1 | 1 | 4.00 (4.00 to 4.00) | 2.00 (2.00 to 2.00) |", text)


if __name__ == "__main__":
    unittest.main()
