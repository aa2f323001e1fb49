// A block that changes in every way.
layout(set = 0, binding = 0, std140) uniform Object
{
    mat4 place;     // another in each draw; read by the vertex shader only
    uvec4 tint;     // the same over the capture
    vec4 nothing;   // always zero
    vec4 forgotten; // another in each draw, read by nobody
    uint frame;     // another in each frame
    uint number;    // another in each draw
    uint part;      // another in each pass
} object;
