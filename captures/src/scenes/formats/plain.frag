#version 450
// A colour that is pushed.

layout(push_constant) uniform Pushed {
    vec4 colour;
    float depth;
} p;
layout(location = 0) out vec4 colour;

void main() {
    colour = p.colour;
}
