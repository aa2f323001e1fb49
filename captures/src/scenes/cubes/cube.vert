#version 450
// Puts one cube into the world and before the camera.

layout(set = 0, binding = 0) uniform Camera {
    mat4 view_projection;
    vec4 eye;   // xyz
    vec4 sun;   // xyz: towards the sun
} camera;

// Reached through a dynamic offset: one of these a draw.
layout(set = 0, binding = 1) uniform Cube {
    mat4 model;
    vec4 colour;
    vec4 glow;
} cube;

layout(location = 0) in vec3 position;
layout(location = 1) in vec3 normal;

layout(location = 0) out vec3 in_cube;
layout(location = 1) out vec3 in_world;
layout(location = 2) out vec3 flat_normal;
layout(location = 3) out mat3 rotation;   // and 4, 5
layout(location = 6) flat out vec4 colour;
layout(location = 7) flat out vec3 glow;
layout(location = 8) flat out vec3 outward;

void main() {
    vec4 world = cube.model * vec4(position, 1.0);
    in_cube = position;
    in_world = world.xyz;
    flat_normal = normal;
    rotation = mat3(normalize(cube.model[0].xyz), normalize(cube.model[1].xyz), normalize(cube.model[2].xyz));
    colour = cube.colour;
    glow = cube.glow.rgb;
    outward = rotation[1];
    gl_Position = camera.view_projection * world;
}
