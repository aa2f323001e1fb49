// What a ray of the scene is: from in front of a column's place, straight on. 16x64 places a column.
struct Ray { vec3 from; vec3 direction; };

Ray ray_of(uvec2 place) { return Ray(vec3(vec2(place) + 0.5, 1.0), vec3(0.0, 0.0, -1.0)); }

// The colour of a square of two triangles: which, of which instance, in which column.
vec4 colour(uint triangle, uint instance, uint column) {
    return vec4(float(triangle / 2 * 30 + 15), float(instance * 100), float(column * 30 + 20), 255.0) / 255.0;
}

vec4 nothing(uint column) { return vec4(10.0, 10.0, float(column * 30 + 10), 255.0) / 255.0; }
