#!/usr/bin/env python3
"""Predicts what a repacking does to a frame's time from rays and shader clocks of the frame as it is, and tests that leaving a scene out.

    cc -O2 -shared -fPIC -o simulate.so simulate.c
    python3 predict.py DATA OUT          (wants numpy, scipy)

DATA has for each scene a folder with subgroups.npz (features of each plan's subgroups, made from pass `rays` and the plan's swizzle),
clock.npz (pass `shader-clock` of the frame as it is) and turns.csv (of `study rays`). OUT gets predictions.csv, summary.txt.
"""
import csv, ctypes, itertools, os, sys
import numpy as np
from scipy.optimize import nnls

SCENES = {  # folder: (scene, width in pixels); a scene's sizes are left out together
    'weekend_640x360': ('weekend', 640), 'weekend_1280x720': ('weekend', 1280), 'cornell_640x360': ('cornell', 640),
    'rtivcornell_640x360': ('rtiv', 640), 'mesh_1920x1280': ('mesh', 1920), 'sapien': ('sapien', 640),
    'recursion_1280x640': ('recursion', 1280)}
FEATURES = ['n', 'begin', 'traversal', 'miss', 'closest', 'callable', 'rounds', 'rays', 'most calls', 'objects met', 'shaders ended',
            'objects called', 'octants', 'cells', 'directions', 'origins', 'rows', 'blocks', 'tiles', 'calls', 'unshared', 'spread']
EVENTS = ['begin', 'traversal', 'miss', 'closest', 'callable']
SETS = {'events': EVENTS, 'events, rays': EVENTS + ['rays'], 'events, octants': EVENTS + ['octants']}
CS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
SEEDS = 2
SIX = ['random', 'numrays', 'tiled-numrays', 'objects', 'tiled-objects', 'rounds']
GROUP = 4  # subgroups that start together
here = os.path.dirname(os.path.abspath(__file__))
lib = ctypes.CDLL(os.path.join(here, 'simulate.so'))
lib.simulate.restype = ctypes.c_double


class Scene:
    def __init__(self, data, folder):
        self.name, (self.scene, width) = folder, SCENES[folder]
        self.d = np.load(f'{data}/{folder}/subgroups.npz')
        clock = np.load(f'{data}/{folder}/clock.npz')
        self.begin, self.ticks = clock['begin'].astype(float), clock['ticks'].astype(float)
        self.sm, self.most = clock['sm'].astype(int), len(np.unique(clock['place']))
        self.sms, self.span = len(np.unique(self.sm)), (self.begin + self.ticks).max()
        self.times = times(f'{data}/{folder}/turns.csv')
        self.plans = [p for p in self.times if p not in ('unmodified', 'identity')]
        # what of the frame is not the launch
        self.rest = max(self.times['identity'][1] * 1e6 - self.span, 0)
        # which four subgroups start together: the arrangement in which they do so on one multiprocessor
        x, y = self.d['first'] % width // 4, self.d['first'] // width // 8
        def together(shape):
            g = np.unique(y // shape[1] * 65536 + x // shape[0], return_inverse=True)[1]
            spread = lambda v: [f.reduceat(v[np.argsort(g, kind='stable')], np.r_[0, np.cumsum(np.bincount(g))[:-1]])
                                for f in (np.minimum, np.maximum)]
            (b0, b1), (s0, s1) = spread(self.begin), spread(self.sm)
            return ((s0 == s1) & (b1 - b0 < 2000)).mean(), g
        self.together, group = max((together(s) for s in ((4, 1), (2, 2), (1, 4))), key=lambda t: t[0])
        first = np.full(group.max() + 1, np.inf)
        np.minimum.at(first, group, self.d['order'].astype(float))
        rank = np.empty(len(first), int)
        rank[np.argsort(first, kind='stable')] = np.arange(len(first))
        self.by_group = np.argsort(rank[group], kind='stable')
        self.starts = np.r_[0, np.cumsum(np.bincount(rank[group]))].astype(np.int32)

    def measured(self, plan):
        return self.times[plan][0]

    def columns(self, plan, names):
        f = self.d[plan].astype(float)
        return np.column_stack([np.ones(f.shape[1])] + [f[FEATURES.index(n)] for n in names])

    def work(self, c):
        """What each subgroup had to do: its time, less what others on its multiprocessor slowed it by."""
        out = np.empty(len(self.ticks))
        for m in range(self.sms):
            i = np.flatnonzero(self.sm == m)
            b, e = self.begin[i], self.begin[i] + self.ticks[i]
            at = np.r_[b, e]
            k = np.argsort(at, kind='stable')
            n = np.cumsum(np.r_[np.ones(len(i)), -np.ones(len(i))][k])[:-1]
            done = np.r_[0, np.cumsum(np.diff(at[k]) / ((1 - c) + c * np.maximum(n, 1) / self.most))]
            out[i] = np.interp(e, at[k], done) - np.interp(b, at[k], done)
        return out

    def weights(self, names, c, relative):
        a, y = self.columns('identity', names), self.work(c)
        scale = np.maximum(a.max(0), 1e-9)
        by = 1 / np.maximum(y, y.mean() / 20) if relative else np.ones(len(y))
        return nnls(a / scale * by[:, None], y * by)[0] / scale

    def simulated(self, work, c):
        w = np.ascontiguousarray(work[self.by_group])
        v = lambda a: a.ctypes.data_as(ctypes.c_void_p)
        return lib.simulate(len(self.starts) - 1, v(self.starts), v(w), self.sms, self.most // GROUP,
                            ctypes.c_double(c), ctypes.c_double(self.most))

    def predicted(self, names, c, relative, schedule=True, scatter=False):
        """Each plan's change of the frame's time against identity, in percent."""
        w = self.weights(names, c, relative)
        fit, y = self.columns('identity', names) @ w, self.work(c)
        by = np.argsort(fit, kind='stable')
        off, half = y[by] / np.maximum(fit[by], 1), max(len(fit) // 200, 8)

        def scattered(work, seed):
            """Each off by what one of about as much work was off by, in the frame as it is."""
            g = np.random.default_rng(seed)
            at = np.searchsorted(fit[by], work)
            k = np.where(at < len(fit) - half, at + g.integers(-half, half + 1, len(at)), len(fit) - 1 - g.integers(0, 2 * half, len(at)))
            return work * off[np.clip(k, 0, len(fit) - 1)]

        def of(plan):
            work = self.columns(plan, names) @ w
            if not schedule:
                return work.sum()
            if scatter:
                return np.mean([self.simulated(scattered(work, seed), c) for seed in range(SEEDS)])
            return self.simulated(work, c)
        base = of('identity')
        return {p: 100 * ((of(p) / base * self.span + self.rest) / (self.span + self.rest) - 1) for p in self.plans}


def times(file):
    """Per plan: the change of its median against identity's in percent (mean over pairs of processes of log ratios), ms, 95 % half width."""
    turns = {}
    for r in csv.DictReader(open(file)):
        if r['timed'] == '1':
            turns.setdefault(r['plan'], {}).setdefault(r['process'], []).append(float(r['gpu (ns)']))
    median = {p: {k: np.median(v) for k, v in of.items()} for p, of in turns.items()}
    out = {}
    for p, of in median.items():
        logs = np.array([np.log(of[k] / median['identity'][k]) for k in of])
        half = 3.182 * logs.std(ddof=1) / np.sqrt(len(logs))  # t of 3 degrees of freedom: four processes
        out[p] = (100 * np.expm1(logs.mean()), np.exp(np.mean(np.log(list(of.values())))) / 1e6, 100 * half)
    return out


def main(data, out):
    scenes = [Scene(data, f) for f in SCENES]
    # form: which features, c, whether relative errors are made least, scatter
    form = ('events, rays', True)
    configs = [(n, c, r, False) for n, c, r in itertools.product(SETS, CS, (False, True))] + [(form[0], c, form[1], True) for c in CS]
    made = {(s.name, k): s.predicted(SETS[k[0]], k[1], k[2], scatter=k[3]) for s in scenes for k in configs}
    sums = {(s.name, p): s.columns(p, ['begin', 'traversal', 'miss', 'closest', 'blocks', 'octants', 'spread']).sum(0)
            for s in scenes for p in s.plans + ['identity']}
    events = lambda s, p: sums[s.name, p][1:5].sum() / sums[s.name, 'identity'][1:5].sum()
    def ratios(s, p, which):
        a, b = sums[s.name, p], sums[s.name, 'identity']
        return [np.log(events(s, p))] + [np.log(a[k] / b[k]) for k in which]

    def error(s, predicted, plans=None):
        return np.mean([abs(predicted[p] - s.measured(p)) for p in plans or s.plans])

    def best(train, keys):
        groups = sorted({s.scene for s in train})
        return min(keys, key=lambda k: np.mean([np.mean([error(s, made[s.name, k]) for s in train if s.scene == g]) for g in groups]))

    def linear(s, train, which):
        rows = [(ratios(t, p, which), np.log1p(t.measured(p) / 100)) for t in train for p in t.plans]
        w = np.linalg.lstsq(np.array([r[0] for r in rows]), np.array([r[1] for r in rows]), rcond=None)[0]
        return {p: 100 * np.expm1(np.dot(ratios(s, p, which), w)) for p in s.plans}

    models, chosen = {}, {}
    for s in scenes:
        train = [t for t in scenes if t.scene != s.scene]
        k = best(train, [k for k in configs if (k[0], k[2]) == form and not k[3]])
        scattered, free = best(train, [k for k in configs if k[3]]), best(train, [k for k in configs if not k[3]])
        chosen[s.name] = f'c = {k[1]}, scattered {scattered[1]}, form free {free[:3]}'
        models[s.name] = {
            'simulation': made[s.name, k],
            'simulation, scattered': made[s.name, scattered],
            'simulation, form free': made[s.name, free],
            'no slowing (c = 0)': made[s.name, (form[0], 0.0, form[1], False)],
            'no order of starting': s.predicted(SETS[form[0]], k[1], form[1], schedule=False),
            'efficiency': {p: 100 * (events(s, p) - 1) for p in s.plans},
            'efficiency, scaled': linear(s, train, []),
            'log-linear': linear(s, train, [5, 6, 7]),
            'no change': {p: 0.0 for p in s.plans}}
    names = list(models[scenes[0].name])
    with open(f'{out}/predictions.csv', 'w', newline='') as f:
        w = csv.writer(f)
        w.writerow(['capture', 'plan', 'identity ms', 'measured %', 'half width 95 %'] + [f'{n} %' for n in names])
        for s in scenes:
            for p in ['unmodified'] + s.plans:
                own = [f'{models[s.name][n][p]:.2f}' if p in s.plans else '' for n in names]
                w.writerow([s.name, p, f'{s.times["identity"][1]:.4f}', f'{s.measured(p):.2f}', f'{s.times[p][2]:.2f}'] + own)
    with open(f'{out}/summary.txt', 'w') as f:
        say = lambda *a: print(*a, file=f)
        for s in scenes:
            say(f'{s.name}: {len(s.starts) - 1} groups, {s.together:.1%} together; {s.sms} x {s.most // GROUP} places; launch '
                f'{s.span / 1e6:.3f} ms of {s.times["identity"][1]:.3f}; of the others: {chosen[s.name]}')
        for title, of in (('all plans', None), ('the six and rounds', SIX), ('all but random', 'r')):
            say(f'\nmean absolute error in points, held out, {title} (greatest)')
            say(f'{"":24}' + ''.join(f'{s.name[:18]:>20}' for s in scenes) + f'{"mean of scenes":>18}')
            for n in names:
                plans = lambda s: [p for p in s.plans if of is None or (p != 'random' if of == 'r' else p in of)]
                e = [[abs(models[s.name][n][p] - s.measured(p)) for p in plans(s)] for s in scenes]
                by = {}
                for s, x in zip(scenes, e): by.setdefault(s.scene, []).append(np.mean(x))
                say(f'{n:24}' + ''.join(f'{np.mean(x):12.2f} ({max(x):5.1f})' for x in e) + f'{np.mean([np.mean(v) for v in by.values()]):18.2f}')
        within = [abs(models[s.name]['simulation'][p] - s.measured(p)) <= 3 for s in scenes for p in s.plans]
        say(f'\nwithin 3 points: {sum(within)} of {len(within)}; ' + ', '.join(
            f'{n}: {sum(abs(models[s.name][n][p] - s.measured(p)) <= 3 for s in scenes for p in s.plans)}' for n in names[1:]))
        say('\nchosen by prediction, of all plans and identity; best of the six, identity among them; best of all')
        for s in scenes:
            for n in names[:2]:
                p = min(s.plans + ['identity'], key=lambda p: models[s.name][n].get(p, 0.0))
                six = min([p for p in SIX if p != 'rounds'] + ['identity'], key=s.measured)
                top = min(s.plans + ['identity'], key=s.measured)
                say(f'{s.name:21} {n:22}{p:28} predicted {models[s.name][n].get(p, 0.0):7.2f} measured {s.measured(p):7.2f}   six: {six:16}'
                    f'{s.measured(six):7.2f}   best: {top:26}{s.measured(top):7.2f}')


if __name__ == '__main__':
    main(*sys.argv[1:])
