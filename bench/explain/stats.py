"""Paired statistics for the experiments: signed ranks, effect sizes, bootstrap, McNemar. Standard library only.

Sources: Wilcoxon, "Individual comparisons by ranking methods" (1945), zero differences dropped; exact
distribution by dynamic programming over doubled ranks, so that ties are exact too; normal approximation
with tie correction beyond 50 pairs. Matched-pairs rank-biserial correlation: Kerby, "The simple difference
formula" (2014). Percentile bootstrap: Efron (1979). McNemar, exact by the binomial. Holm (1979)."""

import math
import random

EXACT_UP_TO = 50


def ranks(values):
    """Ranks from 1, ties get their mean."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    out = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for i in order[at:end + 1]:
            out[i] = (at + end) / 2 + 1
        at = end + 1
    return out


def _exact_p(doubled, smaller):
    """Two-sided P of a doubled rank sum as extreme as smaller, over all signs."""
    total = sum(doubled)
    ways = [0] * (total + 1)
    ways[0] = 1
    for rank in doubled:
        for s in range(total, rank - 1, -1):
            ways[s] += ways[s - rank]
    tail = sum(ways[:smaller + 1])
    return min(1.0, 2 * tail / 2 ** len(doubled))


def wilcoxon(differences):
    """(w_plus, w_minus, two-sided p, rank-biserial effect). Differences of zero are dropped; all zero: p 1."""
    diffs = [d for d in differences if d != 0]
    n = len(diffs)
    if n == 0:
        return 0.0, 0.0, 1.0, 0.0
    rank = ranks([abs(d) for d in diffs])
    plus = sum(r for r, d in zip(rank, diffs) if d > 0)
    minus = sum(r for r, d in zip(rank, diffs) if d < 0)
    if n <= EXACT_UP_TO:
        p = _exact_p([round(2 * r) for r in rank], round(2 * min(plus, minus)))
    else:
        ties = {}
        for r in rank:
            ties[r] = ties.get(r, 0) + 1
        var = n * (n + 1) * (2 * n + 1) / 24 - sum(t ** 3 - t for t in ties.values()) / 48
        z = (min(plus, minus) - n * (n + 1) / 4) / math.sqrt(var)
        p = min(1.0, math.erfc(-z / math.sqrt(2)))
    return plus, minus, p, (plus - minus) / (plus + minus)


def mean(values):
    return sum(values) / len(values)


def bootstrap(values, statistic=mean, nr=10000, confidence=0.95, seed=1):
    """Percentile interval of a statistic over resampled values."""
    rng = random.Random(seed)
    n = len(values)
    sample = sorted(statistic(rng.choices(values, k=n)) for _ in range(nr))
    tail = (1 - confidence) / 2
    return sample[int(tail * nr)], sample[min(nr - 1, int((1 - tail) * nr))]


def mcnemar(only_first, only_second):
    """Exact two-sided p that the discordant pairs (right in one arm only) are a fair coin's."""
    n = only_first + only_second
    if n == 0:
        return 1.0
    k = min(only_first, only_second)
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2 ** n)


def holm(p_values):
    """Adjusted p values, in the given order."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    out = [0.0] * len(p_values)
    worst = 0.0
    for place, i in enumerate(order):
        worst = max(worst, min(1.0, (len(p_values) - place) * p_values[i]))
        out[i] = worst
    return out


def wilson(right, all_, z=1.959964):
    """Interval of a proportion (Wilson 1927)."""
    if all_ == 0:
        return 0.0, 1.0
    p = right / all_
    mid = (p + z * z / (2 * all_)) / (1 + z * z / all_)
    half = z / (1 + z * z / all_) * math.sqrt(p * (1 - p) / all_ + z * z / (4 * all_ * all_))
    return max(0.0, mid - half), min(1.0, mid + half)
