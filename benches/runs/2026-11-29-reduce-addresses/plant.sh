plant() { out=$1; cap=$2; cmd=$3; n=$4; b=$(reray-replay dump $cap 2>/dev/null | grep "\"name\":\"$cmd\"" | sed -n "${n}p" | grep -oE '^\{"index":[0-9]+' | grep -oE '[0-9]+$'); python3 without_blocks.py $cap $out $b; echo $out $b; }
plant p_cubes_vkCmdSetViewport.gfxr $S/cubes.gfxr vkCmdSetViewport '$'
plant p_cubes_vkUpdateDescriptorSets.gfxr $S/cubes.gfxr vkUpdateDescriptorSets '$'
plant p_cubes_vkCmdBindDescriptorSets.gfxr $S/cubes.gfxr vkCmdBindDescriptorSets '$'
plant p_triangle_1_vkCmdBindPipeline.gfxr $S/triangle_1.gfxr vkCmdBindPipeline '$'
plant p_hang.gfxr shared/captures/vkcube.gfxr vkQueueSubmit 3
