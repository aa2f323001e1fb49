#!/bin/bash
# The search again, with a trial that says "slow" asked twice; canaries before and behind it.
set -u
mkdir -p x w
for d in deb/*libx* deb/*libbsd* deb/*libmd*; do dpkg -x "$d" x/; done
for d in deb/*.deb; do case $d in *libx*|*libbsd*|*libmd*) ;; *) dpkg -x "$d" /;; esac; done; ldconfig
export LD_LIBRARY_PATH=$PWD/x/usr/lib/x86_64-linux-gnu XDG_RUNTIME_DIR=/tmp __GL_SHADER_DISK_CACHE=0
[ -f /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json ] && export VK_DRIVER_FILES=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
xz -dkf reray-replay.xz; chmod +x reray-replay; B=$PWD/reray-replay; s=../captures/samples
$B $s/cubes.gfxr --json -q > w/canary-before.json; echo "canary exit $?" > w/all.txt
for n in 1 2 3 4 5 6; do $B $s/causes.gfxr --json -q > w/time-$n.json; done
timeout 560 $B reduce $s/causes.gfxr --still slow:50% --budget 500s --json -o w/reduced.gfxr > w/reduced.json 2> w/reduced.err; echo "reduce exit $?" >> w/all.txt
cp w/reduced.gfxr.reducing.json w/known.json 2>/dev/null
tar czf $OUT/all.tgz w
timeout 30 $B $s/cubes.gfxr --json -q > w/canary.json; echo "canary exit $?" >> w/all.txt
tar czf $OUT/all.tgz w
cat w/all.txt w/reduced.json; tail -3 w/reduced.err
