//! An acceleration structure that is updated, by what it serialises to.

use super::*;
use crate::vulkan::ray::Structure;
use ash::khr::acceleration_structure::Device as Functions;

const VERTICES: u64 = 200;
const STORAGE: u64 = 201;
const SCRATCH: u64 = 202;
const BYTES: u64 = 203;
const AS: u64 = 300;

fn address(b: &mut Bench, id: u64) -> u64 {
    let live = b.vk().buffers[&id].live;
    b.d().address_of(live)
}

fn triangle(corner: f32) -> Vec<u8> {
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, corner, 0.5f32].iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[test]
fn an_updated_structure_is_what_it_was() {
    let Some(mut b) = Bench::open() else { return };
    if !b.structures {
        eprintln!("skipped: no acceleration structures here");
        return;
    }
    use vk::BufferUsageFlags as B;
    let addressed = B::SHADER_DEVICE_ADDRESS;
    b.buffer(VERTICES, 36, addressed | B::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR);
    b.write(VERTICES, 0, &triangle(1.0));
    let instance = b.vk().instances[&INSTANCE].ash.clone();
    let f = Functions::new(&instance, &b.d().ash);
    let vertices = address(&mut b, VERTICES);
    let triangles = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
        .vertex_format(F::R32G32B32_SFLOAT)
        .vertex_data(vk::DeviceOrHostAddressConstKHR { device_address: vertices })
        .vertex_stride(12)
        .max_vertex(2)
        .index_type(vk::IndexType::NONE_KHR);
    let geometry = [vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::TRIANGLES)
        .geometry(vk::AccelerationStructureGeometryDataKHR { triangles })];
    let ty = vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL;
    let mut info = vk::AccelerationStructureBuildGeometryInfoKHR::default()
        .ty(ty)
        .flags(vk::BuildAccelerationStructureFlagsKHR::ALLOW_UPDATE)
        .geometries(&geometry);
    let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
    let device = vk::AccelerationStructureBuildTypeKHR::DEVICE;
    // SAFETY: a build info with one geometry.
    unsafe { f.get_acceleration_structure_build_sizes(device, &info, &[1], &mut sizes) };
    let size = sizes.acceleration_structure_size;
    // Behind the structure lies something else.
    b.buffer(STORAGE, size + 256, addressed | B::ACCELERATION_STRUCTURE_STORAGE_KHR);
    b.write(STORAGE, 0, &vec![0; size as usize + 256]);
    b.buffer(SCRATCH, sizes.build_scratch_size.max(sizes.update_scratch_size), addressed | B::STORAGE_BUFFER);
    b.buffer(BYTES, (1 << 16) + 256, addressed);
    let buffer = b.vk().buffers[&STORAGE].live;
    let create = vk::AccelerationStructureCreateInfoKHR::default().buffer(buffer).size(size).ty(ty);
    // SAFETY: a plain creation in a buffer that is large enough.
    let live = unsafe { f.create_acceleration_structure(&create, None) }.expect("a structure");
    info.dst_acceleration_structure = live;
    info.scratch_data = vk::DeviceOrHostAddressKHR { device_address: address(&mut b, SCRATCH) };
    let range = [vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(1)];
    let build = |b: &mut Bench, info: vk::AccelerationStructureBuildGeometryInfoKHR<'_>| {
        b.d()
            .run(|d, cmd| {
                copies::full_barrier(d, cmd);
                // SAFETY: recording; what it reads is there.
                unsafe { f.cmd_build_acceleration_structures(cmd, &[info], &[&range]) };
                copies::full_barrier(d, cmd);
            })
            .expect("built");
    };
    let bytes = address(&mut b, BYTES).next_multiple_of(256);
    let serialised = |b: &mut Bench| {
        b.write(BYTES, 0, &vec![0; (1 << 16) + 256]);
        let to = vk::CopyAccelerationStructureToMemoryInfoKHR::default()
            .src(live)
            .dst(vk::DeviceOrHostAddressKHR { device_address: bytes })
            .mode(vk::CopyAccelerationStructureModeKHR::SERIALIZE);
        b.d()
            .run(|d, cmd| {
                copies::full_barrier(d, cmd);
                // SAFETY: recording; a triangle takes less than the buffer has.
                unsafe { f.cmd_copy_acceleration_structure_to_memory(cmd, &to) };
                copies::full_barrier(d, cmd);
            })
            .expect("serialised");
        b.bytes(BYTES)
    };
    build(&mut b, info);
    let before = serialised(&mut b);
    assert!(before.iter().any(|v| *v != 0));
    b.write(BYTES, 0, &vec![0; (1 << 16) + 256]);
    b.vk().ray.structures.insert(AS, Structure::bare(DEVICE, live, ty, size));
    // Filled, as far as was recorded: nothing has executed yet.
    let snapshot = Snapshot::take(&mut b.cx, &b.tracking.clone()).expect("taken");
    assert_eq!(snapshot.cost().structures, 0);
    snapshot.release(&mut b.cx);
    let of_capture = world::objects::Structure { buffer: STORAGE, size, ..Default::default() };
    b.cx.objects.follow().world_mut().structures.insert(AS, of_capture);
    b.tracking.state_mut().apply(&events::Event::Structure(AS), &|_| None);

    let mut snapshot = Snapshot::take(&mut b.cx, &b.tracking.clone()).expect("taken");
    assert_eq!(snapshot.cost().structures, 1);
    info.mode = vk::BuildAccelerationStructureModeKHR::UPDATE;
    info.src_acceleration_structure = live;
    for round in 0..2 {
        b.write(VERTICES, 0, &triangle(3.0));
        build(&mut b, info);
        b.tracking.state_mut().rebuilt.insert(AS);
        assert!(serialised(&mut b) != before, "nothing to put back");
        if round == 0 {
            // Bytes of its buffer say nothing: the structure is put back as such.
            assert_eq!(snapshot.learn(&mut b.cx).expect("learned").structures, 1);
            assert!(snapshot.buffers[&STORAGE].changed.is_empty());
        }
        assert_eq!(snapshot.restore(&mut b.cx).expect("restored").structures, 1);
        assert!(serialised(&mut b) == before, "the structure is not what it was");
        assert_eq!(b.bytes(VERTICES), triangle(1.0));
    }
    snapshot.release(&mut b.cx);
    b.silent();
}
