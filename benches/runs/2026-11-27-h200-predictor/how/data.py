"""data.py PACKED OUT: from what measure.sh packed to what predict.py reads; plans get the names that the README has."""
import numpy as np, os, csv, sys
R={'longest':'numrays-descending','warps-longest':'identity-longest','warps-random':'identity-shuffled','numrays-mixed':'numrays-shuffled','tiled-numrays_tile_32x32':'tiled-numrays-32','tiled-numrays_tile_64x64':'tiled-numrays-64','tiled-longest_tile_64x64':'tiled-numrays-64-longest','tiled-random_tile_16x16':'tiled-random-16','tiled-random_tile_64x64':'tiled-random-64'}
for s in ['weekend_640x360','weekend_1280x720','cornell_640x360','rtivcornell_640x360','mesh_1920x1280','sapien','recursion_1280x640']:
    o=f'{sys.argv[2]}/{s}'; os.makedirs(o,exist_ok=True)
    d=np.load(f'{sys.argv[1]}/{s}/l0.npz'); c=np.load(f'{sys.argv[1]}/{s}/clock.npz')
    k={R.get(n,n):d[n][:22] for n in d.files if d[n].ndim==2}
    np.savez_compressed(o+'/subgroups.npz', first=d['threads'][d['starts'][:-1]].astype(np.int64), order=d['order'], **k)
    np.savez_compressed(o+'/clock.npz', begin=c['l0_begin'], ticks=c['l0_ticks'], sm=c['l0_sm'], place=c['l0_warp'])
    rows=list(csv.reader(open(f'{sys.argv[1]}/{s}/turns.csv')))
    i=rows[0].index('plan')
    for r in rows[1:]: r[i]=R.get(r[i],r[i])
    csv.writer(open(o+'/turns.csv','w',newline='')).writerows(rows)
