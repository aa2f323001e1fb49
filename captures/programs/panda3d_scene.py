"""The panda of panda3d in its landscape (OpenGL); the argument is the number of frames."""

import sys

from panda3d.core import DirectionalLight, loadPrcFileData

loadPrcFileData("", "win-size 320 240\naudio-library-name null\nsync-video 0\nload-display pandagl")
from direct.showbase.ShowBase import ShowBase  # noqa: E402  (reads the settings above)

base = ShowBase()
panda = base.loader.loadModel("models/panda")
panda.reparentTo(base.render)
panda.setPos(0, 40, -5)
land = base.loader.loadModel("models/environment")
land.reparentTo(base.render)
land.setScale(0.25)
land.setPos(-8, 42, -6)
light = base.render.attachNewNode(DirectionalLight("sun"))
light.setHpr(30, -50, 0)
base.render.setLight(light)
for k in range(int(sys.argv[1])):
    panda.setH(k * 6)
    base.taskMgr.step()
