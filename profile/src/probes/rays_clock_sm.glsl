// Pass rays, with clocks, on devices with VK_NV_shader_sm_builtins.
#version 460
#extension GL_GOOGLE_include_directive : require
#define CLOCK
#define SM
#include "rays_common.glsl"
