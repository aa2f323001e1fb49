#!/bin/bash
# The search of a slow draw, what a command needs kept with it; canaries before and behind.
set -u
mkdir -p x w
for d in deb/*libx* deb/*libbsd* deb/*libmd*; do dpkg -x "$d" x/; done
for d in deb/*.deb; do case $d in *libx*|*libbsd*|*libmd*) ;; *) dpkg -x "$d" /;; esac; done; ldconfig
export LD_LIBRARY_PATH=$PWD/x/usr/lib/x86_64-linux-gnu XDG_RUNTIME_DIR=/tmp __GL_SHADER_DISK_CACHE=0
[ -f /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json ] && export VK_DRIVER_FILES=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
xz -dkf reray-replay.xz; chmod +x reray-replay; B=$PWD/reray-replay; s=../captures/samples
nvidia-smi --query-gpu=name,driver_version,clocks.sm,temperature.gpu --format=csv > w/gpu.txt
timeout 20 $B $s/cubes.gfxr --json -q > w/canary-before.json; echo "canary exit $?" > w/all.txt
timeout 20 $B $s/causes.gfxr --zero-memory --times command > w/causes-times.txt 2>&1
timeout 20 $B $s/cubes.gfxr --times command > w/cubes-times.txt 2>&1
timeout 20 $B vkcube.gfxr --times command > w/vkcube-times.txt 2>&1
timeout 20 $B $s/causes.gfxr -q > w/causes.txt 2>&1
tar czf $OUT/all.tgz w
timeout 400 $B reduce $s/causes.gfxr --still slow:50% --budget 370s --json -o w/reduced.gfxr > w/reduced.json 2> w/reduced.err; echo "reduce exit $?" >> w/all.txt
cp w/reduced.gfxr.reducing.json w/known.json 2>/dev/null
tar czf $OUT/all.tgz w
timeout 20 $B $s/cubes.gfxr --json -q > w/canary.json; echo "canary exit $?" >> w/all.txt
tar czf $OUT/all.tgz w
timeout 20 $B w/reduced.gfxr --times command > w/reduced-times.txt 2>&1; echo "reduced exit $?" >> w/all.txt
timeout 20 $B $s/cubes.gfxr --json -q > w/canary-behind.json; echo "canary exit $?" >> w/all.txt
tar czf $OUT/all.tgz w
cat w/all.txt w/reduced.json; tail -3 w/reduced.err
