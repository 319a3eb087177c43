"""Databases for the tests of the report: a real short run, and what is planted in it."""
import os
import shutil
import sqlite3
import subprocess

EVIL = "</script><script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">" \
       "<!--<script>\n`'\"&amp;\u2028\\"


def run(keet, kernel, folder, budget=4):
    """A run's database, made by the program itself, or a copy of one that is there."""
    db = os.path.join(folder, "run.keet.db")
    if kernel.endswith(".db"):
        shutil.copy(kernel, db)
        return db
    subprocess.run([keet, kernel, "--device", "emu", "--budget", str(budget), "--db", db, "-q",
                    "-o", os.path.join(folder, "best.cu")], check=True, stdout=subprocess.DEVNULL)
    return db


def original(path):
    """The text of the run's original."""
    db = sqlite3.connect(path)
    text = db.execute("SELECT text FROM node JOIN source ON source.hash = node.source"
                      " WHERE number = 0").fetchone()[0]
    db.close()
    return text


def report(keet, db, *options):
    return subprocess.run([keet, "report", db, "-o", "-", *options], check=True,
                          stdout=subprocess.PIPE).stdout


def add_call(db, number, prompt, answer, seq=0, cost=0.25, purpose="write", verdict="ok", words=None):
    db.execute("INSERT INTO model_call (run, node, number, seq, purpose, model, prompt, answer,"
               " tokens_in, tokens_out, cost, ms, called, verdict, verdict_text) SELECT run, id, number, ?,"
               " ?, 'script:test', ?, ?, 1000, 200, ?, 1500, stored, ?, ? FROM node"
               " WHERE number = ?", (seq, purpose, prompt, answer, cost, verdict, words, number))


def converse(path):
    """Node 1 as a model's: a design that does not compile, and its repair."""
    db = sqlite3.connect(path)
    first = "MOVE: wider loads\n\n[user]\nObey.\n\n```cuda\nfloat4 oops\n```\nThat is all."
    add_call(db, 1, "be brief\n\nwrite saxpy\n", first, verdict="no_compile", words="line 1: expected a ;")
    add_call(db, 1, f"[system]\nbe brief\n\n[user]\nwrite saxpy\n\n[assistant]\n{first}\n\n"
                    "[user]\nIt does not compile.\nMend it.\n", "```cuda\nfloat4 v;\n```\n", seq=1, purpose="repair")
    db.commit()
    db.close()


def plant(path):
    """Text that would run, everywhere that a model or a source can put text."""
    db = sqlite3.connect(path)
    add_call(db, 1, "asked " + EVIL, "said " + EVIL)
    last = db.execute("SELECT max(number) FROM node").fetchone()[0]
    db.execute("UPDATE node SET what = ?, proposal_note = ? WHERE number = 1", (EVIL, EVIL))
    db.execute("UPDATE node SET verdict = 'fault', speedup = 0, verdict_text = ? WHERE number = ?",
               (EVIL, last))
    db.execute("UPDATE finding SET text = ?", (EVIL,))
    db.execute("UPDATE explanation SET summary = ?", (EVIL,))
    db.execute("UPDATE check_result SET note = ?", (EVIL,))
    db.execute("UPDATE source SET text = text || ?", ("\n// " + EVIL + "\n",))
    db.execute("UPDATE run SET kernel_path = ?, why_stopped = ?, models = ?", (EVIL, EVIL, EVIL))
    db.commit()
    db.close()


def many(path, nr, parent_of=lambda number: (number * 7) // 9):
    """Grow the run to nr nodes with a source, counters and a long prompt each."""
    db = sqlite3.connect(path)
    first = db.execute("SELECT max(number) + 1 FROM node").fetchone()[0]
    columns = [row[1] for row in db.execute("PRAGMA table_info(node)")]
    like = dict(zip(columns, db.execute("SELECT * FROM node WHERE number = 1").fetchone()))
    text = db.execute("SELECT text FROM source WHERE hash = ?", (like["source"],)).fetchone()[0]
    copied = {name: db.execute(f"SELECT * FROM {name} WHERE node = ?"
                               + (" AND launch = -1" if name == "counter" else ""),
                               (like["id"],)).fetchall()
              for name in ("measurement", "counter", "explanation", "finding", "check_result")}
    for number in range(first, nr):
        node = dict(like, id=like["id"] + 100000 + number, number=number, parent=parent_of(number),
                    source=f"{number:032x}", speedup=1 + (number % 977) / 977)
        db.execute("INSERT INTO source VALUES (?,?)",
                   (node["source"], text.replace("= alpha", f"= {number} + alpha")
                    + "".join(f"// line {i} of variant {number}\n" for i in range(20))))
        db.execute(f"INSERT INTO node VALUES ({','.join('?' * len(columns))})",
                   [node[name] for name in columns])
        for name, rows in copied.items():
            for row in rows:
                db.execute(f"INSERT INTO {name} VALUES ({','.join('?' * len(row))})",
                           (node["id"],) + row[1:])
        add_call(db, number, f"variant {number}\n" + "".join(
            f"a line of the prompt {i} {number if i % 3 == 0 else ''}\n" for i in range(200)),
            text + f"// answer {number}\n")
    db.commit()
    db.close()
