// How a shader shows a number.
layout(location = 0) out vec4 colour;

void show(const uint number)
{
    colour = vec4((uvec3(number) * uvec3(41u, 23u, 7u)) & 255u, 255u) / 255.0;
}
