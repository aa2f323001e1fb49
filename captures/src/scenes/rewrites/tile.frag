// Shows what was kept, tile by tile, and in the last tile the mark.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "colour.glsl"
layout(set = 0, binding = 2) uniform Marked
{
    uint mark;
} marked;
layout(set = 0, binding = 3, std430) readonly buffer Kept
{
    uint count;
    uint all[15];
} kept;
layout(location = 0) out vec4 colour;

void main()
{
    uint tile = uint(gl_FragCoord.x) / 16u;
    colour = colour_of(tile < kept.count ? kept.all[tile] : marked.mark);
}
