"""A block of fluid by the material point method, with taichi on Vulkan; the argument is the number of frames."""

import sys

import taichi as ti

ti.init(arch=ti.vulkan, offline_cache=False)
PARTICLES, CELLS, DT, VOLUME, STIFFNESS = 2000, 64, 2e-4, 1e-4, 400
DX = 1 / CELLS
position = ti.Vector.field(2, float, PARTICLES)
velocity = ti.Vector.field(2, float, PARTICLES)
affine = ti.Matrix.field(2, 2, float, PARTICLES)
stretch = ti.field(float, PARTICLES)
momentum = ti.Vector.field(2, float, (CELLS, CELLS))
mass = ti.field(float, (CELLS, CELLS))


@ti.kernel
def begin():
    for i in position:
        position[i] = [(i % 45) / 45 * 0.4 + 0.2, (i // 45) / 45 * 0.4 + 0.2]
        velocity[i] = [0, -1]
        stretch[i] = 1


@ti.func
def weights(f):
    return [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1) ** 2, 0.5 * (f - 0.5) ** 2]


@ti.kernel
def step():
    for cell in ti.grouped(mass):
        momentum[cell] = [0, 0]
        mass[cell] = 0
    for p in position:
        base = int(position[p] / DX - 0.5)
        f = position[p] / DX - base
        w = weights(f)
        stress = -DT * 4 * STIFFNESS * VOLUME * (stretch[p] - 1) / DX**2
        push = ti.Matrix([[stress, 0], [0, stress]]) + VOLUME * affine[p]
        for i, j in ti.static(ti.ndrange(3, 3)):
            offset = ti.Vector([i, j])
            weight = w[i].x * w[j].y
            momentum[base + offset] += weight * (VOLUME * velocity[p] + push @ ((offset - f) * DX))
            mass[base + offset] += weight * VOLUME
    for i, j in mass:
        if mass[i, j] > 0:
            momentum[i, j] /= mass[i, j]
        momentum[i, j].y -= DT * 9.8
        if (i < 3 and momentum[i, j].x < 0) or (i > CELLS - 3 and momentum[i, j].x > 0):
            momentum[i, j].x = 0
        if j < 3 and momentum[i, j].y < 0:
            momentum[i, j].y = 0
    for p in position:
        base = int(position[p] / DX - 0.5)
        f = position[p] / DX - base
        w = weights(f)
        v = ti.Vector.zero(float, 2)
        c = ti.Matrix.zero(float, 2, 2)
        for i, j in ti.static(ti.ndrange(3, 3)):
            offset = ti.Vector([i, j])
            weight = w[i].x * w[j].y
            g = momentum[base + offset]
            v += weight * g
            c += 4 * weight * g.outer_product((offset - f) * DX) / DX**2
        velocity[p] = v
        position[p] += DT * v
        stretch[p] *= 1 + DT * c.trace()
        affine[p] = c


begin()
window = ti.ui.Window("fluid", (256, 256))
canvas = window.get_canvas()
for _ in range(int(sys.argv[1])):
    for _ in range(5):
        step()
    canvas.set_background_color((0.1, 0.2, 0.3))
    canvas.circles(position, radius=0.004, color=(0.9, 0.6, 0.2))
    window.show()
