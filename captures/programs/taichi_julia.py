"""A Julia set with taichi on Vulkan: N frames in a window, or, without an argument, one image to own.ppm."""

import sys

import numpy as np
import taichi as ti
from PIL import Image

ti.init(arch=ti.vulkan, offline_cache=False)
N = 160
pixels = ti.field(dtype=float, shape=(N * 2, N))


@ti.func
def square(z):
    return ti.Vector([z[0] ** 2 - z[1] ** 2, z[1] * z[0] * 2])


@ti.kernel
def paint(t: float):
    for i, j in pixels:
        c = ti.Vector([-0.8, ti.cos(t) * 0.2])
        z = ti.Vector([i / N - 1, j / N - 0.5]) * 2
        steps = 0
        while z.norm() < 20 and steps < 50:
            z = square(z) + c
            steps += 1
        pixels[i, j] = 1 - steps * 0.02


if len(sys.argv) > 1:
    window = ti.ui.Window("julia", (N * 2, N))
    canvas = window.get_canvas()
    for k in range(int(sys.argv[1])):
        paint(k * 0.03)
        canvas.set_image(pixels)
        window.show()
else:
    paint(0.3)
    # As it lies in the buffer: N values a row.
    values = np.rint(np.clip(pixels.to_numpy(), 0, 1) * 255).astype(np.uint8)
    Image.fromarray(values).convert("RGB").save("own.ppm")
