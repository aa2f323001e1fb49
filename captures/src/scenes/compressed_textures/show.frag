#version 450
// A tile for each texture: the three levels one under the other, and the second layer, filtered; on the right their alpha.

layout(binding = 0) uniform sampler2DArray t0;
layout(binding = 1) uniform sampler2DArray t1;
layout(binding = 2) uniform sampler2DArray t2;
layout(binding = 3) uniform sampler2DArray t3;
layout(binding = 4) uniform sampler2DArray t4;
layout(binding = 5) uniform sampler2DArray t5;
layout(binding = 6) uniform sampler2DArray t6;
layout(binding = 7) uniform sampler2DArray t7;
layout(binding = 8) uniform sampler2DArray t8;
layout(binding = 9) uniform sampler2DArray t9;
layout(binding = 10) uniform sampler2DArray t10;
layout(binding = 11) uniform sampler2DArray t11;
layout(binding = 12) uniform sampler2DArray t12;
layout(binding = 13) uniform sampler2DArray t13;
layout(binding = 14) uniform sampler2DArray t14;
layout(binding = 15) uniform sampler2DArray t15;

layout(location = 0) out vec4 screen;

const ivec2 TILE = ivec2(64, 36);

vec4 texel(int which, ivec3 at, int level) {
    switch (which) {
        case 0: return texelFetch(t0, at, level);
        case 1: return texelFetch(t1, at, level);
        case 2: return texelFetch(t2, at, level);
        case 3: return texelFetch(t3, at, level);
        case 4: return texelFetch(t4, at, level);
        // From -1 to 1.
        case 5: return texelFetch(t5, at, level) * 0.5 + 0.5;
        case 6: return texelFetch(t6, at, level);
        case 7: return texelFetch(t7, at, level) * 0.5 + 0.5;
        case 8: return texelFetch(t8, at, level);
        case 9: return texelFetch(t9, at, level);
        case 10: return texelFetch(t10, at, level);
        case 11: return texelFetch(t11, at, level);
        case 12: return texelFetch(t12, at, level);
        case 13: return texelFetch(t13, at, level) * 0.5 + 0.5;
        // Half floats, up to 65504.
        case 14: return log2(1.0 + texelFetch(t14, at, level)) / 16.0;
        default: return texelFetch(t15, at, level);
    }
}

// A quarter of the way between texels, which are read one by one where a format has no filter.
vec4 between(int which, ivec2 at) {
    ivec2 far = min(at + 1, ivec2(20, 12));
    vec4 a = mix(texel(which, ivec3(at, 1), 0), texel(which, ivec3(far.x, at.y, 1), 0), 0.25);
    vec4 b = mix(texel(which, ivec3(at.x, far.y, 1), 0), texel(which, ivec3(far, 1), 0), 0.25);
    return mix(a, b, 0.25);
}

vec4 filtered(ivec2 at) {
    return textureLod(t8, vec3((vec2(at) + 0.75) / vec2(21, 13), 1.0), 0.0);
}

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    ivec2 tile = p / TILE, at = p % TILE;
    int which = tile.x + 4 * tile.y;
    bool alpha = at.x >= 32;
    at.x %= 32;
    int level = at.y < 13 ? 0 : at.y < 19 ? 1 : at.y < 22 ? 2 : -1;
    vec4 colour = vec4(0.0);
    ivec2 size = level < 0 ? ivec2(21, 13) : ivec2(21, 13) >> level;
    ivec2 in_level = at - ivec2(0, level == 0 ? 0 : level == 1 ? 13 : level == 2 ? 19 : 22);
    if (all(lessThan(in_level, size))) {
        if (level >= 0) colour = texel(which, ivec3(in_level, 0), level);
        else if (which == 8) colour = filtered(in_level);
        else colour = between(which, in_level);
    }
    screen = vec4(alpha ? colour.aaa : colour.rgb, 1.0);
}
