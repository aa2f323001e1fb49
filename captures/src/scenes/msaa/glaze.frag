#version 450
#extension GL_GOOGLE_include_directive : require
// A tint.

#include "area.glsl"

layout(location = 0) out vec4 colour;

void main() {
    keep_to_area();
    colour = how.tint;
}
