"""A scene of real 3D for the recorder: pygfx over wgpu over Vulkan, every frame of it, off screen.

pygfx_scene.py LAST_FRAME.png [FRAMES]. 48 meshes of eight geometries and five materials, two of them
textured, on a floor that receives shadows, lines and points, an ambient, a directional and a point light.
Everything moves by the frame's number, so runs on one driver draw the same. Writes the last frame as the
program itself read it back.
"""

import math
import sys

import numpy as np
import pygfx as gfx
import wgpu
from PIL import Image
from rendercanvas.offscreen import OffscreenRenderCanvas
from wgpu.backends.wgpu_native.extras import set_instance_extras

OUT = sys.argv[1]
FRAMES = int(sys.argv[2]) if len(sys.argv) > 2 else 40
SIZE = (320, 240)

set_instance_extras(backends=["Vulkan"])
adapters = [a for a in wgpu.gpu.enumerate_adapters_sync() if a.info["backend_type"] == "Vulkan"]
if not adapters:
    sys.exit("pygfx_scene: no Vulkan adapter")
gfx.renderers.wgpu.select_adapter(adapters[0])
print("pygfx_scene:", adapters[0].info["device"], adapters[0].info["backend_type"])

random = np.random.default_rng(11)
canvas = OffscreenRenderCanvas(size=SIZE, pixel_ratio=1)
renderer = gfx.WgpuRenderer(canvas, pixel_ratio=1)
scene = gfx.Scene()
scene.add(gfx.Background.from_color("#202838", "#90a0b0"))
scene.add(gfx.AmbientLight("#ffffff", 0.4))
sun = gfx.DirectionalLight("#fff0d8", 1.2)
sun.local.position = (6, 12, 8)
sun.cast_shadow = True
sun.shadow.camera.width = sun.shadow.camera.height = 24
lamp = gfx.PointLight("#88aaff", 6)
scene.add(sun, lamp)

checker = np.indices((64, 64)).sum(0) // 8 % 2
pattern = np.zeros((64, 64, 4), np.uint8)
pattern[..., 0], pattern[..., 1], pattern[..., 2], pattern[..., 3] = 230 - 150 * checker, 90, 60 + 140 * checker, 255
noise = random.integers(0, 256, (32, 32, 4), dtype=np.uint8)
noise[..., 3] = 255
textures = [gfx.Texture(pattern, dim=2), gfx.Texture(noise, dim=2)]

floor = gfx.Mesh(gfx.plane_geometry(22, 22), gfx.MeshPhongMaterial(color="#778877"))
floor.local.rotation = (-math.sqrt(0.5), 0, 0, math.sqrt(0.5))
floor.receive_shadow = True
scene.add(floor)

geometries = [
    gfx.box_geometry(1, 1, 1),
    gfx.sphere_geometry(0.6, 24, 12),
    gfx.cylinder_geometry(0.4, 0.6, 1.2, 16),
    gfx.cone_geometry(0.6, 1.2, 12),
    gfx.torus_knot_geometry(0.4, 0.14, 48, 8),
    gfx.icosahedron_geometry(0.6),
    gfx.octahedron_geometry(0.7),
    gfx.tetrahedron_geometry(0.7),
]
objects = []
for k in range(48):
    color = tuple(float(c) for c in random.uniform(0.2, 1, 3)) + (1.0,)
    material = [
        lambda: gfx.MeshPhongMaterial(color=color, shininess=40),
        lambda: gfx.MeshStandardMaterial(color=color, roughness=0.4, metalness=0.3),
        lambda: gfx.MeshBasicMaterial(color=color, wireframe=True, wireframe_thickness=2),
        lambda: gfx.MeshNormalMaterial(),
        lambda: gfx.MeshPhongMaterial(map=textures[k // 5 % 2]) if k % 8 < 2 else gfx.MeshPhongMaterial(color=color, flat_shading=True),
    ][k % 5]()
    mesh = gfx.Mesh(geometries[k % 8], material)
    mesh.cast_shadow = True
    mesh.receive_shadow = k % 3 == 0
    scene.add(mesh)
    objects.append(mesh)

angle = np.linspace(0, 12 * math.pi, 400, dtype=np.float32)
helix = np.stack([9 * np.cos(angle), 0.1 * angle, 9 * np.sin(angle)], axis=1).astype(np.float32)
scene.add(gfx.Line(gfx.Geometry(positions=helix), gfx.LineMaterial(thickness=2, color="#ffcc44")))
cloud = gfx.Points(
    gfx.Geometry(positions=random.uniform(-9, 9, (300, 3)).astype(np.float32)),
    gfx.PointsMaterial(size=4, color="#ffffff"),
)
cloud.local.position = (0, 9, 0)
scene.add(cloud)

camera = gfx.PerspectiveCamera(55, SIZE[0] / SIZE[1])


def draw(frame):
    turn = frame * 0.05
    for k, mesh in enumerate(objects):
        ring, place = divmod(k, 12)
        around = place * math.pi / 6 + turn * (1 if ring % 2 else -1)
        radius = 2.5 + 2 * ring
        mesh.local.position = (
            radius * math.cos(around),
            1.2 + 0.5 * math.sin(turn * 3 + k),
            radius * math.sin(around),
        )
        half = (turn + k) / 2
        mesh.local.rotation = (0, math.sin(half), 0, math.cos(half))
    lamp.local.position = (4 * math.cos(turn), 3, 4 * math.sin(turn))
    camera.local.position = (13 * math.sin(turn / 4), 8, 13 * math.cos(turn / 4))
    camera.look_at((0, 0.5, 0))
    renderer.render(scene, camera)


for frame in range(FRAMES):
    canvas.request_draw(lambda: draw(frame))
    image = np.asarray(canvas.draw())
Image.fromarray(image[..., :3]).save(OUT)
print(f"pygfx_scene: {FRAMES} frames, {len(objects)} meshes, mean of the last frame {image[..., :3].mean():.4f}")
