// Shows the value, and leaves the next one for the other subpass.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "colour.glsl"
layout(set = 0, binding = 0) uniform Value
{
    uint value;
} now;
layout(set = 0, binding = 1, std430) buffer Mark
{
    uint mark;
};
layout(location = 0) out vec4 colour;

void main()
{
    mark = now.value + 1u;
    colour = colour_of(now.value);
}
