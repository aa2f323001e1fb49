//! `objects`: what the packaged capture layer (0.9.18) knows nothing of: shader objects, and descriptors in buffers.
//!
//! | tile | what |
//! |---|---|
//! | 0 | a compute shader object with a descriptor set |
//! | 1 | a compute pipeline whose descriptors the host puts into a descriptor buffer, by vkGetDescriptorEXT |
//! | 2 | a compute shader object whose descriptor buffer only the device reaches: one descriptor is copied there from another buffer, one comes by an update |
//! | 3 | a draw by a vertex and a fragment shader object |
//!
//! All read a block of which a member is constant, one changes in each frame, and one is read by nobody. The queue is idle when
//! the host writes.

mod drawn;

use drawn::{ALWAYS, EXTENT, shader};
use std::ffi::CStr;

use ash::vk;

use super::barriers::{Access, Stage, barrier};
use super::tracing::{self, Painting};
use super::{Scene, Show};
use crate::error::{Doing, Result};
use crate::gpu::pipeline::Resource;
use crate::gpu::sets::slot;
use crate::gpu::swapchain::Swapchain;
use crate::gpu::{Buffer, Gpu, Needs};

const COMPUTE: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;
const KINDS: [vk::DescriptorType; 2] =
    [vk::DescriptorType::UNIFORM_BUFFER, vk::DescriptorType::STORAGE_IMAGE];

/// The scene.
pub struct Objects;

impl Scene for Objects {
    fn name(&self) -> &'static str {
        "objects"
    }

    fn about(&self) -> &'static str {
        "shader objects, and descriptors in buffers"
    }

    fn frames(&self) -> u32 {
        3
    }

    fn extent(&self) -> vk::Extent2D {
        EXTENT
    }

    fn image_usage(&self) -> vk::ImageUsageFlags {
        tracing::image_usage()
    }

    fn pictured(&self) -> &'static [u32] {
        &[1, 3]
    }

    fn needs(&self) -> Needs {
        const EXTENSIONS: [&CStr; 2] = [ash::ext::shader_object::NAME, ash::ext::descriptor_buffer::NAME];
        Needs {
            version: vk::API_VERSION_1_3,
            extensions: &EXTENSIONS,
            dynamic_rendering: true,
            addresses: true,
            more: Some(|| {
                vec![
                    Box::new(vk::PhysicalDeviceShaderObjectFeaturesEXT::default().shader_object(true)),
                    Box::new(
                        vk::PhysicalDeviceDescriptorBufferFeaturesEXT::default().descriptor_buffer(true),
                    ),
                ]
            }),
            ..Needs::default()
        }
    }

    fn build(&self, gpu: &Gpu, swapchain: &Swapchain) -> Result<Box<dyn Show>> {
        let (picture, target) = tracing::picture_for(gpu, EXTENT, vk::ImageUsageFlags::COLOR_ATTACHMENT)?;
        let usage = vk::BufferUsageFlags::UNIFORM_BUFFER | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        let names = ["object block", "buffer block", "copied block", "drawn block"];
        let blocks = names.iter().map(|name| gpu.host_buffer(name, 16, usage)).collect::<Result<Vec<_>>>()?;
        let object = object(gpu, &blocks[0], target)?;
        let buffer = buffer(gpu, &blocks[1], target)?;
        let copied = copied(gpu, &blocks[2], target)?;
        let drawn = drawn::drawn(gpu, &blocks[3], picture.view)?;
        let frame = std::cell::Cell::new(0);
        let stage = Stage::COMPUTE_SHADER;
        let painting = Painting::new(gpu, swapchain, picture, stage, move |gpu, commands| {
            frame.set(frame.get() + 1);
            // Recording comes before the submission, and behind all of the frame before.
            let idle = unsafe { gpu.device.queue_wait_idle(gpu.queue) };
            idle.expect("the queue of a device that is not lost becomes idle");
            for (tile, block) in (0u32..).zip(&blocks) {
                let words = match tile {
                    3 => drawn::words(frame.get()),
                    _ => [tile, ALWAYS[tile as usize], frame.get(), 100 * tile + frame.get()],
                };
                block.write(&words.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<_>>());
            }
            let wrote = (stage, Access::SHADER_WRITE);
            let drew = (Stage::COLOR_ATTACHMENT_OUTPUT, Access::COLOR_ATTACHMENT_WRITE);
            barrier(&gpu.device, commands, wrote, (drew.0, drew.1 | Access::COLOR_ATTACHMENT_READ));
            drawn(gpu, commands);
            barrier(&gpu.device, commands, drew, wrote);
            object(gpu, commands);
            barrier(&gpu.device, commands, wrote, wrote);
            buffer(gpu, commands);
            barrier(&gpu.device, commands, wrote, wrote);
            copied(gpu, commands);
        })?;
        Ok(Box::new(painting))
    }
}

fn bindings() -> [vk::DescriptorSetLayoutBinding<'static>; 2] {
    [slot(0, KINDS[0], 1, COMPUTE), slot(1, KINDS[1], 1, COMPUTE)]
}

/// Records the tile of a shader object.
fn object(gpu: &Gpu, block: &Buffer, target: Resource) -> Result<impl Fn(&Gpu, vk::CommandBuffer) + 'static> {
    let shaders = gpu.extension(ash::ext::shader_object::Device::new);
    let layouts = [gpu.set_layout("object", &bindings())?];
    let layout = gpu.pipeline_layout("object", &layouts, &[])?;
    let pool = gpu.pool_of("object sets", 1, &KINDS.map(|kind| (kind, 1)))?;
    let set = gpu.empty_set("object", pool, layouts[0])?;
    gpu.write_set(set, (0, 0), KINDS[0], &[Resource::Buffer(block.whole())]);
    gpu.write_set(set, (1, 0), KINDS[1], &[target]);
    let code = (spirv!("fill.comp"), COMPUTE, vk::ShaderStageFlags::empty());
    let shader = shader(gpu, &shaders, "fill", code, &layouts)?;
    Ok(move |gpu: &Gpu, commands| unsafe {
        let point = vk::PipelineBindPoint::COMPUTE;
        shaders.cmd_bind_shaders(commands, &[COMPUTE], &[shader]);
        gpu.device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
        gpu.device.cmd_dispatch(commands, 1, 1, 1);
    })
}

/// The layouts of a set in a descriptor buffer.
fn layouts(gpu: &Gpu, name: &str) -> Result<(vk::DescriptorSetLayout, vk::PipelineLayout)> {
    let bindings = bindings();
    let info = vk::DescriptorSetLayoutCreateInfo::default()
        .bindings(&bindings)
        .flags(vk::DescriptorSetLayoutCreateFlags::DESCRIPTOR_BUFFER_EXT);
    let set = gpu.set_layout_of(name, info)?;
    Ok((set, gpu.pipeline_layout(name, &[set], &[])?))
}

/// A set's bytes, and where in it each descriptor lies.
fn descriptors(
    gpu: &Gpu,
    functions: &ash::ext::descriptor_buffer::Device,
    set: vk::DescriptorSetLayout,
    block: &Buffer,
    target: Resource,
) -> (Vec<u8>, [std::ops::Range<usize>; 2]) {
    let mut sizes = vk::PhysicalDeviceDescriptorBufferPropertiesEXT::default();
    gpu.properties(&mut sizes);
    let mut content = vec![0; unsafe { functions.get_descriptor_set_layout_size(set) } as usize];
    let mut put = |binding, size, kind, data| {
        let at = unsafe { functions.get_descriptor_set_layout_binding_offset(set, binding) } as usize;
        let info = vk::DescriptorGetInfoEXT { ty: kind, data, ..Default::default() };
        unsafe { functions.get_descriptor(&info, &mut content[at..at + size]) };
        at..at + size
    };
    let uniform = vk::DescriptorAddressInfoEXT::default().address(gpu.address(block)).range(block.size_bytes);
    let data = vk::DescriptorDataEXT { p_uniform_buffer: &raw const uniform };
    let first = put(0, sizes.uniform_buffer_descriptor_size, KINDS[0], data);
    let Resource::Image(image) = target else { unreachable!("the picture is an image") };
    let data = vk::DescriptorDataEXT { p_storage_image: &raw const image };
    let second = put(1, sizes.storage_image_descriptor_size, KINDS[1], data);
    (content, [first, second])
}

const DESCRIPTORS: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::RESOURCE_DESCRIPTOR_BUFFER_EXT.as_raw()
        | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS.as_raw(),
);

/// Binds a set that begins a descriptor buffer, and dispatches.
unsafe fn dispatch(
    gpu: &Gpu,
    functions: &ash::ext::descriptor_buffer::Device,
    commands: vk::CommandBuffer,
    layout: vk::PipelineLayout,
    (address, usage): (vk::DeviceAddress, vk::BufferUsageFlags),
) {
    let binding = vk::DescriptorBufferBindingInfoEXT::default().address(address).usage(usage);
    let point = vk::PipelineBindPoint::COMPUTE;
    unsafe {
        functions.cmd_bind_descriptor_buffers(commands, &[binding]);
        functions.cmd_set_descriptor_buffer_offsets(commands, point, layout, 0, &[0], &[0]);
        gpu.device.cmd_dispatch(commands, 1, 1, 1);
    }
}

/// Records the tile of a pipeline with a descriptor buffer.
fn buffer(gpu: &Gpu, block: &Buffer, target: Resource) -> Result<impl Fn(&Gpu, vk::CommandBuffer) + 'static> {
    let functions = gpu.extension(ash::ext::descriptor_buffer::Device::new);
    let (set, layout) = layouts(gpu, "buffer")?;
    let stage = gpu.stage(spirv!("fill.comp"), COMPUTE)?;
    let info = vk::ComputePipelineCreateInfo::default()
        .stage(stage)
        .layout(layout)
        .flags(vk::PipelineCreateFlags::DESCRIPTOR_BUFFER_EXT);
    let made = unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
    let pipeline = gpu.adopt(made.map_err(|(_, error)| error).doing("making the pipeline")?[0], "buffer");
    let (content, _) = descriptors(gpu, &functions, set, block, target);
    let buffer = gpu.host_buffer("descriptors", content.len() as u64, DESCRIPTORS)?;
    buffer.write(&content);
    let address = gpu.address(&buffer);
    Ok(move |gpu: &Gpu, commands| unsafe {
        gpu.device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
        dispatch(gpu, &functions, commands, layout, (address, DESCRIPTORS));
    })
}

/// Records the tile of a shader object with a descriptor buffer that only the device writes.
fn copied(gpu: &Gpu, block: &Buffer, target: Resource) -> Result<impl Fn(&Gpu, vk::CommandBuffer) + 'static> {
    let functions = gpu.extension(ash::ext::descriptor_buffer::Device::new);
    let shaders = gpu.extension(ash::ext::shader_object::Device::new);
    let (set, layout) = layouts(gpu, "copied")?;
    let code = (spirv!("fill.comp"), COMPUTE, vk::ShaderStageFlags::empty());
    let shader = shader(gpu, &shaders, "copied", code, &[set])?;
    let (content, [first, second]) = descriptors(gpu, &functions, set, block, target);
    let (size, usage) = (content.len() as u64, DESCRIPTORS | vk::BufferUsageFlags::TRANSFER_DST);
    let staging = gpu.host_buffer("descriptors to copy", size, vk::BufferUsageFlags::TRANSFER_SRC)?;
    staging.write(&content[..first.end]);
    let buffer = gpu.device_buffer("copied descriptors", size, usage)?;
    let address = gpu.address(&buffer);
    Ok(move |gpu: &Gpu, commands| unsafe {
        let at = first.start as u64;
        let region = vk::BufferCopy { src_offset: at, dst_offset: at, size: first.len() as u64 };
        gpu.device.cmd_copy_buffer(commands, staging.handle, buffer.handle, &[region]);
        gpu.device.cmd_update_buffer(commands, buffer.handle, second.start as u64, &content[second.clone()]);
        let from = (Stage::TRANSFER, Access::TRANSFER_WRITE);
        barrier(&gpu.device, commands, from, (Stage::COMPUTE_SHADER, Access::MEMORY_READ));
        shaders.cmd_bind_shaders(commands, &[COMPUTE], &[shader]);
        dispatch(gpu, &functions, commands, layout, (address, usage));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pictures_are_right() {
        for frame in Objects.pictured() {
            let path = format!("{}/samples/objects_frame_{frame}.png", env!("CARGO_MANIFEST_DIR"));
            let (extent, pixels) = crate::picture::read_png(&path);
            assert_eq!(extent, EXTENT);
            for (at, rgb) in (0..).zip(pixels.chunks_exact(3)) {
                let tile = at % EXTENT.width / drawn::TILE;
                let want = [41, 23, 7].map(|factor| ((ALWAYS[tile as usize] + frame) * factor) as u8);
                assert_eq!(rgb, want, "frame {frame}, tile {tile}");
            }
        }
    }
}
