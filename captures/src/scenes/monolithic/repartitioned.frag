// What changes as often as another is in the same set as that.
#version 460
#extension GL_GOOGLE_include_directive : require
#define VIEW_SET 0
#define VIEW 0
#define TABLE_SET 0
#define TABLE 1
#define SURFACE_SET 1
#define SURFACE 0
#define OBJECT_SET 2
#define OBJECT 0
#define DETAILS_SET 2
#define DETAILS 1
#include "draw.glsl"
