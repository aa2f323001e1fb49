// All resources in one set.
#version 460
#extension GL_GOOGLE_include_directive : require
#define VIEW_SET 0
#define VIEW 0
#define OBJECT_SET 0
#define OBJECT 1
#define SURFACE_SET 0
#define SURFACE 2
#define TABLE_SET 0
#define TABLE 3
#define DETAILS_SET 0
#define DETAILS 4
#include "draw.glsl"
