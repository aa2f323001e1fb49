//! What is drawn into an image is what was given, bit for bit: in every format that the device draws to, and for every
//! depth of 16 and 24 bits.
//!
//! Images have one sample here, because only those can be copied back; they have several levels and layers of odd sizes.
//! Without a device this says so and passes, unless `RERAY_REQUIRE_DEVICE` is set.

use crate::vulkan::init::stage;
use crate::vulkan::init_draw::plan::{Plan, Source, attachment_usage};
use crate::vulkan::live::aspects_of;
use crate::vulkan::memory::{Alloc, AllocKind, Pool};
use crate::vulkan::{DeviceState, ImageState, gpu, list_gpus};
use ash::vk::{self, Format as F, ImageAspectFlags as A};

/// A device of our own.
struct Bench {
    state: DeviceState,
    instance: ash::Instance,
    _entry: ash::Entry,
}

impl Bench {
    fn open() -> Option<Self> {
        let bench = Self::try_open();
        assert!(bench.is_some() || std::env::var_os("RERAY_REQUIRE_DEVICE").is_none(), "no device");
        if bench.is_none() {
            eprintln!("skipped: no Vulkan device that draws");
        }
        bench
    }

    fn try_open() -> Option<Self> {
        // SAFETY: the system's loader; plain creations in order, of objects that outlive their uses.
        unsafe {
            let entry = ash::Entry::load().ok()?;
            let instance = entry.create_instance(&vk::InstanceCreateInfo::default(), None).ok()?;
            let gpus = list_gpus(&instance).ok()?;
            let gpu = gpu::choose(&gpus, None, None).ok()?.clone();
            let draws = |f: &vk::QueueFamilyProperties| f.queue_flags.contains(vk::QueueFlags::GRAPHICS);
            let family = gpu.families.iter().position(draws)? as u32;
            let queues =
                [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
            let ash = instance.create_device(gpu.handle, &info, None).ok()?;
            let folding = crate::vulkan::portability::Folding::new(&[(family, 1)], None, &gpu.families);
            let state = DeviceState {
                id: 1,
                ash,
                get_address: None,
                gpu,
                gpu_id: 2,
                instance_id: 3,
                folding,
                buffer_addresses: false,
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
            Some(Bench { state, instance, _entry: entry })
        }
    }

    /// An image that may be drawn to and copied from, if the device has that, and its memory.
    fn image(
        &mut self,
        format: F,
        extent: (u32, u32),
        levels: u32,
        layers: u32,
    ) -> Option<(ImageState, Alloc)> {
        let usage = attachment_usage(aspects_of(format)) | vk::ImageUsageFlags::TRANSFER_SRC;
        let info = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(format)
            .extent(vk::Extent3D { width: extent.0, height: extent.1, depth: 1 })
            .mip_levels(levels)
            .array_layers(layers)
            .samples(vk::SampleCountFlags::TYPE_1)
            .usage(usage);
        let d = &mut self.state;
        let empty = vk::MemoryPropertyFlags::empty();
        // SAFETY: a query; then plain creations on a live device.
        unsafe {
            let most = self
                .instance
                .get_physical_device_image_format_properties(
                    d.gpu.handle,
                    format,
                    info.image_type,
                    info.tiling,
                    usage,
                    info.flags,
                )
                .ok()?;
            if most.max_extent.width < extent.0 || most.max_mip_levels < levels {
                return None;
            }
            let live = d.ash.create_image(&info, None).expect("an image");
            let need = d.ash.get_image_memory_requirements(live);
            let memory = d.alloc(need, (empty, empty), AllocKind::Optimal, false);
            let memory = memory.expect("memory");
            d.ash.bind_image_memory(live, memory.memory(), memory.offset()).expect("bound");
            Some((ImageState::new(1, live, &info, need.size), memory))
        }
    }

    /// Shaders can read this format.
    fn sampled(&self, format: F) -> bool {
        // SAFETY: a query about a live physical device.
        let props =
            unsafe { self.instance.get_physical_device_format_properties(self.state.gpu.handle, format) };
        props.optimal_tiling_features.contains(vk::FormatFeatureFlags::SAMPLED_IMAGE)
    }

    /// Draws `data` into one aspect; false if the device cannot.
    fn draw(&mut self, image: &mut ImageState, aspect: A, levels: &[u64], data: &[u8]) -> bool {
        let plan = Plan::new(image, aspect).expect("it can be drawn to");
        if let Source::Image(f) = plan.source
            && !self.sampled(f)
        {
            return false;
        }
        let (regions, packed) = stage(image, aspect, levels, data).expect("it fits");
        let to = vk::ImageLayout::GENERAL;
        self.state.draw_image(image, plan, &packed, &regions, to).expect("drawn");
        assert_eq!(image.layout, to);
        true
    }

    /// What one aspect holds, as `draw` takes it.
    fn read(&mut self, image: &ImageState, aspect: A, levels: &[u64]) -> Vec<u8> {
        let all: u64 = levels.iter().sum();
        let (regions, packed) = stage(image, aspect, levels, &vec![0; all as usize]).expect("it fits");
        let read = self.state.read_image(image, image.layout, &regions, packed.len() as u64).expect("read");
        let parts = regions.iter().zip(levels);
        parts.flat_map(|(r, n)| read[r.buffer_offset as usize..][..*n as usize].to_vec()).collect()
    }

    fn destroy(&self, image: &ImageState) {
        // SAFETY: ours, and every submission was waited for.
        unsafe { self.state.ash.destroy_image(image.live, None) };
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(u) = self.state.upload.take() {
            u.destroy(&self.state.ash);
        }
        self.state.pool.destroy(&self.state.ash);
        // SAFETY: everything made on them is gone.
        unsafe {
            self.state.ash.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// SplitMix64's words, as bytes.
fn random(bytes: usize) -> Vec<u8> {
    let mut state = bytes as u64;
    let mut word = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    };
    (0..bytes.div_ceil(8)).flat_map(|_| word().to_le_bytes()).take(bytes).collect()
}

/// Takes out of random floats what a shader may change: NaN, infinity, denormals.
fn plain_floats(data: &mut [u8], name: &str) {
    // Bits of a word that are exponents: if all of a field are alike, its lowest is flipped.
    let fields: &[(u32, u32)] = match name {
        "B10G11R11_UFLOAT_PACK32" => &[(6, 5), (17, 5), (27, 5)],
        n if n.starts_with("R16") => &[(10, 5), (26, 5)],
        _ => &[(23, 8)],
    };
    for word in data.chunks_exact_mut(4) {
        let mut w = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        for (at, bits) in fields {
            let ones = (1 << bits) - 1;
            if [0, ones].contains(&(w >> at & ones)) {
                w ^= 1 << at;
            }
        }
        word.copy_from_slice(&w.to_le_bytes());
    }
}

/// SNORM's lowest value means the same as the one above it, and becomes it.
fn one_lowest(data: &mut [u8], name: &str) {
    let step = if name.starts_with("R16") { 2 } else { 1 };
    for c in data.chunks_exact_mut(step) {
        if c[step - 1] == 0x80 && (step == 1 || c[0] == 0) {
            c[0] |= 1;
        }
    }
}

/// Bytes a texel, from a colour format's name: the sum of its channels' bits.
fn texel_bytes(name: &str) -> u64 {
    let channels = name.split('_').next().expect("a name");
    channels.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u64>().ok()).sum::<u64>() / 8
}

#[test]
fn every_colour_format_arrives_bit_for_bit() {
    let Some(mut bench) = Bench::open() else { return };
    let mut drawn = Vec::new();
    for raw in F::R4G4_UNORM_PACK8.as_raw()..F::D16_UNORM.as_raw() {
        let format = F::from_raw(raw);
        let name = format!("{format:?}");
        // Two of many encodings of a number come back as a third; nothing draws to channels of 64 bits.
        if name.starts_with("E5B9") || name.starts_with("R64") || name.contains("SNORM_PACK") {
            continue;
        }
        let Some((mut image, _memory)) = bench.image(format, (13, 7), 3, 2) else { continue };
        let levels = [13 * 7, 6 * 3, 3].map(|texels| texels * 2 * texel_bytes(&name));
        let mut data = random(levels.iter().sum::<u64>().next_multiple_of(4) as usize);
        if name.contains("FLOAT") {
            plain_floats(&mut data, &name);
        }
        if name.contains("SNORM") {
            one_lowest(&mut data, &name);
        }
        data.truncate(levels.iter().sum::<u64>() as usize);
        if bench.draw(&mut image, A::COLOR, &levels, &data) {
            let read = bench.read(&image, A::COLOR, &levels);
            let off = read.iter().zip(&data).position(|(a, b)| a != b);
            assert_eq!(off, None, "{name}: {:?}", off.map(|i| (read[i], data[i])));
            drawn.push(name);
        }
        bench.destroy(&image);
    }
    // What Vulkan demands of every device, at the least.
    for name in ["R8G8B8A8_UNORM", "R8G8B8A8_SRGB", "R16_SFLOAT", "R32_SINT", "R16G16B16A16_UINT"] {
        assert!(drawn.iter().any(|d| d == name), "{name} is not among {drawn:?}");
    }
}

/// Draws and reads back one level of a depth or stencil aspect.
fn there_and_back(bench: &mut Bench, format: F, aspect: A, extent: (u32, u32), data: &[u8], texel: usize) {
    let Some((mut image, _memory)) = bench.image(format, extent, 1, 1) else { return };
    let levels = [data.len() as u64];
    assert!(bench.draw(&mut image, aspect, &levels, data));
    let read = bench.read(&image, aspect, &levels);
    // The upper byte of a 24-bit depth is anything.
    let counts = |i: usize| texel != 3 || i % 4 != 3;
    let off = (0..data.len()).find(|&i| counts(i) && read[i] != data[i]);
    assert_eq!(off, None, "{format:?} {aspect:?}: {:?}", off.map(|i| (i, read[i], data[i])));
    bench.destroy(&image);
}

#[test]
fn every_depth_of_16_and_24_bits_arrives() {
    let Some(mut bench) = Bench::open() else { return };
    let sixteen: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    for format in [F::D16_UNORM, F::D16_UNORM_S8_UINT] {
        there_and_back(&mut bench, format, A::DEPTH, (256, 256), &sixteen, 2);
    }
    let twenty_four: Vec<u8> = (0..1u32 << 24).flat_map(u32::to_le_bytes).collect();
    for format in [F::X8_D24_UNORM_PACK32, F::D24_UNORM_S8_UINT] {
        there_and_back(&mut bench, format, A::DEPTH, (4096, 4096), &twenty_four, 3);
    }
}

#[test]
fn depths_and_stencil_values_of_one_image_leave_each_other_alone() {
    let Some(mut bench) = Bench::open() else { return };
    let texels = [(13 * 7, 2), (6 * 3, 2), (3, 2)].map(|(n, layers)| n * layers);
    let depth_levels = texels.map(|n| n * 4);
    for format in [F::D32_SFLOAT, F::D32_SFLOAT_S8_UINT, F::S8_UINT] {
        let Some((mut image, _memory)) = bench.image(format, (13, 7), 3, 2) else { continue };
        let aspects = image.aspects();
        let depths = |seed: u64| -> Vec<u8> {
            let n = texels.iter().sum::<u64>();
            (0..n).flat_map(|i| (((i + seed) * 7919 % 10007) as f32 / 10006.0).to_le_bytes()).collect()
        };
        let stencil = random(texels.iter().sum::<u64>() as usize);
        for seed in [1, 2] {
            if aspects.contains(A::DEPTH) {
                assert!(bench.draw(&mut image, A::DEPTH, &depth_levels, &depths(seed)));
            }
            if aspects.contains(A::STENCIL) && seed == 1 {
                assert!(bench.draw(&mut image, A::STENCIL, &texels, &stencil));
            }
            if aspects.contains(A::DEPTH) {
                assert!(bench.read(&image, A::DEPTH, &depth_levels) == depths(seed), "{format:?}");
            }
            if aspects.contains(A::STENCIL) {
                assert!(bench.read(&image, A::STENCIL, &texels) == stencil, "{format:?}");
            }
        }
        bench.destroy(&image);
    }
}
