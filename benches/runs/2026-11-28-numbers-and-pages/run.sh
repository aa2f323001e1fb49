set -u
mkdir -p out; nvidia-smi --query-gpu=name,driver_version --format=csv,noheader > out/gpu.txt; ./rr devices >> out/gpu.txt 2>&1
S=../captures/samples
for c in $S/cubes.gfxr $S/causes.gfxr $S/rays.gfxr $S/uniforms.gfxr $S/nested.gfxr c/vkcube.gfxr c/taichi_julia.gfxr c/vkd3d_gears_trim_40_59.gfxr c/android_triangle_2025-06.gfxr c/sapien_rt_h200.gfxr c/rtiv_320.gfxr; do
  n=$(basename $c .gfxr); d=out/$n; mkdir -p $d
  s=$(date +%s.%N); timeout 120 ./rr report $c -o $d/page.html > $d/headlines.txt 2> $d/report.err; rc=$?; e=$(date +%s.%N)
  timeout 90 ./rr $c --times command --json > $d/times.json 2> $d/times.err; t=$?
  timeout 90 ./rr db $c $d/times.json -o $d/m.sqlite > $d/db.txt 2>&1; b=$?
  q="SELECT count(*) AS timed, count(i.invocation) AS known, sum(g.name = 'vkCmd' || i.kind) AS same, sum(g.pass IS p.number) AS same_pass FROM gpu_times g LEFT JOIN invocations i USING (frame, draw) LEFT JOIN passes p ON p.pass = i.pass WHERE g.draw > 0"
  v=$(./rr sql $d/m.sqlite "$q" --format csv 2>>$d/db.txt | tail -1)
  echo "$n,$(echo "$e - $s" | bc 2>/dev/null || python3 -c "print($e-$s)"),$rc,$(stat -c %s $d/page.html 2>/dev/null),$t,$b,$v" >> out/all.csv
  rm -f $d/m.sqlite $d/times.json
done
timeout -s INT 15 ./rr bench $S/cubes.gfxr --frame 15 --processes 500 --iterations 20 --warmup 5 -o out/interrupted > out/bench.txt 2> out/bench.err; echo "bench rc=$?" >> out/all.csv
ls out/interrupted >> out/bench.txt; grep -o '"stopped": *"[a-z]*"' out/interrupted/run.json >> out/bench.txt
rm -rf out/interrupted
timeout 60 ./rr $S/cubes.gfxr > out/canary.txt 2>&1; echo "canary rc=$?" >> out/all.csv

cat out/all.csv
