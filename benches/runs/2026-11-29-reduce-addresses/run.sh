#!/bin/bash
# The search of a slow draw once more, and one of a slow trace; canaries before, between and behind.
set -u
mkdir -p x w
for d in deb/*libx* deb/*libbsd* deb/*libmd*; do dpkg -x "$d" x/; done
for d in deb/*.deb; do case $d in *libx*|*libbsd*|*libmd*) ;; *) dpkg -x "$d" /;; esac; done; ldconfig
export LD_LIBRARY_PATH=$PWD/x/usr/lib/x86_64-linux-gnu XDG_RUNTIME_DIR=/tmp __GL_SHADER_DISK_CACHE=0
[ -f /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json ] && export VK_DRIVER_FILES=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
xz -dkf reray-replay.xz; chmod +x reray-replay; B=$PWD/reray-replay; s=../captures/samples
canary() { timeout 20 $B $s/cubes.gfxr --json -q > w/canary-$1.json; echo "canary $1 exit $?" >> w/all.txt; tar czf $OUT/all.tgz w; }
search() { timeout $(($3 + 30)) $B reduce $s/$1.gfxr --still $2 --budget ${3}s --json -o w/$1.gfxr > w/$1.json 2> w/$1.err; echo "reduce $1 exit $?" >> w/all.txt; cp w/$1.gfxr.reducing.json w/$1.known.json 2>/dev/null; tar czf $OUT/all.tgz w; }
nvidia-smi --query-gpu=name,driver_version --format=csv > w/gpu.txt
canary before
timeout 30 $B $s/rays.gfxr --times command > w/rays-times.txt 2>&1
timeout 30 $B $s/cubes.gfxr > w/cubes.txt 2>&1
search causes slow:50% 130
canary between
search rays slow:50% 390
canary behind
for n in causes rays; do timeout 20 $B w/$n.gfxr --times command > w/$n-reduced-times.txt 2>&1; echo "$n reduced exit $?" >> w/all.txt; done
canary last
cat w/all.txt w/rays.json; tail -2 w/*.err
