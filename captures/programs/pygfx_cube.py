"""A textured cube and a torus knot with shadows, with pygfx; the argument is the number of frames."""

import sys

import numpy as np
import pygfx as gfx
import pylinalg as la
from rendercanvas.glfw import RenderCanvas, loop

frames = int(sys.argv[1])
canvas = RenderCanvas(size=(320, 240), title="cube", update_mode="continuous", max_fps=60)
renderer = gfx.renderers.WgpuRenderer(canvas)
scene = gfx.Scene()
x, y = np.meshgrid(np.arange(64) * 4, np.arange(64) * 4)
texture = gfx.Texture(np.stack([x, y, (x ^ y) & 255, np.full_like(x, 255)], -1).astype(np.uint8), dim=2)
cube = gfx.Mesh(gfx.box_geometry(200, 200, 200), gfx.MeshPhongMaterial(map=texture))
knot = gfx.Mesh(
    gfx.torus_knot_geometry(100, 20, 64, 12),
    gfx.MeshStandardMaterial(color="#8af", metalness=0.5, roughness=0.3),
)
knot.local.position = (180, 0, 0)
light = gfx.DirectionalLight(cast_shadow=True)
light.local.position = (300, 400, 500)
scene.add(cube, knot, gfx.AmbientLight(), light)
camera = gfx.PerspectiveCamera(70, 4 / 3)
camera.local.z = 500
drawn = 0


def draw():
    global drawn
    drawn += 1
    cube.local.rotation = la.quat_mul(la.quat_from_euler((0.02, 0.05), order="XY"), cube.local.rotation)
    renderer.render(scene, camera)
    if drawn >= frames:
        canvas.close()


canvas.request_draw(draw)
loop.run()
