set -u
mkdir -p x
for d in deb/*libx* deb/*libbsd* deb/*libmd*; do dpkg -x "$d" x/; done
for d in deb/*.deb; do case $d in *libx*|*libbsd*|*libmd*) ;; *) dpkg -x "$d" /;; esac; done; ldconfig
export LD_LIBRARY_PATH=$PWD/x/usr/lib/x86_64-linux-gnu XDG_RUNTIME_DIR=/tmp __GL_SHADER_DISK_CACHE=0
[ -f /usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json ] && export VK_DRIVER_FILES=/usr/local/nvidia/share/vulkan/icd.d/nvidia_icd.json
xz -dkf reray-replay.xz; chmod +x reray-replay
B=$PWD/reray-replay; s=../captures/samples
timeout 20 $B $s/cubes.gfxr --json -q > w/canary-2.json; echo "canary exit $?" > w/all2.txt
timeout 480 $B reduce $s/causes.gfxr --still slow:50% --budget 450s --json -o w/reduced.gfxr > w/reduced2.json 2> w/reduced2.err; echo "reduce exit $?" >> w/all2.txt
cp w/reduced.gfxr.reducing.json w/known2.json 2>/dev/null; tar czf $OUT/all2.tgz w
timeout 20 $B $s/cubes.gfxr --json -q > w/canary-3.json; echo "canary exit $?" >> w/all2.txt
timeout 20 $B w/reduced.gfxr --times command > w/reduced-times2.txt 2>&1; echo "reduced exit $?" >> w/all2.txt
timeout 20 $B $s/cubes.gfxr --json -q > w/canary-4.json; echo "canary exit $?" >> w/all2.txt
tar czf $OUT/all2.tgz w; cat w/all2.txt w/reduced2.json; tail -3 w/reduced2.err
