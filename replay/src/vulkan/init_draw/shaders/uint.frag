#version 450
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_GOOGLE_include_directive : require
// Colours that are unsigned integers: the texel goes to every sample as it is.

#include "part.glsl"

layout(set = 0, binding = 0) uniform utexture2DArray contents;

layout(location = 0) out uvec4 colour;

void main() {
    colour = texelFetch(contents, ivec3(gl_FragCoord.xy, part.layer), int(part.level));
}
