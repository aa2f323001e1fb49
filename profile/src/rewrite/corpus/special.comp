// The workgroup's size is a specialization constant, and so are ids that ours would have.
#version 460
layout(local_size_x_id = 0, local_size_y = 2, local_size_z_id = 2) in;
layout(constant_id = 0) const uint size = 4;
layout(constant_id = 2000) const uint ours = 1;
layout(constant_id = 2002) const bool yes = true;
layout(constant_id = 2004) const float f = 1.5;
layout(set = 0, binding = 0, std430) buffer B { float at[]; };
void main()
{
    if (yes)
        at[gl_WorkGroupSize.x * ours + gl_GlobalInvocationID.y] = f * float(size);
}
