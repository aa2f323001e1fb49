// The colour of a cell, which an earlier stage numbered.
#version 460
layout(location = 0) flat in uint cell;
layout(location = 0) out vec4 colour;

void main()
{
    uint n = cell + 1;
    if ((n & 1u) == 1u)
        n += 100;
    colour = vec4((uvec3(n) * uvec3(41u, 23u, 7u)) & 255u, 255u) / 255.0;
}
