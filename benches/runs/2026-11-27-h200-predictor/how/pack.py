import sys, glob, os, numpy as np
src, out = sys.argv[1:3]
for f in sorted(glob.glob(src + '/dump/l*.txt')): open(os.path.join(out, os.path.basename(f)), 'w').write(open(f).read())
for l in sorted({os.path.basename(f).split('_')[0] for f in glob.glob(src + '/dump/*.npy')}):
    d = {}
    for f in glob.glob(f'{src}/dump/{l}_*.npy'):
        name = os.path.basename(f)[len(l) + 1:-4]
        a = np.load(f)
        if a.ndim == 2: d[name] = np.ascontiguousarray(a.T)   # by feature
        elif name in ('calls', 'met'):
            if a.nbytes < int(os.environ.get('RAYBYTES', 6000000)): d[name] = a
        else: d[name] = a
    np.savez(os.path.join(out, l + '.npz'), **d)
try:
    import pyarrow.parquet as pq
    t = pq.read_table(src + '/clockp/shader_clock.parquet').to_pydict() if False else pq.read_table(src + '/clockp/shader_clock.parquet')
    c = {n: t[n].to_numpy() for n in ('launch', 'invocation', 'begin', 'end', 'sm', 'warp')}
    keep = {}
    for n, l in enumerate(np.unique(c['launch'])):
        m = c['launch'] == l
        o = np.argsort(c['invocation'][m], kind='stable')
        begin, end, sm, warp = (c[k][m][o] for k in ('begin', 'end', 'sm', 'warp'))
        d = np.load(os.path.join(out, f'l{n}.npz'))
        threads, starts = d['threads'], d['starts'][:-1]
        print('launch', l, len(begin), len(starts))
        first = np.minimum.reduceat(begin[threads], starts)
        keep[f'l{n}_begin'] = (first - first.min()).astype(np.uint32)
        keep[f'l{n}_ticks'] = (np.maximum.reduceat(end[threads], starts) - first).astype(np.uint32)
        own = (end - begin)[threads]
        keep[f'l{n}_mean_ticks'] = (np.add.reduceat(own.astype(np.uint64), starts) / np.diff(d['starts'])).astype(np.uint32)
        keep[f'l{n}_sm'] = sm[threads[starts]].astype(np.uint8)
        keep[f'l{n}_warp'] = warp[threads[starts]].astype(np.uint8)
    np.savez(os.path.join(out, 'clock.npz'), **keep)
except Exception as e:
    print('clock:', e)
