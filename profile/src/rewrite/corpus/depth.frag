// No input at all; depth is written.
#version 460
layout(depth_greater) out float gl_FragDepth;
void main() { gl_FragDepth = 0.5; }
