// The same in a render pass, a pixel for each word.
#version 450
layout(std430, binding = 0) readonly buffer From
{
    uint from[];
};

layout(std430, binding = 1) buffer To
{
    uint to[];
};

layout(location = 0) out vec4 colour;

void main()
{
    uint i = uint(gl_FragCoord.x);
    to[i] = 2u * from[i] + 1u;
    colour = vec4(0.0);
}
