// A column for each word of the push constants, of which there are as many as there may be.
#version 460
layout(push_constant) uniform Push
{
    uvec4 words[16];
};
layout(location = 0) out vec4 colour;

void main()
{
    uint x = uint(gl_FragCoord.x) & 63u;
    uint n = words[x >> 2][x & 3u];
    if (n >= 32)
        n += 5;
    colour = vec4((uvec3(n) * uvec3(41u, 23u, 7u)) & 255u, 255u) / 255.0;
}
