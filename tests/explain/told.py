#!/usr/bin/env python3
"""keet-opt explain --model, end to end: replies from files and from the server of tests/model, with a
reviewer that lies, is found out, and corrects itself; or does not.

    told.py KEET_OPT"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

keet = sys.argv[1]
here = os.path.dirname(os.path.abspath(__file__))
kernel = os.path.join(here, "kernels/serial_row_sum.cu")
replies = os.path.join(here, "told")
folder = tempfile.mkdtemp()


def explain(*options, code=0):
    """Standard output; standard error where it fails as it should."""
    done = subprocess.run([keet, "explain", "--threads", "2", kernel, *options],
                          capture_output=True, text=True, check=False)
    assert done.returncode == code, (options, done.returncode, done.stdout, done.stderr)
    return done.stderr if code else done.stdout


def model(*options):
    return json.loads(explain("--json", *options))["model"]


def with_replies(**texts):
    """A folder like told/, with some replies replaced or (None) left out."""
    name = tempfile.mkdtemp(dir=folder)
    for file in os.listdir(replies):
        shutil.copy(os.path.join(replies, file), name)
    for purpose, text in texts.items():
        path = os.path.join(name, purpose + "-1.md")
        os.remove(path)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    return "script:" + name


def expect(text, *parts):
    for part in parts:
        assert part in text, f"missing: {part}\n{text}"


def test_lies_are_marked_sent_back_and_corrected():
    database = os.path.join(folder, "x.db")
    told = model("--model", "script:" + replies, "--db", database)
    # By hand: line 17, two names, 4194304 (false), line 170 (false); a name, 50% (false), a name
    # (false); sgemm_tile (false); a name and 76.7%.
    assert told["sent_back"] and (told["claims_first"], told["grounded_first"]) == (10, 5), told
    assert told["grounded"] == told["claims"] == 12, told
    assert (told["confirmed"], told["refuted"], told["open"]) == (2, 1, 0)
    assert "[?" not in told["text"] and told["calls"] == 4
    calls = json.loads(subprocess.run([keet, "calls", database, "--json"], capture_output=True,
                                      text=True, check=True).stdout)
    assert [c["purpose"] for c in calls] == ["hypotheses", "judge", "review", "correct"]
    assert told["tokens"] == sum(c["tokens_in"] + c["tokens_out"] for c in calls)
    # No counter is shown before the hypotheses are there; the marks are what is sent back.
    assert "dram__bytes.sum" not in calls[0]["prompt"] and "dram__bytes.sum" in calls[1]["prompt"]
    back = calls[3]["prompt"]
    expect(back, "4194304 sectors [?: l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum is",
           "170 [?: the source has", "`fma__busy.pct` [?: no such metric]",
           "50% [?: smsp__issue_active.avg.pct_of_peak_sustained_active is",
           "`sgemm_tile` [?: the source does not have it]")


def test_what_is_not_corrected_stays_marked():
    with open(os.path.join(replies, "review-1.md"), encoding="utf-8") as file:
        lies = file.read()
    text = explain("--model", with_replies(correct=lies))
    expect(text, "4194304 sectors [?: ", "Grounded: 5 of 10 claims (50%); 5 of 10 before",
           "1 confirmed, 1 refuted, 1 open", "1. [serial_rows")
    # A correction that is worse is not taken.
    worse = lies + "It takes 123456 us, or 654321 us on line 99.\n"
    assert model("--model", with_replies(correct=worse))["claims"] == 10
    text = explain("--md", "--model", with_replies(correct=None))
    expect(text, "### In a model's words", "Grounded: 5 of 10 claims")


def test_true_text_is_not_sent_back():
    with open(os.path.join(replies, "judge-1.md"), encoding="utf-8") as file:
        truth = file.read()
    told = model("--model", with_replies(review=truth))
    assert not told["sent_back"] and told["calls"] == 3
    assert told["grounded"] == told["claims"] == 12


def test_no_answer_harms_nothing():
    text = explain("--model", with_replies(hypotheses=None))
    expect(text, "1. [serial_rows", "No explanation came: ")
    text = explain("--model", with_replies(review=None))
    expect(text, "Grounded: 12 of 12 claims (100%).")
    told = model("--model", "script:" + replies, "--max-tokens", "100")
    assert told["calls"] == 1 and told["why_not"] == "--max-tokens is spent", told
    expect(explain("--model", "nothing:x", code=1), "--model nothing:x")
    expect(explain("--model", "script:" + replies, kernel, code=2), "goes with one kernel file")


def judgements(name):
    text = subprocess.run([keet, "explain", "--threads", "2", "--json",
                           os.path.join(here, "kernels", name + ".cu")],
                          capture_output=True, text=True, check=True).stdout
    return {h["tool"]: (h["judgement"], h["line"]) for h in json.loads(text)["hypotheses"]}


def test_without_a_model():
    found = judgements("serial_row_sum")
    assert found["coalescing"] == ("confirmed", 17) and found["few_blocks"] == ("confirmed", 0)
    assert found["narrow_access"][0] == "refuted"
    assert judgements("bank_transpose")["bank_conflicts"] == ("confirmed", 21)
    assert "confirmed" not in [verdict for verdict, _ in judgements("clean_polynomials").values()]
    text = explain("--md")
    expect(text, "### From the source", "- H1 line 17: lanes of a warp", "- H1 confirmed: `keet__time_without_scattered",
           "Not foreseen from the source: ", "- Summary: The task is memory-bound (0.25 flops per byte), but this kernel is latency-bound")


def test_by_http():
    texts = tempfile.mkdtemp(dir=folder)
    for i, name in enumerate(["hypotheses", "judge", "review", "correct"]):
        shutil.copy(os.path.join(replies, name + "-1.md"), os.path.join(texts, f"{i}.md"))
    server = subprocess.Popen(
        [sys.executable, os.path.join(here, "../model/server.py"), "--replies", texts],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    port = server.stdout.readline().split()[1]
    spec = f"http://127.0.0.1:{port}/v1#writer!503,ok"
    record = os.path.join(folder, "record")
    told = model("--model", spec, "--record", record)
    server.stdin.close()
    server.wait()
    assert told["sent_back"] and told["grounded"] == told["claims"] == 12, told
    again = model("--model", "replay:" + record)
    assert again["text"] == told["text"] and again["calls"] == 4


try:
    for name, function in list(globals().items()):
        if name.startswith("test_"):
            function()
            print("ok", name)
finally:
    shutil.rmtree(folder)
