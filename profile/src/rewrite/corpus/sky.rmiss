#version 460
#extension GL_EXT_ray_tracing : require
layout(location = 0) rayPayloadInEXT vec4 payload;
void main()
{
    payload = gl_WorldRayDirectionEXT.y > 0.0 ? vec4(1.0) : vec4(0.0);
}
