// What is bound at slots 0 to 4 of the one set, or at other places: each resource holds its number.
layout(set = VIEW_SET, binding = VIEW, std140) uniform View
{
    uvec4 number;
} view;
layout(set = OBJECT_SET, binding = OBJECT, std140) uniform Object
{
    uvec4 number;
} object;
layout(set = SURFACE_SET, binding = SURFACE) uniform sampler2D surface;
layout(set = TABLE_SET, binding = TABLE, std430) readonly buffer Table
{
    uvec4 number;
} table;
layout(set = DETAILS_SET, binding = DETAILS) uniform sampler2D details[2];

layout(location = 0) out vec4 colour;

uint number(sampler2D image)
{
    return uint(texture(image, vec2(0.5)).x * 255.0 + 0.5);
}

void main()
{
    uint n = view.number.x + 3 * object.number.x + 5 * number(surface) + 7 * table.number.x;
    n += 11 * number(details[0]) + 13 * number(details[1]);
    colour = vec4((uvec3(n) * uvec3(41u, 23u, 7u)) & 255u, 255u) / 255.0;
}
