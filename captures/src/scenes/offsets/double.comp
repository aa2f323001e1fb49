// Some words of one place, doubled and one more, to another.
#version 450
layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer From
{
    uint from[];
};

layout(std430, binding = 1) buffer To
{
    uint to[];
};

layout(push_constant) uniform Part
{
    uint first;
    uint count;
};

void main()
{
    uint i = gl_LocalInvocationIndex;
    if (i - first < count) {
        to[i] = 2u * from[i] + 1u;
    }
}
