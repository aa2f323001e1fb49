"""repeat.py IN OUT FIRST LAST N: the capture with its blocks FIRST to LAST, as `dump` counts them, N times over.

A block is a 64-bit size of what follows it, and 32 bits of what it is; blocks are counted from 0 behind the file's header.
"""

import struct
import sys

source, target, first, last, times = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
data = open(source, "rb").read()
_, _, _, options = struct.unpack_from("<4I", data)
at = 16 + 8 * options
out, again, number = [data[:at]], [], 0
while at < len(data):
    size, _ = struct.unpack_from("<QI", data, at)
    block = data[at : at + 12 + size]
    out.append(block)
    if first <= number <= last:
        again.append(block)
    if number == last:
        out.extend(again * (times - 1))
    at += 12 + size
    number += 1
open(target, "wb").write(b"".join(out))
print(number, "blocks,", len(again), "of them", times, "times")
