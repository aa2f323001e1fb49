// A triangle around the whole tile, or, for shape 1, the half of a square of 32 and a half pixels at its corner.
#version 450

layout(push_constant) uniform Push
{
    uint shape;
    uint way;
};

void main()
{
    float far = 3.0;
    if (shape == 1)
        far = 32.5 / 32.0 - 1.0;
    gl_Position = vec4(gl_VertexIndex == 1 ? far : -1.0, gl_VertexIndex == 2 ? far : -1.0, 0.0, 1.0);
}
