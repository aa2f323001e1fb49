// Pass shader-clock, on devices that say where a subgroup runs.
#version 460
#extension GL_GOOGLE_include_directive : require
#define SM
#include "shader_clock_common.glsl"
