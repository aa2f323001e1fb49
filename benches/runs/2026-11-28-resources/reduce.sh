#!/bin/bash
# Searches for what is slow, on the GPU; a canary.
set -u
mkdir -p x w
for d in deb/*libx* deb/*libbsd* deb/*libmd*; do dpkg -x "$d" x/; done
for d in deb/*.deb; do case $d in *libx*|*libbsd*|*libmd*) ;; *) dpkg -x "$d" /;; esac; done; ldconfig
export LD_LIBRARY_PATH=$PWD/x/usr/lib/x86_64-linux-gnu XDG_RUNTIME_DIR=/tmp __GL_SHADER_DISK_CACHE=0
[ -f /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json ] && export VK_DRIVER_FILES=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
xz -dkf reray-replay.xz; chmod +x reray-replay; B=$PWD/reray-replay; s=../captures/samples
for n in steps causes; do
  timeout 420 $B reduce $s/$n.gfxr --still slow:50% --budget 230s --json -o w/$n.gfxr > w/$n.json 2> w/$n.err; echo "$n exit $?"
  cat w/$n.json; head -3 w/$n.err; cp w/$n.gfxr $OUT/$n.gfxr; cp w/$n.gfxr.reducing.json $OUT/ 2>/dev/null
  $B dump w/$n.gfxr > w/$n.txt; grep -c function w/$n.txt
done
$B $s/cubes.gfxr --json -q > w/canary.json; echo "canary exit $?"
