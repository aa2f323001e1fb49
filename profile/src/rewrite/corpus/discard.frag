// Fragments that end, in a function and in a loop.
#version 460
layout(location = 0) in vec4 colour;
layout(location = 1) flat in int kind;
layout(location = 0) out vec4 pixel;
layout(set = 0, binding = 1) uniform sampler2D image;
void cut(float a)
{
    if (a < 0.5)
        discard;
}
void main()
{
    vec4 c = texture(image, colour.xy);
    cut(c.a);
    for (int i = 0; i < kind; i++) {
        c = c * c + dFdx(c);
        if (c.x > 4.0)
            discard;
    }
    pixel = c;
}
