"""Writes procedural textures of the same kinds into a folder of SaschaWillems/Vulkan-Assets, where its own are missing."""

import os, struct, sys

import numpy as np

A = sys.argv[1].rstrip("/") + "/"


def pattern(n, seed):
    y, x = np.mgrid[0:n, 0:n]
    r = (x * 255 // n) ^ (seed * 37 & 255)
    g = y * 255 // n
    b = (((x * 8 // n) + (y * 8 // n)) % 2) * 200 + ((seed * 53) & 31)
    a = np.where(((x - n / 2) ** 2 + (y - n / 2) ** 2) < (n * 0.45) ** 2, 255, 64)
    return np.stack([r & 255, g & 255, b & 255, a], -1).astype(np.uint8)


def write(path, n, layers=0, faces=1, half=False, mips=None):
    mips = mips or n.bit_length()
    out = bytearray(bytes([0xAB, 0x4B, 0x54, 0x58, 0x20, 0x31, 0x31, 0xBB, 0x0D, 0x0A, 0x1A, 0x0A]))
    out += struct.pack(
        "<13I",
        0x04030201,
        0x140B if half else 0x1401,
        2 if half else 1,
        0x1908,
        0x881A if half else 0x8058,
        0x1908,
        n,
        n,
        0,
        layers,
        faces,
        mips,
        0,
    )
    for m in range(mips):
        s = max(1, n >> m)
        d = b""
        for l in range(max(1, layers)):
            for f in range(faces):
                p = pattern(s, l * 6 + f + 1)
                d += (p.astype(np.float32) / 64).astype(np.float16).tobytes() if half else p.tobytes()
        per = len(d) // faces if (faces == 6 and layers == 0) else len(d)
        out += struct.pack("<I", per) + d
    p = A + path
    if not os.path.exists(p):
        os.makedirs(os.path.dirname(p), exist_ok=True)
        open(p, "wb").write(out)
        print(path, len(out))


for (
    p
) in """textures/vulkan_cloth_rgba textures/vulkan_11_rgba models/armor/colormap_rgba models/armor/normalmap_rgba textures/stonefloor01_color_rgba textures/stonefloor01_normal_rgba textures/stonefloor02_color_rgba textures/stonefloor02_normal_rgba textures/stonefloor03_color_height_rgba textures/texture_orientation_ccw_rgba textures/texture_orientation_cw_rgba textures/rocks_color_rgba textures/rocks_normal_height_rgba textures/fireplace_colormap_rgba models/cerberus/albedo models/cerberus/ao models/cerberus/metallic models/cerberus/normal models/cerberus/roughness textures/gratefloor_rgba textures/skysphere_rgba""".split():
    write(p + ".ktx", 256)
for (
    p
) in """textures/texturearray_plants_rgba textures/texturearray_rocks_rgba textures/terrain_texturearray_rgba""".split():
    write(p + ".ktx", 128, layers=8)
for p in """textures/cubemap_space textures/cubemap_yokohama_rgba textures/cubemap_vulkan""".split():
    write(p + ".ktx", 128, faces=6)
for p in "textures/hdr/uffizi_cube textures/hdr/pisa_cube textures/hdr/gcanyon_cube".split():
    write(p + ".ktx", 128, faces=6, half=True)
write("textures/cubemap_array.ktx", 64, layers=3, faces=6)
from PIL import Image

for (
    p
) in "FlightHelmet_baseColor1 FlightHelmet_normal1 FlightHelmet_occlusionRoughnessMetallic FlightHelmet_occlusionRoughnessMetallic1 FlightHelmet_occlusionRoughnessMetallic4".split():
    f = A + "models/FlightHelmet/glTF/" + p + ".png"
    os.makedirs(os.path.dirname(f), exist_ok=True)
    if not os.path.exists(f):
        Image.fromarray(pattern(256, 3)).save(f)
