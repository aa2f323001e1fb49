//! `msaa`: a multisampled canvas that is painted once, and from then on only loaded and drawn over.
//!
//! | label | frames | what |
//! |---|---|---|
//! | `paint` | the first | writes every image of the scene but two, which the host fills: the canvas (four samples; colour, depth and stencil), four multisampled images of four kinds of number, a multisampled depth image of two layers, an image of bytes |
//! | `touch` | each | loads the canvas; draws where a depth is less than the canvas's, where it equals it, and, strip by strip, where the stencil value is the strip's; resolves |
//! | `develop` | each | shows the resolved canvas and, beside it, a tile of every other image |
//!
//! So a capture that begins later than the first frame replays right only if the contents of every image were brought
//! back: each of the tests above passes or fails by what was there before. Everything covers whole pixels: the samples
//! of a pixel are alike, because what a capture holds of a multisampled image is one value a pixel. None of the images
//! that are drawn to may be copied to.
//!
//! Dynamic rendering is used because capture layers that keep multisampled depth and stencil do so only where the
//! application turned it on.

mod contents;
mod draws;
mod images;

use ash::khr::dynamic_rendering;
use ash::vk;
use contents::{CANVAS, CANVAS_COLOUR, CANVAS_DEPTH, FOUR, ONE, TILE, TILES};

use super::{Frame, SLOTS, Scene, Show};
use crate::error::Result;
use crate::gpu::pipeline::{Layout, Resource, cover};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Colour, Gpu, Needs};
use contents::Images;
use draws::{PUSH, Targets, depth_of, pipeline, push, within};
use images::{COLOUR, DEPTH, PRESENT, READ, nothing};

/// The size of the swapchain: the canvas, and around it tiles of [`TILE`].
const EXTENT: vk::Extent2D = vk::Extent2D { width: 192, height: 128 };
/// Strips of the canvas, each with a stencil value of its own; together they use every bit.
const STRIPS: u32 = 16;

const PAINT_COLOUR: Colour = [0.9, 0.6, 0.2];
const TOUCH_COLOUR: Colour = [0.3, 0.6, 0.9];
const DEVELOP_COLOUR: Colour = [0.5, 0.8, 0.4];

/// The scene.
pub struct Msaa;

impl Scene for Msaa {
    fn name(&self) -> &'static str {
        "msaa"
    }

    fn about(&self) -> &'static str {
        "a multisampled canvas painted once, then only loaded: old depth and stencil decide what is drawn"
    }

    fn frames(&self) -> u32 {
        15
    }

    fn pictured(&self) -> &'static [u32] {
        &[10, 11, 12]
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn needs(&self) -> Needs {
        Needs {
            extensions: &[
                ash::khr::create_renderpass2::NAME,
                ash::khr::depth_stencil_resolve::NAME,
                dynamic_rendering::NAME,
            ],
            features: vk::PhysicalDeviceFeatures::default().texture_compression_bc(true),
            dynamic_rendering: true,
            ..Needs::default()
        }
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain)?))
    }
}

/// The pipelines.
struct Pipelines {
    paint: vk::Pipeline,
    tiles: vk::Pipeline,
    shadow: vk::Pipeline,
    stamp: vk::Pipeline,
    /// Tints where its depth is less than the canvas's.
    less: vk::Pipeline,
    /// Replaces where its depth equals the canvas's.
    equal: vk::Pipeline,
    /// Tints where the stencil value is the reference.
    strip: vk::Pipeline,
    develop: vk::Pipeline,
}

/// The scene with its objects.
struct Running {
    rendering: dynamic_rendering::Device,
    images: Images,
    layout: Layout,
    pipelines: Pipelines,
    develop_layout: Layout,
    develop_set: vk::DescriptorSet,
    /// A pool for each frame in flight, and what is recorded from it.
    slots: Vec<(vk::CommandPool, vk::CommandBuffer)>,
    shown: Vec<(vk::Image, vk::ImageView)>,
    format: vk::Format,
}

impl Pipelines {
    fn new(gpu: &Gpu, layout: &Layout, develop: &Layout, shown: vk::Format) -> Result<Self> {
        use vk::{CompareOp as Compare, Format, StencilOp};
        let tiles = TILES.map(|tile| tile.1);
        let over_canvas = |fragment, test, stencil, add| draws::About {
            fragment,
            layout,
            colours: &[CANVAS_COLOUR],
            depth: CANVAS_DEPTH,
            samples: FOUR,
            test,
            stencil,
            add,
        };
        let plain = |fragment, layout, colours, samples| draws::About {
            fragment,
            layout,
            colours,
            depth: Format::UNDEFINED,
            samples,
            test: None,
            stencil: None,
            add: false,
        };
        let make = |name, about: &draws::About| pipeline(gpu, name, spirv!("screen.vert"), about);
        let written = Some((Compare::ALWAYS, true));
        let paint =
            over_canvas(spirv!("paint.frag"), written, Some((Compare::ALWAYS, StencilOp::REPLACE)), false);
        let shadow = draws::About {
            depth: Format::D16_UNORM,
            test: written,
            ..plain(spirv!("shadow.frag"), layout, &[], FOUR)
        };
        let less = over_canvas(spirv!("glaze.frag"), Some((Compare::LESS, false)), None, true);
        let equal = over_canvas(spirv!("match.frag"), Some((Compare::EQUAL, false)), None, false);
        let strip = over_canvas(spirv!("glaze.frag"), None, Some((Compare::EQUAL, StencilOp::KEEP)), true);
        Ok(Self {
            paint: make("paint", &paint)?,
            tiles: make("tiles", &plain(spirv!("tiles.frag"), layout, &tiles, FOUR))?,
            shadow: make("shadow", &shadow)?,
            stamp: make("stamp", &plain(spirv!("stamp.frag"), layout, &[Format::R8G8B8A8_UINT], ONE))?,
            less: make("less", &less)?,
            equal: make("equal", &equal)?,
            strip: make("strip", &strip)?,
            develop: make("develop", &plain(spirv!("develop.frag"), develop, &[shown], ONE))?,
        })
    }
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let images = Images::new(gpu)?;
        let layout = gpu.layout("draws", &[], Some(PUSH))?;
        let seen = images.read();
        let sampled = (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT);
        let develop_layout = gpu.layout("develop", &vec![sampled; seen.len()], Some(PUSH))?;
        let pipelines = Pipelines::new(gpu, &layout, &develop_layout, swapchain.format)?;

        let sampler = unsafe { gpu.device.create_sampler(&vk::SamplerCreateInfo::default(), None) }?;
        gpu.adopt(sampler, "nearest");
        let resources: Vec<_> = seen
            .iter()
            .map(|image| {
                Resource::Image(vk::DescriptorImageInfo {
                    sampler,
                    image_view: image.view,
                    image_layout: READ.layout,
                })
            })
            .collect();
        let pool = gpu.descriptor_pool("descriptors", 1, &[&develop_layout])?;
        let develop_set = gpu.descriptor_set("develop set", pool, &develop_layout, &resources)?;
        let slot = |index| {
            let (pool, [commands]) =
                gpu.command_buffers(&format!("frame pool {index}"), [&format!("frame commands {index}")])?;
            Ok((pool, commands))
        };
        Ok(Self {
            rendering: gpu.rendering(),
            slots: (0..SLOTS).map(slot).collect::<Result<_>>()?,
            images,
            layout,
            pipelines,
            develop_layout,
            develop_set,
            shown: swapchain.images.iter().copied().zip(swapchain.views.iter().copied()).collect(),
            format: swapchain.format,
        })
    }

    /// Draws a triangle over all pixels of an area.
    fn draw(
        &self,
        device: &ash::Device,
        commands: vk::CommandBuffer,
        pipeline: vk::Pipeline,
        area: vk::Rect2D,
        (tint, z): ([f32; 4], f32),
    ) {
        unsafe {
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
            let bytes = push(tint, area, z);
            device.cmd_push_constants(commands, self.layout.pipeline, PUSH.stage_flags, 0, &bytes);
            device.cmd_draw(commands, 3, 1, 0, 0);
        }
    }

    /// The canvas as a pass's target.
    fn canvas(&self, load: bool) -> Targets<'_> {
        Targets {
            colours: &self.images.canvas.layers,
            resolved: load.then_some(self.images.resolved.view),
            depth: Some(depth_of(&self.images.relief, 0)),
            extent: CANVAS,
            load,
        }
    }

    /// Makes every image what it stays, or begins as.
    fn paint(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        let (images, pipelines) = (&self.images, &self.pipelines);
        let begin = nothing(vk::PipelineStageFlags::TOP_OF_PIPE);
        let drawn: Vec<_> = [&images.canvas, &images.stamp].into_iter().chain(&images.tiles).collect();
        drawn.iter().for_each(|image| image.pass_on(device, commands, begin, COLOUR));
        let tested = [&images.relief, &images.shadow];
        tested.iter().for_each(|image| image.pass_on(device, commands, begin, DEPTH));
        let reference = |value| unsafe {
            device.cmd_set_stencil_reference(commands, vk::StencilFaceFlags::FRONT_AND_BACK, value);
        };
        let none = ([0.0; 4], 0.0);

        within(&self.rendering, commands, &self.canvas(false), || {
            cover(device, commands, CANVAS);
            for strip in 0..STRIPS {
                reference(stencil_of(strip));
                self.draw(device, commands, pipelines.paint, strip_area(strip, 0, CANVAS.height), none);
            }
        });
        let tile = Targets { colours: &[], resolved: None, depth: None, extent: TILE, load: false };
        let colours: Vec<_> = images.tiles.iter().map(|image| image.layers[0]).collect();
        within(&self.rendering, commands, &Targets { colours: &colours, ..tile }, || {
            cover(device, commands, TILE);
            reference(0);
            self.draw(device, commands, pipelines.tiles, TILE.into(), none);
        });
        for layer in 0..images.shadow.layers.len() {
            let depth = Some(depth_of(&images.shadow, layer));
            within(&self.rendering, commands, &Targets { depth, ..tile }, || {
                let how = ([layer as f32, 0.0, 0.0, 0.0], 0.0);
                self.draw(device, commands, pipelines.shadow, TILE.into(), how);
            });
        }
        within(&self.rendering, commands, &Targets { colours: &images.stamp.layers, ..tile }, || {
            self.draw(device, commands, pipelines.stamp, TILE.into(), none);
        });
        for image in images.tiles.iter().chain([&images.stamp]) {
            image.pass_on(device, commands, COLOUR, READ);
        }
        images.shadow.pass_on(device, commands, DEPTH, READ);
    }

    /// Draws over the canvas where its depth and stencil let it, and resolves it.
    fn touch(&self, device: &ash::Device, commands: vk::CommandBuffer, number: u32) {
        let (images, pipelines) = (&self.images, &self.pipelines);
        images.canvas.pass_on(device, commands, COLOUR, COLOUR);
        images.relief.pass_on(device, commands, DEPTH, DEPTH);
        images.resolved.pass_on(device, commands, nothing(READ.stages), COLOUR);
        let at = |x, y| vk::Offset2D { x: x as i32, y: y as i32 };
        let part = vk::Extent2D { width: 64, height: 32 };
        within(&self.rendering, commands, &self.canvas(true), || {
            cover(device, commands, CANVAS);
            let less = vk::Rect2D { offset: at(number * 7 % 64, 0), extent: part };
            let depth = (number * 29 % 256) as f32 / 256.0;
            self.draw(device, commands, pipelines.less, less, ([0.0, 0.125, 0.25, 0.0], depth));
            let equal = vk::Rect2D { offset: at(number * 5 % 64, 32), extent: part };
            let tint = [number as f32 / 16.0, 0.25, 0.75, 1.0];
            self.draw(device, commands, pipelines.equal, equal, (tint, 0.0));
            for strip in 0..STRIPS {
                let value = stencil_of((strip + number) % STRIPS);
                unsafe {
                    device.cmd_set_stencil_reference(commands, vk::StencilFaceFlags::FRONT_AND_BACK, value);
                }
                // Wider than a strip: what does not have the value stays as it is.
                let area = vk::Rect2D {
                    offset: at(0, 64 + 2 * strip),
                    extent: vk::Extent2D { width: CANVAS.width, height: 2 },
                };
                let tint = [0.375, 0.25, 0.0, 0.0];
                self.draw(device, commands, pipelines.strip, area, (tint, 0.0));
            }
        });
        images.resolved.pass_on(device, commands, COLOUR, READ);
    }

    /// Shows everything.
    fn develop(&self, device: &ash::Device, commands: vk::CommandBuffer, image: usize) {
        let (image, view) = self.shown[image];
        let shown = (image, self.format);
        images::pass_on(device, commands, shown, nothing(COLOUR.stages), COLOUR);
        let targets = Targets { colours: &[view], resolved: None, depth: None, extent: EXTENT, load: false };
        within(&self.rendering, commands, &targets, || {
            cover(device, commands, EXTENT);
            let (point, layout) = (vk::PipelineBindPoint::GRAPHICS, self.develop_layout.pipeline);
            unsafe {
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.develop_set], &[]);
            }
            self.draw(device, commands, self.pipelines.develop, EXTENT.into(), ([0.0; 4], 0.0));
        });
        images::pass_on(device, commands, shown, COLOUR, PRESENT);
    }
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.slots[frame.slot];
        unsafe { gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) }?;
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            if frame.number == 1 {
                gpu.labelled(commands, "paint", PAINT_COLOUR, || self.paint(device, commands));
            }
            gpu.labelled(commands, "touch", TOUCH_COLOUR, || self.touch(device, commands, frame.number));
            gpu.labelled(commands, "develop", DEVELOP_COLOUR, || {
                self.develop(device, commands, frame.image);
            });
        })?;
        Ok(vec![commands])
    }
}

/// The stencil value of a strip.
fn stencil_of(strip: u32) -> u32 {
    strip * 17
}

/// A strip's part of the canvas.
fn strip_area(strip: u32, top: u32, height: u32) -> vk::Rect2D {
    let width = CANVAS.width / STRIPS;
    vk::Rect2D {
        offset: vk::Offset2D { x: (strip * width) as i32, y: top as i32 },
        extent: vk::Extent2D { width, height },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_cover_the_canvas_and_use_every_bit_of_the_stencil() {
        let last = strip_area(STRIPS - 1, 0, CANVAS.height);
        assert_eq!(last.offset.x as u32 + last.extent.width, CANVAS.width);
        let all = (0..STRIPS).map(stencil_of);
        assert_eq!((all.clone().fold(0, |a, b| a | b), all.fold(255, |a, b| a & b)), (255, 0));
    }
}
