// The value moves on.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 2, std430) buffer Moved
{
    uint value;
};
layout(push_constant) uniform Push
{
    uint add;
} push;

void main()
{
    value = value * 2u + push.add;
}
