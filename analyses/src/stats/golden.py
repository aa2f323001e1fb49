"""Writes golden.json: what SciPy and NumPy say of samples of which tests.rs asks the same.

Run in this folder, with python3-scipy (1.10 and later): python3 golden.py > golden.json
"""

import json
import random

import numpy
from scipy import stats


def case(a, b):
    """Two samples: ranks, distances, Welch's t with its interval, and of as many values the t of pairs."""
    asymptotic = stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=True)
    out = {
        "a": a,
        "b": b,
        "u": float(asymptotic.statistic),
        "normal_p": float(asymptotic.pvalue),
        "ks": float(stats.ks_2samp(a, b, method="asymp").statistic),
        "wasserstein": float(stats.wasserstein_distance(a, b)),
        "welch": None,
        "pairs": None,
    }
    if min(len(a), len(b)) > 1:
        out["welch"] = t(stats.ttest_ind(b, a, equal_var=False))
    if len(a) == len(b) and len({x - y for x, y in zip(a, b)}) > 1:
        out["pairs"] = t(stats.ttest_rel(b, a))
    return out


def t(result):
    low, high = result.confidence_interval(0.99)
    return {"p": float(result.pvalue), "freedom": float(result.df), "low": float(low), "high": float(high)}


def main():
    random.seed(7)
    cases = []
    for n, m in [(3, 3), (5, 5), (4, 9), (10, 10), (25, 25), (40, 60), (1, 6), (200, 150)]:
        for shift in [0.0, 0.8]:
            a = [round(random.gauss(10, 1), 6) for _ in range(n)]
            b = [round(random.gauss(10 + shift, 1), 6) for _ in range(m)]
            cases.append(case(a, b))
            heavy = [round(random.paretovariate(1.5), 4) for _ in range(n)]
            cases.append(case(heavy, [round(v * (1 + shift), 4) for v in b]))
            # Ties, but for the samples that would have no variance.
            a, b = ([float(round(2 * x)) / 2 for x in v] for v in (a, b))
            if n > 1 and len(set(a)) > 1 and len(set(b)) > 1:
                cases.append(case(a, b))
    families = []
    for m in [1, 4, 30]:
        p = [round(random.random() ** 2, 8) for _ in range(m)]
        families.append({"p": p, "adjusted": benjamini_hochberg(p)})
    quantiles = [
        {"p": p, "n": n, "t": float(stats.t.ppf(p, n))} for p in [0.95, 0.975, 0.995, 0.9995] for n in [1, 2, 4.5, 9, 37.3]
    ]
    percentiles = []
    for n in [1, 2, 5, 20, 99, 100, 240]:
        values = [random.randrange(10 * n) for _ in range(n)]
        asked = [0, 1, 2.5, 5, 25, 50, 75, 90, 95, 97.5, 99, 100]
        found = numpy.percentile(values, asked, method="averaged_inverted_cdf")
        percentiles.append({"values": values, "p": asked, "found": [float(v) for v in found]})
    whole = {"samples": cases, "families": families, "student": quantiles, "percentiles": percentiles}
    print(json.dumps(whole, indent=0))


def benjamini_hochberg(p):
    """By the step-up procedure itself: the least level at which each is found (older SciPy has no function for it)."""
    found = {}
    order = sorted(p)
    levels = sorted({min(1.0, q * len(p) / (k + 1)) for k, q in enumerate(order)} | {1.0})
    for level in levels:
        below = [k for k, q in enumerate(order) if q <= level * (k + 1) / len(p) + 1e-15]
        if below:
            for q in order[: below[-1] + 1]:
                found.setdefault(q, level)
    return [found.get(q, 1.0) for q in p]


main()
