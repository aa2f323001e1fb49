"""What run.sh left, held against closed forms, neighbours, and the bytes that following the capture finds."""
import json, os, sqlite3, subprocess, sys, tempfile
B, SAMPLES, W = sys.argv[1:4]  # the program, captures/samples, what run.sh left
def load(n,f): return json.load(open(f'{W}/{n}/frame_{f}_resources.json'))
# closed form
def walk(r,n):
    x=(r+1)&0xffffffff
    for _ in range(n):
        x=(x*1664525+1013904223)&0xffffffff; x^=x>>15
    return x
d=load('steps',2); r=walk(walk(0,101),100003)
for c,n in zip(d['commands'],(101,100003)):
    res={(x['kind'],x['moment']):open(f"{W}/steps/{x['file']}",'rb').read() for x in c['resources']}
    assert int.from_bytes(res['storage buffer','before'],'little')==r; r=walk(r,n)
    assert int.from_bytes(res['storage buffer','after'],'little')==r
print('steps closed form ok')
# neighbours
for n,f in (('cubes',15),('vkd3d_gears_trim_40_59',41),('warzone_frames_1_6',3),('msaa_frames_10_12',12),('stages',2),('uniforms',3)):
    d=load(n,f); cs=d['commands']; same=0; diff=0; changed=0
    for a,b in zip(cs,cs[1:]):
        if a['pass']==0 or a['pass']!=b['pass'] or b['draw']!=a['draw']+1: continue
        for x in a['resources']:
            if x['access']!='attachment' or x['moment']!='after' or 'blake3' not in x: continue
            y=[z for z in b['resources'] if z['kind']==x['kind'] and z['moment']=='before'][0]
            if x['blake3']==y['blake3']: same+=1
            else: diff+=1
    for a in cs:
        ks={x['kind'] for x in a['resources'] if x['access']=='attachment'}
        for k in ks:
            v=[x.get('blake3') for x in a['resources'] if x['kind']==k]
            if len(v)==2 and v[0]!=v[1]: changed+=1
    print(n,'neighbours same',same,'differ',diff,'draws that change an attachment',changed,'of',len(cs))
# uniform words
for name,frame in (('uniforms',3),('offsets',2),('cubes',15),('stages',2)):
    db = os.path.join(tempfile.gettempdir(), name + '.sqlite')
    if not os.path.exists(db): subprocess.run([B,'db',f'{SAMPLES}/{name}.gfxr','-o',db],stderr=subprocess.DEVNULL,stdout=subprocess.DEVNULL)
    c=sqlite3.connect(db); d=load(name,frame); res={}; draws=set()
    for cmd in d['commands']:
        draws.add(cmd['draw'])
        for r in cmd['resources']:
            if 'file' in r and os.path.exists(f"{W}/{name}/{r['file']}") and r['moment'] in('read','before'):
                k=(cmd['draw'],*r['descriptor']) if 'descriptor' in r else (cmd['draw'],'push') if r['kind']=='push constants' else None
                if k: res[k]=open(f"{W}/{name}/{r['file']}",'rb').read()
    rows=c.execute("""select i.draw,b.space,b."set",b.binding,b.element,w.offset,w.word from invocations i join invocation_blocks b using(invocation) join content_words w using(contents) where i.frame=? """,(frame,)).fetchall()
    same=diff=miss=0
    for draw,space,s,bi,e,off,word in rows:
        if draw not in draws: continue
        k=(draw,s,bi,e) if space!='push' else (draw,'push')
        if k not in res: miss+=1; continue
        if int.from_bytes(res[k][off:off+4],'little')==word: same+=1
        else: diff+=1
    print(name,'words same',same,'differ',diff,'missing',miss)
