#version 450
// Bytes in an image that was only ever drawn to.

layout(location = 0) out uvec4 stamp;

void main() {
    uvec2 p = uvec2(gl_FragCoord.xy);
    stamp = uvec4(p.x * 8, p.y * 8, (p.x ^ p.y) * 8, 255);
}
