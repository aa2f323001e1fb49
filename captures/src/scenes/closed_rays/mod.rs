//! `closed_rays`: ray-tracing shaders of all six stages about which every number is known beforehand.
//!
//! Rays run straight on from every place of a picture of 64x32; what each meets, which shaders that calls and what these do
//! follows from the place. Which invocations share a subgroup is the driver's affair; how many take which way is not.
//! Every group's record stands alone at a multiple of what a table's address is a multiple of, so that tables are plain.

mod world;

use std::ffi::CStr;

use ash::vk;

use super::barriers::{Access, Stage, image_barrier, show};
use super::{Frame, Scene, Show, frame_slots};
use crate::error::{Doing, Result};
use crate::gpu::pipeline::{Layout, Resource};
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Colour, Gpu, Image, ImageUse, Needs};

const EXTENT: vk::Extent2D = vk::Extent2D { width: 64, height: 32 };

const COLOUR: Colour = [0.5, 0.3, 0.7];

/// The scene.
pub struct ClosedRays;

impl Scene for ClosedRays {
    fn name(&self) -> &'static str {
        "closed_rays"
    }

    fn about(&self) -> &'static str {
        "ray-tracing shaders of all stages whose calls and divergence are known beforehand"
    }

    fn frames(&self) -> u32 {
        2
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_DST
    }

    fn pictured(&self) -> &'static [u32] {
        &[1, 2]
    }

    fn needs(&self) -> Needs {
        const EXTENSIONS: [&CStr; 3] = [
            ash::khr::acceleration_structure::NAME,
            ash::khr::ray_tracing_pipeline::NAME,
            ash::khr::deferred_host_operations::NAME,
        ];
        Needs { extensions: &EXTENSIONS, ray_tracing: true, ..Needs::default() }
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        Ok(Box::new(Running::new(gpu, swapchain)?))
    }
}

/// The scene with its objects.
struct Running {
    commands: Vec<(vk::CommandPool, vk::CommandBuffer)>,
    layout: Layout,
    pipeline: vk::Pipeline,
    /// Ray generation, miss, hit, callable.
    tables: [vk::StridedDeviceAddressRegionKHR; 4],
    set: vk::DescriptorSet,
    picture: Image,
    presented: Vec<vk::Image>,
}

impl Running {
    fn new(gpu: &Gpu, swapchain: &Swapchain) -> Result<Self> {
        let both = vk::ShaderStageFlags::RAYGEN_KHR | vk::ShaderStageFlags::CLOSEST_HIT_KHR;
        let bindings = [
            (vk::DescriptorType::ACCELERATION_STRUCTURE_KHR, both),
            (vk::DescriptorType::STORAGE_IMAGE, vk::ShaderStageFlags::RAYGEN_KHR),
        ];
        let layout = gpu.layout("closed", &bindings, None)?;
        let usage = vk::ImageUsageFlags::STORAGE | vk::ImageUsageFlags::TRANSFER_SRC;
        let (format, aspect) = (vk::Format::R8G8B8A8_UNORM, vk::ImageAspectFlags::COLOR);
        let picture = gpu.image("picture", &ImageUse { format, extent: EXTENT, usage, aspect })?;
        let view = vk::DescriptorImageInfo::default()
            .image_view(picture.view)
            .image_layout(vk::ImageLayout::GENERAL);
        let pool = gpu.descriptor_pool("descriptors", 1, &[&layout])?;
        let resources = [Resource::Structure(world::world(gpu)?), Resource::Image(view)];
        let pipeline = pipeline(gpu, &layout)?;
        Ok(Self {
            commands: frame_slots(gpu)?,
            set: gpu.descriptor_set("closed set", pool, &layout, &resources)?,
            tables: tables(gpu, pipeline)?,
            layout,
            pipeline,
            picture,
            presented: swapchain.images.clone(),
        })
    }
}

/// The pipeline's groups of one shader; the two hit groups follow.
const GENERAL: u32 = 6;

fn pipeline(gpu: &Gpu, layout: &Layout) -> Result<vk::Pipeline> {
    let shaders = [
        (spirv!("camera.rgen"), vk::ShaderStageFlags::RAYGEN_KHR),
        (spirv!("sky.rmiss"), vk::ShaderStageFlags::MISS_KHR),
        (spirv!("shadow.rmiss"), vk::ShaderStageFlags::MISS_KHR),
        (spirv!("behind.rmiss"), vk::ShaderStageFlags::MISS_KHR),
        (spirv!("even.rcall"), vk::ShaderStageFlags::CALLABLE_KHR),
        (spirv!("odd.rcall"), vk::ShaderStageFlags::CALLABLE_KHR),
        (spirv!("plane.rchit"), vk::ShaderStageFlags::CLOSEST_HIT_KHR),
        (spirv!("plane.rahit"), vk::ShaderStageFlags::ANY_HIT_KHR),
        (spirv!("box.rchit"), vk::ShaderStageFlags::CLOSEST_HIT_KHR),
        (spirv!("box.rint"), vk::ShaderStageFlags::INTERSECTION_KHR),
    ];
    let stages =
        shaders.into_iter().map(|(spirv, stage)| gpu.stage(spirv, stage)).collect::<Result<Vec<_>>>()?;
    let none = vk::SHADER_UNUSED_KHR;
    let unused = vk::RayTracingShaderGroupCreateInfoKHR::default()
        .general_shader(none)
        .closest_hit_shader(none)
        .any_hit_shader(none)
        .intersection_shader(none);
    let mut groups: Vec<_> = (0..GENERAL)
        .map(|n| unused.ty(vk::RayTracingShaderGroupTypeKHR::GENERAL).general_shader(n))
        .collect();
    let triangles = vk::RayTracingShaderGroupTypeKHR::TRIANGLES_HIT_GROUP;
    groups.push(unused.ty(triangles).closest_hit_shader(6).any_hit_shader(7));
    let procedural = vk::RayTracingShaderGroupTypeKHR::PROCEDURAL_HIT_GROUP;
    groups.push(unused.ty(procedural).closest_hit_shader(8).intersection_shader(9));
    let info = vk::RayTracingPipelineCreateInfoKHR::default()
        .stages(&stages)
        .groups(&groups)
        .max_pipeline_ray_recursion_depth(2)
        .layout(layout.pipeline);
    let (deferred, cache) = (vk::DeferredOperationKHR::null(), vk::PipelineCache::null());
    let made = unsafe { gpu.ray().pipelines.create_ray_tracing_pipelines(deferred, cache, &[info], None) };
    let pipeline = made.map_err(|(_, error)| error).doing("making the ray-tracing pipeline")?[0];
    Ok(gpu.adopt(pipeline, "closed"))
}

fn tables(gpu: &Gpu, pipeline: vk::Pipeline) -> Result<[vk::StridedDeviceAddressRegionKHR; 4]> {
    let ray = gpu.ray();
    let (size, base) = (ray.handle_bytes, ray.base_alignment);
    let groups = GENERAL as usize + 2;
    let handles = unsafe {
        ray.pipelines.get_ray_tracing_shader_group_handles(pipeline, 0, groups as u32, size * groups)
    }?;
    let stride = size.next_multiple_of(base);
    let usage = vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    let buffer = gpu.host_buffer("shader binding table", (stride * groups + base) as u64, usage)?;
    let start = gpu.address(&buffer).next_multiple_of(base as u64);
    let mut content = vec![0; (start - gpu.address(&buffer)) as usize];
    for handle in handles.chunks_exact(size) {
        let end = content.len() + stride;
        content.extend(handle);
        content.resize(end, 0);
    }
    buffer.write(&content);
    let stride = stride as u64;
    let table = |first: u64, count: u64| {
        vk::StridedDeviceAddressRegionKHR::default()
            .device_address(start + first * stride)
            .stride(stride)
            .size(count * stride)
    };
    Ok([table(0, 1), table(1, 3), table(6, 2), table(4, 2)])
}

impl Show for Running {
    fn record(&mut self, gpu: &Gpu, frame: Frame) -> Result<Vec<vk::CommandBuffer>> {
        let (pool, commands) = self.commands[frame.slot];
        unsafe { gpu.device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty()) }?;
        gpu.record(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT, |device| {
            let trace = Stage::RAY_TRACING_SHADER_KHR;
            let from = (vk::ImageLayout::UNDEFINED, Stage::TRANSFER, Access::empty());
            let to = (vk::ImageLayout::GENERAL, trace, Access::SHADER_WRITE);
            image_barrier(device, commands, self.picture.handle, from, to);
            gpu.labelled(commands, "trace", COLOUR, || unsafe {
                let (point, layout) = (vk::PipelineBindPoint::RAY_TRACING_KHR, self.layout.pipeline);
                device.cmd_bind_pipeline(commands, point, self.pipeline);
                device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[self.set], &[]);
                let [raygen, miss, hit, callable] = &self.tables;
                let (width, height) = (EXTENT.width, EXTENT.height);
                let pipelines = &gpu.ray().pipelines;
                pipelines.cmd_trace_rays(commands, raygen, miss, hit, callable, width, height, 1);
            });
            show(device, commands, (self.picture.handle, trace), self.presented[frame.image], EXTENT);
        })?;
        Ok(vec![commands])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a place's ray generation computes: the sources once more, in Rust.
    fn sum(x: u32, y: u32) -> u32 {
        if y >= 28 {
            return 2;
        }
        let (plane, solid) = (y < 16, x < 32 && x % 8 < 4);
        let again = if y < 4 { 5 } else { 0 };
        let first = match x % 4 {
            0 if plane => 11,
            1 if plane => 21 + again,
            _ if plane => 23 + again,
            _ if solid => 40,
            _ => 10,
        };
        let second = match x % 4 {
            1 | 3 => 0,
            2 if plane => 63,
            _ if !plane && solid => 60,
            _ => 70,
        };
        let called = match x % 4 {
            _ if y >= 8 => 1,
            0 | 1 => 100,
            2 => 110,
            _ => 115,
        };
        first + second + called
    }

    #[test]
    fn the_pictures_are_right() {
        for frame in ClosedRays.pictured() {
            let path = format!("{}/samples/closed_rays_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
            let (extent, pixels) = crate::picture::read_png(&path);
            assert_eq!(extent, EXTENT);
            for (at, rgb) in (0..).zip(pixels.chunks_exact(3)) {
                let (x, y) = (at % EXTENT.width, at / EXTENT.width);
                let want = [41, 23, 7].map(|factor| (sum(x, y) * factor) as u8);
                assert_eq!(rgb, want, "frame {frame}, pixel {x}, {y}");
            }
        }
    }
}
