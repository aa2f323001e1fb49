// Memory by address, which the probes use too; recursion through pointers.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 16) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node { Node next; uint value; uint count[]; };
layout(push_constant) uniform P { Node first; } push;
void main()
{
    Node n = push.first;
    for (int i = 0; i < 100 && uvec2(n) != uvec2(0); i++) {
        atomicAdd(n.count[gl_LocalInvocationIndex], n.value);
        n = n.next;
    }
}
