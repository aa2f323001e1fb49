#!/bin/bash
# The search of a slow dispatch with memory that begins as zeros; pictures with and without; canaries before and behind.
set -u
mkdir -p x w
for d in deb/*libx* deb/*libbsd* deb/*libmd*; do dpkg -x "$d" x/; done
for d in deb/*.deb; do case $d in *libx*|*libbsd*|*libmd*) ;; *) dpkg -x "$d" /;; esac; done; ldconfig
export LD_LIBRARY_PATH=$PWD/x/usr/lib/x86_64-linux-gnu XDG_RUNTIME_DIR=/tmp __GL_SHADER_DISK_CACHE=0
[ -f /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json ] && export VK_DRIVER_FILES=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
xz -dkf reray-replay.xz; chmod +x reray-replay; B=$PWD/reray-replay; s=../captures/samples
timeout 20 $B $s/cubes.gfxr --json -q > w/canary-before.json; echo "canary exit $?" > w/all.txt
for n in causes cubes pointers memory; do
  for z in "" --zero-memory; do
    timeout 20 $B screenshot $s/$n.gfxr --hash $z -o w/shots$z -q > w/$n$z.txt 2> w/$n$z.err; echo "$n $z exit $?: $(tail -1 w/$n$z.txt)" >> w/all.txt
  done
done
rm -rf w/shots*
timeout 20 $B $s/causes.gfxr --zero-memory -v --json > w/causes-zero.json 2> w/causes-zero.err
timeout 20 $B $s/causes.gfxr -q --json > w/causes.json
tar czf $OUT/all.tgz w
timeout 190 $B reduce $s/causes.gfxr --still slow:50% --budget 130s --json -o w/reduced.gfxr > w/reduced.json 2> w/reduced.err; echo "reduce exit $?" >> w/all.txt
cp w/reduced.gfxr.reducing.json w/known.json 2>/dev/null
tar czf $OUT/all.tgz w
timeout 20 $B $s/cubes.gfxr --json -q > w/canary.json; echo "canary exit $?" >> w/all.txt
tar czf $OUT/all.tgz w
cat w/all.txt w/reduced.json; tail -3 w/reduced.err; grep -i "zeros" w/causes-zero.err
