"""Circles, a turning rectangle and text, with pyglet (OpenGL); the argument is the number of frames."""

import math
import sys

import pyglet

window = pyglet.window.Window(320, 240)
batch = pyglet.graphics.Batch()
circles = [
    pyglet.shapes.Circle(
        160 + 100 * math.cos(i),
        120 + 80 * math.sin(i),
        20,
        color=(40 * i % 255, 200, 255 - 30 * i),
        batch=batch,
    )
    for i in range(7)
]
rectangle = pyglet.shapes.Rectangle(160, 120, 80, 40, color=(255, 120, 0), batch=batch)
label = pyglet.text.Label("pyglet", x=10, y=10, batch=batch)
for k in range(int(sys.argv[1])):
    window.switch_to()
    window.dispatch_events()
    window.clear()
    rectangle.rotation = k * 7
    batch.draw()
    window.flip()
