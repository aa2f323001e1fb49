// Keeps the value as a uniform block has it.
#version 460
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) uniform Value
{
    uint value;
} now;
layout(set = 0, binding = 1, std430) buffer Kept
{
    uint count;
    uint all[15];
} kept;

void main()
{
    kept.all[kept.count] = now.value;
    kept.count++;
}
