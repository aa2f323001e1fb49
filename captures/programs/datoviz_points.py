"""Coloured points that can be turned, with datoviz; runs until it is stopped."""

import datoviz as dvz
import numpy as np

random = np.random.default_rng(0)
count = 2000
app = dvz.App()
panel = app.figure(320, 240).panel()
panel.arcball()
points = app.point(
    position=(random.normal(size=(count, 3)) * 0.3).astype(np.float32),
    color=(random.integers(0, 255, (count, 4)) | np.array([0, 0, 0, 255])).astype(np.uint8),
    size=random.uniform(3, 12, count).astype(np.float32),
)
panel.add(points)
app.run()
app.destroy()
