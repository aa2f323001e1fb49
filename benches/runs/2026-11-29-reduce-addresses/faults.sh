# Each search by itself; how each ended and how long it took is in all.tsv.
R=reray-replay; S=captures/samples
one() { name=$1; shift; s=$(date +%s.%N); $R reduce "$@" -q --json -o f_$name.gfxr > f_$name.json 2> f_$name.err; echo "$name exit $? $(echo "$(date +%s.%N) - $s" | bc) s $(python3 -c "
import json,sys
try:
    d=json.load(open('f_$name.json')); print(d['calls'], '%.1f %%' % (100*d['calls'][1]/d['calls'][0]), 'processes', d['tried'], 'shown', d['shown'], 'minimal', d['minimal'], 'zeros', d['zero_memory'])
except Exception as e: print('no result')")"; }
one viewport p_cubes_vkCmdSetViewport.gfxr --still validation:VUID-vkCmdDraw --budget 150s
one update p_cubes_vkUpdateDescriptorSets.gfxr --still validation:02699 --budget 150s
one bind p_cubes_vkCmdBindDescriptorSets.gfxr --still crash --budget 150s
one says p_triangle_1_vkCmdBindPipeline.gfxr --still 'says:no graphics pipeline and no shaders are bound' --budget 150s
one slow $S/causes.gfxr --still slow:30 --budget 150s
one hang p_hang.gfxr --still hang --watchdog 0.5 --budget 200s
one crash $S/objects.gfxr --still crash --validate
one orange $S/cubes.gfxr --still 'script:sh ./orange.sh "$1"' --budget 400s
echo ALL
