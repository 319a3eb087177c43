#!/usr/bin/env python3
"""Makes spaces to develop the tuner on, as tables for spaces_bench:

  synthetic.py FOLDER

Four are a rough model of a 2-D convolution (blocks, tiles, padding, shared memory, occupancy, quantisation of the grid,
spills), with random effects of pairs and triples of parameters; four have random effects alone: many interactions, an
order of the values, values without an order, and half of the points failing. Nothing in them comes from a recorded space.
Seeds are fixed: the tables are the same on every machine."""

import itertools
import math
import pathlib
import random
import sys

BLOCKS_X = sorted([16 * i for i in range(1, 17)] + [1, 2, 4, 8])
CONVOLUTION = [BLOCKS_X, [1, 2, 4, 8, 16, 32], list(range(1, 9)), list(range(1, 9)), [0, 1], [0, 1], [0, 1], [0, 1]]
# Parameters that act together beyond the model, and the deviation of the logarithm.
EXTRA = [((2, 3), 0.22), ((0, 1), 0.15), ((0, 2), 0.15), ((2, 5), 0.2), ((3, 6), 0.15), ((1, 3, 5), 0.12)]
IMAGE = 4096


def effects(rng, sizes, parameters, deviation):
    return {q: rng.gauss(0, deviation) for q in itertools.product(*[range(sizes[p]) for p in parameters])}


def convolution(seed, with_failures):
    rng = random.Random(seed)
    sizes = [len(values) for values in CONVOLUTION]
    shared_limit = rng.choice([32, 48, 64]) * 1024
    warp = rng.choice([32, 64])
    most_threads = rng.choice([1024, 1536, 2048])
    filter_width = rng.choice([7, 15, 17])
    compute, memory, latency = rng.uniform(0.5, 2), rng.uniform(0.5, 2), rng.uniform(0.3, 1.2)
    read_only_cost, constant_rate = rng.uniform(0.85, 1.1), rng.uniform(0.6, 1.05)
    extra = [(p, effects(rng, sizes, p, deviation)) for p, deviation in EXTRA]
    for bx, by, tx, ty, pad, shared, read_only, constant in itertools.product(*CONVOLUTION):
        threads = bx * by
        if threads > 1024 or threads < 32 or (pad and not shared) or (pad and bx % 32 == 0) or rng.random() < 0.55:
            continue
        wide, high = bx * tx + filter_width - 1, by * ty + filter_width - 1
        shared_bytes = (wide + pad) * high * 4 if shared else 0
        point = [v.index(x) for v, x in zip(CONVOLUTION, (bx, by, tx, ty, pad, shared, read_only, constant))]
        registers = 18 + tx * ty * 1.3 + (tx + ty) * 1.5
        if shared_bytes > shared_limit or registers * threads > 65536 * 1.4:
            if with_failures:
                yield point, None
            continue
        held = math.ceil(threads / warp) * warp
        blocks = min(most_threads // held if held <= most_threads else 1,
                     int(shared_limit / shared_bytes) if shared_bytes else 99,
                     int(65536 / (min(registers, 255) * held)) or 1, 16)
        occupancy = min(1, blocks * held / most_threads)
        grid_x, grid_y = math.ceil(IMAGE / (bx * tx)), math.ceil(IMAGE / (by * ty))
        waste = grid_x * bx * tx * grid_y * by * ty / IMAGE / IMAGE * (held / threads)
        waves = grid_x * grid_y / (80 * blocks)
        conflict = 1
        if shared and not pad and bx % 32 != 0:
            conflict += rng.uniform(0.3, 0.34) * (math.gcd(32, wide % 32 or 32) > 1)
        loads = filter_width ** 2 * (1 / tx + 1 / ty) / 2
        loads *= 0.5 * conflict if shared else (read_only_cost if read_only else 1) * (1 + 2 * (bx < 16))
        if shared and read_only:
            loads *= read_only_cost ** 0.5
        busy = filter_width ** 2 * compute * (1 / constant_rate if constant else 1) * (1 + max(0, registers - 128) * 0.01)
        busy /= min(1, 0.35 + 0.65 * (1 - math.exp(-tx * ty * occupancy * 6 / 4)))
        moved = loads * memory * (1 + latency * (1 - occupancy)) + wide * high / (bx * tx * by * ty) * 8 * memory
        time = (max(busy, moved) + 0.4 * min(busy, moved)) * waste * math.ceil(waves) / waves
        together = sum(effect[tuple(point[p] for p in parameters)] for parameters, effect in extra)
        yield point, time * math.exp(rng.gauss(0, 0.02) + together)


def along(rng, size, deviation):
    """Effects of values that have an order: away from a best one."""
    best, slope = rng.random(), rng.uniform(0.5, 3) * deviation
    return {(i,): slope * abs(i / (size - 1) - best) + rng.gauss(0, 0.05 * deviation) for i in range(size)}


def random_effects(seed, sizes, nr_pairs, nr_triples, ordered, share_failed=0.0):
    """Of each parameter, of some pairs and of some triples; points fail by pairs of values."""
    rng = random.Random(seed)
    terms = []
    for i, size in enumerate(sizes):
        deviation = 0.35 * rng.choice([0.1, 0.5, 1, 1.5])
        terms.append(((i,), along(rng, size, deviation) if ordered else effects(rng, sizes, (i,), deviation)))
    for nr, width, deviation in ((nr_pairs, 2, 0.2), (nr_triples, 3, 0.15)):
        for _ in range(nr):
            parameters = tuple(rng.sample(range(len(sizes)), width))
            terms.append((parameters, effects(rng, sizes, parameters, deviation)))
    pairs = [tuple(rng.sample(range(len(sizes)), 2)) for _ in range(3)]
    bad = [(pair, {q: rng.random() < share_failed for q in itertools.product(*[range(sizes[p]) for p in pair])})
           for pair in pairs]
    share = min(1, 8000 / math.prod(sizes))
    for point in itertools.product(*map(range, sizes)):
        if rng.random() > share:
            continue
        if any(fails[tuple(point[p] for p in pair)] for pair, fails in bad):
            yield point, None
        else:
            total = sum(effect[tuple(point[p] for p in parameters)] for parameters, effect in terms)
            yield point, math.exp(total + rng.gauss(0, 0.02))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    sizes = [len(values) for values in CONVOLUTION]
    spaces = {f"convolution{n}": (sizes, convolution(n, n % 2 == 0)) for n in (1, 2, 3, 4)}
    for name, seed, of, rest in (("interactions", 11, [4, 4, 3, 3, 6, 3, 2, 2, 4], (6, 3, False)),
                                 ("ordered", 12, [8, 6, 5, 8, 4, 2], (4, 3, True)),
                                 ("unordered", 13, [10, 8, 6, 7, 5], (4, 1, False)),
                                 ("failing", 14, [6, 8, 8, 4, 4, 3], (5, 2, True, 0.2))):
        spaces[name] = (of, random_effects(seed, of, *rest))
    for name, (of, points) in spaces.items():
        lines = [" ".join(map(str, [len(of), *of]))]
        lines += [" ".join(map(str, point)) + (" -" if time is None else f" {time:.9g}") for point, time in points]
        (folder / f"{name}.table").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
