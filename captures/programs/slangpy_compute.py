"""Rings by one dispatch of slangpy into a storage image, read back and written to own.ppm."""
import numpy as np
import slangpy as spy
from PIL import Image

SHADER = """
[shader("compute")] [numthreads(8, 8, 1)]
void main(uint3 id : SV_DispatchThreadID, uniform RWTexture2D<float4> image) {
    float2 p = float2(id.xy) / 64.0 - 1.0;
    float r = length(p);
    image[id.xy] = float4(saturate(1.0 - r), 0.5 + 0.5 * sin(20 * r), p.x * 0.5 + 0.5, 1);
}
"""
device = spy.Device(type=spy.DeviceType.vulkan)
module = device.load_module_from_source("rings", SHADER)
program = device.link_program([module], [module.entry_point("main")])
kernel = device.create_compute_kernel(program)
image = device.create_texture(
    type=spy.TextureType.texture_2d,
    format=spy.Format.rgba8_unorm,
    width=128,
    height=128,
    usage=spy.TextureUsage.unordered_access | spy.TextureUsage.copy_source | spy.TextureUsage.shader_resource,
)
kernel.dispatch(thread_count=[128, 128, 1], vars={"image": image})
Image.fromarray(image.to_numpy()[:, :, :3].astype(np.uint8)).save("own.ppm")
