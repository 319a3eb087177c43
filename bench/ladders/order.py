"""Runs the rungs of ladders.txt and compares their order with the published one.

    order.py --keet-opt PROGRAM [--device NAME] [--out DIR] [LADDER...]

Exit status: 0 when each ladder is in order but for at most one neighbouring pair, else 1."""

import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import stamp  # noqa: E402


def read_ladders(text):
    """[{name, unit, device, source, rungs: [(file, published)]}]"""
    ladders = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("ladder "):
            head, device, source = (part.strip() for part in line.split("|"))
            _, name, unit = head.split()
            ladders.append({"name": name, "unit": unit, "device": device, "source": source, "rungs": []})
        else:
            file, published = line.split()
            ladders[-1]["rungs"].append((file, float(published)))
    return ladders


def inversions(times):
    """Pairs (i, j), i < j, whose later rung is slower. Equal times are no inversion."""
    return [(i, j) for j in range(len(times)) for i in range(j) if times[j] > times[i]]


def in_order(times):
    """At most one neighbouring pair is the wrong way round."""
    found = inversions(times)
    return not found or (len(found) == 1 and found[0][1] == found[0][0] + 1)


def run(program, device, file):
    command = [program, "run", str(HERE / f"{file}.cu"), "--json", "--device", device]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        node = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"{file}: {done.stderr.strip() or 'no answer'}")
    if node.get("verdict") != "ok":
        sys.exit(f"{file}: {node.get('verdict')}: {node.get('verdict_text')}")
    return node["time_ns"] / 1e3, node["time_from"]


def table(ladder, times, word):
    best = ladder["rungs"][-1][1]
    lines = [
        f"## {ladder['name']}: {'in order' if not inversions(times) else 'one neighbouring pair swapped' if in_order(times) else 'NOT IN ORDER'}",
        "",
        f"Published: {ladder['source']}; on {ladder['device']}.",
        "",
        f"| rung | published | times the last rung's time, published | {word} us | times the last rung's time, {word} |",
        "|---|---:|---:|---:|---:|",
    ]
    for (file, published), time in zip(ladder["rungs"], times):
        ratio = published / best if ladder["unit"] == "time" else best / published
        lines.append(f"| {file} | {published:g} | {ratio:.2f} | {time:.1f} | {time / times[-1]:.2f} |")
    return lines + [""]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--keet-opt", required=True)
    parser.add_argument("--device", default="emu")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    ladders = [l for l in read_ladders((HERE / "ladders.txt").read_text())
               if not args.names or l["name"] in args.names]
    seen, report, wrong, results = {}, [], [], {}
    for ladder in ladders:
        for file, _ in ladder["rungs"]:
            if file not in seen:
                seen[file] = run(args.keet_opt, args.device, file)
        times = [seen[file][0] for file, _ in ladder["rungs"]]
        word = seen[ladder["rungs"][0][0]][1]
        report += table(ladder, times, word)
        results[ladder["name"]] = dict(zip((file for file, _ in ladder["rungs"]), times))
        swapped = inversions(times)
        print(f"{ladder['name']:16} {len(times)} rungs, {len(swapped)} pairs the wrong way round"
              + "".join(f"; {ladder['rungs'][i][0]} < {ladder['rungs'][j][0]}" for i, j in swapped))
        if not in_order(times):
            wrong.append(ladder["name"])
    if args.out:
        head = ["# Optimisation ladders: the order of the time model against published measurements", "",
                f"`bench/ladders.sh` at commit {stamp.commit('src', 'bench/ladders')}, device {args.device}. The kernels are ours, after the "
                "authors' descriptions; their devices differ from ours, so the order is compared and ratios are "
                "shown only for orientation.", ""]
        (args.out / "ladders.md").write_text("\n".join(head + report))
        (args.out / "ladders.json").write_text(json.dumps(results, indent=1) + "\n")
    for name in wrong:
        print(f"{name}: not in the published order", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
