#version 450
// One triangle that covers the screen, from no vertex buffer, at a depth that is pushed.

layout(push_constant) uniform Pushed {
    vec4 colour;
    float depth;
} p;

void main() {
    vec2 place = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    gl_Position = vec4(place * 2.0 - 1.0, p.depth, 1.0);
}
