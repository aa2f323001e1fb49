// A ray for each launch index: from in front of its place, straight on.
const vec3 FORWARD = vec3(0.0, 0.0, -1.0);

#define AT gl_LaunchIDEXT.xy
#define FROM vec3(vec2(AT) + 0.5, 1.0)
