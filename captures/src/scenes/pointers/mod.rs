//! `pointers`: colours that are reached through pointers, each kind in a band of its own.
//!
//! What each pixel is, arithmetic says (`colour`), so that a replay where buffers lie elsewhere is right or wrong, and
//! which band is wrong says what was missed. From the top: a pointer among push constants that has no pointer's type; one in
//! a uniform buffer; one that a shader put into a storage buffer; a list of three nodes; an array of pointers in
//! structures; and a number among push constants that equals an address and must stay as it is: green if it did.

use ash::vk;

use super::barriers::{Access, Stage, barrier, image_barrier, show};
use super::{Frame, Scene, Show, frame_slots};
use crate::error::Result;
use crate::gpu::pipeline::{Layout, Resource};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Buffer, Colour, Gpu, Image, ImageUse, Needs};

/// Eight columns and six bands of 8x8 pixels.
const EXTENT: vk::Extent2D = vk::Extent2D { width: 64, height: 48 };
const COLUMNS: u32 = 8;

/// The palettes, and the two kinds of colour that are none.
const PUSHED: u32 = 0;
const SET: u32 = 1;
const HANDED: u32 = 2;
const LISTED: u32 = 3;
/// And those after it: one for each of the array's pointers.
const ROWS: u32 = 4;
const ROW_COUNT: u32 = 3;

/// What hides the number from who looks for addresses.
const DISGUISE: u64 = 0xA5A5_A5A5_5A5A_5A5A;

const COLOUR: Colour = [0.4, 0.6, 0.3];

/// The scene.
pub struct Pointers;

impl Scene for Pointers {
    fn name(&self) -> &'static str {
        "pointers"
    }

    fn about(&self) -> &'static str {
        "pointers in push constants, uniform and storage buffers, lists and arrays, and a number that looks like one"
    }

    fn frames(&self) -> u32 {
        3
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_DST
    }

    fn pictured(&self) -> &'static [u32] {
        &[1, 2, 3]
    }

    fn needs(&self) -> Needs {
        Needs { addresses: true, ..Needs::default() }
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain)?))
    }
}

/// The colour of a palette's entry, or of a node: red, green, blue, alpha from the low byte up.
fn colour(palette: u32, entry: u32) -> u32 {
    (30 + 28 * palette) | (250 - 30 * entry) << 8 | (20 + 90 * (palette % 3) + 6 * entry) << 16 | 0xFF << 24
}

fn palette(which: u32) -> Vec<u8> {
    (0..COLUMNS).flat_map(|entry| colour(which, entry).to_le_bytes()).collect()
}

/// The scene with its objects.
struct Running {
    commands: Vec<(vk::CommandPool, vk::CommandBuffer)>,
    hand_layout: Layout,
    show_layout: Layout,
    hand: vk::Pipeline,
    show: vk::Pipeline,
    hand_set: vk::DescriptorSet,
    show_set: vk::DescriptorSet,
    pair: u64,
    pushed: u64,
    list: u64,
    picture: Image,
    presented: Vec<vk::Image>,
}

const POINTED_TO: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw() | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let filled = |which: u32| -> Result<u64> {
            let name = format!("palette {which}");
            Ok(gpu.address(&gpu.filled_buffer(&name, &palette(which), POINTED_TO)?))
        };
        let pushed = filled(PUSHED)?;
        let set = filled(SET)?;
        let handed = filled(HANDED)?;
        let pair = host(gpu, "pair", &[pushed.to_le_bytes(), handed.to_le_bytes()].concat(), POINTED_TO)?;
        // Two of the three nodes come through staging buffers.
        let node = |entry: u32, next: u64| {
            let mut bytes = u64::from(colour(LISTED, entry)).to_le_bytes().to_vec();
            bytes.extend(next.to_le_bytes());
            bytes
        };
        let last = gpu.address(&gpu.filled_buffer("node 2", &node(2, 0), POINTED_TO)?);
        let middle = gpu.address(&host(gpu, "node 1", &node(1, last), POINTED_TO)?);
        let list = gpu.address(&gpu.filled_buffer("node 0", &node(0, middle), POINTED_TO)?);
        let mut rows = u64::from(ROW_COUNT).to_le_bytes().to_vec();
        for row in 0..ROW_COUNT {
            rows.extend(u64::from(row).to_le_bytes());
            rows.extend(filled(ROWS + row)?.to_le_bytes());
        }
        let rows = gpu.filled_buffer("rows", &rows, vk::BufferUsageFlags::STORAGE_BUFFER)?;
        let mut settings = vec![0; 16];
        settings.extend(set.to_le_bytes());
        settings.extend([0; 8]);
        let settings = host(gpu, "settings", &settings, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
        let taken = gpu.device_buffer("handed", 32, vk::BufferUsageFlags::STORAGE_BUFFER)?;

        let stages = vk::ShaderStageFlags::COMPUTE;
        let push = |size| Some(vk::PushConstantRange { stage_flags: stages, offset: 0, size });
        let storage = (vk::DescriptorType::STORAGE_BUFFER, stages);
        let hand_layout = gpu.layout("hand", &[storage], push(8))?;
        let bindings = [
            storage,
            (vk::DescriptorType::UNIFORM_BUFFER, stages),
            storage,
            (vk::DescriptorType::STORAGE_IMAGE, stages),
        ];
        let show_layout = gpu.layout("show", &bindings, push(36))?;
        let usage = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC;
        let (format, aspect) = (vk::Format::R8G8B8A8_UNORM, vk::ImageAspectFlags::COLOR);
        let picture = gpu.image("picture", &ImageUse { format, extent: EXTENT, usage, aspect })?;
        let view = vk::DescriptorImageInfo::default()
            .image_view(picture.view)
            .image_layout(vk::ImageLayout::GENERAL);
        let pool = gpu.descriptor_pool("descriptors", 1, &[&hand_layout, &show_layout])?;
        let resources = [
            Resource::Buffer(taken.whole()),
            Resource::Buffer(settings.whole()),
            Resource::Buffer(rows.whole()),
            Resource::Image(view),
        ];
        Ok(Self {
            hand: gpu.compute_pipeline("hand", spirv!("hand.comp"), &hand_layout)?,
            show: gpu.compute_pipeline("show", spirv!("show.comp"), &show_layout)?,
            hand_set: gpu.descriptor_set("hand set", pool, &hand_layout, &resources[..1])?,
            show_set: gpu.descriptor_set("show set", pool, &show_layout, &resources)?,
            commands: frame_slots(gpu)?,
            pair: gpu.address(&pair),
            pushed,
            list,
            hand_layout,
            show_layout,
            picture,
            presented: swapchain.images.clone(),
        })
    }
}

/// A buffer that the host writes.
fn host(gpu: &Gpu, name: &str, bytes: &[u8], usage: vk::BufferUsageFlags) -> Result<Buffer> {
    let buffer = gpu.host_buffer(name, bytes.len() as u64, usage)?;
    buffer.write(bytes);
    Ok(buffer)
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.commands[frame.slot];
        let (device, point, stages) =
            (&gpu.device, vk::PipelineBindPoint::COMPUTE, vk::ShaderStageFlags::COMPUTE);
        unsafe { device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) }?;
        // A number, and an address too: the fifth word of the first palette.
        let number = self.pushed + 16;
        let mut push = Vec::new();
        for word in [self.pushed, self.list, number, number ^ DISGUISE] {
            push.extend(word.to_le_bytes());
        }
        push.extend(frame.number.to_le_bytes());
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |_| {
            gpu.labelled(commands, "bands", COLOUR, || unsafe {
                let compute = Stage::COMPUTE_SHADER;
                let (read, write) = (Access::SHADER_READ, Access::SHADER_WRITE);
                barrier(device, commands, (compute, read), (compute, write));
                device.cmd_bind_pipeline(commands, point, self.hand);
                let layout = self.hand_layout.pipeline;
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.hand_set], &[]);
                device.cmd_push_constants(commands, layout, stages, 0, &self.pair.to_le_bytes());
                device.cmd_dispatch(commands, 1, 1, 1);
                barrier(device, commands, (compute, write), (compute, read));
                let from = (vk::ImageLayout::UNDEFINED, Stage::TRANSFER, Access::empty());
                let to = (vk::ImageLayout::GENERAL, compute, write);
                image_barrier(device, commands, self.picture.handle, from, to);
                device.cmd_bind_pipeline(commands, point, self.show);
                let layout = self.show_layout.pipeline;
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.show_set], &[]);
                device.cmd_push_constants(commands, layout, stages, 0, &push);
                device.cmd_dispatch(commands, EXTENT.width / 8, EXTENT.height / 8, 1);
            });
            let picture = (self.picture.handle, Stage::COMPUTE_SHADER);
            show(device, commands, picture, self.presented[frame.image], EXTENT);
        })?;
        Ok(vec![commands])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a pixel of a frame is.
    fn pixel(frame: u32, x: u32, y: u32) -> u32 {
        let (column, band) = (x / 8, y / 8);
        let entry = (column + frame) % COLUMNS;
        match band {
            0 => colour(PUSHED, entry),
            1 => colour(SET, entry),
            2 => colour(HANDED, entry),
            3 => colour(LISTED, x * 3 / 64),
            4 => colour(ROWS + column % ROW_COUNT, entry),
            _ => 0xFF20_C020,
        }
    }

    #[test]
    fn the_pictures_are_right() {
        for frame in Pointers.pictured() {
            let path = format!("{}/samples/pointers_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
            let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
            let mut reader = png::Decoder::new(file).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            assert_eq!(pixels.len() as u32, EXTENT.width * EXTENT.height * 3);
            for (i, rgb) in (0..).zip(pixels.chunks_exact(3)) {
                let (x, y) = (i % EXTENT.width, i / EXTENT.width);
                let want = pixel(*frame, x, y).to_le_bytes();
                assert_eq!(rgb, &want[..3], "frame {frame}, pixel {x}, {y}");
            }
        }
    }

    #[test]
    fn no_two_colours_are_the_same() {
        let mut all: Vec<u32> =
            (0..ROWS + ROW_COUNT).flat_map(|p| (0..COLUMNS).map(move |e| colour(p, e))).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len() as u32, (ROWS + ROW_COUNT) * COLUMNS);
    }
}
