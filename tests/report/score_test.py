#!/usr/bin/env python3
"""Scores against examples worked out by hand."""
import math
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/score"))
import score  # noqa: E402


# What score.py reads of a run's database: the original, a failure, and 3x after two calls.
DATABASE = """
CREATE TABLE run (id INTEGER, kernel_path, device, started);
CREATE TABLE node (id INTEGER, run, number, verdict, speedup, stored);
CREATE TABLE measurement (node, time_from);
CREATE TABLE model_call (run, number, tokens_in, tokens_out, lost_in, lost_out, cost);
INSERT INTO run VALUES (1, 'k.cu', 'gpu', '2026-01-01T00:00:00Z');
INSERT INTO node VALUES (1, 1, 0, 'ok', 1.0, '2026-01-01T00:00:30Z'),
    (2, 1, 1, 'wrong', NULL, '2026-01-01T00:01:00Z'), (3, 1, 2, 'ok', 3.0, '2026-01-01T00:01:30Z');
INSERT INTO measurement VALUES (1, 'measured'), (3, 'measured');
INSERT INTO model_call VALUES (1, 1, 1000, 200, 0, 0, NULL), (1, 2, 20, 10, 3, 1, 0.25);
"""


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

    def test_levels(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "levels.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write("# level, kernel\n1 saxpy\n\n3 mlp\n")
            self.assertEqual(score.read_levels(path), {"saxpy": "1", "mlp": "3"})
            with open(path, "a", encoding="utf-8") as file:
                file.write("2 saxpy\n")
            with self.assertRaises(ValueError):
                score.read_levels(path)

    @staticmethod
    def steps(*rows):
        return [(dict(zip(score.COSTS, row[:4])), row[4]) for row in rows]

    def test_over_what_was_spent(self):
        # Task a: the original, a failure, then 4x. Task b: the original is wrong, then 9x at once.
        runs = [{"speedup_from": "modelled", "unpriced": 0, "steps": self.steps(
                    (0, 0, 0, 0, 1.0), (1, 100, 0.5, 1, 1.0), (2, 300, 1.0, 2, 4.0))},
                {"speedup_from": "modelled", "unpriced": 0, "steps": self.steps(
                    (0, 0, 0, 0, None), (1, 50, 0.1, 4, 9.0))}]
        want = {"candidates": {0: 1, 1: 3, 2: 6},          # sqrt(1 * 9), sqrt(4 * 9)
                "tokens": {20: 1, 50: 3, 200: 3, 300: 6},
                "dollars": {0: 1, 0.1: 3, 0.9: 3, 1.0: 6},
                "minutes": {1.6: 1, 2.0: 2, 3.6: 2, 4.0: 6}}  # sqrt(4 * 1) until b's answer
        for cost, points in want.items():
            curve = {round(p["spent"], 9): p["geomean_all"]
                     for p in score.over(runs, cost)["modelled"]}
            for spent, expected in points.items():
                self.assertAlmostEqual(curve[spent], expected, 12, f"{cost} {spent}")
        measured = dict(runs[0], speedup_from="measured")
        self.assertEqual(set(score.over(runs + [measured], "tokens")), {"measured", "modelled"})
        self.assertEqual(score.over([], "tokens"), {})
        self.assertEqual(score.marks(7, True), [0, 1, 2, 5, 7])
        self.assertEqual(score.marks(0, False), [0])

    def test_database(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.db")
            db = sqlite3.connect(path)
            db.executescript(DATABASE)
            db.commit()
            db.close()
            run = score.of_database(path)
            self.assertEqual((run["speedup"], run["speedup_from"]), (3.0, "measured"))
            self.assertEqual([step[1] for step in run["steps"]], [1.0, 1.0, 3.0])
            self.assertEqual(run["steps"][2][0], {"candidates": 2, "tokens": 1234, "dollars": 0.25,
                                                  "minutes": 1.5})
            self.assertEqual(run["unpriced"], 1)
            out = subprocess.run([sys.executable, score.__file__, path, "--over", "dollars"],
                                 check=True, stdout=subprocess.PIPE).stdout.decode()
            self.assertIn("| 0.25 | 3.000 | 3.000 to 3.000 |", out)
            self.assertIn("1 calls have no price", out)
            self.assertEqual(score.read([path])[0]["speedup"], 3.0)

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
