#!/usr/bin/env python3
"""Scores against examples worked out by hand."""
import math
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/score"))
import score  # noqa: E402


def value(scored, name):
    return scored[name]["value"]


class Scores(unittest.TestCase):
    def test_ties_and_a_failure(self):
        # Twice, a tie with the baseline, one failure, eight times.
        scored = score.score([2.0, 1.0, None, 8.0])
        want = {
            "correct": 3 / 4,
            "fast_1": 2 / 4,    # the tie is not faster
            "fast_1.5": 2 / 4,
            "fast_2": 1 / 4,    # 2.0 is not above 2
            "fast_5": 1 / 4,
            "fast_10": 0,
            "geomean_correct": 16 ** (1 / 3),
            "geomean_all": 2,                  # the fourth root of 2 * 1 * 1 * 8
            "median_correct": 2,
            "median_all": 1.5,                 # of 1, 1, 2, 8
            "harmonic_all": 32 / 21,           # 4 / (1/2 + 1 + 1 + 1/8)
        }
        self.assertEqual((scored["tasks"], scored["right"]), (4, 3))
        for name, expected in want.items():
            self.assertAlmostEqual(value(scored, name), expected, 12, name)
            low, high = scored[name]["interval"]
            self.assertLessEqual(low, expected + 1e-12, name)
            self.assertGreaterEqual(high, expected - 1e-12, name)

    def test_slower_than_the_baseline_counts_as_it_is(self):
        scored = score.score([0.5, 2.0])
        self.assertAlmostEqual(value(scored, "geomean_all"), 1, 12)
        self.assertAlmostEqual(value(scored, "harmonic_all"), 0.8, 12)   # 2 / (2 + 1/2)
        self.assertEqual(value(scored, "fast_1"), 0.5)

    def test_one_task(self):
        scored = score.score([3.0])
        for name in ("geomean_correct", "geomean_all", "median_all", "harmonic_all"):
            self.assertAlmostEqual(value(scored, name), 3, 12)
            self.assertAlmostEqual(scored[name]["interval"][0], 3, 12)
            self.assertAlmostEqual(scored[name]["interval"][1], 3, 12)
        self.assertEqual([value(scored, f"fast_{p}") for p in ("1", "1.5", "2", "5", "10")],
                         [1, 1, 1, 0, 0])

    def test_one_failure(self):
        scored = score.score([None])
        self.assertEqual(value(scored, "correct"), 0)
        self.assertEqual(value(scored, "geomean_all"), 1)
        self.assertIsNone(value(scored, "geomean_correct"))
        self.assertIsNone(scored["median_correct"]["interval"])

    def test_no_task(self):
        scored = score.score([])
        self.assertEqual(scored["tasks"], 0)
        for name, held in scored.items():
            if isinstance(held, dict):
                self.assertEqual(held, {"value": None, "interval": None}, name)

    def test_quantile(self):
        self.assertEqual(score.quantile([1, 2, 3, 4, 5], 0.5), 3)
        self.assertAlmostEqual(score.quantile([10, 20], 0.25), 12.5)
        self.assertEqual(score.quantile([7], 0.975), 7)

    def test_interval_of_a_share(self):
        # 400 tasks, half of them right: the standard error of the share is sqrt(1/4/400) = 0.025,
        # so the interval is 0.5 -+ 1.96 * 0.025, to within the noise of 2,000 resamples.
        low, high = score.score([2.0, None] * 200)["correct"]["interval"]
        self.assertAlmostEqual(low, 0.451, delta=0.008)
        self.assertAlmostEqual(high, 0.549, delta=0.008)

    def test_same_seed_same_interval(self):
        speedups = [1.1, 2.2, None, 3.3, 0.9]
        self.assertEqual(score.score(speedups, 7), score.score(speedups, 7))

    def test_what_is_no_speedup(self):
        for wrong in (0.0, -1.0, math.nan, math.inf):
            with self.assertRaises(ValueError):
                score.score([wrong])

    def test_modelled_is_scored_apart(self):
        rows = [score.row_of({"task": "a", "speedup": 2.0, "from": "modelled"}),
                score.row_of({"task": "a", "speedup": 1.5, "from": "measured"}),
                score.row_of({"task": "b", "speedup": None, "from": "measured", "level": 2})]
        scored = score.scores(rows)
        self.assertEqual(scored["modelled"]["all"]["tasks"], 1)
        self.assertEqual(scored["measured"]["all"]["tasks"], 2)
        self.assertEqual(set(score.scores(rows, "level")["measured"]), {"None", "2"})
        with self.assertRaises(ValueError):
            score.scores(rows + rows[:1])

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write('{"kernel": "k.cu", "speedup": 4.0, "speedup_from": "modelled"}')
            out = subprocess.run([sys.executable, score.__file__, path], check=True,
                                 stdout=subprocess.PIPE).stdout.decode()
        self.assertIn("### all, modelled: 1 tasks, 1 right", out)
        self.assertIn("| geomean_all | 4.000 | 4.000 to 4.000 |", out)


unittest.main()
