#version 450
// Tiles of 16x16: what was drawn, depth, stencil, depth alone, three channels twice, packed channels; then all words that were copied out.

layout(binding = 0) uniform sampler2D drawn;
layout(binding = 1) uniform sampler2D deep;
layout(binding = 2) uniform usampler2D stencil;
layout(binding = 3) uniform sampler2D shallow;
layout(binding = 4) uniform sampler2D vector;
layout(binding = 5) uniform sampler2D cleared;
layout(binding = 6) uniform sampler2D bits;
layout(binding = 7, std430) readonly buffer Mixed { uint mixed[]; };
layout(location = 0) out vec4 colour;

vec3 bytes(uint word) {
    // (all four of them have a say)
    return vec3((word ^ word >> 24) & 255u, word >> 8 & 255u, word >> 16 & 255u) / 255.0;
}

vec3 depth(float value) {
    // (drivers disagree on the last bits of what they sample; what is copied out has all of them)
    return vec3(value, fract(value * 16.0), 1.0 - value);
}

void main() {
    ivec2 at = ivec2(gl_FragCoord.xy), in_tile = ivec2(at.x % 16, at.y);
    vec3 c;
    switch (at.x / 16) {
    case 0: c = texelFetch(drawn, in_tile, 0).rgb * texelFetch(drawn, in_tile, 0).a; break;
    case 1: c = depth(texelFetch(deep, in_tile, 0).r); break;
    case 2: c = vec3(texelFetch(stencil, in_tile, 0).r) / 255.0; break;
    case 3: c = depth(texelFetch(shallow, in_tile, 0).r); break;
    case 4: c = texelFetch(vector, in_tile, 0).rgb * texelFetch(vector, in_tile, 0).a; break;
    case 5: c = vec3(texelFetch(cleared, in_tile, 0).rg, texelFetch(cleared, in_tile, 0).a); break;
    case 6: c = texelFetch(bits, in_tile, 0).rgb; break;
    default: {
        uint word = uint(at.x - 112) * 16u + uint(at.y);
        c = word < mixed.length() ? bytes(mixed[word]) : vec3(0.0);
    }
    }
    colour = vec4(c, 1.0);
}
