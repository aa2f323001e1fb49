#!/bin/bash
# What ran on the GPU: of each capture the resources of some draws, dispatches and traces of one frame; a search for what is slow (see reduce.sh); a canary.
set -u
mkdir -p x w
for d in deb/*libx* deb/*libbsd* deb/*libmd*; do dpkg -x "$d" x/; done
for d in deb/*.deb; do case $d in *libx*|*libbsd*|*libmd*) ;; *) dpkg -x "$d" /;; esac; done; ldconfig
export LD_LIBRARY_PATH=$PWD/x/usr/lib/x86_64-linux-gnu XDG_RUNTIME_DIR=/tmp __GL_SHADER_DISK_CACHE=0
[ -f /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json ] && export VK_DRIVER_FILES=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
xz -dkf reray-replay.xz; chmod +x reray-replay; B=$PWD/reray-replay
nvidia-smi --query-gpu=name,driver_version --format=csv > w/gpu.txt; nproc >> w/gpu.txt; which python3 >> w/gpu.txt
echo "capture,frame,commands,exit,milliseconds,files,said" > w/all.csv
s=../captures/samples
one() { # CAPTURE FRAME COMMANDS [MORE]
  n=$(basename $1 .gfxr); t=$(date +%s%N)
  timeout 60 $B dump-resources $1 --frames $2 --commands $3 ${4:-} -q -o w/$n > w/$n.txt 2> w/$n.err; r=$?
  t=$(( ($(date +%s%N) - t) / 1000000 ))
  echo "$n,$2,$3,$r,$t,$(wc -l < w/$n.txt),$(head -2 w/$n.err | tr ',\n' ';|' | cut -c1-200)" >> w/all.csv
  (cd w/$n 2>/dev/null && find . -size +300k -delete)
  tar czf $OUT/all.tgz w
  [ $r = 6 ] || [ $r = 124 ] && { cat w/all.csv; exit 1; }
}
one $s/steps.gfxr 2 draw=1-2
one $s/cubes.gfxr 15 draw=1-40
one $s/uniforms.gfxr 3 draw=1-
one $s/stages.gfxr 2 draw=1-
one $s/offsets.gfxr 2 draw=1-
one $s/formats.gfxr 2 draw=1-
one $s/compressed_textures.gfxr 3 draw=1-
one $s/ordering.gfxr 2 draw=1-
one $s/mesh.gfxr 1 draw=1-
one $s/feedback.gfxr 7 draw=1-
one $s/msaa_frames_10_12.gfxr 12 draw=1-
one c/vkcube.gfxr 10 draw=1-
one c/vkd3d_gears_trim_40_59.gfxr 41 draw=1-
one c/warzone_frames_1_6.gfxr 3 draw=20-24
one c/taichi_julia.gfxr 1 draw=1-3 --frame-by=file
one $s/rays.gfxr 4 draw=1-
one $s/weekend.gfxr 1 draw=1-
one c/rtiv_320.gfxr 2 draw=1-
timeout 150 $B reduce $s/causes.gfxr --still slow:50% --budget 130s --json -o w/reduced.gfxr > w/reduced.json 2> w/reduced.err; echo "reduce exit $?" >> w/all.csv
cp w/reduced.gfxr $OUT/ 2>/dev/null
$B $s/cubes.gfxr --json -q > w/canary.json; echo "canary exit $?" >> w/all.csv
tar czf $OUT/all.tgz w
cat w/all.csv; cat w/reduced.json
