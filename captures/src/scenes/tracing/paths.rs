//! A scene whose rays follow paths: one launch that fills the picture, samples and bounces as push constants.
//!
//! All frames are equal. In the size and with the samples that the command line says; what is committed is small.

use ash::vk;

use super::{Groups, Painting, Traced, image_usage, needs, only_set, picture};
use crate::error::Result;
use crate::gpu::pipeline::Resource;
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Colour, Gpu, Needs};
use crate::scenes::{Scene, Show};

const COLOUR: Colour = [0.5, 0.7, 1.0];

/// Such a scene.
#[derive(Clone, Copy)]
pub struct Paths {
    /// As [`Scene::name`]; the pipeline's, too.
    pub name: &'static str,
    /// As [`Scene::about`].
    pub about: &'static str,
    /// As [`Scene::frames`].
    pub frames: u32,
    /// The picture's size.
    pub extent: vk::Extent2D,
    /// Paths a pixel.
    pub samples: u32,
    /// How many rays a path has at most.
    pub bounces: u32,
    /// Makes what rays meet.
    pub content: fn(&Gpu) -> Result<Content>,
}

/// What rays meet, and the shaders.
pub struct Content {
    /// The structure at the top: binding 0. (The picture is binding 1.)
    pub world: vk::AccelerationStructureKHR,
    /// Buffers from binding 2 on, and who reads them.
    pub buffers: Vec<(Resource, vk::ShaderStageFlags)>,
    /// The shaders.
    pub groups: Groups,
}

impl Scene for Paths {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn frames(&self) -> u32 {
        self.frames
    }

    fn extent(&self) -> vk::Extent2D {
        self.extent
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        image_usage()
    }

    fn pictured(&self) -> &'static [u32] {
        &[1]
    }

    fn needs(&self) -> Needs {
        needs()
    }

    fn sized(&self, extent: Option<vk::Extent2D>, samples: Option<u32>) -> Option<Box<dyn Scene>> {
        let (extent, samples) = (extent.unwrap_or(self.extent), samples.unwrap_or(self.samples));
        Some(Box::new(Self { extent, samples, ..*self }))
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        let Content { world, buffers, groups } = (self.content)(gpu)?;
        let raygen = vk::ShaderStageFlags::RAYGEN_KHR;
        let mut bindings = vec![
            (vk::DescriptorType::ACCELERATION_STRUCTURE_KHR, raygen),
            (vk::DescriptorType::STORAGE_IMAGE, raygen),
        ];
        bindings.extend(buffers.iter().map(|(_, who)| (vk::DescriptorType::STORAGE_BUFFER, *who)));
        let push = vk::PushConstantRange { stage_flags: raygen, offset: 0, size: 8 };
        let layout = gpu.layout(self.name, &bindings, Some(push))?;
        let (picture, target) = picture(gpu, self.extent)?;
        let mut resources = vec![Resource::Structure(world), target];
        resources.extend(buffers.iter().map(|(buffer, _)| *buffer));
        let set = only_set(gpu, &layout, &resources)?;
        let traced = Traced::new(gpu, self.name, &layout, &groups)?;

        let size = [self.extent.width, self.extent.height];
        let settings: Vec<u8> = [self.samples, self.bounces].iter().flat_map(|n| n.to_le_bytes()).collect();
        let stage = vk::PipelineStageFlags::RAY_TRACING_SHADER_KHR;
        let painting = Painting::new(gpu, swapchain, picture, stage, move |gpu, commands| {
            gpu.labelled(commands, "trace", COLOUR, || {
                unsafe { gpu.device.cmd_push_constants(commands, layout.pipeline, raygen, 0, &settings) };
                traced.launch(gpu, commands, set, size);
            });
        })?;
        Ok(Box::new(painting))
    }
}
