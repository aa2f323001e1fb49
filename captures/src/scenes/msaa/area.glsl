// Only whole pixels: a scissor's edge may cut between the samples of a pixel (llvmpipe's does), discarding does not.

#include "how.glsl"

void keep_to_area() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    if (any(lessThan(p, how.area.xy)) || any(greaterThanEqual(p, how.area.zw))) {
        discard;
    }
}
