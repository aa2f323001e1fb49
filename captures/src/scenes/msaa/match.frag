#version 450
#extension GL_GOOGLE_include_directive : require
// The canvas's own relief again: only where the canvas still has that depth does it pass the test for equality.

#include "area.glsl"
#include "relief.glsl"

layout(location = 0) out vec4 colour;

void main() {
    keep_to_area();
    colour = how.tint;
    gl_FragDepth = relief(ivec2(gl_FragCoord.xy));
}
