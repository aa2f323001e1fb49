// The colour of a surface: a walk along the ring of materials, and a callable shader that mixes two of them.

layout(location = 0) callableDataEXT Pattern pattern;

vec4 textured(Material material, vec3 at) {
    for (int i = 0; i < gl_InstanceCustomIndexEXT; ++i) material = material.next;
    pattern.at = at * material.scale;
    pattern.value = 0.0;
    executeCallableEXT(uint(material.pattern), 0);
    return mix(material.colour, material.next.colour, pattern.value);
}
