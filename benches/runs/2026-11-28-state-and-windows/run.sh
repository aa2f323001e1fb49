#!/bin/bash
# What ran on the GPU: for each capture its page, its frames' timeline, one frame with the later half of its draws, and draws edited by hand.
set -u
mkdir -p x w
for d in deb/*libx* deb/*libbsd* deb/*libmd*; do dpkg -x "$d" x/; done
for d in deb/*.deb; do case $d in *libx*|*libbsd*|*libmd*) ;; *) dpkg -x "$d" /;; esac; done; ldconfig
export LD_LIBRARY_PATH=$PWD/x/usr/lib/x86_64-linux-gnu XDG_RUNTIME_DIR=/tmp __GL_SHADER_DISK_CACHE=0
[ -f /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json ] && export VK_DRIVER_FILES=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
xz -dkf reray-replay.xz; chmod +x reray-replay; B=$PWD/reray-replay
nvidia-smi --query-gpu=name,driver_version --format=csv > w/gpu.txt; nproc >> w/gpu.txt
echo "capture,report_exit,report_seconds,page_bytes,times_exit,some_exit,some_said,edit_exit,edit_said" > w/all.csv
for c in ../captures/samples/cubes.gfxr ../captures/samples/causes.gfxr c/vkcube.gfxr c/vkd3d_gears_trim_40_59.gfxr c/taichi_julia.gfxr c/android_triangle_2025-06.gfxr ../captures/samples/ordering.gfxr c/warzone_frames_1_6.gfxr ../captures/samples/rays.gfxr c/rtiv_320.gfxr ../captures/samples/cubes.gfxr; do
  n=$(basename $c .gfxr); s=$(date +%s%N)
  timeout 80 $B report $c -q -o w/$n.html > w/$n.txt 2> w/$n.err; r=$?
  t=$(( ($(date +%s%N) - s) / 1000000 ))
  timeout 30 $B $c --times=command --json -q > w/$n.json 2>/dev/null; j=$?
  f=$(sed -n 's/^Frame \([0-9]*\), draw by draw.*/\1/p' w/$n.txt | head -1)
  k=$(sed -n 's/.*Frame [0-9]* has \([0-9]*\) draw.*/\1/p' w/$n.txt | head -1); h=$(( (${k:-1}+1)/2 ))
  timeout 30 $B trim $c --frames ${f:-1} --commands draw=$h- -o w/some.gfxr > w/$n.some.txt 2>&1; so=$?
  sa=$(tail -1 w/$n.some.txt | tr ',' ';')
  $B dump $c --commands 'vkCmdDraw*' > w/d.jsonl; sed 's/"instanceCount":1,/"instanceCount":2,/' w/d.jsonl > w/e.jsonl
  timeout 30 $B trim $c --edits w/e.jsonl -o w/edited.gfxr > w/$n.edit.txt 2>&1; e=$?
  ea=$(tail -1 w/$n.edit.txt | tr ',' ';')
  echo "$n,$r,$t,$(stat -c %s w/$n.html 2>/dev/null),$j,$so,$sa,$e,$ea" >> w/all.csv
  rm -f w/*.gfxr w/*.jsonl
  tar czf $OUT/all.tgz w
  [ $so = 6 ] || [ $r = 124 ] && break
done
cat w/all.csv
