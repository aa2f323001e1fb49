"""Writes golden.json: what SciPy says of samples of which tests.rs asks the same.

Run in this folder, with Debian's python3-scipy: python3 golden.py > golden.json
"""

import itertools
import json
import random

from scipy import stats


def exact_with_ties(a, b):
    """Mann-Whitney's p by dealing all values out in every way; scipy's exact method knows no ties."""
    ranks = stats.rankdata(a + b)
    centre = len(a) * (len(a) + len(b) + 1) / 2
    seen = abs(sum(ranks[: len(a)]) - centre)
    ways = list(itertools.combinations(ranks, len(a)))
    return sum(abs(sum(w) - centre) >= seen - 1e-9 for w in ways) / len(ways)


def signed_with_ties(differences):
    """Wilcoxon's p by giving signs in every way."""
    kept = [d for d in differences if d != 0]
    ranks = stats.rankdata([abs(d) for d in kept])
    centre = sum(ranks) / 2
    seen = abs(sum(r for r, d in zip(ranks, kept) if d > 0) - centre)
    ways = list(itertools.product([0, 1], repeat=len(kept)))
    return sum(abs(sum(r for r, w in zip(ranks, way) if w) - centre) >= seen - 1e-9 for way in ways) / len(ways)


def signed(differences):
    tied = len({abs(d) for d in differences}) < len(differences) or 0 in differences
    if tied:
        p = signed_with_ties(differences)
    elif len(differences) <= 50:
        p = float(stats.wilcoxon(differences, method="exact").pvalue)
    else:
        p = float(stats.wilcoxon(differences, correction=True, method="approx").pvalue)
    return {"differences": differences, "p": p}


def case(a, b):
    tied = len(set(a + b)) < len(a) + len(b)
    asymptotic = stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=True)
    out = {
        "a": a,
        "b": b,
        "u": float(asymptotic.statistic),
        "normal_p": float(asymptotic.pvalue),
        "ks": float(stats.ks_2samp(a, b, method="asymp").statistic),
        "wasserstein": float(stats.wasserstein_distance(a, b)),
        "exact_p": None,
        "ks_p": None,
    }
    if not tied:
        out["exact_p"] = float(stats.mannwhitneyu(a, b, method="exact").pvalue)
        # (SciPy's own exact method breaks off where samples are larger)
        if len(a) * len(b) <= 1000:
            out["ks_p"] = float(stats.ks_2samp(a, b, method="exact").pvalue)
    elif len(a) + len(b) <= 16:
        out["exact_p"] = exact_with_ties(a, b)
    return out


def main():
    random.seed(7)
    cases = []
    for n, m in [(3, 3), (5, 5), (4, 9), (10, 10), (25, 25), (40, 60), (1, 6), (200, 150)]:
        for shift in [0.0, 0.8]:
            a = [round(random.gauss(10, 1), 6) for _ in range(n)]
            b = [round(random.gauss(10 + shift, 1), 6) for _ in range(m)]
            cases.append(case(a, b))
            tied = lambda v: [float(round(x)) for x in v]
            cases.append(case(tied(a), tied(b)))
            heavy = [round(random.paretovariate(1.5), 4) for _ in range(n)]
            cases.append(case(heavy, [round(v * (1 + shift), 4) for v in b]))
    families = []
    for m in [1, 4, 30]:
        p = [round(random.random() ** 2, 8) for _ in range(m)]
        families.append({"p": p, "adjusted": benjamini_hochberg(p)})
    quantiles = [
        {"p": p, "n": n, "t": float(stats.t.ppf(p, n))} for p in [0.95, 0.975, 0.995, 0.9995] for n in [1, 2, 4.5, 9, 37.3]
    ]
    pairs = []
    for n in [3, 8, 12, 30, 50, 80]:
        for shift in [0.0, 0.5]:
            pairs.append(signed([round(random.gauss(shift, 1), 6) for _ in range(n)]))
            if n <= 12:
                pairs.append(signed([float(round(random.gauss(3 * shift, 2))) for _ in range(n)]))
    print(json.dumps({"samples": cases, "families": families, "student": quantiles, "pairs": pairs}, indent=0))


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
