# measure.sh OUT SCENE...: in a folder with rr (reray-replay with trial.rs among its methods), dump (features.rs), pack.py and the captures;
# a SCENE is NAME:FILE:FRAME. Every step has a time-out, and what a scene gives is packed before the next begins.
K=$(cd "$(dirname "$0")" && pwd); OUT=$1; shift
R=$K/rr; W=${W:-work}; mkdir -p $W $OUT
P=${P:-4}; I=${I:-20}; WU=${WU:-12}; X=${X:-}
METHODS="identity random numrays tiled-numrays objects tiled-objects rounds longest warps-longest warps-random rounds-longest tiled-numrays:tile=32x32 tiled-numrays:tile=64x64 tiled-longest:tile=64x64 tiled-random:tile=16x16 tiled-random:tile=64x64 numrays-mixed"
t0=$(date +%s); say() { echo "$(( $(date +%s) - t0 )) s: $*"; }
for s; do
  IFS=: read name file frame extra <<<"$s"
  end=$(( $(date +%s) - t0 )); if [ $end -gt ${STOP:-520} ]; then say "no time for $name"; continue; fi
  say "$name"
  mkdir -p $W/$name $W/pack/$name
  timeout 100 $R profile $K/$file --passes rays --frames $frame --no-verify-image $X $extra -o $W/$name/rays > $W/pack/$name/rays.txt 2>&1 || { say "rays $?"; tail -n 3 $W/pack/$name/rays.txt; continue; }
  say "rays done"
  timeout 40 $R profile $K/$file --passes shader-clock --frames $frame --no-verify-image $X $extra -o $W/$name/clock > $W/pack/$name/clock.txt 2>&1 || say "clock $?"
  timeout 40 $R analyze $W/$name/clock --tables --format parquet -o $W/$name/clockp > /dev/null 2>&1 || say "parquet $?"
  timeout 60 $R analyze $W/$name/rays warp-order repack ray-simt > $W/pack/$name/orders.txt 2>&1 || say "orders $?"
  plans=(); for m in $METHODS; do plans+=(--plan "$(echo $m | tr ':=' '__') method=$m"); done
  timeout 170 $R study rays $K/$file --frame $frame --method none --no-efficiency $X $extra --trace $W/$name/rays --processes $P --iterations $I --warmup $WU "${plans[@]}" -o $W/$name/study > $W/pack/$name/study.txt 2>&1 || { say "study $?"; tail -n 3 $W/pack/$name/study.txt; }
  cp $W/$name/study/{turns,verdicts,times}.csv $W/pack/$name/ 2>/dev/null
  say "study done"
  timeout 100 $K/dump $W/$name/rays $W/$name/dump $METHODS > $W/pack/$name/dump.txt 2>&1 || say "dump $?"
  python3 $K/pack.py $W/$name $W/pack/$name > $W/pack/$name/packpy.txt 2>&1 || { say "pack $?"; tail -n 2 $W/pack/$name/packpy.txt; }
  rm -rf $W/$name/rays $W/$name/dump $W/$name/study
  (cd $W/pack && XZ_OPT="-2 -T0" tar cJf $OUT/$name.tar.xz $name)
  say "packed $(stat -c %s $OUT/$name.tar.xz)"
done
