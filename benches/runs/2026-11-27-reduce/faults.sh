R=reray-replay; S=captures/samples
$R reduce p_says.gfxr --still 'says:no graphics pipeline and no shaders are bound' -q -o f_says.gfxr --budget 150s
$R reduce $S/causes.gfxr --still slow:30 -q -o f_slow.gfxr --budget 150s
$R reduce p_hang.gfxr --still hang --watchdog 0.5 -q -o f_hang.gfxr --budget 200s
$R reduce $S/cubes.gfxr --still 'script:sh ./orange.sh "$1"' -q -o f_orange.gfxr --budget 400s
$R reduce $S/objects.gfxr --still crash --validate -q -o f_crash.gfxr
echo ALL
