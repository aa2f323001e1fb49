#version 450
#extension GL_GOOGLE_include_directive : require
// What the canvas is before it is ever loaded: colours and depths that differ from place to place.

#include "area.glsl"
#include "relief.glsl"

layout(location = 0) out vec4 colour;

void main() {
    keep_to_area();
    ivec2 p = ivec2(gl_FragCoord.xy);
    ivec2 cell = p & ~3;
    colour = vec4(cell.x, cell.y, (cell.x ^ cell.y) & 127, 255) / 255.0;
    gl_FragDepth = relief(p);
}
