"""A turning triangle with moderngl (OpenGL) in a window of pyglet; the argument is the number of frames."""

import sys

import moderngl
import numpy as np
import pyglet

VERTEX = """
#version 330
in vec2 position; in vec3 colour; out vec3 shade; uniform float angle;
void main() {
    mat2 turn = mat2(cos(angle), sin(angle), -sin(angle), cos(angle));
    gl_Position = vec4(turn * position, 0, 1);
    shade = colour;
}
"""
FRAGMENT = """
#version 330
in vec3 shade; out vec4 result;
void main() { result = vec4(shade, 1); }
"""
window = pyglet.window.Window(320, 240)
context = moderngl.create_context()
program = context.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
corners = np.array([[0, 0.8, 1, 0, 0], [-0.7, -0.5, 0, 1, 0], [0.7, -0.5, 0, 0, 1]], "f4")
triangle = context.vertex_array(program, [(context.buffer(corners), "2f 3f", "position", "colour")])
for k in range(int(sys.argv[1])):
    window.switch_to()
    window.dispatch_events()
    context.screen.use()
    context.clear(0.1, 0.1, 0.2)
    program["angle"].value = k * 0.1
    triangle.render()
    window.flip()
