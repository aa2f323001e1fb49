"""Writes points with the rerun SDK and shows them in its viewer, which draws with wgpu on Vulkan."""

import os
import sys

import numpy as np
import rerun as rr

random = np.random.default_rng(0)
rr.init("corpus")
rr.save("points.rrd")
rr.log(
    "points", rr.Points3D(random.normal(size=(500, 3)), colors=random.integers(0, 255, (500, 3)), radii=0.05)
)
rr.disconnect()
viewer = os.path.join(os.path.dirname(sys.executable), "rerun")
os.execv(
    viewer,
    ["rerun", "points.rrd", "--renderer", "vulkan", "--window-size", "640x480", "--hide-welcome-screen"],
)
