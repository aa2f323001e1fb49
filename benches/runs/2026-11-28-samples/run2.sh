#!/bin/bash
# What ran on the GPU, in a visit of its own: the search again, and a canary.
set -u
mkdir -p x w
for d in deb/*libx* deb/*libbsd* deb/*libmd*; do dpkg -x "$d" x/; done
for d in deb/*.deb; do case $d in *libx*|*libbsd*|*libmd*) ;; *) dpkg -x "$d" /;; esac; done; ldconfig
export LD_LIBRARY_PATH=$PWD/x/usr/lib/x86_64-linux-gnu XDG_RUNTIME_DIR=/tmp __GL_SHADER_DISK_CACHE=0
[ -f /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json ] && export VK_DRIVER_FILES=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
xz -dkf reray-replay.xz; chmod +x reray-replay; B=$PWD/reray-replay
s=../captures/samples
$B $s/cubes.gfxr --json -q > w/before.json; echo "canary before: exit $?" > w/again.txt
timeout 320 $B reduce $s/causes.gfxr --still slow:50% --budget 300s --json -o w/reduced.gfxr > w/again.json 2> w/again.err; echo "reduce: exit $?" >> w/again.txt
cp w/reduced.gfxr.reducing.json w/known.json 2>/dev/null
timeout 60 $B $s/cubes.gfxr --json -q --watchdog 20 > w/canary.json 2>> w/again.err; echo "canary behind: exit $?" >> w/again.txt
tar czf $OUT/again.tgz w
cat w/again.txt w/again.json; tail -4 w/again.err
