"""A compute-only scene for the recorder: a Julia set and a particle simulation, several kernels a step.

taichi_scene.py [STEPS]. Prints what the program itself computed (integers, the same in every run on one
driver), so that a replay's final buffers have something to be compared with.
"""

import sys

import numpy as np
import taichi as ti

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 30
WIDTH, HEIGHT = 320, 160
PARTICLES, CELLS = 2048, 32

ti.init(arch=ti.vulkan, random_seed=7, offline_cache=False)
if ti.lang.impl.current_cfg().arch != ti.vulkan:
    sys.exit("taichi_scene: no Vulkan device")

pixels = ti.field(ti.f32, (WIDTH, HEIGHT))
position = ti.Vector.field(2, ti.f32, PARTICLES)
velocity = ti.Vector.field(2, ti.f32, PARTICLES)
count = ti.field(ti.i32, (CELLS, CELLS))
density = ti.field(ti.f32, (CELLS, CELLS))
histogram = ti.field(ti.i32, 16)


@ti.func
def square(z):
    return ti.Vector([z[0] ** 2 - z[1] ** 2, 2 * z[0] * z[1]])


@ti.kernel
def julia(t: ti.f32):
    for i, j in pixels:
        c = ti.Vector([-0.8, ti.cos(t) * 0.2])
        z = ti.Vector([i / HEIGHT - 1, j / HEIGHT - 0.5]) * 2
        n = 0
        while z.norm() < 20 and n < 50:
            z = square(z) + c
            n += 1
        pixels[i, j] = 1 - n * 0.02


@ti.kernel
def deposit():
    for p in position:
        cell = ti.min(ti.max(ti.cast(position[p] * CELLS, ti.i32), 0), CELLS - 1)
        ti.atomic_add(count[cell], 1)


@ti.kernel
def smooth():
    for i, j in density:
        total = 0.0
        for di, dj in ti.static(ti.ndrange((-1, 2), (-1, 2))):
            total += count[ti.min(ti.max(i + di, 0), CELLS - 1), ti.min(ti.max(j + dj, 0), CELLS - 1)]
        density[i, j] = total / 9


@ti.kernel
def push(dt: ti.f32):
    for p in position:
        cell = ti.min(ti.max(ti.cast(position[p] * CELLS, ti.i32), 1), CELLS - 2)
        i, j = cell[0], cell[1]
        gradient = ti.Vector([density[i + 1, j] - density[i - 1, j], density[i, j + 1] - density[i, j - 1]])
        velocity[p] += dt * (ti.Vector([0.0, -1.0]) - 0.2 * gradient)
        position[p] += dt * velocity[p]
        for k in ti.static(range(2)):
            if position[p][k] < 0 or position[p][k] > 1:
                velocity[p][k] *= -0.8
                position[p][k] = ti.min(ti.max(position[p][k], 0.0), 1.0)


@ti.kernel
def bin_pixels():
    for i, j in pixels:
        ti.atomic_add(histogram[ti.min(ti.max(ti.cast(pixels[i, j] * 16, ti.i32), 0), 15)], 1)


random = np.random.default_rng(7)
position.from_numpy(random.random((PARTICLES, 2), dtype=np.float32))
for step in range(STEPS):
    julia(step * 0.03)
    for _ in range(3):
        count.fill(0)
        deposit()
        smooth()
        push(0.004)
    if step % 10 == 9:
        histogram.fill(0)
        bin_pixels()
        print(f"step {step + 1}: histogram {histogram.to_numpy().tolist()}")
count.fill(0)
deposit()
print(f"particles {int(count.to_numpy().sum())}, fullest cell {int(count.to_numpy().max())}")
