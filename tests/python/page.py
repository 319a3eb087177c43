"""The blocks of docs/how-to/python.md fenced as `python` run, in their order, in one program; and the
first one says what its comments say."""
import contextlib
import io
import re
import sys
import traceback
from pathlib import Path

root = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tests" / "docs"))
import markdown  # noqa: E402

PAGE = root / "docs" / "how-to" / "python.md"
SHOWN = re.compile(r"^print\(.*\)\s+# (?P<said>\S+)", re.M)


def alike(want, said):
    """A number may differ by a quarter: the model of time goes on."""
    try:
        return 0.8 < float(said) / float(want) < 1.25
    except ValueError:
        return said.startswith(want)


def main():
    blocks = [("\n" * (line - 1) + "\n".join(lines), lines)
              for line, info, lines in markdown.blocks(PAGE.read_text(encoding="utf-8"))
              if info == "python"]
    names = {"__name__": "page"}
    for number, (code, lines) in enumerate(blocks):
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                exec(compile(code, str(PAGE), "exec"), names)
        except Exception:
            traceback.print_exc()
            return 1
        shown = SHOWN.findall("\n".join(lines))
        printed = said.getvalue().split("\n")
        for want, line in zip(shown, printed) if number == 0 else []:
            if not alike(want, line):
                print(f"{PAGE.name}: the page says {want!r}, and {line!r} was printed")
                return 1
        if number == 0 and len(shown) < 3:
            print(f"{PAGE.name}: the first block shows {len(shown)} results")
            return 1
    print(f"{len(blocks)} blocks run")
    return 0 if len(blocks) >= 5 else 1


sys.exit(main())
