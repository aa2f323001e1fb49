//! On a device: whatever is scribbled over after a snapshot is what it was again, kind by kind.
//!
//! With the validation layer where it is installed: it has nothing to say. Without a device this says so and passes,
//! unless `RERAY_REQUIRE_DEVICE` is set.

mod shared;
mod structure;

use super::backup::Cost;
use super::copies::{barriers, move_images};
use super::layouts;
use super::learn::Learned;
use super::snapshot::Restored;
use super::*;
use crate::exec::Executor;
use crate::hook::Needs;
use crate::options::Options;
use crate::preflight::prologue::Prologue;
use crate::vulkan::copyable::COPIES;
use crate::vulkan::debug::Messages;
use crate::vulkan::format::{self, extent, rows};
use crate::vulkan::live::InstanceState;
use crate::vulkan::memory::{AllocKind, Pool};
use crate::vulkan::region::Region;
use crate::vulkan::{BufferState, DeviceState, Driver, ImageState, Vulkan, gpu, list_gpus};
use ash::vk::{self, Handle};
use std::collections::HashMap;
use vk::{Format as F, ImageLayout as L, ImageType, ImageUsageFlags as U, SampleCountFlags as S};

const INSTANCE: u64 = 1;
const DEVICE: u64 = 2;

struct Bench {
    cx: Executor,
    tracking: Tracking,
    messages: Messages,
    /// The device has acceleration structures.
    structures: bool,
}

impl Bench {
    fn open() -> Option<Self> {
        let bench = Self::try_open();
        assert!(bench.is_some() || std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(), "no device");
        if bench.is_none() {
            eprintln!("skipped: no Vulkan device");
        }
        bench
    }

    fn try_open() -> Option<Self> {
        let mut vulkan = Vulkan::new(Options::default(), Prologue::default(), Needs::default()).ok()?;
        let messages = vulkan.messages.clone();
        let layer = c"VK_LAYER_KHRONOS_validation";
        // SAFETY: the system's loader; plain creations in order, of objects that outlive their uses.
        unsafe {
            let layers = vulkan.entry.enumerate_instance_layer_properties().ok()?;
            let valid = layers.iter().any(|l| l.layer_name_as_c_str() == Ok(layer));
            let (layers, names) = (
                if valid { vec![layer.as_ptr()] } else { Vec::new() },
                if valid { vec![c"VK_EXT_debug_utils".as_ptr()] } else { Vec::new() },
            );
            let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
            let mut create = messages.create_info();
            let mut info = vk::InstanceCreateInfo::default()
                .application_info(&app)
                .enabled_layer_names(&layers)
                .enabled_extension_names(&names);
            if valid {
                info = info.push_next(&mut create);
            } else {
                eprintln!("the validation layer is not installed: validity was not checked");
            }
            let instance = vulkan.entry.create_instance(&info, None).ok()?;
            if valid {
                let loader = ash::ext::debug_utils::Instance::new(&vulkan.entry, &instance);
                loader.create_debug_utils_messenger(&messages.create_info(), None).ok()?;
            }
            let gpus = list_gpus(&instance).ok()?;
            let gpu = gpu::choose(&gpus, None, None).ok()?.clone();
            let able = |f: &vk::QueueFamilyProperties| f.queue_flags.contains(vk::QueueFlags::GRAPHICS);
            let family = gpu.families.iter().position(able)? as u32;
            let structures = gpu.has("VK_KHR_acceleration_structure") && gpu.has("VK_KHR_ray_query");
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let names = [
                c"VK_KHR_acceleration_structure".as_ptr(),
                c"VK_KHR_deferred_host_operations".as_ptr(),
                c"VK_KHR_ray_query".as_ptr(),
            ];
            let mut addresses = vk::PhysicalDeviceVulkan12Features::default().buffer_device_address(true);
            let mut build =
                vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default().acceleration_structure(true);
            let mut query = vk::PhysicalDeviceRayQueryFeaturesKHR::default().ray_query(true);
            let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
            if structures {
                info = info
                    .enabled_extension_names(&names)
                    .push_next(&mut addresses)
                    .push_next(&mut build)
                    .push_next(&mut query);
            }
            let ash = instance.create_device(gpu.handle, &info, None).ok()?;
            let get_address = structures.then_some(ash.fp_v1_2().get_buffer_device_address);
            let folding = crate::vulkan::portability::Folding::new(&[(family, 1)], None, &gpu.families);
            let state = DeviceState {
                id: DEVICE,
                ash,
                get_address,
                gpu,
                gpu_id: 3,
                instance_id: INSTANCE,
                folding,
                buffer_addresses: structures,
                extensions: Vec::new(),
                statistics: Default::default(),
                clocks: None,
                upload: None,
                pool: Pool::default(),
                spare: Default::default(),
                queues: Vec::new(),
                watchdog_ns: 60_000_000_000,
                zero_memory: false,
                unfilled: 0,
            };
            vulkan.devices.insert(DEVICE, state);
            vulkan.instances.insert(INSTANCE, InstanceState::bare(instance));
            let cx = Executor::new(Box::new(Driver::new(vulkan)), Vec::new(), &Options::default());
            Some(Bench { cx, tracking: Tracking::default(), messages, structures })
        }
    }

    fn vk(&mut self) -> &mut Vulkan {
        self.cx.backend.vulkan().expect("it is Vulkan")
    }
    fn d(&mut self) -> &mut DeviceState {
        self.vk().device_mut(DEVICE).expect("a device")
    }

    /// A buffer; of images' memory kinds any will do.
    fn buffer(&mut self, id: u64, size: u64, more: vk::BufferUsageFlags) {
        let d = self.d();
        let mut cost = Cost::default();
        let made = backup::buffer(d, size, more, &mut cost).expect("a buffer");
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST | more;
        let state = BufferState {
            device: DEVICE,
            live: made.live,
            size,
            usage,
            flags: vk::BufferCreateFlags::empty(),
            memory: None,
            captured_address: 0,
            alloc: Some(made.alloc),
        };
        self.vk().buffers.insert(id, state);
    }
    fn write(&mut self, id: u64, at: u64, data: &[u8]) {
        let mut all = self.bytes(id);
        all[at as usize..at as usize + data.len()].copy_from_slice(data);
        let live = self.vk().buffers[&id].live;
        self.d().write_buffer(live, &all).expect("written");
    }
    fn bytes(&mut self, id: u64) -> Vec<u8> {
        let (live, size) = (self.vk().buffers[&id].live, self.vk().buffers[&id].size);
        self.d().read_buffer(live, 0, size).expect("read")
    }

    /// An image, if the device can make it.
    fn image(&mut self, id: u64, shape: &Shape) -> bool {
        self.image_in(id, shape, None)
    }

    /// The same in this memory, from there on.
    fn image_in(&mut self, id: u64, shape: &Shape, memory: Option<(vk::DeviceMemory, u64)>) -> bool {
        let aspects = format::aspects(shape.format);
        let depth = aspects[0] != vk::ImageAspectFlags::COLOR && aspects[0] != vk::ImageAspectFlags::PLANE_0;
        let mut usage = U::TRANSFER_SRC | U::TRANSFER_DST;
        usage |= match shape.samples {
            S::TYPE_1 if depth => U::DEPTH_STENCIL_ATTACHMENT,
            S::TYPE_1 => U::empty(),
            _ => U::COLOR_ATTACHMENT,
        };
        let info = vk::ImageCreateInfo::default()
            .image_type(shape.kind)
            .format(shape.format)
            .extent(vk::Extent3D { width: shape.extent.0, height: shape.extent.1, depth: shape.extent.2 })
            .mip_levels(shape.levels)
            .array_layers(shape.layers)
            .samples(shape.samples)
            .initial_layout(shape.initial)
            .tiling(match shape.initial {
                L::PREINITIALIZED => vk::ImageTiling::LINEAR,
                _ => vk::ImageTiling::OPTIMAL,
            })
            .usage(usage);
        let vulkan = self.vk();
        let instance = vulkan.instances[&INSTANCE].ash.clone();
        let d = vulkan.device_mut(DEVICE).expect("a device");
        let empty = vk::MemoryPropertyFlags::empty();
        // SAFETY: a query; then plain creations on a live device.
        unsafe {
            let able = instance.get_physical_device_image_format_properties(
                d.gpu.handle,
                shape.format,
                shape.kind,
                info.tiling,
                usage,
                info.flags,
            );
            if !able.is_ok_and(|p| p.sample_counts.contains(shape.samples)) {
                eprintln!("not tested: no {} here ({:?})", shape.name, shape.format);
                return false;
            }
            let live = d.ash.create_image(&info, None).expect("an image");
            let need = d.ash.get_image_memory_requirements(live);
            let mut state = ImageState::new(DEVICE, live, &info, need.size);
            if let Some((memory, at)) = memory {
                d.ash.bind_image_memory(live, memory, at).expect("bound");
                vulkan.images.insert(id, state);
                return true;
            }
            let memory = d.alloc(need, (empty, empty), AllocKind::Linear, false);
            let memory = memory.expect("memory");
            d.ash.bind_image_memory(live, memory.memory(), memory.offset()).expect("bound");
            state.alloc = Some(memory);
            vulkan.images.insert(id, state);
        }
        true
    }

    /// Fills an image with what the seed gives, and leaves it in a layout.
    fn fill(&mut self, id: u64, seed: u32, to: L) {
        let mut state = self.vk().images[&id].clone();
        if state.samples != S::TYPE_1 {
            self.clear(&mut state, seed, to);
        } else {
            for plane in format::planes(state.format).expect("a known format") {
                let (regions, size) = regions_of(&state, &plane);
                let mut random = seed.wrapping_mul(0x9E37_79B9) | 1;
                let mut data: Vec<u8> = (0..size)
                    .map(|_| {
                        random ^= random << 13;
                        random ^= random >> 17;
                        random ^= random << 5;
                        random as u8
                    })
                    .collect();
                if plane.aspect == vk::ImageAspectFlags::DEPTH && plane.block_bytes == 4 {
                    // Floats below 1; of 24 bits the upper 8 mean nothing.
                    let top = if format::is_depth_24(state.format, plane.aspect) { 0 } else { 0x3E };
                    data.chunks_exact_mut(4).for_each(|t| t[3] = top);
                }
                self.d().write_image(&mut state, &data, &regions, to).expect("written");
            }
        }
        self.vk().images.insert(id, state);
    }

    /// Every sample of a multisampled image.
    fn clear(&mut self, state: &mut ImageState, seed: u32, to: L) {
        let color = vk::ClearColorValue { float32: [seed as f32 / 8.0, 0.25, 0.5, 1.0] };
        let (image, from, range) = (state.live, state.layout, state.range());
        let go = |d: &ash::Device, cmd, from, to| {
            move_images(d, cmd, &barriers(image, &[(range, from, to)]).collect::<Vec<_>>());
        };
        self.d()
            .run(|d, cmd| {
                go(d, cmd, from, L::TRANSFER_DST_OPTIMAL);
                // SAFETY: recording.
                unsafe { d.cmd_clear_color_image(cmd, image, L::TRANSFER_DST_OPTIMAL, &color, &[range]) };
                go(d, cmd, L::TRANSFER_DST_OPTIMAL, to);
            })
            .expect("cleared");
        state.layout = to;
    }

    /// What an image holds.
    fn texels(&mut self, id: u64) -> Vec<u8> {
        let state = self.vk().images[&id].clone();
        if state.samples != S::TYPE_1 {
            return self.resolved(&state);
        }
        let mut all = Vec::new();
        for plane in format::planes(state.format).expect("a known format") {
            let (regions, size) = regions_of(&state, &plane);
            let mut read = self.d().read_image(&state, state.layout, &regions, size).expect("read");
            if format::is_depth_24(state.format, plane.aspect) {
                read.chunks_exact_mut(4).for_each(|t| t[3] = 0);
            }
            // Not what lies between the levels.
            for r in &regions {
                let (row, high, deep) = rows(&plane, r.image_extent);
                let layers = u64::from(r.image_subresource.layer_count);
                let len = row * u64::from(high) * u64::from(deep) * layers;
                all.extend_from_slice(&read[r.buffer_offset as usize..][..len as usize]);
            }
        }
        all
    }

    fn resolved(&mut self, of: &ImageState) -> Vec<u8> {
        const TEMPORARY: u64 = 999;
        let e = of.extent;
        let shape = Shape { samples: S::TYPE_1, ..Shape::new("resolved", of.format, (e.width, e.height, 1)) };
        assert!(self.image(TEMPORARY, &shape));
        let mut to = self.vk().images.remove(&TEMPORARY).expect("just made");
        let sub = vk::ImageSubresourceLayers {
            aspect_mask: vk::ImageAspectFlags::COLOR,
            mip_level: 0,
            base_array_layer: 0,
            layer_count: 1,
        };
        let region =
            vk::ImageResolve { src_subresource: sub, dst_subresource: sub, extent: e, ..Default::default() };
        let (image, layout, range, target) = (of.live, of.layout, of.range(), to.live);
        let (src, dst) = (L::TRANSFER_SRC_OPTIMAL, L::TRANSFER_DST_OPTIMAL);
        self.d()
            .run(|d, cmd| {
                let mut there: Vec<_> = barriers(image, &[(range, layout, src)]).collect();
                there.extend(barriers(target, &[(range, L::UNDEFINED, dst)]));
                move_images(d, cmd, &there);
                // SAFETY: recording.
                unsafe { d.cmd_resolve_image(cmd, image, src, target, dst, &[region]) };
                move_images(d, cmd, &barriers(image, &[(range, src, layout)]).collect::<Vec<_>>());
            })
            .expect("resolved");
        to.layout = dst;
        let plane = format::planes(to.format).expect("a known format")[0];
        let (regions, size) = regions_of(&to, &plane);
        let read = self.d().read_image(&to, dst, &regions, size).expect("read");
        // SAFETY: ours, and idle.
        unsafe { self.d().ash.destroy_image(to.live, None) };
        read
    }

    fn silent(&self) {
        let said = self.messages.take();
        assert!(said.is_empty(), "{} messages:\n{}", said.len(), said.join("\n"));
    }
}

/// One region a level, and bytes they take.
fn regions_of(state: &ImageState, plane: &format::Plane) -> (Vec<Region>, u64) {
    let mut at = 0u64;
    let layers = if state.kind == ImageType::TYPE_3D { 1 } else { state.layers };
    let regions = (0..state.levels).map(|level| {
        let image_extent = extent(state, plane.aspect, level);
        let (row, high, deep) = rows(plane, image_extent);
        let region = Region {
            buffer_offset: at,
            image_subresource: vk::ImageSubresourceLayers {
                aspect_mask: plane.aspect,
                mip_level: level,
                base_array_layer: 0,
                layer_count: layers,
            },
            image_extent,
            ..Default::default()
        };
        at += row * u64::from(high) * u64::from(deep) * u64::from(layers);
        at = at.next_multiple_of(96);
        region
    });
    (regions.collect(), at)
}

struct Shape {
    name: &'static str,
    format: F,
    kind: ImageType,
    extent: (u32, u32, u32),
    levels: u32,
    layers: u32,
    samples: S,
    /// PREINITIALIZED means linear.
    initial: L,
}

impl Shape {
    fn new(name: &'static str, format: F, extent: (u32, u32, u32)) -> Self {
        let (kind, samples, initial) = (ImageType::TYPE_2D, S::TYPE_1, L::UNDEFINED);
        Shape { name, format, kind, extent, levels: 1, layers: 1, samples, initial }
    }
}

fn shapes() -> Vec<Shape> {
    let n = Shape::new;
    vec![
        Shape { levels: 4, ..n("colour with mip levels", F::R8G8B8A8_UNORM, (37, 23, 1)) },
        Shape { levels: 2, layers: 5, ..n("array", F::R16_SFLOAT, (20, 12, 1)) },
        Shape { kind: ImageType::TYPE_3D, levels: 3, ..n("volume", F::R8_UNORM, (12, 10, 7)) },
        Shape { kind: ImageType::TYPE_1D, levels: 2, ..n("line", F::R32G32_UINT, (50, 1, 1)) },
        Shape { levels: 3, ..n("compressed", F::BC3_UNORM_BLOCK, (22, 14, 1)) },
        Shape { layers: 2, ..n("depth", F::D16_UNORM, (19, 11, 1)) },
        n("depth and stencil", F::D32_SFLOAT_S8_UINT, (19, 11, 1)),
        n("depth of 24 bits and stencil", F::D24_UNORM_S8_UINT, (19, 11, 1)),
        n("stencil", F::S8_UINT, (9, 9, 1)),
        n("two planes", F::G8_B8R8_2PLANE_420_UNORM, (16, 10, 1)),
        n("large", F::R32G32B32A32_UINT, (2048, 1300, 1)),
        Shape { samples: S::TYPE_4, ..n("multisampled", F::R8G8B8A8_UNORM, (16, 16, 1)) },
    ]
}

const SMALL: u64 = 100;
const LARGE: u64 = 101;
const KEPT: u64 = 102;
const NEW: u64 = 103;
const FOUND: u64 = 104;
const PREINITIALIZED: u64 = 7;

#[test]
fn everything_is_what_it_was() {
    let Some(mut b) = Bench::open() else { return };
    let none = vk::BufferUsageFlags::empty();
    for (id, size) in [(SMALL, 101), (LARGE, 70 << 20), (KEPT, 5000)] {
        b.buffer(id, size, none);
    }
    b.write(SMALL, 0, &[7; 101]);
    b.write(LARGE, (40 << 20) - 3, &[1, 2, 3, 4, 5, 6]);
    b.write(KEPT, 0, &[9; 5000]);
    let shapes: Vec<(u64, Shape)> =
        shapes().into_iter().enumerate().map(|(i, s)| (i as u64 + 10, s)).collect();
    let shapes: Vec<_> = shapes.into_iter().filter(|(id, s)| b.image(*id, s)).collect();
    assert!(shapes.len() >= 6, "{} kinds of images", shapes.len());
    let untouched = 9;
    assert!(b.image(untouched, &Shape::new("kept", F::R8G8B8A8_UNORM, (8, 8, 1))));
    b.fill(untouched, 5, L::GENERAL);
    // Of no layout, and so of no contents.
    assert!(b.image(8, &Shape::new("of no contents", F::R8G8B8A8_UNORM, (8, 8, 1))));
    for (id, _) in &shapes {
        b.fill(*id, 1, if id % 2 == 0 { L::GENERAL } else { L::TRANSFER_DST_OPTIMAL });
    }
    let start: HashMap<u64, L> = b.vk().images.iter().map(|(id, i)| (*id, i.layout)).collect();
    let ids = |b: &mut Bench| [SMALL, LARGE, KEPT].map(|id| b.bytes(id));
    let before = (ids(&mut b), shapes.iter().map(|s| b.texels(s.0)).collect::<Vec<_>>());

    let mut snapshot = Snapshot::take(&mut b.cx, &b.tracking.clone()).expect("taken");
    let cost = snapshot.cost();
    assert_eq!((cost.buffers, cost.images as usize), (3, shapes.len() + 1));
    assert!(cost.bytes > 70 << 20 && cost.host_bytes == 0, "{cost:?}");
    assert!(snapshot.not_restored().is_empty(), "{:?}", snapshot.not_restored());

    let frame = |b: &mut Bench, seed: u32, preinitialized: L| {
        let mut state = b.vk().images[&PREINITIALIZED].clone();
        state.layout = preinitialized;
        b.d().move_image(&mut state, L::TRANSFER_SRC_OPTIMAL).expect("moved");
        let all = layouts::whole(vk::ImageAspectFlags::COLOR);
        let moved = events::Event::Layout(PREINITIALIZED, all, L::TRANSFER_SRC_OPTIMAL);
        let base = (state.live.as_raw(), tracker::untouched(&b.vk().images[&PREINITIALIZED]));
        b.tracking.clone().state_mut().apply(&moved, &|_| Some(base.clone()));
        b.write(FOUND, 10, &[seed as u8]);
        b.write(SMALL, 50, &[seed as u8]);
        b.write(LARGE, 40 << 20, &[seed as u8]);
        b.write(NEW, 4, &[seed as u8; 9]);
        for (id, _) in &shapes {
            b.fill(*id, seed, L::TRANSFER_SRC_OPTIMAL);
            let tracking = b.tracking.clone();
            tracking.state_mut().written.insert(*id);
        }
        for (i, (id, s)) in shapes.iter().enumerate() {
            assert!(b.texels(*id) != before.1[i], "{}: nothing to put back", s.name);
        }
    };
    b.buffer(NEW, 1234, none);
    b.write(NEW, 0, &[0; 1234]);
    b.buffer(FOUND, 40, none);
    b.write(FOUND, 0, &[6; 40]);
    b.tracking.state_mut().found.insert(FOUND, vec![6; 40]);
    let shape = Shape::new("preinitialized", F::R8G8B8A8_UNORM, (16, 16, 1));
    assert!(b.image(PREINITIALIZED, &Shape { initial: L::PREINITIALIZED, ..shape }));
    frame(&mut b, 2, L::PREINITIALIZED);
    let learned = snapshot.learn(&mut b.cx).expect("learned");
    let expected = Learned { buffers: 4, images: shapes.len() as u64, structures: 0, new: 3 };
    assert_eq!(learned, expected);
    assert_eq!(snapshot.buffers[&LARGE].changed, [(40 << 20, (40 << 20) + (64 << 10))]);
    let hash = snapshot.hash_changed(&mut b.cx).expect("hashed");
    let image = snapshot.hash_image(&mut b.cx, shapes[0].0).expect("hashed");
    for seed in [2, 3, 2] {
        let restored = snapshot.restore(&mut b.cx).expect("restored");
        assert_eq!((restored.buffers, restored.images as usize), (4, shapes.len()));
        for (id, layout) in &start {
            b.vk().images.get_mut(id).expect("it is there").layout = *layout;
        }
        for (i, (id, s)) in shapes.iter().enumerate() {
            assert!(b.texels(*id) == before.1[i], "{} is not what it was", s.name);
        }
        assert!(ids(&mut b) == before.0, "buffers are not what they were");
        assert!(b.bytes(NEW).iter().all(|v| *v == 0), "a new buffer holds zeros");
        assert_eq!(b.bytes(FOUND), [6; 40], "a new buffer holds what the host had written there");
        frame(&mut b, seed, L::GENERAL);
        let now = snapshot.hash_changed(&mut b.cx).expect("hashed");
        assert_eq!(now == hash, seed == 2, "everything, seed {seed}");
        let now = snapshot.hash_image(&mut b.cx, shapes[0].0).expect("hashed");
        assert_eq!(now == image, seed == 2, "an image, seed {seed}");
    }
    let known = |b: &mut Bench, id| snapshot_hash_is_of_the_texels(b, id);
    assert_eq!(known(&mut b, untouched), snapshot.hash_image(&mut b.cx, untouched).expect("hashed"));
    snapshot.release(&mut b.cx);
    b.silent();
}

fn snapshot_hash_is_of_the_texels(b: &mut Bench, id: u64) -> [u8; 32] {
    blake3::hash(&b.texels(id)).into()
}

#[test]
fn what_cannot_be_put_back_is_named() {
    let mut image = ImageState::new(
        1,
        vk::Image::null(),
        &vk::ImageCreateInfo::default().usage(U::TRANSIENT_ATTACHMENT),
        0,
    );
    assert_eq!(take::hopeless_image(&image).as_deref(), Some("transient attachments"));
    image.usage = U::SAMPLED;
    image.format = F::R8_UNORM;
    assert!(take::hopeless_image(&image).expect("it cannot be copied").ends_with("R8_UNORM"));
    image.usage |= COPIES;
    assert_eq!(take::hopeless_image(&image), None);
    image.flags = vk::ImageCreateFlags::SPARSE_BINDING;
    assert_eq!(take::hopeless_image(&image).as_deref(), Some("sparse images"));
}

#[test]
fn before_there_is_a_device_there_is_nothing_to_put_back() {
    let Ok(vulkan) = Vulkan::new(Options::default(), Prologue::default(), Needs::default()) else { return };
    let mut cx = Executor::new(Box::new(Driver::new(vulkan)), Vec::new(), &Options::default());
    let mut s = Snapshot::take(&mut cx, &Tracking::default()).expect("an empty snapshot");
    assert_eq!(s.learn(&mut cx).expect("nothing"), Learned::default());
    assert_eq!(s.restore(&mut cx).expect("nothing"), Restored::default());
    assert_eq!(s.cost(), Cost::default());
}
