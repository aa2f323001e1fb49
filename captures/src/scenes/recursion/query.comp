// Ray queries: the discs' near sides and the wall.
#version 460
#extension GL_EXT_ray_query : require

layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) uniform accelerationStructureEXT world;
layout(binding = 1, rgba8) uniform writeonly image2D picture;
layout(binding = 2) readonly buffer Discs { vec4 discs[]; };

void main()
{
    const uvec2 at = gl_GlobalInvocationID.xy;
    const vec3 from = vec3(float(at.x) + 0.5, float(at.y) * 2.0 + 0.5, 1.0);
    rayQueryEXT query;
    rayQueryInitializeEXT(query, world, gl_RayFlagsNoneEXT, 0xFF, from, 0.25, vec3(0.0, 0.0, -1.0), 16.0);
    // The wall is behind all discs: of what was committed only discs can be nearer than a disc.
    float closest = 16.0;
    while (rayQueryProceedEXT(query))
    {
        if (rayQueryGetIntersectionTypeEXT(query, false) == gl_RayQueryCandidateIntersectionTriangleEXT)
        {
            rayQueryConfirmIntersectionEXT(query);
            continue;
        }
        const vec4 disc = discs[rayQueryGetIntersectionPrimitiveIndexEXT(query, false)];
        const vec3 origin = rayQueryGetIntersectionObjectRayOriginEXT(query, false);
        const vec2 out_ = origin.xy - disc.xy;
        const float t = origin.z - disc.z - 0.5;
        if (dot(out_, out_) < disc.w * disc.w && t >= 0.25 && t < closest)
        {
            closest = t;
            rayQueryGenerateIntersectionEXT(query, t);
        }
    }
    uint met = 1;
    if (rayQueryGetIntersectionTypeEXT(query, true) != gl_RayQueryCommittedIntersectionNoneEXT)
        met = 3 + rayQueryGetIntersectionInstanceCustomIndexEXT(query, true)
            + uint(rayQueryGetIntersectionTEXT(query, true) * 2.0);
    imageStore(picture, ivec2(at) + ivec2(0, 24), vec4((uvec3(met) * uvec3(41u, 23u, 7u)) & 255u, 255u) / 255.0);
}
