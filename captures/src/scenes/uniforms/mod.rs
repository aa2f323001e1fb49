//! `uniforms`: every way in which descriptors come to be bound and uniforms come to be read, a tile each.
//!
//! The names of tiles are those of their pipelines; what each has planted in it is in `README.md` and, as a list of what is to
//! be found and nothing else, in `tests/e2e/planted`. The queue is idle when the host writes, so that there is one of everything.
//!
//! Not here, as the packaged capture layer (0.9.18) knows nothing of them: shader objects and descriptor buffers.

mod beyond;
mod bound;
mod moved;
mod plain;
mod station;

use std::ffi::CStr;

use ash::vk;

use self::station::{At, Maker, SAMPLED, Station, Step, TILE, UNIFORM};
use super::barriers::{Access, Stage, barrier, image_barrier, show};
use super::{Frame, Scene, Show, Slot, frame_slots, tracing};
use crate::error::Result;
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Colour, Gpu, Image, ImageUse, Needs};

/// The names of the tiles, in their order.
const NAMES: [&str; 19] = [
    "members",
    "duplicates",
    "shapes",
    "constants",
    "copied",
    "shared",
    "dynamic",
    "template",
    "pushed",
    "inline",
    "late",
    "fixed",
    "uploads",
    "written",
    "indirect",
    "secondary",
    "compute",
    "rays",
    "",
];
/// The last is none: what is left over shows what the picture was cleared with.
const TILES: u32 = NAMES.len() as u32;

const EXTENT: vk::Extent2D = vk::Extent2D { width: TILES * TILE, height: TILE };

const COLOUR: Colour = [0.3, 0.6, 0.8];
const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// The scene.
pub struct Uniforms;

impl Scene for Uniforms {
    fn name(&self) -> &'static str {
        "uniforms"
    }

    fn about(&self) -> &'static str {
        "every way in which descriptors come to be bound and uniforms come to be read"
    }

    fn frames(&self) -> u32 {
        4
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        tracing::image_usage()
    }

    fn pictured(&self) -> &'static [u32] {
        &[1, 2, 4]
    }

    fn needs(&self) -> Needs {
        const EXTENSIONS: [&CStr; 5] = [
            ash::khr::acceleration_structure::NAME,
            ash::khr::ray_tracing_pipeline::NAME,
            ash::khr::deferred_host_operations::NAME,
            ash::khr::push_descriptor::NAME,
            ash::khr::draw_indirect_count::NAME,
        ];
        Needs {
            version: vk::API_VERSION_1_3,
            extensions: &EXTENSIONS,
            features: vk::PhysicalDeviceFeatures {
                shader_uniform_buffer_array_dynamic_indexing: vk::TRUE,
                ..Default::default()
            },
            more: Some(|| {
                vec![
                    Box::new(
                        vk::PhysicalDeviceDescriptorIndexingFeatures::default()
                            .descriptor_binding_uniform_buffer_update_after_bind(true)
                            .descriptor_binding_partially_bound(true)
                            .descriptor_binding_variable_descriptor_count(true)
                            .runtime_descriptor_array(true),
                    ),
                    Box::new(
                        vk::PhysicalDeviceInlineUniformBlockFeatures::default().inline_uniform_block(true),
                    ),
                ]
            }),
            ..tracing::needs()
        }
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain)?))
    }
}

struct Running {
    commands: Vec<Slot>,
    picture: Image,
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    stations: Vec<Station>,
    presented: Vec<vk::Image>,
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT
            | vk::ImageUsageFlags::STORAGE
            | vk::ImageUsageFlags::TRANSFER_SRC
            | vk::ImageUsageFlags::TRANSFER_DST;
        let about = ImageUse { format: FORMAT, extent: EXTENT, usage, aspect: vk::ImageAspectFlags::COLOR };
        let picture = gpu.image("picture", &about)?;
        let pass = pass(gpu)?;
        let views = [picture.view];
        let info = vk::FramebufferCreateInfo::default()
            .render_pass(pass)
            .attachments(&views)
            .width(EXTENT.width)
            .height(EXTENT.height)
            .layers(1);
        let framebuffer = gpu.adopt(unsafe { gpu.device.create_framebuffer(&info, None) }?, "framebuffer");
        let sampler = unsafe { gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None) }?;
        let sizes = [
            (UNIFORM, 64),
            (SAMPLED, 8),
            (vk::DescriptorType::STORAGE_BUFFER, 8),
            (vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC, 8),
            (vk::DescriptorType::STORAGE_BUFFER_DYNAMIC, 8),
        ];
        let maker = Maker {
            gpu,
            pass,
            framebuffer,
            picture,
            pool: gpu.pool_of("sets", 32, &sizes)?,
            sampler: gpu.adopt(sampler, "nearest"),
        };
        Ok(Self {
            commands: frame_slots(gpu)?,
            picture,
            pass,
            framebuffer,
            stations: (0..)
                .zip(NAMES)
                .map(|(tile, name)| station(&maker, tile, name))
                .collect::<Result<_>>()?,
            presented: swapchain.images.clone(),
        })
    }

    /// Has every tile take its turn at something.
    fn turn(&self, gpu: &Gpu, at: At, which: fn(&Station) -> &Option<Step>) {
        for (tile, station) in (0..).zip(&self.stations) {
            if let Some(step) = which(station) {
                step(gpu, At { tile, ..at });
            }
        }
    }

    /// The same in a pass.
    fn pass(&self, gpu: &Gpu, at: At, name: &str, secondary: bool, which: fn(&Station) -> &Option<Step>) {
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffer)
            .render_area(EXTENT.into());
        let contents = match secondary {
            true => vk::SubpassContents::SECONDARY_COMMAND_BUFFERS,
            false => vk::SubpassContents::INLINE,
        };
        gpu.labelled(at.commands, name, COLOUR, || {
            unsafe { gpu.device.cmd_begin_render_pass(at.commands, &begin, contents) };
            self.turn(gpu, at, which);
            unsafe { gpu.device.cmd_end_render_pass(at.commands) };
        });
    }
}

fn station(maker: &Maker, tile: u32, name: &str) -> Result<Station> {
    match name {
        "members" => plain::members(maker),
        "duplicates" => plain::duplicates(maker),
        "shapes" => plain::shapes(maker),
        "constants" => plain::constants(maker),
        "copied" => plain::copied(maker),
        "shared" => plain::shared(maker),
        "dynamic" => bound::dynamic(maker),
        "template" => bound::template(maker),
        "pushed" => bound::pushed(maker),
        "inline" => bound::inline(maker),
        "late" => bound::late(maker),
        "fixed" => bound::fixed(maker),
        "uploads" => moved::uploads(maker),
        "written" => moved::written(maker),
        "indirect" => moved::indirect(maker),
        "secondary" => beyond::secondary(maker, tile),
        "compute" => beyond::compute(maker, tile),
        "rays" => beyond::rays(maker, tile),
        _ => Ok(Station::default()),
    }
}

/// A pass that keeps what the picture has, and comes behind the pass before it.
fn pass(gpu: &Gpu) -> Result<vk::RenderPass> {
    let general = vk::ImageLayout::GENERAL;
    let attachments = [vk::AttachmentDescription::default()
        .format(FORMAT)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(vk::AttachmentLoadOp::LOAD)
        .store_op(vk::AttachmentStoreOp::STORE)
        .initial_layout(general)
        .final_layout(general)];
    let colour = [vk::AttachmentReference { attachment: 0, layout: general }];
    let subpasses = [vk::SubpassDescription::default()
        .pipeline_bind_point(vk::PipelineBindPoint::GRAPHICS)
        .color_attachments(&colour)];
    let (output, write) = (Stage::COLOR_ATTACHMENT_OUTPUT, Access::COLOR_ATTACHMENT_WRITE);
    let dependency =
        vk::SubpassDependency::default().src_stage_mask(output).dst_stage_mask(output).src_access_mask(write);
    let dependencies = [
        dependency.src_subpass(vk::SUBPASS_EXTERNAL).dst_access_mask(write | Access::COLOR_ATTACHMENT_READ),
        // Barriers say what comes behind the last pass.
        dependency.dst_subpass(vk::SUBPASS_EXTERNAL),
    ];
    let info = vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies);
    Ok(gpu.adopt(unsafe { gpu.device.create_render_pass(&info, None) }?, "pass"))
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.commands[frame.slot];
        let at = At { commands, frame: frame.number, tile: 0 };
        unsafe {
            gpu.device.queue_wait_idle(gpu.queue)?;
            gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty())?;
        }
        self.turn(gpu, at, |station| &station.host);
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            let (general, picture) = (vk::ImageLayout::GENERAL, self.picture.handle);
            let cleared = (general, Stage::TRANSFER, Access::TRANSFER_WRITE);
            let from = (vk::ImageLayout::UNDEFINED, Stage::TOP_OF_PIPE, Access::empty());
            image_barrier(device, commands, picture, from, cleared);
            let range = vk::ImageSubresourceRange::default()
                .aspect_mask(vk::ImageAspectFlags::COLOR)
                .level_count(1)
                .layer_count(1);
            let grey = vk::ClearColorValue { float32: [0.2, 0.2, 0.2, 1.0] };
            unsafe { device.cmd_clear_color_image(commands, picture, general, &grey, &[range]) };
            self.turn(gpu, at, |station| &station.before);
            let output = Stage::COLOR_ATTACHMENT_OUTPUT;
            let drawn = Access::COLOR_ATTACHMENT_READ | Access::COLOR_ATTACHMENT_WRITE;
            image_barrier(device, commands, picture, cleared, (general, output, drawn));
            self.pass(gpu, at, "first pass", false, |station| &station.first);
            self.pass(gpu, at, "second pass", false, |station| &station.second);
            self.pass(gpu, at, "third pass", true, |station| &station.third);
            let wrote = (output, Access::COLOR_ATTACHMENT_WRITE);
            barrier(device, commands, wrote, (Stage::COMPUTE_SHADER, Access::SHADER_WRITE));
            self.turn(gpu, at, |station| &station.after);
            let picture = (picture, Stage::RAY_TRACING_SHADER_KHR);
            show(device, commands, picture, self.presented[frame.image], EXTENT);
        })?;
        self.turn(gpu, at, |station| &station.late);
        Ok(vec![commands])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number that a strip's colour is made of; none where nothing is drawn.
    fn number(frame: u32, tile: &str, strip: u32) -> Option<u32> {
        let dynamic =
            |binding: usize| bound::dynamic_number(binding as u32, bound::OFFSETS[strip as usize][binding]);
        Some(match tile {
            "members" => plain::OBJECT_TINT + 10 * frame + strip + 20 * (strip / 2 + 1),
            "duplicates" if strip < 3 => 21,
            "shapes" => 30 + 33 + 44 + 43 + 64 + 71 + 74,
            "constants" => strip + 1 + 80,
            "copied" => 90,
            "shared" if strip == 0 => 100,
            "shared" if strip == 1 => 107,
            "dynamic" => (0..3).map(dynamic).sum(),
            "template" if frame % 2 == 1 => 140 + 2 * 145 + 5,
            "template" => 145 + 2 * 140 + 5,
            "pushed" => [150, 155][bound::PUSHED[strip as usize]] + 3,
            "inline" => 160 + frame,
            "late" => 171 - frame % 2 + 172 + 173 + bound::MANY_FIRST + frame % bound::MANY,
            "fixed" => 180,
            "uploads" => moved::uploaded(frame).iter().sum(),
            "written" => 60 + frame,
            "indirect" => 215,
            "secondary" => beyond::SECONDARY + frame,
            "compute" => beyond::COMPUTE + frame,
            "rays" => beyond::RAYS[0] + beyond::RAYS[1] + frame,
            _ => return None,
        })
    }

    #[test]
    fn the_pictures_are_right() {
        for frame in Uniforms.pictured() {
            let path = format!("{}/samples/uniforms_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
            let (extent, pixels) = crate::picture::read_png(&path);
            assert_eq!(extent, EXTENT);
            for (at, rgb) in (0..).zip(pixels.chunks_exact(3)) {
                let x = at % EXTENT.width;
                let (tile, strip) = (NAMES[(x / TILE) as usize], x % TILE / 4);
                let want = match number(*frame, tile, strip) {
                    Some(n) => [41, 23, 7].map(|factor| (n * factor) as u8),
                    None => [51; 3],
                };
                assert_eq!(rgb, want, "frame {frame}, {tile}, strip {strip}");
            }
        }
    }
}
