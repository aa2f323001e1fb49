#!/bin/bash
# What ran on the GPU: depth of several samples as it is read, every level and layer of what a draw reads, a search among descriptors, barriers and regions; a canary.
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
  tar czf $OUT/all.tgz w
  if [ $r = 6 ] || [ $r = 124 ]; then cat w/all.csv; exit 1; fi
}
m=$s/msaa_frames_10_12.gfxr
one $m 11 draw dump-resources --commands draw=1
one $m 11 one-sample dump-resources --commands draw=1 --change no-multisampling
one $m 11 layers dump-resources --commands draw=19 --all-subresources
one $m 12 passes screenshot --after pass
one c/multisample-depth.gfxr 2 passes screenshot --after pass --attachments all
one c/multisample-depth.gfxr 2 draws dump-resources --commands draw=1-3
one $s/formats.gfxr 2 every dump-resources --commands draw=1-4 --all-subresources
one $s/compressed_textures.gfxr 2 every dump-resources --commands draw=1-4 --all-subresources
timeout 330 $B reduce $s/causes.gfxr --still slow:50% --budget 300s --json -o w/reduced.gfxr > w/reduced.json 2> w/reduced.err; echo "reduce exit $?" >> w/all.csv
cp w/reduced.gfxr.reducing.json w/known.json 2>/dev/null
$B $s/cubes.gfxr --json -q > w/canary.json; echo "canary exit $?" >> w/all.csv
tar czf $OUT/all.tgz w
cat w/all.csv w/reduced.json; tail -3 w/reduced.err
