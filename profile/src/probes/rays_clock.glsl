// Pass rays, with clocks, on devices that do not say where a subgroup runs.
#version 460
#extension GL_GOOGLE_include_directive : require
#define CLOCK
#include "rays_common.glsl"
