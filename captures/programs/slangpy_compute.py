"""Rings by one dispatch of slangpy into a buffer of pixels, read back and written to own.ppm."""

import numpy as np
import slangpy as spy
from PIL import Image

SHADER = """
RWStructuredBuffer<uint> pixels;

[shader("compute")] [numthreads(8, 8, 1)]
void main(uint3 id : SV_DispatchThreadID) {
    float2 p = float2(id.xy) / 64.0 - 1.0;
    float r = length(p);
    uint3 colour = uint3(255.0 * float3(saturate(1.0 - r), 0.5 + 0.5 * sin(20 * r), p.x * 0.5 + 0.5));
    pixels[id.y * 128 + id.x] = colour.x | (colour.y << 8) | (colour.z << 16) | 0xff000000;
}
"""
device = spy.Device(type=spy.DeviceType.vulkan)
module = device.load_module_from_source("rings", SHADER)
kernel = device.create_compute_kernel(device.link_program([module], [module.entry_point("main")]))
usage = spy.BufferUsage.unordered_access | spy.BufferUsage.copy_source
pixels = device.create_buffer(element_count=128 * 128, struct_size=4, usage=usage)
kernel.dispatch(thread_count=[128, 128, 1], vars={"pixels": pixels})
values = np.frombuffer(pixels.to_numpy().tobytes(), np.uint8).reshape(128, 128, 4)
Image.fromarray(values[:, :, :3]).save("own.ppm")
