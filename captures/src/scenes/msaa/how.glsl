// What differs from draw to draw: a tint, the rectangle of pixels that is drawn, the triangle's depth.

layout(push_constant) uniform How {
    vec4 tint;
    ivec4 area;    // left, top, right, bottom
    float z;
} how;
