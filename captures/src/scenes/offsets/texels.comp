// The same through views.
#version 450
layout(local_size_x = 64) in;

layout(binding = 0) uniform utextureBuffer from;
layout(binding = 1, r32ui) uniform writeonly uimageBuffer to;

void main()
{
    int i = int(gl_LocalInvocationIndex);
    imageStore(to, i, uvec4(2u * texelFetch(from, i).x + 1u));
}
