"""A turning triangle in a window, with wgpu.

The arguments are the number of frames, that of samples (1), and what becomes of these behind the render pass (discard).
"""

import struct
import sys

import wgpu
from rendercanvas.glfw import RenderCanvas, loop

SHADER = """
struct Vertex { @builtin(position) position: vec4<f32>, @location(0) colour: vec3<f32> };
@group(0) @binding(0) var<uniform> turn: vec4<f32>;
@vertex fn vertex(@builtin(vertex_index) i: u32) -> Vertex {
    let angle = f32(i) * 2.0944 + turn.x;
    return Vertex(vec4(cos(angle) * 0.8, sin(angle) * 0.8, 0.0, 1.0), vec3(f32(i == 0u), f32(i == 1u), f32(i == 2u)));
}
@fragment fn fragment(v: Vertex) -> @location(0) vec4<f32> { return vec4(v.colour, 1.0); }
"""
frames = int(sys.argv[1])
samples, store = int([*sys.argv, "1"][2]), [*sys.argv[3:], "discard"][0]
canvas = RenderCanvas(size=(320, 240), title="triangle", update_mode="continuous", max_fps=60)
adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
device = adapter.request_device_sync()
context = canvas.get_context("wgpu")
form = context.get_preferred_format(adapter)
context.configure(device=device, format=form)
module = device.create_shader_module(code=SHADER)
uniform = device.create_buffer(size=16, usage=wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST)
pipeline = device.create_render_pipeline(
    layout="auto",
    vertex={"module": module, "entry_point": "vertex"},
    primitive={"topology": "triangle-list"},
    multisample={"count": samples},
    fragment={"module": module, "entry_point": "fragment", "targets": [{"format": form}]},
)
entries = [{"binding": 0, "resource": {"buffer": uniform, "offset": 0, "size": 16}}]
group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
drawn = 0
if samples > 1:
    drawn_to = device.create_texture(
        size=(320, 240, 1), format=form, sample_count=samples, usage=wgpu.TextureUsage.RENDER_ATTACHMENT
    ).create_view()


def draw():
    global drawn
    drawn += 1
    device.queue.write_buffer(uniform, 0, struct.pack("4f", drawn * 0.1, 0, 0, 0))
    encoder = device.create_command_encoder()
    view = context.get_current_texture().create_view()
    attachment = {"view": view, "clear_value": (0, 0.1, 0.2, 1), "load_op": "clear", "store_op": "store"}
    if samples > 1:
        attachment |= {"view": drawn_to, "resolve_target": view, "store_op": store}
    render = encoder.begin_render_pass(color_attachments=[attachment])
    render.set_pipeline(pipeline)
    render.set_bind_group(0, group)
    render.draw(3, 1, 0, 0)
    render.end()
    device.queue.submit([encoder.finish()])
    if drawn >= frames:
        canvas.close()


canvas.request_draw(draw)
loop.run()
