import struct,sys
d=open(sys.argv[1],'rb').read(); no=struct.unpack_from("<4I",d)[3]; at=16+8*no; out=[d[:at]]; n=0
gone=set(map(int,sys.argv[3:]))
while at<len(d):
    s,_=struct.unpack_from("<QI",d,at); b=d[at:at+12+s]
    if n not in gone: out.append(b)
    at+=12+s; n+=1
open(sys.argv[2],'wb').write(b"".join(out))
