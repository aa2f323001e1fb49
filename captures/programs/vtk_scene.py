"""Three solids in a window, with VTK (OpenGL); the argument is the number of frames."""

import sys

import vtk

renderer = vtk.vtkRenderer()
renderer.SetBackground(0.1, 0.2, 0.4)
solids = [
    (vtk.vtkConeSource(), (1, 0.5, 0.2)),
    (vtk.vtkSphereSource(), (0.3, 0.9, 0.5)),
    (vtk.vtkSuperquadricSource(), (0.6, 0.4, 1)),
]
for i, (source, colour) in enumerate(solids):
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputConnection(source.GetOutputPort())
    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().SetColor(colour)
    actor.SetPosition(i * 1.3 - 1.3, 0, 0)
    renderer.AddActor(actor)
window = vtk.vtkRenderWindow()
window.SetMultiSamples(4)
window.SetSize(320, 240)
window.AddRenderer(renderer)
for _ in range(int(sys.argv[1])):
    renderer.GetActiveCamera().Azimuth(5)
    window.Render()
