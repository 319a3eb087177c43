"""The model of time against measured times: runs the points of points.txt, or of another table.

    time.py --keet-opt PROGRAM [--points FILE] [--half fit|test|all] [--only NAME]... [-j JOBS] [--out DIR]

The model may be fitted to the half `fit`; the half `test` is for a model that is done. Prints, for each point, both
times and modelled / measured, and for each half a summary. --out writes time.md, time.json and time.svg (card.md and so on for card.txt). Exit status:
0 when every point got a time. That the kernels compute what they should is a test, tests/kernels/timed.py."""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time as clock

import plot
import points

sys.path.insert(0, str(points.HERE.parent))
import stamp  # noqa: E402


def run(program, row, folder, threads):
    """What `keet-opt run --json` says of a point; "seconds" is how long that took."""
    file = folder / f"{row['name']}.cu"
    file.write_text(points.text_of(row))
    begin = clock.monotonic()
    done = subprocess.run([program, "run", str(file), "--json", "--device", "emu:h100", "--threads", str(threads)],
                          capture_output=True, text=True, check=False)
    try:
        node = json.loads(done.stdout)
    except ValueError:
        node = {"verdict": "none", "verdict_text": done.stderr.strip()}
    return dict(node, seconds=clock.monotonic() - begin)


def ranks(values):
    """From 1; equal values share the mean of their ranks."""
    order = sorted(values)
    return [(order.index(v) + 1 + len(order) - order[::-1].index(v)) / 2 for v in values]


def spearman(a, b):
    return statistics.correlation(ranks(a), ranks(b)) if len(a) > 1 else 1.0


def summary(results):
    logs = [math.log(r["modelled_us"] / r["measured_us"]) for r in results]
    worst = max(results, key=lambda r: abs(math.log(r["modelled_us"] / r["measured_us"])))
    return {
        "points": len(results),
        "geometric_mean_error": math.exp(sum(map(abs, logs)) / len(logs)),
        "spearman": spearman([r["measured_us"] for r in results], [r["modelled_us"] for r in results]),
        "worst": worst["name"],
        "worst_ratio": worst["modelled_us"] / worst["measured_us"],
        "over_1.5": sum(abs(x) > math.log(1.5) for x in logs),
    }


def sentence(what):
    return (f"{what['points']} points: geometric mean error {what['geometric_mean_error']:.3f}, Spearman "
            f"{what['spearman']:.3f}, {what['over_1.5']} off by more than 1.5, worst {what['worst']} at "
            f"{what['worst_ratio']:.2f}")


def in_kernels(results):
    """The mean rank correlation of the variants of one kernel; None: no kernel has some."""
    kernels = {r["family"]: [] for r in results if "." in r["name"]}
    for r in results:
        kernels.get(r["family"], []).append(r)
    found = [spearman([r["measured_us"] for r in rows], [r["modelled_us"] for r in rows]) for rows in kernels.values()]
    return sum(found) / len(found) if found else None


def write(out, table, half, results, failed):
    out.mkdir(parents=True, exist_ok=True)
    name, own = ("time", "") if table == points.FILE else (table.stem, f"--points bench/time/{table.name} ")
    measured = "by this project; how, the table" if own else "by others, on an H100 SXM; the sources are in"
    kernels = "the files that were measured" if own else "kernels of ours with the same structure"
    halves = {h: [r for r in results if r["half"] == h] for h in ("fit", "test")}
    lines = [
        "# The model of time against measured times", "",
        f"`python3 bench/time/time.py --keet-opt build/release/keet-opt {own}--half {half} --out {out}` at commit "
        f"{stamp.commit('src', 'bench/time')}. Measured: {measured}{' says:' if own else ''} "
        f"[{table.name}](../../bench/time/{table.name}). Modelled: emu:h100, by {kernels}. "
        "The model may be fitted to the half `fit` only.", ""]
    lines += [f"- {h}: {sentence(summary(rows))}." for h, rows in halves.items() if rows]
    lines += [f"- {h}: mean Spearman of the variants of one kernel: {in_kernels(rows):.3f}." for h, rows in halves.items()
              if in_kernels(rows) is not None]
    lines += [f"- no time: {name}: {why}" for name, why in failed]
    lines += ["", "| point | half | launches | measured us | modelled us | modelled / measured |", "|---|---|---:|---:|---:|---:|"]
    lines += [f"| {r['name']} | {r['half']} | {r['launches']} | {r['measured_us']:.5g} | {r['modelled_us']:.5g} | "
              f"{r['modelled_us'] / r['measured_us']:.2f} |" for r in results]
    (out / f"{name}.md").write_text("\n".join(lines) + "\n")
    (out / f"{name}.json").write_text(json.dumps({
        "commit": stamp.commit("src", "bench/time"), "half": half,
        "summary": {h: summary(rows) for h, rows in halves.items() if rows}, "points": results}, indent=1) + "\n")
    (out / f"{name}.svg").write_text(plot.svg(results))


def run_all(args, rows):
    """(results of points that ran, [(name, why)] of the others). Prints each as it comes."""
    results, failed = {}, []
    with tempfile.TemporaryDirectory(prefix="keet-time-") as name, \
            concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        folder = pathlib.Path(name)
        threads = max(1, (os.cpu_count() or 1) // args.j)
        under_way = {pool.submit(run, args.keet_opt, row, folder, threads): row for row in rows}
        for done in concurrent.futures.as_completed(under_way):
            row, node = under_way[done], done.result()
            if node["verdict"] != "ok":
                failed.append((row["name"], f"{node['verdict']}: {node['verdict_text']}"))
                print(f"{row['name']:24} {failed[-1][1]}", flush=True)
                continue
            us = node["time_ns"] / 1e3
            dram = node["metrics"].get("dram__bytes.sum", {}).get("value", 0)
            results[row["name"]] = {
                "name": row["name"], "family": row["family"], "half": row["half"], "launches": row["launches"],
                "measured_us": row["measured_us"], "modelled_us": us, "modelled_dram_bytes": dram}
            print(f"{row['name']:24} {row['half']:4} measured {row['measured_us']:9.5g} us  modelled {us:9.5g} us  "
                  f"ratio {us / row['measured_us']:5.2f}  DRAM {dram / 1e9:7.3f} GB  ({node['seconds']:.0f} s)", flush=True)
    return [results[row["name"]] for row in rows if row["name"] in results], failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keet-opt", required=True)
    parser.add_argument("--half", choices=("fit", "test", "all"), default="fit")
    parser.add_argument("--points", type=pathlib.Path, default=points.FILE)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--out", type=pathlib.Path)
    args = parser.parse_args()
    rows = [row for row in points.read(args.points) if args.half in ("all", row["half"])]
    unknown = set(args.only) - {row["name"] for row in rows}
    if unknown:
        sys.exit(f"not a point of this half: {', '.join(sorted(unknown))}")
    rows = [row for row in rows if not args.only or row["name"] in args.only]
    results, failed = run_all(args, rows)
    if results:
        for half in ("fit", "test"):
            of_half = [r for r in results if r["half"] == half]
            if of_half:
                print(f"{half}: {sentence(summary(of_half))}")
        if args.out:
            write(args.out, args.points.resolve(), args.half, results, failed)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
