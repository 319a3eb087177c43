"""Puts the points of a table into two halves by lot, once.

    split.py            fills the halves that are still "-" in points.txt; --points FILE: in another table
    split.py --check    status 1 when a half is not what the lot gives

The table says how its rows are drawn. Rows that come later get a lot of their own."""

import argparse
import itertools
import pathlib
import random
import sys

import points


def draw_groups(groups, seed):
    """{name: half}, each group by itself. Of one with an odd number, the halves get one more in turn."""
    lot = random.Random(seed)
    halves, extra = {}, itertools.cycle(lot.sample(["fit", "test"], 2))
    for names in map(sorted, groups):
        lot.shuffle(names)
        nr_fit = len(names) // 2 + (len(names) % 2 and next(extra) == "fit")
        halves.update({name: "fit" if i < nr_fit else "test" for i, name in enumerate(names)})
    return halves


def draw_families(rows, seed):
    """{name: half}, each family by itself."""
    families = sorted({row["family"] for row in rows})
    return draw_groups([[row["name"] for row in rows if row["family"] == family] for family in families], seed)


def draw_together(rows, seed):
    """{name: half}. Of an odd number, `fit` gets one more."""
    names = sorted(row["name"] for row in rows)
    random.Random(seed).shuffle(names)
    return {name: "fit" if i < (len(names) + 1) // 2 else "test" for i, name in enumerate(names)}


def draw_kernels(rows, seed):
    """{name: half}. All rows of a kernel, KERNEL and KERNEL.NUMBER, go to one half: first the kernels with variants are drawn,
    then those without."""
    varied = {row["family"] for row in rows if "." in row["name"]}
    halves = draw_groups([varied, {row["family"] for row in rows} - varied], seed)
    return {row["name"]: halves[row["family"]] for row in rows}


def draw(rows):
    """{name: half}. The first lot was drawn over all rows of the time. Those that are drawn together had their times from
    another table then; their draw came after it, and counts for them."""
    together = [row for row in rows if row["lot"][0] == "together"]
    by_kernel = [row for row in rows if row["lot"][0] == "kernels"]
    halves = draw_kernels(by_kernel, by_kernel[0]["lot"][1]) if by_kernel else {}
    for nr, lot in enumerate(dict.fromkeys(row["lot"] for row in rows if row["lot"][0] == "lot")):
        halves.update(draw_families([row for row in rows if row["lot"] == lot or (nr == 0 and row in together)], lot[1]))
    for table in {row["lot"][1] for row in rows if row["lot"][0] == "like"}:  # a kernel is where the other table has it
        there = {other["family"]: other["half"] for other in points.read(points.HERE / table)}
        halves.update({row["name"]: there[row["family"]] for row in rows if row["lot"] == ("like", table)})
    if together:
        halves.update(draw_together(together, together[0]["lot"][1]))
    return halves


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--points", type=pathlib.Path, default=points.FILE)
    args = parser.parse_args()
    rows = [row for row in points.read(args.points) if row["lot"]]
    drawn = draw(rows)
    wrong = [row["name"] for row in rows if row["half"] != drawn[row["name"]] and (args.check or row["half"] != "-")]
    if wrong:
        sys.exit("not in the half that the lot gave: " + ", ".join(wrong))
    if not args.check:
        points.set_halves(drawn, args.points)


if __name__ == "__main__":
    main()
