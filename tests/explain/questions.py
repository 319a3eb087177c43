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


def answer(question, shift):
    """A line that answers it rightly, or with a shift wrongly."""
    if question["choices"]:
        return f"{question['id']} {'ABCD'[(question['right'] + shift) % 4]}"
    return f"{question['id']} {question['right'] if not shift else 1.01 * question['high']}"


class Made(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.work = pathlib.Path(cls.folder.name)
        call("--new", "--split", "all", "--only", "records,buckets", "--work", cls.work, "--out", cls.work / "out")
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
        self.assertEqual({q["sheet"].rstrip("+"): q["split"] for q in asked}, {"records": "dev", "buckets": "test"})
        self.assertEqual(len({q["sheet"] for q in asked}), 2)  # no version of a kernel beside another
        for q in asked:
            if q["choices"]:
                self.assertEqual(len(set(q["choices"])), 4, q["text"])
                self.assertIn(q["right"], range(4))
            else:
                self.assertTrue(0 < q["low"] < q["right"] < q["high"], q["text"])
            self.assertFalse([o["id"] for o in asked if o is not q and o["sheet"] == q["sheet"] and question_set.clash(o, q)])

    def test_prompts(self):
        for arm in arms.ARMS:
            ids = re.findall(r"^(Q\d{3})\. ", self.prompts(arm), re.M)
            self.assertEqual(sorted(ids), [q["id"] for q in self.made["questions"]])
            self.assertNotRegex(self.prompts(arm), r"scatter(?!ed_lanes)|mine\b|//|tolerance")
        self.assertIn("Little's law", self.prompts("findings"))
        self.assertNotIn("Little's law", self.prompts("none") + self.prompts("counters") + self.prompts("generic"))
        self.assertIn("dram__bytes.sum", self.prompts("counters"))
        self.assertNotIn("dram__bytes.sum", self.prompts("none"))

    def test_the_same_again(self):
        call("--new", "--again", "--split", "all", "--only", "records,buckets", "--work", self.work, "--out", self.work / "out")
        self.assertEqual(json.loads((self.work / "new/set.json").read_text()), self.made)

    def test_scores(self):
        said = self.work / "said"
        said.mkdir()
        asked = [q for q in self.made["questions"] if q["split"] == "test"]
        for arm, shift in (("none", 1), ("findings", 0)):
            lines = [answer(q, shift) for q in asked]
            (said / f"{arm}.txt").write_text("Here they are:\n" + "\n".join(lines) + "\n")
        (said / "generic.txt").write_text(answer(asked[0], 0) + "\n")
        call("--new", "--answers", said, "--only", "records,buckets", "--work", self.work, "--out", self.work / "out")
        rows = json.loads((self.work / "out/questions_new.json").read_text())["verdicts"]["all"]
        self.assertEqual({a: rows[a]["right"] for a in rows}, {"none": 0, "generic": 1, "findings": len(asked)})
        self.assertEqual((rows["generic"]["only_ours"], rows["generic"]["only_theirs"]), (len(asked) - 1, 0))
        self.assertAlmostEqual(rows["none"]["p"], 2 / 2 ** len(asked))
        self.assertIn(f"{len(asked)} of {len(asked)} (100%)", (self.work / "out/questions_new.md").read_text())
        kept = (self.work / "out/answers/new/findings.txt").read_text()
        self.assertEqual(question_set.read_answers(kept), 
                         {q["id"]: "ABCD"[q["right"]] if q["choices"] else q["right"] for q in asked})


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

    def test_numbers(self):
        asked = question_kinds.number("launch", "?", 20.0, 0.1, 3)
        for said, right in ((16.9, False), (17.1, True), (22.9, True), (23.1, False), ("A", False), (None, False)):
            self.assertEqual(question_set.is_right(asked, said), right, said)
        asked = question_kinds.number("gain", "?", 2.0, 0.15)
        for said, right in ((1.73, False), (1.75, True), (2.29, True), (2.31, False)):
            self.assertEqual(question_set.is_right(asked, said), right, said)
        self.assertFalse(question_set.is_right(question_kinds.make("edit", "?", 1, list("wxyz")), 1.0))

    def test_clashes(self):
        shown = question_kinds.make("differs", "?", 0, [], shows=["text"], asks=["text"])
        self.assertTrue(question_set.clash(shown, question_kinds.make("gain", "?", 0, [], asks=["text"])))
        self.assertFalse(question_set.clash(shown, question_kinds.make("gain", "?", 0, [], asks=["other text"])))

    def test_edits_that_stand_out(self):
        edits = [(1, f"  @ line 1\n  - #pragma keet tune T0 = 16 in {{8, 16}}\n  + #pragma keet tune T0 = {n} in {{8, 16}}", "")
                 for n in (8, 16, 32, 64)]
        kernel = type("Kernel", (), {"launches": [], "text": ""})
        self.assertTrue(question_kinds.plausible(kernel, edits[1], [edits[0], edits[2], edits[3]], "k0"))
        self.assertFalse(question_kinds.plausible(kernel, edits[3], edits[:3], "k0"))

    def test_touched(self):
        text = ("#pragma keet tune   T0 = 2 in {2, 4}\n#pragma keet launch k0<<<1, T0>>>(a)\n#pragma keet launch k1<<<1, 2>>>(a)\n"
                "__global__ void k0(float *a)\n{\n    a[0] = 1;\n}\n__global__ void k1(float *a)\n{\n    a[0] = 2;\n}\n")
        kernel = type("Kernel", (), {"launches": ["k0", "k1"], "text": text})
        self.assertEqual(question_kinds.touched(kernel, text.replace("T0 = 2", "T0 = 4")), {"k0"})
        self.assertEqual(question_kinds.touched(kernel, text.replace("a[0] = 2", "a[0] = 3")), {"k1"})

    def test_answers(self):
        said = "Q001 B\nQ002: (C)\n**Q003** - A\nQ001 D\nQ4 A\nQ005 1.85x\nQ006: about 62%\nQ007 = ~1,250 us\nQ008 .5\nQ009 Both"
        self.assertEqual(question_set.read_answers(said), {"Q001": "D", "Q002": "C", "Q003": "A", "Q005": 1.85, "Q006": 62,
                                                           "Q007": 1250, "Q008": 0.5})


if __name__ == "__main__":
    KEET = sys.argv.pop(1)
    unittest.main(verbosity=2)
