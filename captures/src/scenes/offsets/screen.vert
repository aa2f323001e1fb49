#version 450
// One triangle that covers the screen, from no vertex buffer.

void main() {
    vec2 place = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    gl_Position = vec4(place * 2.0 - 1.0, 0.0, 1.0);
}
