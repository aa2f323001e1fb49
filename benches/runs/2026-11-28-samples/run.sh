#!/bin/bash
# What ran on the GPU: of captures with several samples a texel what render passes leave and what draws read and write; a search for what is slow; what-if with its pictures; a canary.
set -u
mkdir -p x w
for d in deb/*libx* deb/*libbsd* deb/*libmd*; do dpkg -x "$d" x/; done
for d in deb/*.deb; do case $d in *libx*|*libbsd*|*libmd*) ;; *) dpkg -x "$d" /;; esac; done; ldconfig
export LD_LIBRARY_PATH=$PWD/x/usr/lib/x86_64-linux-gnu XDG_RUNTIME_DIR=/tmp __GL_SHADER_DISK_CACHE=0
[ -f /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json ] && export VK_DRIVER_FILES=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
xz -dkf reray-replay.xz; chmod +x reray-replay; B=$PWD/reray-replay
nvidia-smi --query-gpu=name,driver_version --format=csv > w/gpu.txt; nproc >> w/gpu.txt
echo "capture,frame,what,exit,milliseconds,files,said" > w/all.csv
s=../captures/samples
one() { # CAPTURE FRAME WHAT WORDS…
  local f=$1 k=$2 what=$3; shift 3
  n=$(basename $f .gfxr)-$what; t=$(date +%s%N)
  timeout 60 $B "$@" $f --frames $k -q -o w/$n > w/$n.txt 2> w/$n.err; r=$?
  t=$(( ($(date +%s%N) - t) / 1000000 ))
  echo "$(basename $f .gfxr),$k,$what,$r,$t,$(wc -l < w/$n.txt),$(head -2 w/$n.err | tr ',\n' ';|' | cut -c1-200)" >> w/all.csv
  (cd w/$n 2>/dev/null && find . -size +200k -delete)
  tar czf $OUT/all.tgz w
  if [ $r = 6 ] || [ $r = 124 ]; then cat w/all.csv; exit 1; fi
}
for c in "$s/triangle_1.gfxr 2" "$s/triangle_4.gfxr 2" "$s/triangle_4_stored.gfxr 2" "$s/msaa_frames_10_12.gfxr 12" "$s/stages.gfxr 2" "$s/objects.gfxr 2" "c/multisample-depth.gfxr 2" "c/triangle.gfxr 2" "c/warzone_frames_1_6.gfxr 3" "c/vkcube.gfxr 10" "$s/cubes.gfxr 15"; do
  set -- $c
  one $1 $2 passes screenshot --after pass --hash
  one $1 $2 draws dump-resources --commands draw=1-3
done
t=$(date +%s%N)
timeout 120 $B what-if $s/cubes.gfxr --frame 15 --budget 60s -q -o w/why > w/why.txt 2> w/why.err; echo "what-if exit $? $(( ($(date +%s%N) - t) / 1000000 )) ms" >> w/all.csv; rm -rf w/why/own w/why/costs w/why/causes w/why/optimisations; tar czf $OUT/all.tgz w
timeout 300 $B reduce $s/causes.gfxr --still slow:50% --budget 280s --json -o w/reduced.gfxr > w/reduced.json 2> w/reduced.err; echo "reduce exit $?" >> w/all.csv
cp w/reduced.gfxr.reducing.json w/known.json 2>/dev/null
$B $s/cubes.gfxr --json -q > w/canary.json; echo "canary exit $?" >> w/all.csv
tar czf $OUT/all.tgz w
cat w/all.csv w/reduced.json; tail -3 w/reduced.err
