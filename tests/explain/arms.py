#!/usr/bin/env python3
"""The experiment on feedback: statistics and table arithmetic against numbers worked out by hand, evaluations that
are reused against such that are not, and what the arms may see. Usage: arms.py KEET_OPT"""

import argparse
import concurrent.futures
import contextlib
import io
import json
import math
import pathlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/explain"))
import arms  # noqa: E402
import questions  # noqa: E402
import stats  # noqa: E402

KEET = None
# Of the differences in test_wilcoxon_normal.
SCIPY_N, SCIPY_W, SCIPY_P = 97, 1620.0, 0.006449562308860754

TINY = """#pragma keet size  M = 96, N = 64
#pragma keet check M = 17, N = 33
#pragma keet in    A : f32[M][N]
#pragma keet out   y : f32[M]
#pragma keet tolerance rel = 1e-3, abs = 1e-4
#pragma keet work  flops = M*N, bytes = 4*(M*N + M)
#pragma keet launch rows<<<ceil_div(M,64), 64>>>(A, y, M, N)
__global__ void rows(const float *A, float *y, int M, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (i < M) {
        for (int j = 0; j < N; j++)
            sum += A[i * N + j];
        y[i] = sum;
    }
}
"""

OTHER = """#pragma keet size  N = 4096
#pragma keet check N = 100
#pragma keet in    x : f32[N]
#pragma keet inout y : f32[N]
#pragma keet tolerance rel = 1e-4, abs = 1e-5
#pragma keet work  flops = 2*N, bytes = 12*N
#pragma keet launch add<<<ceil_div(N,128), 128>>>(x, y, N)
__global__ void add(float *x, float *y, int N)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < N)
        y[i] += 2 * x[i];
}
"""


class Statistics(unittest.TestCase):
    def test_wilcoxon_exact(self):
        # All five up: one of 32 signs on each side.
        self.assertEqual(stats.wilcoxon([1, 2, 3, 4, 5]), (15, 0, 2 / 32, 1))
        # Ranks 2 and 4 are down: 6. Subsets of 1..6 that sum to 0..6: 1+1+1+2+2+3+4 = 14 of 64.
        self.assertEqual(stats.wilcoxon([1, -2, 3, -4, 5, 6]), (15, 6, 28 / 64, 9 / 21))
        # Three ties of rank 2; sums of 2 or less from {2,2,2,4}: the empty one and three: 4 of 16. Zero is dropped.
        self.assertEqual(stats.wilcoxon([1, 0, 1, -1, 2]), (8, 2, 8 / 16, 6 / 10))
        self.assertEqual(stats.wilcoxon([0, 0]), (0, 0, 1, 0))

    def test_wilcoxon_normal(self):
        # SciPy 1.17.1: wilcoxon(d, method="approx", correction=False) on these differences with ties.
        d = [((i * 37) % 101) // 4 - 10 for i in range(101)]
        plus, minus, p, effect = stats.wilcoxon(d)
        self.assertEqual(plus + minus, SCIPY_N * (SCIPY_N + 1) / 2)
        self.assertEqual(min(plus, minus), SCIPY_W)
        self.assertAlmostEqual(p, SCIPY_P, 9)
        self.assertAlmostEqual(effect, (plus - minus) / (plus + minus), 12)

    def test_others(self):
        self.assertEqual(stats.mcnemar(1, 9), 22 / 1024)  # 2 (1 + 10) / 2^10
        self.assertEqual(stats.mcnemar(5, 5), 1)
        self.assertEqual(stats.mcnemar(0, 0), 1)
        for got, want in zip(stats.holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]):
            self.assertAlmostEqual(got, want)
        low, high = stats.wilson(8, 10)  # Wilson's formula by hand: 0.4902, 0.9433
        self.assertAlmostEqual(low, 0.4902, 4)
        self.assertAlmostEqual(high, 0.9433, 4)
        self.assertEqual(stats.bootstrap([3.0] * 7), (3, 3))
        # The mean of two draws from {0, 1} is 0, 1/2, 1 with chances 1/4, 1/2, 1/4.
        self.assertEqual(stats.bootstrap([0, 1], confidence=0.4), (0.5, 0.5))
        self.assertEqual(stats.bootstrap([0, 1], confidence=0.95), (0, 1))

    def test_donors(self):
        names = [f"k{i}" for i in range(28)]
        for seed in range(1, 21):
            donors = arms.donors(names, seed)
            self.assertEqual(sorted(donors.values()), sorted(names))
            self.assertTrue(all(k != d for k, d in donors.items()))
            self.assertEqual(donors, arms.donors(list(reversed(names)), seed))
        self.assertNotEqual(arms.donors(names, 1), arms.donors(names, 2))


def quietly(function, *args):
    with contextlib.redirect_stdout(io.StringIO()):
        return function(*args)


class Table(unittest.TestCase):
    """Two tasks, two seeds, budget 2: curves in log2."""

    CURVES = {"none": [[0, 0], [0, 0], [0, 0], [0, 0]],
              "counters": [[1, 1], [1, 3], [0, 1], [0, 1]],
              "generic": [[1, 2], [1, 2], [1, 1], [1, 1]],
              "findings": [[2, 3], [2, 3], [1, 2], [1, 2]],
              "other": [[0, 1], [0, 1], [2, 3], [2, 3]]}

    def test_by_hand(self):
        runs = {(k, s, arm): {"curve": curves[2 * i + s - 1]} for arm, curves in self.CURVES.items()
                for i, k in enumerate(["a", "b"]) for s in (1, 2)}
        part = arms.summary(runs, ["a", "b"], [1, 2], 2)
        # At the end ours has log2 3, 3, 2, 2: 2^2.5. Counters 1, 3, 1, 1: 2^1.5. The area of ours: (2.5 + 1.5) / 2.
        self.assertAlmostEqual(part["means"]["findings"]["area"], 2 ** 2)
        self.assertAlmostEqual(part["means"]["counters"]["area"], 2 ** 1)  # (1.5 + 0.5) / 2
        self.assertAlmostEqual(arms.summary(runs, ["a"], [1, 2], 2)["means"]["counters"]["area"], 2 ** 1.5)
        row = arms.compare(runs, ["a", "b"], [1, 2], "counters", 2)
        self.assertAlmostEqual(row["ratio"], 2)  # per task 3 - 2 and 2 - 1
        self.assertEqual((row["wins"], row["losses"], row["effect"]), (2, 0, 1))
        self.assertEqual(row["p"], 2 / 4)
        # Pairs: 2, 0, 1, 1: zero dropped, ranks 3, 1.5, 1.5, all up: 2 of 8.
        self.assertEqual(row["p_pairs"], 2 / 8)
        row = arms.compare(runs, ["a", "b"], [1, 2], "other", "area")
        self.assertAlmostEqual(row["ratio"], 2 ** 0.5)  # 2.5 - 0.5 and 1.5 - 2.5
        self.assertEqual((row["wins"], row["losses"]), (1, 1))
        self.assertAlmostEqual(row["effect"], 1 / 3)  # ranks 2 up, 1 down
        self.assertFalse(part["against"]["area"]["other"]["beats"])

    # The suite when the weights were tuned, on every second task of it.
    FIRST = ("argmax attention batched_matmul bias_gelu box_blur conv2d cross_entropy distance dot embedding gemv"
             " group_norm histogram layernorm matmul matmul_f16 matvec_t max_pool nbody prefix_sum rmsnorm saxpy softmax"
             " spmv_csr stencil3d sum swiglu transpose").split()

    def test_halves(self):
        self.assertEqual(arms.TUNED, set(self.FIRST[::2]))
        suite = {p.stem for p in (ROOT / "kernels").glob("*.cu")}
        self.assertLessEqual(set(self.FIRST), suite)
        # batchnorm_relu came later and stands between two that were there: it is held out and moves nothing.
        said, table = self.table(["argmax", "attention", "batched_matmul", "batchnorm_relu", "bias_gelu", "box_blur"])
        self.assertEqual(said["parts"]["Tuned on"]["kernels"], ["argmax", "batched_matmul", "box_blur"])
        self.assertEqual(said["parts"]["Held out"]["kernels"], ["attention", "batchnorm_relu", "bias_gelu"])
        self.assertIn("## Held out: 3 tasks", table)
        for name, half in (("argmax", "tuned on"), ("batchnorm_relu", "held out"), ("bias_gelu", "held out"),
                           ("box_blur", "tuned on")):
            self.assertIn(f"| {name} | {half} | ", table)
        said, _ = self.table(["argmax", "attention", "bias_gelu"])  # one tuned on: too few for a part
        self.assertEqual(list(said["parts"]), ["All"])

    def table(self, kernels):
        runs = {(k, 1, arm): {"curve": curves[0], "device": "d", "from": "modelled"}
                for arm, curves in self.CURVES.items() for k in kernels}
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder)
            args = argparse.Namespace(kernels=[pathlib.Path(f"{k}.cu") for k in kernels], seeds=[1], budget=2, model=None,
                                      commit="c", out=out)
            quietly(arms.write_table, args, runs)
            return json.loads((out / "arms.json").read_text()), (out / "arms.md").read_text()


class Questions(unittest.TestCase):
    def test_letters(self):
        options = ["w", "x", "y"]
        self.assertEqual(questions.letter("B", options), "x")
        self.assertEqual(questions.letter("Not A, since ... so the answer is C.", options), "y")
        self.assertIsNone(questions.letter("D", options))  # there are three
        self.assertIsNone(questions.letter("I cannot tell", options))

    def test_judge_by_hand(self):
        asked = [{"kind": "cause", "right": "x"}] * 6 + [{"kind": "line", "right": 3}] * 2
        answers = {a: ["y"] * 6 + [1] * 2 for a in arms.ARMS}
        answers["findings"] = ["x"] * 5 + ["y"] + [3, 1]
        answers["counters"] = ["y"] * 5 + ["x"] + [1, 1]
        out = questions.judge(asked, answers)
        self.assertEqual((out["cause"]["findings"]["right"], out["cause"]["findings"]["of"]), (5, 6))
        row = out["cause"]["counters"]  # right in ours only: 5, in theirs only: 1; 2 (1 + 6) / 2^6
        self.assertEqual((row["only_ours"], row["only_theirs"], row["p"]), (5, 1, 14 / 64))
        self.assertEqual(out["all"]["none"]["p"], 2 / 64)  # 6 : 0
        self.assertEqual(out["line"]["none"]["p"], 1)  # 1 : 0

    def test_choices_are_of_one_family(self):
        known = {t for family in questions.FAMILIES for t in family}
        self.assertEqual(known, set(questions.MEANINGS))
        self.assertEqual(known, set(questions.WORDS))
        self.assertLessEqual({tool for _, tool, _ in questions.planted()}, known)
        seen = {"lines": {5: 1, 6: 2, 7: 3}}
        for seed in range(20):
            cause, line = questions.planted_questions(pathlib.Path("k.cu"), "atomics", [6], seen, random.Random(seed))
            family = next(f for f in questions.FAMILIES if "atomics" in f)
            self.assertEqual((len(set(cause["choices"])), set(cause["choices"]) <= set(family)), (4, True))
            self.assertIn("atomics", cause["choices"])
            self.assertEqual((line["right"], sorted(line["choices"])), (6, [5, 6, 7]))
        self.assertEqual(questions.move_question("k", {"unroll": 0.05}, random.Random(1)), [])  # nothing gains
        asked = questions.move_question("k", {"a": 2.0, "b": 1.9, "c": 0.3, "d": -1}, random.Random(1))[0]
        self.assertEqual((asked["right"], sorted(asked["choices"])), ("a", ["a", "c", "d"]))  # b is as good


def dump(path):
    """All that a run's database says of its nodes, but clocks and where a reused check came from."""
    db = sqlite3.connect(path)
    queries = [
        "SELECT number, parent, action, proposer, variant, prior, what, source, proposal_note, verdict, verdict_text,"
        " verdict_line, recalled_from, speedup FROM node ORDER BY number",
        "SELECT number, key, ptx_hash, cubin_hash FROM compilation c JOIN node n ON n.id = c.node ORDER BY number",
        "SELECT number, nr_runs, nr_shapes, max_abs, max_rel, q99_rel, worst_array, worst_index,"
        " nondeterministic_allowed FROM check_result c JOIN node n ON n.id = c.node ORDER BY number",
    ] + [f"SELECT n.number, t.* FROM {t} t JOIN node n ON n.id = t.node ORDER BY n.number, 3, 4, 5"
         for t in ("measurement", "launch", "counter", "line_cost", "explanation", "finding", "evidence", "weight",
                   "option")]
    out = [db.execute(q).fetchall() for q in queries]
    db.close()
    return out


class Runs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        (cls.work / "tiny.cu").write_text(TINY)
        (cls.work / "other.cu").write_text(OTHER)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def keet(self, kernel, name, *options, budget=6):
        db = self.work / f"{name}.db"
        command = [KEET, str(self.work / f"{kernel}.cu"), "--budget", str(budget), "--device", "emu", "--threads", "1",
                   "--json", "-q", "--db", str(db), "-o", str(self.work / "out.cu"), *options]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), db

    def test_reuse_changes_nothing(self):
        pool = str(self.work / "pool.db")
        plain, _ = self.keet("tiny", "plain")
        fresh, fresh_db = self.keet("tiny", "fresh", "--reuse", pool)
        again, again_db = self.keet("tiny", "again", "--reuse", pool)
        self.assertEqual(plain["reused"], 0)
        self.assertEqual(fresh["reused"], 0)
        recalled = again["nodes"] - again["evaluated"]
        self.assertEqual(again["reused"], again["nodes"] + 1 - recalled)  # all that is not recalled, and the original
        self.assertEqual(plain["tree"], fresh["tree"])
        for a, b in zip(dump(fresh_db), dump(again_db)):
            self.assertEqual(a, b)
        # The checks of reused nodes say so, and no other.
        notes = [row[0] for row in sqlite3.connect(again_db).execute(
            "SELECT note FROM check_result c JOIN node n ON n.id = c.node WHERE recalled_from IS NULL")]
        self.assertTrue(notes and all("as found in" in note for note in notes))
        notes = [row[0] for row in sqlite3.connect(fresh_db).execute("SELECT note FROM check_result")]
        self.assertFalse(any("as found in" in (note or "") for note in notes))
        # So does the comparison of the lead at the timed sizes, which is not made again.
        best = "SELECT note FROM check_result c JOIN node n ON n.id = c.node JOIN run r ON r.id = n.run WHERE number = best"
        self.assertIn("outputs at the timed size compared", sqlite3.connect(again_db).execute(best).fetchone()[0])
        db = sqlite3.connect(pool)
        marked = db.execute("UPDATE check_result SET note = note || '; by an earlier run' WHERE timed = 1").rowcount
        db.commit()
        db.close()
        self.assertGreater(marked, 0)
        third, third_db = self.keet("tiny", "third", "--reuse", pool)
        self.assertIn("; by an earlier run", sqlite3.connect(third_db).execute(best).fetchone()[0])
        self.assertEqual(third["tree"], plain["tree"])
        # Another text, other settings, or a changed entry are not the same evaluation.
        other, _ = self.keet("other", "other_kernel", "--reuse", pool, budget=2)
        self.assertEqual(other["reused"], 0)
        strict, _ = self.keet("tiny", "strict", "--reuse", pool, "--no-fast-math", budget=2)
        self.assertEqual(strict["reused"], 0)
        db = sqlite3.connect(pool)
        db.execute("UPDATE compilation SET key = replace(key, substr(key, 1, 4), '0123')")
        db.commit()
        db.close()
        changed, _ = self.keet("tiny", "changed", "--reuse", pool)
        self.assertEqual((changed["reused"], changed["tree"]), (0, plain["tree"]))

    def test_two_runs_share_a_file(self):
        pool = str(self.work / "shared.db")
        plain, _ = self.keet("tiny", "alone")
        with concurrent.futures.ThreadPoolExecutor(3) as threads:
            done = list(threads.map(lambda i: self.keet("tiny", f"shared{i}", "--reuse", pool)[0], range(3)))
        self.assertEqual({d["tree"] for d in done}, {plain["tree"]})

    def test_questions_to_a_model(self):
        replies = self.work / "replies"
        replies.mkdir()
        (replies / "1.txt").write_text("It is B.")
        server = subprocess.Popen([sys.executable, str(ROOT / "tests/model/server.py"), "--replies", str(replies)],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            port = server.stdout.readline().split()[1]
            out = self.work / "asked"
            argv = ["questions.py", "--model", f"http://127.0.0.1:{port}/v1#test", "--jobs", "2", "--binary", KEET,
                    "--only", "serial_row_sum,atomic_sum", "--work", str(self.work / "q"), "--out", str(out),
                    "--arms-work", str(self.work / "nothing")]
            before, sys.argv = sys.argv, argv
            try:
                quietly(questions.main)
            finally:
                sys.argv = before
        finally:
            server.stdin.close()
            server.wait(10)
            server.stdout.close()
        said = json.loads((out / "questions.json").read_text())
        self.assertEqual([q["kind"] for q in said["questions"]], ["cause", "line"] * 2)
        second = sum(q["choices"][1] == q["right"] for q in said["questions"])
        for arm in arms.ARMS:
            self.assertEqual(said["verdicts"]["all"][arm]["right"], second)
        prompts = {r["arm"]: r["prompt"] for r in map(json.loads, (self.work / "q/answers.jsonl").read_text().splitlines())
                   if "Which of" not in r["prompt"]}
        self.assertIn("At most", prompts["findings"])
        self.assertIn("dram__bytes.sum = ", prompts["counters"])
        self.assertNotIn("At most", prompts["counters"] + prompts["none"] + prompts["generic"])

    def test_what_arms_see(self):
        pool = str(self.work / "pool2.db")
        _, donor = self.keet("other", "donor", "--feedback", "findings", budget=3)
        seen = {}
        for arm in ("findings", "none", "counters", "generic", f"other:{donor}"):
            _, db = self.keet("tiny", "arm", "--reuse", pool, "--feedback", arm, budget=2)
            rows = sqlite3.connect(db)
            seen[arm.split(":")[0]] = {
                "priors": [r[0] for r in rows.execute(
                    "SELECT o.prior FROM option o JOIN node n ON n.id = o.node WHERE number = 0 ORDER BY seq")],
                "moves": [r[0] for r in rows.execute(
                    "SELECT o.what FROM option o JOIN node n ON n.id = o.node WHERE number = 0 ORDER BY seq")],
                "findings": [r[0] for r in rows.execute(
                    "SELECT text FROM finding f JOIN node n ON n.id = f.node WHERE number = 0 ORDER BY seq")],
                "summary": rows.execute("SELECT summary FROM explanation e JOIN node n ON n.id = e.node"
                                        " WHERE number = 0").fetchone()[0],
            }
            rows.close()
            db.unlink()
        self.assertTrue(all(s["moves"] == seen["none"]["moves"] for s in seen.values()))
        self.assertEqual(len(set(seen["none"]["priors"])), 1)
        for arm, s in seen.items():
            self.assertAlmostEqual(sum(s["priors"]), 1, 4)
        self.assertEqual(len({tuple(s["priors"]) for s in seen.values()}), 5)
        self.assertTrue(seen["findings"]["findings"])
        for arm in ("none", "counters", "generic"):
            self.assertEqual(seen[arm]["findings"], [])
        self.assertEqual(seen["none"]["summary"], "")
        self.assertIn("dram__bytes.sum = ", seen["counters"]["summary"])
        theirs = [r[0] for r in sqlite3.connect(donor).execute(
            "SELECT text FROM finding f JOIN node n ON n.id = f.node WHERE number = 0 ORDER BY seq")]
        self.assertEqual(seen["other"]["findings"], theirs)
        self.assertNotEqual(theirs, seen["findings"]["findings"])

    def test_harness(self):
        out = self.work / "results"
        argv = ["arms.py", "--seeds", "1", "--budget", "3", "--jobs", "1", "--binary", KEET, "--work",
                str(self.work / "arms"), "--out", str(out), str(self.work / "tiny.cu"), str(self.work / "other.cu")]
        before, sys.argv = sys.argv, argv
        try:
            quietly(arms.main)
            log = (self.work / "arms/runs.jsonl").read_text()
            quietly(arms.main)  # nothing is run twice
            self.assertEqual((self.work / "arms/runs.jsonl").read_text(), log)
        finally:
            sys.argv = before
        records = [json.loads(line) for line in log.splitlines()]
        self.assertEqual(len(records), 2 * 5)
        said = json.loads((out / "arms.json").read_text())["parts"]["All"]
        for arm in arms.ARMS:
            last = [r["curve"][-1] for r in records if r["arm"] == arm]
            self.assertAlmostEqual(math.log2(said["means"][arm]["area"]),
                                   sum(sum(r["curve"]) / 3 for r in records if r["arm"] == arm) / 2, 9)
            self.assertTrue(all(v >= 0 for v in last))
        self.assertIn("| our explanation |", (out / "arms.md").read_text())


if __name__ == "__main__":
    KEET = sys.argv.pop(1)
    unittest.main(verbosity=2)
