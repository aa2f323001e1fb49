#version 450
// Four images of four kinds of number, in one pass.

layout(location = 0) out uvec2 counts;
layout(location = 1) out int offsets;
layout(location = 2) out vec4 glow;
layout(location = 3) out vec4 heat;

void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    counts = uvec2(p.x * 2047 + p.y, p.y * 2047 + p.x * 3);
    offsets = p.x * 40009 - p.y * 60000011;
    glow = vec4(p.x, p.y, p.x ^ p.y, 31) / 31.0;
    heat = vec4(float(p.x - 16) / 8.0, p.y * 64, float(p.x * p.y) / 1024.0, 1.0);
}
