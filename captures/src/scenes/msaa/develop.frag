#version 450
// The resolved canvas, and beside it every other image, texel by texel; of multisampled ones each pixel shows another
// sample.

layout(set = 0, binding = 0) uniform sampler2D canvas;
layout(set = 0, binding = 1) uniform usampler2DMS counts;
layout(set = 0, binding = 2) uniform isampler2DMS offsets;
layout(set = 0, binding = 3) uniform sampler2DMS glow;
layout(set = 0, binding = 4) uniform sampler2DMS heat;
layout(set = 0, binding = 5) uniform sampler2DMSArray shadow;
layout(set = 0, binding = 6) uniform usampler2D stamp;
layout(set = 0, binding = 7) uniform sampler2DArray bricks;
layout(set = 0, binding = 8) uniform sampler2D dots;

layout(location = 0) out vec4 screen;

const ivec2 CANVAS = ivec2(128, 96);
const int TILE = 32;

// The three bytes of a number that a colour has room for.
vec3 bytes(uint v) {
    return vec3(v >> 16 & 255, v >> 8 & 255, v & 255) / 255.0;
}

vec3 tile(int which, ivec2 p) {
    int s = (p.x + p.y) & 3;
    if (which == 0) {
        uvec2 c = texelFetch(counts, p, s).xy;
        return bytes(c.x << 8 | c.y >> 8);
    }
    if (which == 1) return bytes(uint(texelFetch(offsets, p, s).x) >> 8);
    if (which == 2) return texelFetch(glow, p, s).rgb;
    if (which == 3) {
        vec4 h = texelFetch(heat, p, s);
        return bytes(floatBitsToUint(h.x) >> 8 ^ floatBitsToUint(h.y) >> 11 ^ floatBitsToUint(h.z) >> 13);
    }
    if (which < 6) return bytes(uint(round(texelFetch(shadow, ivec3(p, which - 4), s).r * 65535.0)));
    if (which == 6) return vec3(texelFetch(stamp, p, 0).rgb) / 255.0;
    if (which < 10) {
        // Levels of 20x12, 10x6 and 5x3, one under the other.
        int level = p.y < 12 ? 0 : p.y < 18 ? 1 : 2;
        ivec2 at = p - ivec2(0, level == 0 ? 0 : level == 1 ? 12 : 18);
        ivec2 size = textureSize(bricks, level).xy;
        return all(lessThan(at, size)) ? texelFetch(bricks, ivec3(at, which - 7), level).rgb : vec3(0.0);
    }
    if (which == 10) return p.x < 16 ? texelFetch(dots, p % 3, 0).rrr : texelFetch(dots, ivec2(0), 1).rrr;
    return vec3(texelFetch(counts, p, 3 - s).yx, 0.0) / 65535.0;
}

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    if (all(lessThan(p, CANVAS))) {
        screen = texelFetch(canvas, p, 0);
        return;
    }
    int which = p.x < CANVAS.x ? 8 + p.x / TILE : (p.x - CANVAS.x) / TILE + 2 * (p.y / TILE);
    screen = vec4(tile(which, p % TILE), 1.0);
}
