#!/usr/bin/env python3
"""The tests of the documentation find what is planted for them.

usage: planted.py PROGRAM"""
import sys
import tempfile
from pathlib import Path

import commands
import links
import options

PAGE = """# One heading

[right](#one-heading), [right](other.md#a-b-c), [wrong](#two), [wrong](gone.md), `[code](no.md)`

```text
[in a block](no.md)
```
"""
RUN = """
```text hello.txt
hello
```

```sh
grep -q hello hello.txt
test -f kernels/matmul.cu
```

```sh key
false
```

```sh
exit 3
```
"""


def main(program):
    with tempfile.TemporaryDirectory(prefix="keet-docs-") as name:
        root = Path(name)
        (root / "page.md").write_text(PAGE)
        (root / "other.md").write_text("## A `b`: c!\n")
        problems, nr = links.broken(root)
        assert nr == 4 and len(problems) == 2, problems
        assert "#two" in problems[0] and "gone.md" in problems[1], problems

        for folder in ("kernels", "bench", "tests", "prompts"):
            (root / folder).mkdir()
        (root / "kernels/matmul.cu").write_text("")
        (root / "run.md").write_text(RUN)
        problems, nr, skipped = commands.run_page(root / "run.md", root, program, name)
        assert len(skipped) == 1 and "key" in skipped[0], skipped
        assert len(problems) == 1 and "run.md:16: ends with 3" in problems[0], problems

    page = (Path(__file__).resolve().parents[2] / "docs/reference/options.md").read_text()
    page = page.replace("`--budget ", "`--bugdet ").replace("`--feedback ", "`")
    problems, _, _ = options.compare(page, program)
    assert any("--budget: in --help" in p for p in problems), problems
    assert any("--bugdet: in the page" in p for p in problems), problems
    assert any("--feedback: in --help" in p for p in problems), problems
    print("all that was planted was found")


if __name__ == "__main__":
    main(sys.argv[1])
