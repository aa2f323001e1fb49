// Two steps: b from a, a from b.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) buffer First
{
    uint a;
};
layout(set = 0, binding = 1, std430) buffer Second
{
    uint b;
};
layout(push_constant) uniform Push
{
    uint step;
    uint frame;
} push;

void main()
{
    if (push.step == 0)
        b = a + push.frame;
    else
        a = b * 2;
}
