// Each point of the patch where it is; in the lower half it is found from the right.
#version 460
layout(quads, equal_spacing, ccw) in;

void main()
{
    vec2 at = gl_TessCoord.xy;
    vec4 upper = mix(gl_in[0].gl_Position, gl_in[1].gl_Position, at.x);
    vec4 lower = mix(gl_in[2].gl_Position, gl_in[3].gl_Position, at.x);
    if (at.y > 0.5)
        lower = mix(gl_in[3].gl_Position, gl_in[2].gl_Position, 1.0 - at.x);
    gl_Position = mix(upper, lower, at.y);
}
