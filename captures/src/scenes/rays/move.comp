#version 460
#extension GL_EXT_buffer_reference : require

// Writes the instances that the host does not: spheres on their way around, each with a reference that it finds
// behind a pointer. Also writes how many rays an indirect trace has.

struct Instance {
    vec4 rows[3];
    uvec4 rest; // custom index and mask, table offset and flags, reference
};
layout(buffer_reference, std430, buffer_reference_align = 16) writeonly buffer Instances { Instance of[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) writeonly buffer Launch { uint size[3]; };

/// Where to write, and what to refer to.
layout(buffer_reference, std430, buffer_reference_align = 8) readonly buffer Motion {
    Instances instances;
    Launch launch;
    uvec2 spheres;
    uint first;
    uint count;
    uint width;
    uint height;
};

layout(push_constant) uniform Push {
    Motion motion;
    float seconds;
};
layout(local_size_x = 32) in;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i == 0) {
        motion.launch.size[0] = motion.width;
        motion.launch.size[1] = motion.height;
        motion.launch.size[2] = 1;
    }
    if (i >= motion.count) return;
    float round = 6.2831853 * float(i) / float(motion.count) + 0.9 * seconds;
    float spin = 1.3 * seconds + float(i);
    float size = i % 2 == 0 ? 0.80 : 0.62;
    float c = cos(spin) * size, s = sin(spin) * size;
    vec3 at = vec3(2.5 * cos(round), 0.85 * size + 0.35 * abs(sin(2.0 * seconds + 1.7 * float(i))), 2.5 * sin(round));
    Instance made;
    made.rows[0] = vec4(c, 0.0, s, at.x);
    made.rows[1] = vec4(0.0, size, 0.0, at.y);
    made.rows[2] = vec4(-s, 0.0, c, at.z);
    made.rest = uvec4(i % 4 | 0xFF000000u, 2 + i % 2, motion.spheres);
    motion.instances.of[motion.first + i] = made;
}
