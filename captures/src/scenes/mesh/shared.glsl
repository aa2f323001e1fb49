// A ray for each launch index, aslant: every number of it is a multiple of 1/32, so that no place is ever in doubt.
const vec3 FORWARD = vec3(0.125, 0.0625, -1.0);

#define FROM vec3(vec2(gl_LaunchIDEXT.xy) + 0.53125, 1.0)
