// Rays without a ray-tracing pipeline.
#version 460
#extension GL_EXT_ray_query : require
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0) uniform accelerationStructureEXT world;
layout(set = 0, binding = 1, r32f) uniform image2D image;
void main()
{
    rayQueryEXT q;
    rayQueryInitializeEXT(q, world, 0, 0xff, vec3(gl_GlobalInvocationID), 0.0, vec3(0.0, 0.0, 1.0), 10.0);
    while (rayQueryProceedEXT(q))
        if (rayQueryGetIntersectionTypeEXT(q, false) == gl_RayQueryCandidateIntersectionTriangleEXT)
            rayQueryConfirmIntersectionEXT(q);
    float t = rayQueryGetIntersectionTEXT(q, true);
    imageStore(image, ivec2(gl_GlobalInvocationID.xy), vec4(t));
}
