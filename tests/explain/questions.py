#!/usr/bin/env python3
"""Questions whose answers come from running: a few are made, and answers to them are scored."""

import contextlib
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/explain"))
import anonymous  # noqa: E402
import arms  # noqa: E402
import question_kinds  # noqa: E402
import question_set  # noqa: E402
import questions  # noqa: E402
import random  # noqa: E402

KEET = ""


def call(*words):
    before, sys.argv = sys.argv, ["questions.py", "--binary", KEET, "--jobs", "2", "--commit", "test", *map(str, words)]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            questions.main()
    finally:
        sys.argv = before


class Made(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        call("--new", "--only", "records,buckets", "--work", cls.work, "--out", cls.work / "out")
        cls.made = json.loads((cls.work / "new/set.json").read_text())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def prompts(self, arm):
        return "".join(p.read_text() for p in sorted((self.work / "new/prompts").glob(f"*/{arm}.md")))

    def test_questions(self):
        asked = self.made["questions"]
        self.assertGreaterEqual(len(asked), 6)
        self.assertGreaterEqual(len({q["kind"] for q in asked}), 3)
        self.assertEqual({q["split"] for q in asked}, {"dev", "test"})
        for q in asked:
            self.assertEqual(len(set(q["choices"])), 4, q["text"])
            self.assertIn(q["right"], range(4))

    def test_prompts(self):
        for arm in arms.ARMS:
            ids = re.findall(r"^(Q\d{3})\. ", self.prompts(arm), re.M)
            self.assertEqual(sorted(ids), [q["id"] for q in self.made["questions"]])
            self.assertNotRegex(self.prompts(arm), r"scatter|mine\b|//|tolerance")
        self.assertIn("Little's law", self.prompts("findings"))
        self.assertNotIn("Little's law", self.prompts("none") + self.prompts("counters") + self.prompts("generic"))
        self.assertIn("dram__bytes.sum", self.prompts("counters"))
        self.assertNotIn("dram__bytes.sum", self.prompts("none"))

    def test_the_same_again(self):
        call("--new", "--again", "--only", "records,buckets", "--work", self.work, "--out", self.work / "out")
        self.assertEqual(json.loads((self.work / "new/set.json").read_text()), self.made)

    def test_scores(self):
        said = self.work / "said"
        said.mkdir()
        asked = [q for q in self.made["questions"] if q["split"] == "test"]
        for arm, shift in (("none", 1), ("findings", 0)):
            lines = [f"{q['id']} {'ABCD'[(q['right'] + shift) % 4]}" for q in asked]
            (said / f"{arm}.txt").write_text("Here they are:\n" + "\n".join(lines) + "\n")
        (said / "generic.txt").write_text(f"{asked[0]['id']}: {'ABCD'[asked[0]['right']]}\n")
        call("--new", "--answers", said, "--only", "records,buckets", "--work", self.work, "--out", self.work / "out")
        rows = json.loads((self.work / "out/questions_new.json").read_text())["verdicts"]["all"]
        self.assertEqual({a: rows[a]["right"] for a in rows}, {"none": 0, "generic": 1, "findings": len(asked)})
        self.assertEqual((rows["generic"]["only_ours"], rows["generic"]["only_theirs"]), (len(asked) - 1, 0))
        self.assertAlmostEqual(rows["none"]["p"], 2 / 2 ** len(asked))
        self.assertIn(f"{len(asked)} of {len(asked)} (100%)", (self.work / "out/questions_new.md").read_text())
        kept = (self.work / "out/answers/new/findings.txt").read_text()
        self.assertEqual(question_set.read_answers(kept), {q["id"]: q["right"] for q in asked})


class Parts(unittest.TestCase):
    def test_names(self):
        source = ("// Sums rows.\n#pragma keet size   ROWS = 4\n#pragma keet out    a : f32[ROWS]\n"
                  "#pragma keet launch sums<<<1, 1>>>(a, ROWS)\n\n__global__ void sums(float *out, int b)\n{\n"
                  "    float a = 1e-5f; // a first guess\n    out[threadIdx.x] = fmaxf(a, b);\n}\n")
        names = anonymous.Names(source)
        text = names.apply(source)
        self.assertNotRegex(text, r"sums|ROWS|guess|Sums")
        self.assertIn("fmaxf(", text)
        self.assertIn("1e-5f", text)
        self.assertEqual(names.apply(text), text)
        later = names.apply(text.replace("1e-5f", "shared_sum"))
        self.assertNotIn("shared_sum", later)
        self.assertRegex(anonymous.change(text, later), r"^  @ line \d+\n  - .*1e-5f;\n  \+ .*$")
        self.assertIsNone(anonymous.change(text, later, 1))

    def test_brackets(self):
        for seed in range(200):
            value = 0.1 * 1.07 ** seed
            right, texts = question_kinds.brackets(random.Random(seed), value, 1.4)
            if right is None:
                continue
            edges = [float(x) for x in re.findall(r"[\d.]+", " ".join(texts[1:3]))]
            self.assertEqual(edges, sorted(edges))
            low, high = ([0, edges[0], edges[1], edges[3]])[right], (edges[0], edges[1], edges[3], 1e9)[right]
            self.assertTrue(low < value < high, (value, texts, right))

    def test_answers(self):
        self.assertEqual(question_set.read_answers("Q001 B\nQ002: (C)\n**Q003** - A\nQ001 D\nQ4 A"), {"Q001": 3, "Q002": 2, "Q003": 0})


if __name__ == "__main__":
    KEET = sys.argv.pop(1)
    unittest.main(verbosity=2)
