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
            later, document_later = suite_table.page(args, runs, {})
            whole = document_later["scores"]["all"]
        self.assertEqual(missing, [])
        self.assertIn("| - | c | 9.00 | 6.00* | 3 | 1 | tune |", later)   # 9 now, 4 before
        self.assertIn("| - | a | 4.00 | 2.00 |", later)    # what is there is not replaced
        # Of a, p has the geometric mean of 2 and 8, which is 4; q has 2. Of b, p has 1, and q 2.
        self.assertIn("| 1 | a | 4.00 | 2.00 | 3 | 1 | tune |", text)
        self.assertIn("| 1 | c | 9.00 | missing | 3 | 1 | tune |", text)
        # q has not all runs and gets no score; p has the cube root of 4 * 1 * 9, and over q, by a
        # and b alone, sqrt(4/2 * 1/2).
        scored = document["scores"]["all"]
        self.assertEqual(list(scored), ["p"])
        self.assertEqual(scored["p"]["tasks"], 3)
        self.assertAlmostEqual(scored["p"]["geomean_all"]["value"], 36 ** (1 / 3), 12)
        ratios = document["ratios"]
        self.assertEqual([ratios[level]["q"]["tasks"] for level in ("1", "2", "all")], [1, 1, 2])
        self.assertAlmostEqual(ratios["all"]["q"]["geomean_all"]["value"], 1, 12)
        self.assertAlmostEqual(ratios["1"]["q"]["geomean_all"]["value"], 2, 12)
        self.assertEqual(document["scores"]["2"]["p"]["tasks"], 1)
        self.assertIn("| 2 | 1 | 1.00 (1.00 to 1.00) |", text)
        self.assertIn("| 1 | 2.000 (2.000 to 2.000), 1 |", text)
        # With what an earlier table has, both are whole: 4, 1, 9 and 2, 2, 6.
        self.assertAlmostEqual(whole["q"]["geomean_all"]["value"], 24 ** (1 / 3), 12)
        self.assertEqual(whole["p"]["tasks"], 3)


if __name__ == "__main__":
    unittest.main()
