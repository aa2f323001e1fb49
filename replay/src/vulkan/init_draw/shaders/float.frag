#version 450
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_GOOGLE_include_directive : require
// Colours that shaders read and write as floats: the texel goes to every sample as it is.

#include "part.glsl"

layout(set = 0, binding = 0) uniform texture2DArray contents;

layout(location = 0) out vec4 colour;

const uint SRGB = 1;

// What the target encodes again. Our own, because a sampler's may be a little off, and what is written must be the
// byte that was read.
vec3 linear(vec3 c) {
    return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), greaterThan(c, vec3(0.04045)));
}

void main() {
    colour = texelFetch(contents, ivec3(gl_FragCoord.xy, part.layer), int(part.level));
    if (part.encoding == SRGB) {
        colour.rgb = linear(colour.rgb);
    }
}
