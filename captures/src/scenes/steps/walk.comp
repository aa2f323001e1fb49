#version 450
// Walks a sequence of numbers one by one: how long it takes is what the host says.
layout(local_size_x = 1) in;
layout(push_constant) uniform Steps { uint steps; };
layout(std430, binding = 0) buffer Result { uint result; };

void main() {
    uint x = result + 1u;
    for (uint i = 0u; i < steps; ++i) {
        x = x * 1664525u + 1013904223u;
        x ^= x >> 15;
    }
    result = x;
}
