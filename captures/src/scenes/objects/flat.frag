// A tile of one colour.
#version 460
layout(set = 0, binding = 0, std140) uniform Flat
{
    uint unread; // another in each frame
    uint always;
    uint frame; // another in each frame
} flat_;
layout(location = 0) out vec4 colour;

void main()
{
    uint n = flat_.always + flat_.frame;
    colour = vec4((uvec3(n) * uvec3(41u, 23u, 7u)) & 255u, 255u) / 255.0;
}
