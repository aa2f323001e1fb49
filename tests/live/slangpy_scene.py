"""A ray-tracing-pipeline scene for the recorder: slangpy's own objects, shader tables and descriptor handling.

slangpy_scene.py PNG [FRAMES]. Writes the last frame as the program itself read it back. Bottom-level structures are
built once and one of them compacted, the top-level structure is rebuilt every frame with the instances where they are
then.
"""

import math
import sys
from pathlib import Path

import numpy as np
import slangpy as spy
from PIL import Image

PNG = sys.argv[1]
FRAMES = int(sys.argv[2]) if len(sys.argv) > 2 else 12
WIDTH, HEIGHT = 192, 108

device = spy.Device(
    type=spy.DeviceType.vulkan,
    compiler_options={"include_paths": [Path(__file__).parent]},
    shader_cache_path=None,
)
for feature in (spy.Feature.acceleration_structure, spy.Feature.ray_tracing):
    if not device.has_feature(feature):
        sys.exit(f"slangpy_scene: the device lacks {feature}")


def submit(encoder):
    device.submit_command_buffer(encoder.finish())


def buffer(data, usage=spy.BufferUsage.shader_resource):
    return device.create_buffer(usage=usage, data=data)


def build(inputs, kind, flags=spy.AccelerationStructureBuildFlags.none, queries=()):
    desc = spy.AccelerationStructureBuildDesc({"inputs": [inputs], "flags": flags})
    sizes = device.get_acceleration_structure_sizes(desc)
    scratch = device.create_buffer(size=sizes.scratch_size, usage=spy.BufferUsage.unordered_access)
    structure = device.create_acceleration_structure(kind=kind, size=sizes.acceleration_structure_size)
    encoder = device.create_command_encoder()
    encoder.build_acceleration_structure(
        desc=desc, dst=structure, src=None, scratch_buffer=scratch, queries=list(queries)
    )
    submit(encoder)
    return structure


def torus(rings, sides):
    at = []
    for i in range(rings):
        for j in range(sides):
            u, v = 2 * math.pi * i / rings, 2 * math.pi * j / sides
            r = 0.7 + 0.28 * math.cos(v)
            at.append((r * math.cos(u), 0.28 * math.sin(v), r * math.sin(u)))
    faces = []
    for i in range(rings):
        for j in range(sides):
            a, b = i * sides + j, i * sides + (j + 1) % sides
            c, d = (i + 1) % rings * sides + j, (i + 1) % rings * sides + (j + 1) % sides
            faces += [(a, b, c), (b, d, c)]
    return at, faces


def plane():
    s = 6.0
    return [(-s, 0, -s), (s, 0, -s), (-s, 0, s), (s, 0, s)], [(0, 2, 1), (1, 2, 3)]


# One vertex and one index buffer for both meshes: the shaders find a triangle by its number in the whole.
meshes, vertices, triangles = [], [], []
for at, faces in (plane(), torus(32, 16)):
    meshes.append((len(triangles), len(faces)))
    triangles += [tuple(len(vertices) + i for i in face) for face in faces]
    vertices += at
vertex_data = np.array(vertices, dtype=np.float32)
index_data = np.array(triangles, dtype=np.uint32)
usage = spy.BufferUsage.shader_resource | spy.BufferUsage.acceleration_structure_build_input
vertex_buffer, index_buffer = buffer(vertex_data, usage), buffer(index_data, usage)


def bottom(first, count, opaque, queries=()):
    inputs = spy.AccelerationStructureBuildInputTriangles(
        {
            "vertex_buffers": [vertex_buffer],
            "vertex_format": spy.Format.rgb32_float,
            "vertex_count": len(vertices),
            "vertex_stride": 12,
            "index_buffer": {"buffer": index_buffer, "offset": first * 12},
            "index_format": spy.IndexFormat.uint32,
            "index_count": count * 3,
            "flags": spy.AccelerationStructureGeometryFlags.opaque
            if opaque
            else spy.AccelerationStructureGeometryFlags.none,
        }
    )
    allow = spy.AccelerationStructureBuildFlags.allow_compaction
    return build(inputs, spy.AccelerationStructureKind.bottom_level, allow, queries)


def compacted(first, count, opaque):
    kind = spy.QueryType.acceleration_structure_compacted_size
    pool = device.create_query_pool(type=kind, count=1)
    query = {"query_type": kind, "query_pool": pool, "first_query_index": 0}
    structure = bottom(first, count, opaque, [query])
    device.wait_for_idle()
    smaller = device.create_acceleration_structure(
        kind=spy.AccelerationStructureKind.bottom_level, size=pool.get_result(0)
    )
    encoder = device.create_command_encoder()
    encoder.copy_acceleration_structure(smaller, structure, spy.AccelerationStructureCopyMode.compact)
    submit(encoder)
    return smaller


floor = bottom(*meshes[0], opaque=True)
ring = compacted(*meshes[1], opaque=False)

program = device.load_program(
    "slangpy_scene.slang", ["look", "sky", "unblocked", "matt", "mirror", "bands"]
)
pipeline = device.create_ray_tracing_pipeline(
    program=program,
    hit_groups=[
        spy.HitGroupDesc(hit_group_name="matt group", closest_hit_entry_point="matt", any_hit_entry_point="bands"),
        spy.HitGroupDesc(hit_group_name="mirror group", closest_hit_entry_point="mirror"),
    ],
    max_recursion=5,
    max_ray_payload_size=16,
)
# The geometry stride that the shaders trace with is 2: an instance's own record is at twice its material.
table = device.create_shader_table(
    program=program,
    ray_gen_entry_points=["look"],
    miss_entry_points=["sky", "unblocked"],
    hit_group_names=["matt group", "mirror group"],
)
picture = device.create_texture(
    format=spy.Format.rgba32_float,
    width=WIDTH,
    height=HEIGHT,
    usage=spy.TextureUsage.unordered_access | spy.TextureUsage.copy_source,
)
colours = buffer(
    np.array([(0.75, 0.75, 0.7, 1), (0.9, 0.35, 0.2, 1), (0.3, 0.65, 0.9, 1), (0.95, 0.95, 0.95, 1)], dtype=np.float32)
)
instances = device.create_acceleration_structure_instance_list(4)
triangle_views = [buffer(index_data)]


def place(index, structure, material, x, y, z, tilt):
    c, s = math.cos(tilt), math.sin(tilt)
    rows = np.array([[1, 0, 0, x], [0, c, -s, y], [0, s, c, z]], dtype=np.float32)
    instances.write(
        index,
        {
            "transform": spy.float3x4(rows),
            "instance_id": index,
            "instance_mask": 0xFF,
            "instance_contribution_to_hit_group_index": material,
            "flags": spy.AccelerationStructureInstanceFlags.none,
            "acceleration_structure": structure.handle,
        },
    )


for frame in range(FRAMES):
    turn = frame / FRAMES * math.pi
    place(0, floor, 0, 0, -0.6, 0, 0)
    place(1, ring, 0, -1.2, 0.6 + 0.2 * math.sin(turn), 0, 1.2 + turn)
    place(2, ring, 0, 1.3, 0.5, -0.4, 0.5 - turn)
    place(3, ring, 1, 0.1, 0.9, -1.6, 1.6 + 0.5 * turn)
    scene = build(instances.build_input_instances(), spy.AccelerationStructureKind.top_level)
    encoder = device.create_command_encoder()
    with encoder.begin_ray_tracing_pass() as rays:
        root = rays.bind_pipeline(pipeline, table)
        cursor = spy.ShaderCursor(root)
        cursor.scene = scene
        cursor.picture = picture
        cursor.vertices = vertex_buffer
        cursor.triangles = triangle_views[0]
        cursor.colours = colours
        cursor.frame = frame
        rays.dispatch_rays(0, [WIDTH, HEIGHT, 1])
    submit(encoder)
    pixels = picture.to_numpy()

Image.fromarray((np.clip(pixels, 0, 1) * 255 + 0.5).astype(np.uint8), "RGBA").save(PNG)
print(f"{FRAMES} frames, mean {pixels[..., :3].mean():.6f}")
