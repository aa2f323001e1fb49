#version 450
// Blocks of ETC2 that only the device knows: numbers without a pattern.

layout(local_size_x = 64) in;

layout(binding = 0) writeonly buffer Blocks {
    uint words[];
};

void main() {
    uint at = gl_GlobalInvocationID.x;
    uint n = at * 747796405u + 2891336453u;
    n = ((n >> ((n >> 28) + 4u)) ^ n) * 277803737u;
    if (at < words.length()) words[at] = (n >> 22) ^ n;
}
