//! `monolithic`: four draws whose descriptors are known by their numbers, all in one set a draw; and `repartitioned`, the same
//! with what changes as often as another in one set with that.
//!
//! | slot | draw 1 | draw 2 | draw 3 | draw 4 | equal to the one before | in `repartitioned` |
//! |---|---|---|---|---|---|---|
//! | 0, uniform buffer | 1 | 1 | 1 | 1 | 3 of 3 | set 0, binding 0 |
//! | 1, uniform buffer | 2 | 3 | 3 | 4 | 1 of 3 | set 2, binding 0 |
//! | 2, image | 5 | 5 | 5 | 11 | 2 of 3 | set 1, binding 0 |
//! | 3, storage buffer | 6 | 6 | 6 | 6 | 3 of 3 | set 0, binding 1 |
//! | 4, two images | 7 8 | 9 8 | 10 12 | 10 12 | 1 of 3 | set 2, binding 1 |
//!
//! So many descriptors are bound: four sets of six, or one set of two, two of one and four of three. Each resource holds its
//! number, and the draws' colours are made of these. Sets are allocated and written in the frame that uses them.

use ash::vk;

use super::{Frame, Scene, Show, Slot, frame_slots};
use crate::error::Result;
use crate::gpu::pipeline::{Graphics, Layout, Resource};
use crate::gpu::sets::slot;
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Colour, Gpu, ImageUse};
use crate::scenes::barriers::{Access, Stage, image_barrier};

/// The size of a tile; each draw has one.
const TILE: u32 = 32;
const DRAWS: usize = 4;

const EXTENT: vk::Extent2D = vk::Extent2D { width: TILE * DRAWS as u32, height: TILE };

const COLOUR: Colour = [0.8, 0.5, 0.3];

const UNIFORM: vk::DescriptorType = vk::DescriptorType::UNIFORM_BUFFER;
const STORAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;
const SAMPLED: vk::DescriptorType = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;

/// The slots: their types and the numbers of their descriptors, draw by draw.
const SLOTS: [(vk::DescriptorType, [&[u32]; DRAWS]); 5] = [
    (UNIFORM, [&[1], &[1], &[1], &[1]]),
    (UNIFORM, [&[2], &[3], &[3], &[4]]),
    (SAMPLED, [&[5], &[5], &[5], &[11]]),
    (STORAGE, [&[6], &[6], &[6], &[6]]),
    (SAMPLED, [&[7, 8], &[9, 8], &[10, 12], &[10, 12]]),
];

/// How the slots are spread over sets: for each set its slots, by their bindings there.
type Partition = &'static [&'static [usize]];

const MONOLITHIC: Partition = &[&[0, 1, 2, 3, 4]];
const REPARTITIONED: Partition = &[&[0, 3], &[2], &[1, 4]];

/// The scenes.
pub struct Monolithic {
    /// Whether what changes as often as another is in one set with that.
    pub repartitioned: bool,
}

impl Scene for Monolithic {
    fn name(&self) -> &'static str {
        if self.repartitioned { "repartitioned" } else { "monolithic" }
    }

    fn about(&self) -> &'static str {
        match self.repartitioned {
            false => "four draws with a set of all their descriptors each, most of them the same again",
            true => "the same draws, their descriptors in three sets by how often they change",
        }
    }

    fn frames(&self) -> u32 {
        1
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn pictured(&self) -> &'static [u32] {
        &[1]
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain, self.repartitioned)?))
    }
}

struct Running {
    commands: Vec<Slot>,
    partition: Partition,
    /// A frame's sets are made anew, from the pool of its slot.
    pools: Vec<vk::DescriptorPool>,
    set_layouts: Vec<vk::DescriptorSetLayout>,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    pass: vk::RenderPass,
    framebuffers: Vec<vk::Framebuffer>,
    /// By their numbers, from 1.
    resources: Vec<Resource>,
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain, repartitioned: bool) -> Result<Self> {
        let partition = if repartitioned { REPARTITIONED } else { MONOLITHIC };
        let fragment = vk::ShaderStageFlags::FRAGMENT;
        let mut set_layouts = Vec::new();
        for (set, slots) in partition.iter().enumerate() {
            let bindings: Vec<_> = (0..)
                .zip(*slots)
                .map(|(binding, &at)| slot(binding, SLOTS[at].0, SLOTS[at].1[0].len() as u32, fragment))
                .collect();
            set_layouts.push(gpu.set_layout(&format!("set {set}"), &bindings)?);
        }
        let layout = gpu.pipeline_layout("draw", &set_layouts, &[])?;
        let pass = gpu.present_pass(swapchain, vk::AttachmentLoadOp::CLEAR, "present pass")?;
        let shader = if repartitioned { spirv!("repartitioned.frag") } else { spirv!("monolithic.frag") };
        let about = Graphics {
            vertex: spirv!("all.vert"),
            fragment: shader,
            vertices: None,
            depth: false,
            layout: &Layout::of(set_layouts[0], layout),
            pass,
        };
        Ok(Self {
            commands: frame_slots(gpu)?,
            partition,
            pools: (0..super::SLOTS)
                .map(|slot| {
                    gpu.pool_of(&format!("sets {slot}"), 7, &[(UNIFORM, 8), (STORAGE, 4), (SAMPLED, 12)])
                })
                .collect::<Result<_>>()?,
            pipeline: gpu.graphics_pipeline(if repartitioned { "alpha'" } else { "alpha" }, &about)?,
            set_layouts,
            layout,
            framebuffers: gpu.present_framebuffers(swapchain, pass, "framebuffer")?,
            pass,
            resources: resources(gpu)?,
        })
    }

    /// The sets to bind before a draw: of those that differ from the draw before, their numbers and themselves.
    fn bind(
        &self,
        gpu: &Gpu,
        pool: vk::DescriptorPool,
        draw: usize,
    ) -> Result<Vec<(u32, vk::DescriptorSet)>> {
        let mut bound = Vec::new();
        for ((number, slots), layout) in (0..).zip(self.partition).zip(&self.set_layouts) {
            if draw > 0 && slots.iter().all(|&at| SLOTS[at].1[draw] == SLOTS[at].1[draw - 1]) {
                continue;
            }
            let set = gpu.empty_set(&format!("draw {} set {number}", draw + 1), pool, *layout)?;
            for (binding, &at) in (0..).zip(*slots) {
                let (kind, numbers) = (SLOTS[at].0, SLOTS[at].1[draw]);
                let resources: Vec<_> =
                    numbers.iter().map(|&number| self.resources[number as usize - 1]).collect();
                gpu.write_set(set, (binding, 0), kind, &resources);
            }
            bound.push((number, set));
        }
        Ok(bound)
    }
}

/// Resources 1 to 12, each of which holds its number.
fn resources(gpu: &Gpu) -> Result<Vec<Resource>> {
    let sampler = unsafe { gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None) }?;
    let sampler = gpu.adopt(sampler, "nearest");
    (1..=12u32)
        .map(|number| {
            let kind = SLOTS.iter().find(|slot| slot.1.iter().any(|numbers| numbers.contains(&number)));
            let words: Vec<u8> = [number, 0, 0, 0].into_iter().flat_map(u32::to_le_bytes).collect();
            Ok(match kind.map(|slot| slot.0) {
                Some(SAMPLED) => {
                    Resource::Image(pixel(gpu, &format!("image {number}"), number)?.sampler(sampler))
                }
                Some(STORAGE) => {
                    let usage = vk::BufferUsageFlags::STORAGE_BUFFER;
                    Resource::Buffer(gpu.filled_buffer(&format!("buffer {number}"), &words, usage)?.whole())
                }
                _ => {
                    let usage = vk::BufferUsageFlags::UNIFORM_BUFFER;
                    Resource::Buffer(gpu.filled_buffer(&format!("buffer {number}"), &words, usage)?.whole())
                }
            })
        })
        .collect()
}

/// An image of one pixel, in whose red is a number.
pub fn pixel(gpu: &Gpu, name: &str, number: u32) -> Result<vk::DescriptorImageInfo> {
    let (format, aspect) = (vk::Format::R8G8B8A8_UNORM, vk::ImageAspectFlags::COLOR);
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let extent = vk::Extent2D { width: 1, height: 1 };
    let image = gpu.image(name, &ImageUse { format, extent, usage, aspect })?;
    let read = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
    gpu.run_once(&format!("clear {name}"), |device, commands| {
        let range = vk::ImageSubresourceRange::default().aspect_mask(aspect).level_count(1).layer_count(1);
        let colour = vk::ClearColorValue { float32: [number as f32 / 255.0, 0.0, 0.0, 1.0] };
        let target = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        let made = (vk::ImageLayout::UNDEFINED, Stage::TOP_OF_PIPE, Access::empty());
        let cleared = (target, Stage::TRANSFER, Access::TRANSFER_WRITE);
        image_barrier(device, commands, image.handle, made, cleared);
        unsafe { device.cmd_clear_color_image(commands, image.handle, target, &colour, &[range]) };
        let ready = (read, Stage::FRAGMENT_SHADER, Access::SHADER_READ);
        image_barrier(device, commands, image.handle, cleared, ready);
    })?;
    Ok(vk::DescriptorImageInfo::default().image_view(image.view).image_layout(read))
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.commands[frame.slot];
        let sets = self.pools[frame.slot];
        unsafe {
            gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty())?;
            gpu.device.reset_descriptor_pool(sets, vk::DescriptorPoolResetFlags::empty())?;
        }
        let bound = (0..DRAWS).map(|draw| self.bind(gpu, sets, draw)).collect::<Result<Vec<_>>>()?;
        let clear = [vk::ClearValue { color: vk::ClearColorValue { float32: [0.2, 0.2, 0.2, 1.0] } }];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffers[frame.image])
            .render_area(EXTENT.into())
            .clear_values(&clear);
        let point = vk::PipelineBindPoint::GRAPHICS;
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| unsafe {
            device.cmd_begin_render_pass(commands, &begin, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(commands, point, self.pipeline);
            for (draw, sets) in (0u32..).zip(&bound) {
                let x = draw * TILE;
                let area = vk::Rect2D {
                    offset: vk::Offset2D { x: x as i32, y: 0 },
                    extent: vk::Extent2D { width: TILE, height: TILE },
                };
                let (width, height) = (TILE as f32, TILE as f32);
                let viewport =
                    vk::Viewport { x: x as f32, y: 0.0, width, height, min_depth: 0.0, max_depth: 1.0 };
                gpu.labelled(commands, &format!("draw {}", draw + 1), COLOUR, || {
                    device.cmd_set_viewport(commands, 0, &[viewport]);
                    device.cmd_set_scissor(commands, 0, &[area]);
                    for &(number, set) in sets {
                        device.cmd_bind_descriptor_sets(commands, point, self.layout, number, &[set], &[]);
                    }
                    device.cmd_draw(commands, 3, 1, 0, 0);
                });
            }
            device.cmd_end_render_pass(commands);
        })?;
        Ok(vec![commands])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_are_right() {
        for scene in ["monolithic", "repartitioned"] {
            let path = format!("{}/samples/{scene}_frame_1.png", env!("CARGO_MANIFEST_DIR"));
            let (extent, pixels) = crate::picture::read_png(&path);
            assert_eq!(extent, EXTENT);
            for (at, rgb) in (0..).zip(pixels.chunks_exact(3)) {
                let draw = (at % EXTENT.width / TILE) as usize;
                let numbers = SLOTS.iter().flat_map(|slot| slot.1[draw]);
                let n: u32 = numbers.zip([1, 3, 5, 7, 11, 13]).map(|(number, times)| number * times).sum();
                assert_eq!(rgb, [41, 23, 7].map(|factor| (n * factor) as u8), "{scene}, draw {}", draw + 1);
            }
        }
    }

    #[test]
    fn the_partition_says_each_slot_once() {
        for partition in [MONOLITHIC, REPARTITIONED] {
            let mut slots: Vec<_> = partition.iter().flat_map(|set| set.iter().copied()).collect();
            slots.sort_unstable();
            assert_eq!(slots, [0, 1, 2, 3, 4]);
        }
    }
}
