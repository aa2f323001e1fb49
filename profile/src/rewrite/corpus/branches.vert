// Branches, loops, functions that return early, a switch that is fallen through.
#version 460
layout(location = 0) in vec3 position;
layout(location = 1) in ivec4 bones;
layout(location = 0) out vec4 colour;
layout(location = 1) flat out int kind;
layout(push_constant) uniform P { mat4 to_clip; int steps; } push;
layout(set = 0, binding = 0) uniform U { vec4 at[16]; } table;

vec4 pick(int which)
{
    if (which < 0)
        return vec4(0.0);
    switch (which) {
    case 0:
        return table.at[0];
    case 1:
        which += 3;
    case 2:
        which *= 2;
        break;
    case 7:
        for (;;) {
            if (which > 100)
                break;
            which *= which;
        }
        break;
    default:
        which = 1;
    }
    return table.at[which & 15];
}

void main()
{
    vec4 sum = vec4(position, 1.0);
    for (int i = 0; i < push.steps; i++) {
        if ((i & 1) == 0)
            continue;
        sum += pick(bones[i & 3]);
        if (sum.x > 1000.0)
            break;
    }
    do {
        sum *= 0.5;
    } while (sum.y > 1.0);
    colour = sum;
    kind = gl_VertexIndex + gl_InstanceIndex;
    gl_Position = push.to_clip * sum;
}
