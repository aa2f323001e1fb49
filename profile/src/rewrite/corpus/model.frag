#version 460
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_demote_to_helper_invocation : require
layout(location = 0) out vec4 pixel;
void main()
{
    if (gl_FragCoord.x < 3.0)
        demote;
    pixel = vec4(1.0);
}
