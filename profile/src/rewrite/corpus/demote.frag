// Fragments that become helpers.
#version 460
#extension GL_EXT_demote_to_helper_invocation : require
layout(location = 0) in vec4 colour;
layout(location = 0) out vec4 pixel;
void main()
{
    if (colour.x < 0.25)
        demote;
    float a = helperInvocationEXT() ? 1.0 : dFdy(colour.y);
    while (a < 3.0)
        a = a * 2.0 + 0.1;
    pixel = vec4(a);
}
