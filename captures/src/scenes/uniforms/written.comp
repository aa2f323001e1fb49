// What a shader writes where another reads uniforms.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, std430) writeonly buffer Target
{
    uvec4 value;
} target;
layout(push_constant) uniform Push
{
    uint frame;
} push;

void main()
{
    target.value = uvec4(push.frame + 60);
}
