"""The Mandelbrot set by one dispatch of wgpu, read back and written to own.ppm."""

import numpy as np
import wgpu
from PIL import Image

SHADER = """
@group(0) @binding(0) var<storage, read_write> image: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let c = vec2(f32(id.x % 64u) / 32.0 - 1.5, f32(id.x / 64u) / 32.0 - 1.0);
    var z = vec2(0.0);
    var k = 0u;
    loop {
        if (k >= 255u || dot(z, z) > 4.0) { break; }
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        k++;
    }
    image[id.x] = k | (k << 8u) | (k << 16u) | 0xff000000u;
}
"""
SIDE = 64
device = wgpu.gpu.request_adapter_sync().request_device_sync()
size = SIDE * SIDE * 4
image = device.create_buffer(size=size, usage=wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC)
module = device.create_shader_module(code=SHADER)
pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
entries = [{"binding": 0, "resource": {"buffer": image, "offset": 0, "size": size}}]
group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
encoder = device.create_command_encoder()
compute = encoder.begin_compute_pass()
compute.set_pipeline(pipeline)
compute.set_bind_group(0, group)
compute.dispatch_workgroups(SIDE * SIDE // 64)
compute.end()
device.queue.submit([encoder.finish()])
pixels = np.frombuffer(device.queue.read_buffer(image), np.uint8).reshape(SIDE, SIDE, 4)
Image.fromarray(pixels[:, :, :3]).save("own.ppm")
