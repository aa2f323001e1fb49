#version 460
#extension GL_EXT_ray_query : require
#extension GL_GOOGLE_include_directive : require
#include "shared.glsl"

// A column of the picture: ray queries into its structure.

layout(set = 0, binding = 0) uniform accelerationStructureEXT world;
layout(set = 0, binding = 1, rgba8) uniform writeonly image2D picture;
layout(push_constant) uniform Push { uint column; };
layout(local_size_x = 16, local_size_y = 4) in;

void main() {
    uvec2 place = gl_GlobalInvocationID.xy;
    Ray ray = ray_of(place);
    rayQueryEXT query;
    rayQueryInitializeEXT(query, world, gl_RayFlagsOpaqueEXT, 0xFF, ray.from, 0.0, ray.direction, 10.0);
    while (rayQueryProceedEXT(query)) {}
    vec4 seen = nothing(column);
    if (rayQueryGetIntersectionTypeEXT(query, true) == gl_RayQueryCommittedIntersectionTriangleEXT) {
        uint triangle = rayQueryGetIntersectionPrimitiveIndexEXT(query, true);
        seen = colour(triangle, rayQueryGetIntersectionInstanceCustomIndexEXT(query, true), column);
    }
    imageStore(picture, ivec2(place) + ivec2(column * 16, 0), seen);
}
