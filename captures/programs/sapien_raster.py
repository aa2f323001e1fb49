"""Boxes and a sphere falling onto the ground, drawn by SAPIEN's rasteriser; the picture goes to own.ppm."""

import numpy as np
import sapien
from PIL import Image

scene = sapien.Scene()
scene.set_ambient_light([0.4, 0.4, 0.4])
scene.add_directional_light([0, 1, -1], [0.7, 0.7, 0.7], shadow=True)
scene.add_ground(0)
for i, height in enumerate([0.3, 0.6]):
    box = scene.create_actor_builder()
    box.add_box_visual(half_size=[0.2, 0.2, 0.2], material=[1, 0.3 * i, 0.2, 1])
    box.add_box_collision(half_size=[0.2, 0.2, 0.2])
    box.build().set_pose(sapien.Pose([0, i * 0.5 - 0.25, height]))
ball = scene.create_actor_builder()
ball.add_sphere_visual(radius=0.25, material=[0.1, 0.6, 0.9])
ball.add_sphere_collision(radius=0.25)
ball.build().set_pose(sapien.Pose([0.5, 0.3, 0.8]))
camera = scene.add_camera("camera", width=256, height=192, fovy=1, near=0.1, far=50)
camera.entity.set_pose(sapien.Pose([-2, 0, 1]))
for _ in range(30):
    scene.step()
scene.update_render()
camera.take_picture()
colours = np.clip(camera.get_picture("Color")[:, :, :3], 0, 1)
Image.fromarray(np.rint(colours * 255).astype(np.uint8)).save("own.ppm")
