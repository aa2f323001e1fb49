// Pass shader-clock, on devices that do not say where a subgroup runs.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "shader_clock_common.glsl"
