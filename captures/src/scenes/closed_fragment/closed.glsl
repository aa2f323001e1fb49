// What all fragment shaders of this scene have: a pixel of a tile of 64x64, and a number that becomes its colour.
layout(push_constant) uniform Push
{
    uint shape;
    uint way;
};

layout(location = 0) out vec4 colour;

#define X (uint(gl_FragCoord.x) & 63u)
#define Y (uint(gl_FragCoord.y) & 63u)
#define COLOUR(n) vec4((uvec3(n) * uvec3(41u, 23u, 7u)) & 255u, 255u) / 255.0
