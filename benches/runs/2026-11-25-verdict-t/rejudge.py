"""Judges committed A/A runs by the t-interval, with SciPy alone: a line a comparison.

python3 rejudge.py RERAY FOLDER >rejudged.tsv: FOLDER holds the unpacked runs of the benchmarks of 2026-11-22; RERAY only prints tables.
"""

import csv, json, math, pathlib, re, statistics, subprocess, sys
from scipy import stats

EFFECT, ALPHA = 0.02, 0.01
print("set\trun\tbase\tnew\tpairs\tunequal_warmups\tchange\tlow\thigh\tp\tverdict")
root = pathlib.Path(sys.argv[2])
for note in sorted(root.rglob("run.json")):
    run = json.loads(note.read_text())
    table = subprocess.run([sys.argv[1], "analyze", str(note.parent), "--table", "bench_frames"], capture_output=True, text=True)
    rows = csv.DictReader(table.stdout.splitlines())
    times = {}
    rows = [r for r in rows if r["timed (flag)"] == "1"]
    load_alone = all(r["load (flag)"] == "1" for r in rows)
    for r in rows:
        if r["load (flag)"] == "0" or load_alone:
            times.setdefault(int(r["worker (number)"]), []).append(float(r["gpu (ns)"]))
    value = {}
    warm = {}
    for n, w in enumerate(run["workers"]):
        if n in times:
            value[(w["plan"], w["process"])] = statistics.median(times[n])
            warm.setdefault(w["process"], set()).add(w["warmup"])
    names = [p["name"] for p in run["plans"]]
    unequal = f"{sum(len(v) > 1 for v in warm.values())}/{len(warm)}"
    for b, base in enumerate(names):
        pair = re.fullmatch(r"a(\d+)", base)
        others = [f"b{pair[1]}"] if pair else [n for n in names if base == "plain" and n != "plain"]
        for new in others:
            k = names.index(new)
            both = sorted(p for q, p in value if q == b and (k, p) in value)
            d = [math.log(value[(k, p)] / value[(b, p)]) for p in both]
            n, mean = len(d), statistics.mean(d)
            if n < 2: continue
            error = statistics.stdev(d) / math.sqrt(n)
            half = error * stats.t.ppf(1 - ALPHA / 2, n - 1)
            p = 2 * stats.t.sf(abs(mean / error), n - 1)
            low, high = math.expm1(mean - half), math.expm1(mean + half)
            verdict = ("inconclusive" if n < 4 else "regression" if low >= EFFECT else "inconclusive" if high >= EFFECT
                       else "no change" if low > -EFFECT else "improvement" if high <= -EFFECT else "not worse")
            where = note.parent.relative_to(root)
            print(where.parts[0] + "/" + where.parts[1].replace("-runs", ""), "/".join(where.parts[2:]) or ".", base, new, n, unequal,
                  *(f"{v:.6g}" for v in (math.expm1(mean), low, high, p)), verdict, sep="\t")
