// A trace from where a ray ended.
#version 460
#extension GL_EXT_ray_tracing : require
layout(set = 0, binding = 0) uniform accelerationStructureEXT world;
layout(location = 0) rayPayloadInEXT vec4 payload;
layout(location = 1) rayPayloadEXT vec4 inner;
hitAttributeEXT vec2 at;
void main()
{
    if (payload.w < 3.0) {
        inner = payload + vec4(at, 0.0, 1.0);
        traceRayEXT(world, gl_RayFlagsOpaqueEXT, 0xff, 0, 0, 0, gl_WorldRayOriginEXT, 0.1, vec3(1.0), 100.0, 1);
        payload = inner;
    }
    payload.z += gl_RayTmaxEXT + float(gl_InstanceID);
}
