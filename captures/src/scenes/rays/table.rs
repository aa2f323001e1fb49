//! The ray-tracing pipeline and its shader binding table, whose records carry colours and pointers.

use ash::vk;

use super::spirv;
use crate::error::{Doing, Result};
use crate::gpu::Gpu;
use crate::gpu::pipeline::{Layout, Spirv};

type Group = vk::RayTracingShaderGroupCreateInfoKHR<'static>;
type Region = vk::StridedDeviceAddressRegionKHR;

/// The pipeline's groups, in order.
const RAYGEN: usize = 0;
const SKY: usize = 1;
const SHADOW: usize = 2;
pub const MESH: usize = 3;
pub const SPHERE: usize = 4;
const CHECKS: usize = 5;
const MARBLE: usize = 6;
const GROUPS: u32 = 7;

/// A pipeline and where its table is.
pub struct Table {
    pub pipeline: vk::Pipeline,
    pub raygen: Region,
    pub miss: Region,
    pub hit: Region,
    pub callable: Region,
}

/// A record: which group, and the data behind its handle.
pub type Record = (usize, Vec<u8>);

/// What the records of a miss or callable shader hold.
fn colours(a: [f32; 4], b: [f32; 4]) -> Vec<u8> {
    super::content::floats(&[a, b].concat())
}

impl Table {
    /// Makes the pipeline and writes the table; `hits` are the records of the hit groups.
    pub fn new(gpu: &Gpu, layout: &Layout, hits: Vec<Record>) -> Result<Self> {
        let pipeline = pipeline(gpu, layout)?;
        let ray = gpu.ray();
        let bytes = ray.handle_bytes * GROUPS as usize;
        let handles =
            unsafe { ray.pipelines.get_ray_tracing_shader_group_handles(pipeline, 0, GROUPS, bytes) }?;
        let tables: [Vec<Record>; 4] = [
            vec![(RAYGEN, Vec::new())],
            vec![(SKY, colours([1.0, 0.86, 0.70, 0.0], [0.20, 0.42, 0.78, 0.0])), (SHADOW, Vec::new())],
            hits,
            vec![
                (CHECKS, colours([0.0, 1.0, 0.0, 0.0], [0.0; 4])),
                (MARBLE, colours([0.0, 0.9, 0.0, 0.0], [0.0; 4])),
            ],
        ];

        let mut content = Vec::new();
        let mut regions = [Region::default(); 4];
        for (region, records) in regions.iter_mut().zip(&tables) {
            let longest = records.iter().map(|(_, data)| data.len()).max().unwrap_or_default();
            // The one record of ray generation is a table too, so that its stride suits a table's address.
            let alignment = if records.len() == 1 { ray.base_alignment } else { ray.handle_alignment };
            let stride = (ray.handle_bytes + longest).next_multiple_of(alignment);
            content.resize(content.len().next_multiple_of(ray.base_alignment), 0);
            *region = Region::default()
                .device_address(content.len() as u64)
                .stride(stride as u64)
                .size((stride * records.len()) as u64);
            for (group, data) in records {
                let end = content.len() + stride;
                content.extend(&handles[group * ray.handle_bytes..][..ray.handle_bytes]);
                content.extend(data);
                content.resize(end, 0);
            }
        }

        let usage =
            vk::BufferUsageFlags::SHADER_BINDING_TABLE_KHR | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        // Room to begin at a multiple of what the device wants.
        let size = content.len() as u64 + ray.base_alignment as u64;
        let buffer = gpu.host_buffer("shader binding table", size, usage)?;
        let address = gpu.address(&buffer);
        let start = address.next_multiple_of(ray.base_alignment as u64);
        let mut bytes = vec![0; (start - address) as usize];
        bytes.extend(content);
        buffer.write(&bytes);
        let [raygen, miss, hit, callable] =
            regions.map(|region| region.device_address(region.device_address + start));
        Ok(Self { pipeline, raygen, miss, hit, callable })
    }
}

fn pipeline(gpu: &Gpu, layout: &Layout) -> Result<vk::Pipeline> {
    let none = vk::SHADER_UNUSED_KHR;
    let unused = Group::default()
        .general_shader(none)
        .closest_hit_shader(none)
        .any_hit_shader(none)
        .intersection_shader(none);
    let shaders: [(Spirv, vk::ShaderStageFlags); 9] = [
        (spirv!("camera.rgen"), vk::ShaderStageFlags::RAYGEN_KHR),
        (spirv!("sky.rmiss"), vk::ShaderStageFlags::MISS_KHR),
        (spirv!("shadow.rmiss"), vk::ShaderStageFlags::MISS_KHR),
        (spirv!("mesh.rchit"), vk::ShaderStageFlags::CLOSEST_HIT_KHR),
        (spirv!("sphere.rchit"), vk::ShaderStageFlags::CLOSEST_HIT_KHR),
        (spirv!("sphere.rahit"), vk::ShaderStageFlags::ANY_HIT_KHR),
        (spirv!("sphere.rint"), vk::ShaderStageFlags::INTERSECTION_KHR),
        (spirv!("checks.rcall"), vk::ShaderStageFlags::CALLABLE_KHR),
        (spirv!("marble.rcall"), vk::ShaderStageFlags::CALLABLE_KHR),
    ];
    let stages =
        shaders.into_iter().map(|(spirv, stage)| gpu.stage(spirv, stage)).collect::<Result<Vec<_>>>()?;
    let general = |shader| unused.ty(vk::RayTracingShaderGroupTypeKHR::GENERAL).general_shader(shader);
    let groups = [
        general(0),
        general(1),
        general(2),
        unused.ty(vk::RayTracingShaderGroupTypeKHR::TRIANGLES_HIT_GROUP).closest_hit_shader(3),
        unused
            .ty(vk::RayTracingShaderGroupTypeKHR::PROCEDURAL_HIT_GROUP)
            .closest_hit_shader(4)
            .any_hit_shader(5)
            .intersection_shader(6),
        general(7),
        general(8),
    ];
    let info = vk::RayTracingPipelineCreateInfoKHR::default()
        .stages(&stages)
        .groups(&groups)
        .max_pipeline_ray_recursion_depth(1)
        .layout(layout.pipeline);
    let (deferred, cache) = (vk::DeferredOperationKHR::null(), vk::PipelineCache::null());
    let made = unsafe { gpu.ray().pipelines.create_ray_tracing_pipelines(deferred, cache, &[info], None) };
    let pipeline = made.map_err(|(_, error)| error).doing("making the ray-tracing pipeline")?[0];
    Ok(gpu.adopt(pipeline, "rays"))
}
